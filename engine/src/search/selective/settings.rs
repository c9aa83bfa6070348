//! The settings of the selective search.

use super::parameters::SearchParameters;
use super::parts::Parts;

/// Settings of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectiveSettings {
    /// Maximum depth in plies if the limits name none; 6 by default.
    pub depth: u32,
    /// The techniques that it uses.
    pub parts: Parts,
    /// The tunable margins, reductions and bonuses.
    pub parameters: SearchParameters,
}

impl Default for SelectiveSettings {
    fn default() -> Self {
        Self { depth: 6, parts: Parts::default(), parameters: SearchParameters::default() }
    }
}
