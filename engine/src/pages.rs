//! What all pages share: chessground's board, the style, and a policy by which nothing runs or is fetched but what the page
//! brings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The style of every page, light and dark, with the board's.
pub const STYLE: &str =
    concat!(include_str!("../pages/vendor/chessground.css"), include_str!("../pages/style.css"));

/// The board: defines `chessground.Chessground`.
pub const BOARD_SCRIPT: &str = include_str!("../pages/vendor/chessground.js");

/// Whose the board is.
pub const BOARD_CREDIT: &str = "Board: chessground, by lichess; pieces: cburnett.";

/// A content security policy that lets `script`, to its last character, run and nothing else, whatever games' tags and
/// comments say, and lets nothing be fetched or sent.
pub fn policy(script: &str) -> String {
    let digest = STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; \
         script-src 'sha256-{digest}'"
    )
}
