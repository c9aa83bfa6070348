//! The files of the page, embedded in the program.

use crate::pages::{PAGE_SCRIPT, PAGE_STYLE, PIECES_STYLE};

/// A file of the page.
pub struct Asset {
    /// Its MIME type.
    pub mime: &'static str,
    /// Its text.
    pub text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page itself.
pub const PAGE: Asset = Asset {
    mime: HTML,
    text: concat!(include_str!("../../web/head.html"), include_str!("../../web/body.html")),
};

/// The file with a name.
pub fn asset(name: &str) -> Option<Asset> {
    let (mime, text) = match name {
        "board.js" => (SCRIPT, PAGE_SCRIPT),
        "pieces.css" => (CSS, PIECES_STYLE),
        "board.css" => (CSS, PAGE_STYLE),
        _ => return None,
    };
    Some(Asset { mime, text })
}
