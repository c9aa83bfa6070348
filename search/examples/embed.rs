//! Evaluates and embeds positions without a search: reads FENs from standard input, one per line,
//! and writes the win probability of the side to move and the embedding of each as CSV.
//!
//!     cargo run --release -p azimuth-search --example embed < positions.txt > embeddings.csv

use std::io::{self, BufWriter, Write};
use std::iter::once;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_search::DefaultWeights;
use azimuth_search::inference::Worker;

/// Number of positions that are embedded together.
const BATCH: usize = 256;

fn main() -> Result<()> {
    let worker = Worker::on_cpu(DefaultWeights::Beam.weights()?, |notice| eprintln!("{notice}"))?;
    let mut model = worker.model()?;
    let space = model.space().clone();
    let mut boards = Vec::new();
    for (number, line) in (1..).zip(io::stdin().lines()) {
        let position =
            Position::from_fen(line?.trim()).with_context(|| format!("line {number}"))?;
        boards.push(position.board().clone());
    }
    let mut output = BufWriter::new(io::stdout().lock());
    for batch in boards.chunks(BATCH) {
        let (cosines, embeddings) = (model.cosines(batch)?, model.embeddings(batch)?);
        for (cosine, embedding) in cosines.into_iter().zip(embeddings.chunks(space.axis.dim())) {
            let p = space.calibration.win_probability(cosine);
            let numbers: Vec<String> = once(&p).chain(embedding).map(f32::to_string).collect();
            writeln!(output, "{}", numbers.join(","))?;
        }
    }
    Ok(output.flush()?)
}
