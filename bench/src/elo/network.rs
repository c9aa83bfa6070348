//! Azimuth's search with a Stockfish network in place of the encoder. Its difference in strength to
//! Stockfish is due to the search. Its difference to the search with Azimuth's encoder is due to
//! the encoder.

use std::path::Path;

use anyhow::Result;
use azimuth::inference::Worker;
use azimuth_nnue::StockfishNetwork;

use crate::device::notice;

/// A worker that evaluates with the network at `path`. Fails if the file cannot be read.
pub fn start_network(path: &Path) -> Result<Worker> {
    let network = StockfishNetwork::read(path)?;
    Ok(Worker::with_evaluator(move || network.clone(), notice))
}
