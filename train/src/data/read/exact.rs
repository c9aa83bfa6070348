//! Records of fixed size from a stream.

use std::io::BufRead;

use anyhow::{Result, bail};

/// Fills `record`. Returns false at the end of the stream; fails if the stream ends within the
/// record.
pub fn read_exact_or_end(input: &mut (impl BufRead + ?Sized), record: &mut [u8]) -> Result<bool> {
    if input.fill_buf()?.is_empty() {
        return Ok(false);
    }
    match input.read_exact(record) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            bail!("the file ends within it")
        }
        read => read.map(|()| true).map_err(Into::into),
    }
}
