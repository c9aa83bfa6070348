//! The shape of the selective search.

use super::parameters::Parameters;
use super::parts::Parts;

/// Shape of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectiveSettings {
    /// Plies, where the limits name none.
    pub depth: u32,
    /// Which techniques it uses.
    pub parts: Parts,
    /// Margins, reductions, bonuses.
    pub parameters: Parameters,
}

impl Default for SelectiveSettings {
    fn default() -> Self {
        Self { depth: 6, parts: Parts::default(), parameters: Parameters::default() }
    }
}
