//! Errors as Python exceptions.

use std::io;

use anyhow::Error;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// `OSError` or one of its subclasses if the system refused something, else `ValueError`. The
/// message is one line.
pub fn python_error(error: &Error) -> PyErr {
    let message = format!("{error:#}");
    match error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()) {
        Some(refused) => io::Error::new(refused.kind(), message).into(),
        None => PyValueError::new_err(message),
    }
}
