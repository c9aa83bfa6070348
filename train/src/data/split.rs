//! The split of games into training, calibration and held-out sets.

/// Percentage of games for fitting the calibration only.
const CALIBRATION_SHARE: u64 = 1;

/// Percentage of games for metrics only.
const HELD_OUT_SHARE: u64 = 4;

/// A split of the data; all positions of a game are in the same split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// For fitting the parameters.
    Training,
    /// For fitting the calibration.
    Calibration,
    /// For measuring metrics.
    HeldOut,
}

impl Split {
    /// Number of splits.
    pub const NUM: usize = 3;

    /// All splits, in the order of a dataset file.
    pub const ALL: [Self; Self::NUM] = [Self::Training, Self::Calibration, Self::HeldOut];

    /// The split of a game whose content has this digest. It does not depend on the other data.
    pub fn of(digest: u64) -> Self {
        match digest % 100 {
            bucket if bucket < CALIBRATION_SHARE => Self::Calibration,
            bucket if bucket < CALIBRATION_SHARE + HELD_OUT_SHARE => Self::HeldOut,
            _ => Self::Training,
        }
    }
}
