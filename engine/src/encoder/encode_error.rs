//! Errors of an encoder.

use std::fmt;

use anyhow::Error;

/// An encoder's failure to compute a batch.
#[derive(Debug)]
pub enum EncodeError {
    /// The batch is too large for the device's free memory; a smaller one may fit.
    OutOfMemory(Error),
    /// Any other failure.
    Failed(Error),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory(error) => write!(f, "the device is out of memory: {error:#}"),
            Self::Failed(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for EncodeError {}

impl From<Error> for EncodeError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<candle_core::Error> for EncodeError {
    fn from(error: candle_core::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Removes the backtrace that candle adds to an error when RUST_BACKTRACE is set, so that the error
/// fits on one line.
#[cfg(feature = "cuda")]
pub(crate) fn without_backtrace(error: candle_core::Error) -> candle_core::Error {
    match error {
        candle_core::Error::WithBacktrace { inner, .. } => without_backtrace(*inner),
        error => error,
    }
}
