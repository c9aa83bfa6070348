//! Which part of the data a game belongs to.

/// Of a hundred games this many fit the calibration and no parameter.
const CALIBRATION_SHARE: u64 = 1;

/// Of a hundred games this many are for the metrics alone.
const HELD_OUT_SHARE: u64 = 4;

/// A part of the data; all positions of a game are in the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// What the parameters learn from.
    Training,
    /// What the calibration is fitted on.
    Calibration,
    /// What the metrics are measured on.
    HeldOut,
}

impl Split {
    /// How many there are.
    pub const NUM: usize = 3;

    /// All of them, in the order of a dataset file.
    pub const ALL: [Self; Self::NUM] = [Self::Training, Self::Calibration, Self::HeldOut];

    /// The part of a game whose content has this digest: the same whatever else is read.
    pub fn of(digest: u64) -> Self {
        match digest % 100 {
            bucket if bucket < CALIBRATION_SHARE => Self::Calibration,
            bucket if bucket < CALIBRATION_SHARE + HELD_OUT_SHARE => Self::HeldOut,
            _ => Self::Training,
        }
    }
}
