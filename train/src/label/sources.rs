//! Starting positions: FENs or EPD, one a line.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::decompressed;
use azimuth_chess::position::Position;
use azimuth_network::hex::hex;
use sha2::{Digest, Sha256};

use crate::data::read::lines::Lines;

/// The positions at which walks start.
pub struct Starts {
    /// FENs of legal positions.
    pub fens: Vec<String>,
    /// SHA-256 of the lines.
    pub sha256: String,
}

impl Starts {
    /// Reads the lines of all files. Fails, with the file and the line, if one is not a position.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let (mut fens, mut hash) = (Vec::new(), Sha256::new());
        each_start(paths, |line, fen, _| {
            hash.update(line.as_bytes());
            hash.update(b"\n");
            fens.push(fen);
        })?;
        Ok(Self { fens, sha256: hex(&hash.finalize()) })
    }
}

/// Calls `visit` with every line that is not empty, its FEN and its position. Fails, with the file
/// and the line, if one is not a position, and if there are files but no positions.
pub fn each_start(paths: &[PathBuf], mut visit: impl FnMut(&str, String, Position)) -> Result<()> {
    let mut found = paths.is_empty();
    for path in paths {
        let name = || format!("FEN file '{}'", path.display());
        let file = File::open(path).with_context(name)?;
        let mut lines = Lines::new(decompressed(path, file).with_context(name)?);
        loop {
            let number = lines.number() + 1;
            let Some(line) = lines.next().with_context(name)? else { break };
            if !line.is_empty() {
                let fen = fen_of(line);
                let position = Position::from_fen(&fen);
                let position = position.with_context(|| format!("{}: line {number}", name()))?;
                visit(line, fen, position);
                found = true;
            }
        }
    }
    let names = || paths.iter().map(|path| format!("'{}'", path.display())).collect::<Vec<_>>();
    ensure!(found, "no positions in {}", names().join(", "));
    Ok(())
}

/// The FEN at the beginning of a line of EPD, with its move counters if there are any.
fn fen_of(line: &str) -> String {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let counters = fields.iter().skip(4).take(2);
    let counts =
        counters.take_while(|field| field.bytes().all(|byte| byte.is_ascii_digit())).count();
    fields[..fields.len().min(4 + counts)].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_books_are_positions() {
        let four = "8/5k2/8/8/3R4/8/4K3/8 b - -";
        for (line, fen) in [
            (format!("{four} 3 40"), format!("{four} 3 40")),
            (format!("{four} hmvc 3; fmvn 40;"), four.to_owned()),
            (format!("{four} bm Kd7; id \"a\";"), four.to_owned()),
            (four.to_owned(), four.to_owned()),
        ] {
            assert_eq!(fen_of(&line), fen);
        }
    }
}
