//! The page of the board, which `serve` and `report` show.

/// Its style sheet.
pub const PAGE_STYLE: &str = include_str!("../web/board.css");

/// Its body.
pub const PAGE_BODY: &str = include_str!("../web/body.html");

/// Its script, with chessground in it.
pub const PAGE_SCRIPT: &str = include_str!("../web/dist/board.js");
