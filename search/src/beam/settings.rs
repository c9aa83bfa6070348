//! The settings of the beam.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// Settings of the beam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeamSettings {
    /// Number of moves kept at each node; 3 by default.
    pub width: usize,
    /// Maximum depth in plies if the limits name none; 6 by default.
    pub depth: u32,
    /// How a child is scored; by default, by a search to one ply beyond the beam's last.
    pub verify: BeamVerify,
    /// Whether the policy head of the weights, if they have one, helps to choose the moves to keep;
    /// false by default. It has no effect on a beam that verifies scores.
    pub policy: bool,
}

impl BeamSettings {
    /// The paper's planner: a child is scored by its embedding, without verification or a policy.
    pub const PAPER: Self = Self { width: 3, depth: 6, verify: BeamVerify::None, policy: false };
}

impl Default for BeamSettings {
    fn default() -> Self {
        Self { verify: BeamVerify::Plies(1), ..Self::PAPER }
    }
}

/// How a child is scored before the beam keeps or drops it, and how far verification searches.
///
/// Searches verify scores if the encoder runs on the search threads. If it runs elsewhere (on a
/// device or a separate thread), batched quiescence search replaces them, both for
/// [`Self::Quiescence`] and for any number of plies. It resolves the captures directly after each
/// child, at any distance from the beam's last ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamVerify {
    /// By the child's embedding, without a search (the paper).
    None,
    /// By an alpha-beta search to the beam's last ply, followed by quiescence search.
    Quiescence,
    /// By an alpha-beta search to this many plies beyond the beam's last ply, followed by
    /// quiescence search.
    Plies(u32),
}

impl BeamVerify {
    /// Plies of the verifying search beyond the beam's last ply; `None` if nothing is verified.
    pub fn plies(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Quiescence => Some(0),
            Self::Plies(plies) => Some(plies),
        }
    }
}

/// The values `none`, `quiescence` and 1 to 4 plies, from the fastest to the slowest.
impl ValueEnum for BeamVerify {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::None,
            Self::Quiescence,
            Self::Plies(1),
            Self::Plies(2),
            Self::Plies(3),
            Self::Plies(4),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let place = Self::value_variants().iter().position(|known| known == self)?;
        Some(PossibleValue::new(["none", "quiescence", "1", "2", "3", "4"][place]))
    }
}
