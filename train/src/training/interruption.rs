//! Ctrl-C during a run.

use std::process::exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Context, Result};

/// No run is in progress: Ctrl-C ends the process.
const IDLE: u8 = 0;

/// A run is in progress.
const RUNNING: u8 = 1;

/// The user has asked the run to end.
const ASKED: u8 = 2;

/// Exit code after Ctrl-C, as in shells: 128 plus the number of SIGINT.
const CODE: i32 = 130;

static STATE: AtomicU8 = AtomicU8::new(IDLE);

/// While a value of this type exists, the first Ctrl-C asks the run to end ([`Self::is_asked`]).
/// The second ends the process at once.
pub struct Interruption {
    /// Whether no other `Interruption` existed when this one was created.
    is_first: bool,
}

impl Interruption {
    /// Starts to receive Ctrl-C. If the process ignores Ctrl-C or already has a handler for it,
    /// changes nothing.
    pub fn receive() -> Result<Self> {
        static HANDLER: OnceLock<Result<(), ctrlc::Error>> = OnceLock::new();
        match HANDLER.get_or_init(|| ctrlc::try_set_handler(handle)) {
            Ok(()) | Err(ctrlc::Error::MultipleHandlers) => {}
            Err(error) => return Err(anyhow::anyhow!("{error}")).context("Ctrl-C"),
        }
        let begun = STATE.compare_exchange(IDLE, RUNNING, Ordering::SeqCst, Ordering::SeqCst);
        Ok(Self { is_first: begun.is_ok() })
    }

    /// Whether the user has asked the run to end.
    pub fn is_asked(&self) -> bool {
        Self::was_asked()
    }

    /// Whether the user has asked the run in progress to end.
    pub fn was_asked() -> bool {
        STATE.load(Ordering::SeqCst) == ASKED
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        if self.is_first {
            STATE.store(IDLE, Ordering::SeqCst);
        }
    }
}

/// Runs on another thread at each Ctrl-C.
fn handle() {
    let asked = STATE.compare_exchange(RUNNING, ASKED, Ordering::SeqCst, Ordering::SeqCst);
    if asked.is_err() {
        exit(CODE);
    }
}
