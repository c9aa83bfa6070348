//! Appending to files that others read at the same time.

use std::fs::File;
use std::io::{Result, Write};

/// Appends `bytes` in a single write, so that readers see whole records only. If the disk is full,
/// no part of them remains.
pub fn append(file: &mut File, bytes: &[u8]) -> Result<()> {
    let before = file.metadata()?.len();
    let written = file.write_all(bytes);
    if written.is_err() {
        // An incomplete record is ignored when the file is read again.
        let _ = file.set_len(before);
    }
    written
}
