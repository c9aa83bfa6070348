//! Stockfish's networks: their static evaluation, alone or as the evaluator of Azimuth's search.

mod evaluate;
mod network;

pub use network::StockfishNetwork;
