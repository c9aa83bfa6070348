//! The input of an encoder, as NumPy arrays.

use azimuth_network::Inputs;
use numpy::PyArray1;
use pyo3::prelude::*;

/// The features of the side to move and of its opponent, or the tokens in their place.
#[derive(IntoPyObject)]
pub enum PythonInputs<'py> {
    /// The active rows in the side to move's view and in the opponent's.
    #[pyo3(transparent)]
    Features((Bound<'py, PyArray1<u16>>, Bound<'py, PyArray1<u16>>)),
    /// The 77 tokens.
    #[pyo3(transparent)]
    Tokens(Bound<'py, PyArray1<u8>>),
}

impl<'py> PythonInputs<'py> {
    /// The input of the only position of `inputs`; `None` if there is none.
    pub fn of(py: Python<'py>, inputs: &Inputs) -> Option<Self> {
        Some(match inputs {
            Inputs::Tokens(all) => Self::Tokens(PyArray1::from_slice(py, all.first()?)),
            Inputs::Features(batch) => {
                let features = batch.iter().next()?;
                let [own, other] = [features.own, features.other];
                Self::Features((PyArray1::from_slice(py, own), PyArray1::from_slice(py, other)))
            }
        })
    }
}
