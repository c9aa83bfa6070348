//! Stockfish's networks: their static evaluation, also as an evaluator for Azimuth's search.

mod evaluate;
mod network;

pub use network::StockfishNetwork;
