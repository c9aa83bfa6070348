//! Azimuth's search with a Stockfish network in the encoder's place. The loss that remains beside
//! Stockfish is due to the search; the difference to the search with its own encoder, to the encoder.

use std::path::Path;

use anyhow::Result;
use azimuth::inference::Worker;
use azimuth_nnue::StockfishNetwork;

use crate::device::notice;

/// A worker that evaluates by the network at `path`. Fails where it cannot be read.
pub fn start_network(path: &Path) -> Result<Worker> {
    let network = StockfishNetwork::read(path)?;
    Ok(Worker::with_evaluator(move || network.clone(), notice))
}
