//! Azimuth's search with a Stockfish network in the encoder's place. What it gives away beside Stockfish is the search's
//! doing; what it gives away less than the search with its own encoder is the encoder's.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use azimuth::embedded_weights::Embedded;
use azimuth::encoder::{Attributes, Encoder, Scores};
use azimuth::inference::Worker;
use azimuth_chess::tokens;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_client::StockfishNetwork;
use azimuth_network::axis::Axis;
use azimuth_network::calibration::Calibration;
use azimuth_network::{InputKind, Inputs, Perspective};

use crate::device::notice;

/// Positions a batch; the network takes one after the other.
const BATCH: usize = 256;

/// Scores positions by a network, as if by an encoder.
#[derive(Clone)]
struct NetworkEncoder {
    network: StockfishNetwork,
    embedding_dim: usize,
}

/// A worker that scores by the network at `path`.
pub fn start_network(path: &Path) -> Result<Worker> {
    let mut weights = Embedded::Selective.weights()?;
    // What stands for a cosine is twice the win probability, less one.
    weights.calibration = Calibration::new(vec![-1.0, 1.0], vec![0.0, 1.0])?;
    let encoder = NetworkEncoder {
        network: StockfishNetwork::read(path)?,
        embedding_dim: weights.axis.dim(),
    };
    Worker::with_encoder(Arc::new(weights), Box::new(encoder), true, Box::new(notice))
}

impl Encoder for NetworkEncoder {
    fn attributes(&self) -> Attributes {
        Attributes {
            input: InputKind::Tokens,
            perspective: Perspective::SideToMove,
            embedding_dim: self.embedding_dim,
            recommended_batch: BATCH,
            maximum_batch: BATCH,
            fixed_sizes: false,
        }
    }

    fn encode(&mut self, _inputs: &Inputs) -> Result<Vec<f32>> {
        bail!("a Stockfish network has no embeddings")
    }

    fn begin(&mut self, inputs: &Inputs, _axis: &Axis) -> Result<Scores> {
        let Inputs::Tokens(positions) = inputs else { bail!("a Stockfish network reads tokens") };
        let scores = positions.iter().map(|tokens| {
            let centipawns = self.network.evaluate(&tokens::placement(tokens));
            2.0 * win_probability_of_centipawns(centipawns.into()) as f32 - 1.0
        });
        Ok(Scores::Ready(scores.collect()))
    }

    fn for_caller(&self) -> Option<Box<dyn Encoder>> {
        Some(Box::new(self.clone()))
    }
}
