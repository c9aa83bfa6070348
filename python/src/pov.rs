//! The side from whose point of view a number is given.

use azimuth_network::Perspective;
use cozy_chess::Color;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The side whose win a cosine of 1 or a win probability of 1 means.
#[derive(Clone, Copy)]
pub enum Pov {
    /// The side to move, which python-chess calls `turn`.
    Turn,
    /// White.
    White,
    /// The side that the space's axis points to.
    Space,
}

impl Pov {
    /// Whether a number of a space with `perspective` has to be converted to the other side's view.
    pub fn is_opposite(self, perspective: Perspective, side_to_move: Color) -> bool {
        let differs = match self {
            Self::Turn => perspective == Perspective::White,
            Self::White => perspective == Perspective::SideToMove,
            Self::Space => false,
        };
        differs && side_to_move == Color::Black
    }
}

impl FromPyObject<'_, '_> for Pov {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract::<String>()?.as_str() {
            "turn" => Ok(Self::Turn),
            "white" => Ok(Self::White),
            "space" => Ok(Self::Space),
            other => Err(PyValueError::new_err(format!(
                "pov '{other}': expected 'turn', 'white' or 'space'"
            ))),
        }
    }
}
