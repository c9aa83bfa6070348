//! Output of labelling progress.

use indicatif::ProgressBar;

/// Whether progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Talk {
    /// Show progress on standard error.
    Aloud,
    /// Show nothing, because another task reports progress.
    Silent,
}

impl Talk {
    /// Prints a line.
    pub fn say(self, line: &str) {
        if self == Self::Aloud {
            eprintln!("{line}");
        }
    }

    /// A progress bar of `length` steps.
    pub fn bar(self, length: u64) -> ProgressBar {
        match self {
            Self::Aloud => ProgressBar::new(length),
            Self::Silent => ProgressBar::hidden(),
        }
    }
}
