//! Locks that allow only one process at a time to write a file.

use std::fs::{File, TryLockError};
use std::path::Path;

/// Locks a file of `output` until the file is closed. Returns false if another process has locked
/// it. Some network file systems do not support locks. Work continues there without one.
pub fn try_lock(file: &File, output: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(error)) => {
            let output = output.display();
            eprintln!("lock of '{output}': {error}; make sure that no other process writes it");
            true
        }
    }
}
