//! `azimuth explain`: explains why the engine chose a move, as text, HTML or JSON.

mod chess_terms;
mod command;
mod figures;
mod html;
mod json;
mod quiet;
mod reason;
mod study;
mod subject;
mod text;

pub use command::ExplainCommand;
pub(crate) use figures::numbered;
pub(crate) use json::{Document, ScoreJson, document, line, score};
pub(crate) use reason::{reason, worth};
pub(crate) use study::{Study, Task};
pub use subject::Subject;
