//! The shape of the beam.

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

/// Shape of the beam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeamSettings {
    /// Moves kept at a node, or nodes kept a ply.
    pub width: usize,
    /// Plies, where the limits name none.
    pub depth: u32,
    /// Tree or global.
    pub mode: BeamMode,
}

impl Default for BeamSettings {
    fn default() -> Self {
        Self { width: 3, depth: 6, mode: BeamMode::Tree }
    }
}
