//! `azimuth explain`: explains why the engine chose a move, as text, HTML or JSON.

mod chess_terms;
mod command;
mod html;
mod json;
mod reason;
mod study;
mod text;

pub use command::{ExplainCommand, Subject};
pub(crate) use html::numbered;
pub(crate) use json::{Document, ScoreJson, document, line, score};
pub(crate) use reason::{reason, worth};
pub(crate) use study::{Study, Task};
