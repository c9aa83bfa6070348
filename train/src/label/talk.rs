//! Whether the labelling says how far it is.

use indicatif::ProgressBar;

/// Who is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Talk {
    /// Whoever sits before the terminal.
    Aloud,
    /// Nobody, since something else reports there.
    Silent,
}

impl Talk {
    /// Prints a line.
    pub fn say(self, line: &str) {
        if self == Self::Aloud {
            eprintln!("{line}");
        }
    }

    /// A bar of `length` steps.
    pub fn bar(self, length: u64) -> ProgressBar {
        match self {
            Self::Aloud => ProgressBar::new(length),
            Self::Silent => ProgressBar::hidden(),
        }
    }
}
