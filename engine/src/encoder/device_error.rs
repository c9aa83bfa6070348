//! What goes wrong on a device.

use std::fmt;

/// A batch was too large for what memory the device has left.
#[derive(Debug)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the device is out of memory")
    }
}

impl std::error::Error for OutOfMemory {}

/// Candle's error in one line, which it is not where RUST_BACKTRACE is set.
#[cfg(feature = "cuda")]
pub(crate) fn without_backtrace(error: candle_core::Error) -> candle_core::Error {
    match error {
        candle_core::Error::WithBacktrace { inner, .. } => without_backtrace(*inner),
        error => error,
    }
}
