//! What others evaluate by: UCI engines in processes of their own ([`Engine`]), for matches against them, for labels and
//! verdicts by them, and Stockfish's networks without the engine ([`StockfishNetwork`]).

mod engine;
mod network;

pub use engine::{Engine, Line, PATIENCE, Score, number_after, score};
pub use network::StockfishNetwork;
