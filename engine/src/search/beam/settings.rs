//! The shape of the beam.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Error, Result};

/// How the places of the beam are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamMode {
    /// `width` children of every kept node (the authors' published code).
    Tree,
    /// `width` nodes a ply in all (another reading of the paper).
    Global,
}

impl BeamMode {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Tree, Self::Global];

    /// As options and settings write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Global => "global",
        }
    }

    /// The mode of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
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
    /// Most plies of a verifying search.
    pub const MOST_PLIES: u32 = 4;

    /// All of them, from the quickest to the slowest.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::None, Self::Quiescence].into_iter().chain((1..=Self::MOST_PLIES).map(Self::Plies))
    }

    /// Plies of the verifying search beyond the beam's last; `None` where nothing is verified.
    pub fn plies(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Quiescence => Some(0),
            Self::Plies(plies) => Some(plies),
        }
    }
}

/// As options and settings write it: `none`, `quiescence`, or the number of plies.
impl fmt::Display for BeamVerify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Quiescence => f.write_str("quiescence"),
            Self::Plies(plies) => plies.fmt(f),
        }
    }
}

impl FromStr for BeamVerify {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = Self::all().find(|verify| verify.to_string().eq_ignore_ascii_case(text));
        let expected = || format!("expected none, quiescence or 1 to {}", Self::MOST_PLIES);
        known.with_context(|| format!("verify '{text}': {}", expected()))
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
