//! Input of games: PGN files, plain or compressed, folders of them, or standard input.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Log2 of the largest window that a compressed file may ask for: 128 MB, as `zstd --long` makes it.
const WINDOW_LOG: u32 = 27;

/// The PGN files (`*.pgn`, `*.pgn.zst`) of a folder, sorted by name. A path that is not a folder is
/// returned as it is.
pub fn pgn_files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        let name = file.to_string_lossy().to_lowercase();
        if name.ends_with(".pgn") || name.ends_with(".pgn.zst") {
            files.push(file);
        }
    }
    ensure!(!files.is_empty(), "there is no *.pgn or *.pgn.zst in the folder");
    files.sort();
    Ok(files)
}

/// Opens a PGN file; `-` is standard input.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("'{}'", path.display()))?;
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zst")) {
        return Ok(Box::new(BufReader::new(file)));
    }
    let mut decoder = zstd::Decoder::new(file)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(Box::new(BufReader::new(decoder)))
}
