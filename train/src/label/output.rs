//! The file of labelled games: compressed parts, one after another, each whole or not there.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use zstd::zstd_safe::find_frame_compressed_size;

/// Of zstd: above it files shrink little.
const COMPRESSION: i32 = 10;

/// The parts written so far, and room for more.
pub struct Output {
    path: PathBuf,
    file: File,
    parts: u64,
}

impl Output {
    /// Opens or creates the file and cuts off what a killed run left of a last part.
    pub fn open(path: &Path) -> Result<Self> {
        let name = || format!("'{}'", path.display());
        let compressed = path.extension().is_some_and(|extension| extension == "zst");
        ensure!(compressed, "--out {}: the name must end in .zst", name());
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.with_context(name)?,
        };
        let (mut whole, mut parts) = (0, 0);
        while let Ok(size) = find_frame_compressed_size(&bytes[whole..]) {
            (whole, parts) = (whole + size, parts + 1);
            if whole == bytes.len() {
                break;
            }
        }
        ensure!(parts > 0 || bytes.is_empty(), "--out {}: not a file of labels", name());
        let file = OpenOptions::new().create(true).append(true).open(path).with_context(name)?;
        file.set_len(whole as u64).with_context(name)?;
        Ok(Self { path: path.to_owned(), file, parts })
    }

    /// Parts in the file.
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// Adds a part.
    pub fn write(&mut self, text: &str) -> Result<()> {
        let name = || format!("'{}'", self.path.display());
        let bytes = zstd::encode_all(text.as_bytes(), COMPRESSION).with_context(name)?;
        self.file.write_all(&bytes).with_context(name)?;
        self.parts += 1;
        Ok(())
    }
}
