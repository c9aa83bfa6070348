//! `azimuth explain`: explains why the engine chose a move, as text, HTML or JSON.

mod chess_terms;
mod command;
mod json;
mod reason;
mod sentences;
mod study;
mod tactics;
mod text_and_html;

pub use chess_terms::{boards_along, numbered, side_name};
pub use command::{ExplainCommand, Subject};
pub use json::{Document, ScoreJson, document, line, score};
pub use reason::reason;
pub use sentences::{INACCURACY, expected_score, mistake, worth};
pub use study::{Study, Task};
