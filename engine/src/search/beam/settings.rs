//! The shape of the beam.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// How the places of the beam are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BeamMode {
    /// `width` children of every kept node (the authors' published code).
    Tree,
    /// `width` nodes a ply in all (another reading of the paper).
    Global,
}

/// How a child is scored before the beam keeps or drops it, and where the beam ends.
///
/// Searches verify where the encoder runs on their own thread. Where it runs elsewhere, on a device or on a thread of its
/// own, quiescence search in batches does, for [`Self::Quiescence`] and for any number of plies alike: it resolves the
/// captures right behind every child, however far that is from the beam's last ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamVerify {
    /// By its own embedding (the paper).
    None,
    /// By an alpha-beta search to the beam's last ply, with quiescence search at its leaves.
    Quiescence,
    /// By an alpha-beta search to this many plies beyond the beam's last, with quiescence search at its leaves.
    Plies(u32),
}

impl BeamVerify {
    /// Plies of the verifying search beyond the beam's last; `None` where nothing is verified.
    pub fn plies(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Quiescence => Some(0),
            Self::Plies(plies) => Some(plies),
        }
    }
}

/// `none`, `quiescence`, or the number of plies: from the quickest to the slowest.
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
        let name = match self {
            Self::None => "none",
            Self::Quiescence => "quiescence",
            Self::Plies(1) => "1",
            Self::Plies(2) => "2",
            Self::Plies(3) => "3",
            Self::Plies(4) => "4",
            Self::Plies(_) => return None,
        };
        Some(PossibleValue::new(name))
    }
}

/// Shape of the beam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeamSettings {
    /// Moves kept at a node, or nodes kept a ply.
    pub width: usize,
    /// Plies, where the limits name none.
    pub depth: u32,
    /// Tree or global.
    pub mode: BeamMode,
    /// How a child is scored.
    pub verify: BeamVerify,
}

impl BeamSettings {
    /// The paper's planner as it is written: a child is scored by its own embedding.
    pub const PAPER: Self =
        Self { width: 3, depth: 6, mode: BeamMode::Tree, verify: BeamVerify::None };
}

impl Default for BeamSettings {
    fn default() -> Self {
        Self { verify: BeamVerify::Plies(1), ..Self::PAPER }
    }
}
