//! Evaluates a position without a search.
//!
//!     cargo run --release -p azimuth-search --example evaluate -- "FEN"

use anyhow::Result;
use azimuth_chess::position::{Position, STARTPOS};
use azimuth_search::DefaultWeights;
use azimuth_search::inference::Worker;

fn main() -> Result<()> {
    let fen = std::env::args().nth(1).unwrap_or_else(|| STARTPOS.to_owned());
    let position = Position::from_fen(&fen)?;
    let board = position.board().clone();

    let worker = Worker::on_cpu(DefaultWeights::Beam.weights()?, |notice| eprintln!("{notice}"))?;
    let mut model = worker.model()?;
    let embedding = model.embeddings(std::slice::from_ref(&board))?;
    let cosine = model.cosines(std::slice::from_ref(&board))?[0];
    let win_probability = model.space().calibration.win_probability(cosine);

    println!("a unit vector of {} dimensions", embedding.len());
    println!("cosine with the advantage axis: {cosine:.4}");
    println!("win probability of the side to move: {:.1}%", 100.0 * win_probability);
    Ok(())
}
