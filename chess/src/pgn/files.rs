//! Input of games: files, plain or compressed, folders of them, or standard input.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::text::printable;

/// Log2 of the largest window that a compressed file may request: 128 MB, as with `zstd --long`.
const WINDOW_LOG: u32 = 27;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 18;

/// The PGN files (`*.pgn`, `*.pgn.zst`) of a folder, sorted by name. A path that is not a folder is
/// returned as it is.
pub fn pgn_files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let name = || format!("'{}'", path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(path).with_context(name)? {
        let file = entry.with_context(name)?.path();
        let file_name = file.to_string_lossy().to_lowercase();
        if file_name.ends_with(".pgn") || file_name.ends_with(".pgn.zst") {
            files.push(file);
        }
    }
    ensure!(!files.is_empty(), "{}: there is no *.pgn or *.pgn.zst in the folder", name());
    files.sort();
    Ok(files)
}

/// Opens a text file, plain or compressed; `-` is standard input.
pub fn open_text(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, stdin())));
    }
    let name = || format!("'{}'", path.display());
    let file = File::open(path).with_context(name)?;
    decompressed(path, file).with_context(name)
}

/// The text in the bytes of the file `path`, decompressed if its name ends in `.zst`.
pub fn decompressed(
    path: &Path,
    bytes: impl Read + Send + 'static,
) -> io::Result<Box<dyn BufRead + Send>> {
    if !is_compressed(path) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, bytes)));
    }
    let mut decoder = zstd::Decoder::new(bytes)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)))
}

/// Whether a file's name ends in `.zst`.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zst"))
}

impl Fault {
    /// Whether the moves before it are legal.
    pub fn is_in_moves(&self) -> bool {
        matches!(
            self,
            Self::Move { .. } | Self::Word { .. } | Self::Null { .. } | Self::Unterminated { .. }
        )
    }
}

/// A game that cannot be read. The games after it can be read.
#[derive(Debug)]
pub struct BadGame {
    /// The game's number in the input, from 1.
    pub number: u64,
    /// Why it cannot be read.
    pub fault: Fault,
}

/// Why a game cannot be read.
#[derive(Debug)]
pub enum Fault {
    /// The `Variant` tag, in lower case, names a variant with other rules than chess.
    Variant(String),
    /// The `FEN` tag is not a legal position.
    Start(anyhow::Error),
    /// A move is not legal.
    Move {
        /// The half-move's number in its line, from 1.
        half_move: u32,
        /// The move as the file writes it.
        san: String,
        /// FEN of the position before it.
        fen: String,
    },
    /// A word is neither a move nor anything else that games contain.
    Word {
        /// The number of the half-move that it stands in place of, from 1.
        half_move: u32,
        /// The word.
        word: String,
    },
    /// A null move, in which a side passes.
    Null {
        /// The half-move's number in its line, from 1.
        half_move: u32,
    },
    /// The input ends in a comment.
    Unterminated {
        /// The number of the half-move after which the comment begins, from 1.
        half_move: u32,
    },
    /// The game exceeds a limit that no real game reaches, for example `1048576 moves`.
    TooLong(String),
    /// The [`GameBuilder`](super::GameBuilder) refused it.
    Refused(anyhow::Error),
}

impl fmt::Display for BadGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {}: {}", self.number, self.fault)
    }
}

impl std::error::Error for BadGame {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variant(variant) => {
                write!(f, "the variant '{}' is not chess", printable(variant))
            }
            Self::Start(error) | Self::Refused(error) => write!(f, "{error:#}"),
            Self::Move { half_move, san, fen } => {
                write!(
                    f,
                    "half-move {half_move}: move '{}' is not legal in '{fen}'",
                    printable(san)
                )
            }
            Self::Word { half_move, word } => {
                write!(f, "half-move {half_move}: '{}' is no move", printable(word))
            }
            Self::Null { half_move } => write!(f, "half-move {half_move}: a null move"),
            Self::Unterminated { half_move } => {
                write!(f, "half-move {half_move}: a comment has no end")
            }
            Self::TooLong(limit) => write!(f, "more than {limit} in one game"),
        }
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_plain_and_compressed() -> Result<()> {
        let text = "1. e4 *\n".repeat(1000);
        for (name, bytes) in [
            ("games.pgn", text.clone().into_bytes()),
            ("games.PGN.ZST", zstd::encode_all(text.as_bytes(), 3)?),
        ] {
            let mut read = String::new();
            decompressed(Path::new(name), io::Cursor::new(bytes))?.read_to_string(&mut read)?;
            assert_eq!(read, text, "{name}");
        }
        Ok(())
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = Path::new("/no/such/games.pgn");
        let error = open_text(missing).err().map(|error| format!("{error:#}"));
        assert!(error.is_some_and(|error| error.starts_with("'/no/such/games.pgn': ")));
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let error = pgn_files(&sources).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.ends_with("no *.pgn or *.pgn.zst in the folder")));
    }
}
