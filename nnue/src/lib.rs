//! Stockfish's networks: their static evaluation, and the same as an evaluator for Azimuth's search.

mod evaluate;
mod network;

pub use network::StockfishNetwork;
