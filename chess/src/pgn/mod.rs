//! Games in PGN, read one at a time from any [`Read`](std::io::Read), with bounded memory, and
//! written by [`Writer`].
//!
//! [`Reader`] plays the moves, so that users get legal moves and boards instead of text. It reads
//! moves in every [notation](crate::notation). Any other word ends the game with a fault that names
//! the game and the word; the reader continues with the next game.
//!
//! ```
//! use azimuth_chess::pgn::{Game, Outcome, Reader};
//!
//! let text = "[White \"Gioachino Greco\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 {?} Qh4# 0-1\n\n\
//!             1. e4 e5 2. Ke3 *\n";
//! let mut reader = Reader::new(text.as_bytes());
//!
//! let game = reader.read_game::<Game>()?.expect("a first game")?;
//! assert_eq!(game.tags.get("White"), Some("Gioachino Greco"));
//! assert_eq!(game.result(), Some(Outcome::BlackWins));
//! assert_eq!(game.moves.len(), 4);
//! assert_eq!(game.moves[2].comments, ["?"]);
//!
//! let bad = reader.read_game::<Game>()?.expect("a second game")?;
//! assert_eq!(bad.moves.len(), 2);
//! let fault = bad.fault.expect("an illegal move").to_string();
//! assert!(fault.starts_with("game 2: half-move 3: move 'Ke3' is not legal in"), "{fault}");
//! assert!(reader.read_game::<Game>()?.is_none());
//! # Ok::<(), anyhow::Error>(())
//! ```

mod files;
mod game;
mod lexer;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use files::{decompressed, is_compressed, lines_of, open_text, pgn_files, read_text, unpacked};
pub use game::{BadGame, Fault, Game, GameBuilder, GameMove, GameNode, Line, Outcome, Tags};
pub use lexer::decode;
pub use reader::{MOST_MOVES, Reader};
pub use writer::Writer;
