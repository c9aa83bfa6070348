//! `azimuth-train neighbours`: the positions in the data that are nearest to a given one.

use std::collections::HashSet;

use anyhow::Result;
use azimuth_chess::position::{Position, fen_of};
use azimuth_cli::print_line;
use azimuth_network::{Inputs, Perspective};
use clap::Args;
use cozy_chess::Color;

use super::positions::PositionsOptions;
use crate::data::packed::PackedPosition;

/// Find the positions in the data that are nearest to a given one by cosine, with their labels.
#[derive(Args)]
pub struct NeighboursOptions {
    /// The position, as FEN.
    fen: String,
    #[command(flatten)]
    positions: PositionsOptions,
    /// Number of neighbours.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

/// A position and the cosine of its embedding with that of the given position.
struct Neighbour {
    similarity: f32,
    /// Win probability of White, by the label and by the space.
    label: f32,
    predicted: f32,
    position: PackedPosition,
}

impl NeighboursOptions {
    /// Prints the neighbours, nearest first.
    pub fn run(&self) -> Result<()> {
        let asked = Position::from_fen(&self.fen)?;
        let mut positions = self.positions.open()?;
        let inputs = Inputs::of(positions.encoder.attributes().input, [asked.board()]);
        let here = positions.encoder.encode(&inputs)?;
        let (dim, count) = (positions.dim(), self.count as usize);
        let mut nearest: Vec<Neighbour> = Vec::new();
        positions.for_each_part(|weights, part, embeddings| {
            let perspective = weights.metadata.architecture.perspective();
            for (position, embedding) in part.iter().zip(embeddings.chunks_exact(dim)) {
                let similarity: f32 = here.iter().zip(embedding).map(|(a, b)| a * b).sum();
                let p = weights.calibration.win_probability(weights.axis.cosine(embedding));
                let predicted = match (perspective, position.side_to_move()) {
                    (Perspective::SideToMove, Color::Black) => 1.0 - p,
                    _ => p,
                };
                let label = position.win_probability(Perspective::White);
                nearest.push(Neighbour { similarity, label, predicted, position: *position });
            }
            keep_nearest(&mut nearest, count);
            Ok(())
        })?;
        print_line("cosine   label  space  position (win probabilities of White)")?;
        for Neighbour { similarity, label, predicted, position } in nearest {
            let fen = fen_of(&position.board()?);
            let [label, predicted] = [label, predicted].map(|p| 100.0 * p);
            print_line(format_args!("{similarity:.4}  {label:5.1}%  {predicted:4.1}%  {fen}"))?;
        }
        Ok(())
    }
}

/// Keeps the nearest `count` in order, without repeated positions.
fn keep_nearest(nearest: &mut Vec<Neighbour>, count: usize) {
    nearest.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    let mut seen = HashSet::new();
    nearest.retain(|Neighbour { position, .. }| {
        seen.len() < count && seen.insert((position.piece_bytes(), position.side_to_move()))
    });
}
