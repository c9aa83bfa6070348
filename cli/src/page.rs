//! The parts that HTML pages share: a board, a style, and a content security policy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The style sheet of chessground's board and pieces.
pub const PIECES_STYLE: &str = include_str!("../vendor/chessground.css");

/// A style sheet for light and dark mode, with the board's.
pub const STYLE: &str =
    concat!(include_str!("../vendor/chessground.css"), include_str!("../style.css"));

/// The board's script, which defines `chessground.Chessground`.
pub const BOARD_SCRIPT: &str = include_str!("../vendor/chessground.js");

/// The authors of the board and the pieces.
pub const BOARD_CREDIT: &str = "Board: chessground, by lichess; pieces: cburnett.";

/// A content security policy that allows exactly `script` to run, whatever the games' tags and
/// comments contain, and allows no requests.
pub fn policy(script: &str) -> String {
    let digest = STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; \
         script-src 'sha256-{digest}'"
    )
}
