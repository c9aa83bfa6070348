//! Positions to start from: FENs, one a line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

/// Reads the lines of all files; whether each is a FEN is seen when it is used.
pub fn read(paths: &[PathBuf]) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for path in paths {
        let name = || format!("FEN file '{}'", path.display());
        let file = File::open(path).with_context(name)?;
        let text: Box<dyn Read> = match path.extension() {
            Some(extension) if extension == "zst" => {
                Box::new(zstd::Decoder::new(file).with_context(name)?)
            }
            _ => Box::new(file),
        };
        for line in BufReader::new(text).lines() {
            let line = line.with_context(name)?;
            if !line.trim().is_empty() {
                lines.push(line);
            }
        }
    }
    ensure!(!lines.is_empty(), "--fens: no positions in the files");
    Ok(lines)
}
