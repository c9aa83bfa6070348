//! Stockfish's networks: their static evaluation, and the same as an evaluator for Azimuth's search.

mod evaluate;
mod network;

pub use evaluate::NetworkEvaluate;
pub use network::StockfishNetwork;
