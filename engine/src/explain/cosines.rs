//! Cosines of positions with the axis.

use anyhow::Result;
use azimuth_network::axis::Axis;
use azimuth_network::{Inputs, Perspective};
use cozy_chess::{Board, Color};

use crate::encoder::Encoder;

/// Cosines with the axis, each for the side to move.
pub fn cosines(encoder: &mut dyn Encoder, axis: &Axis, boards: &[Board]) -> Result<Vec<f32>> {
    let attributes = encoder.attributes();
    let mut cosines = Vec::with_capacity(boards.len());
    for boards in boards.chunks(attributes.maximum_batch) {
        cosines.extend(encoder.begin(&Inputs::of(attributes.input, boards), axis)?.wait()?);
    }
    for (cosine, board) in cosines.iter_mut().zip(boards) {
        if attributes.perspective == Perspective::White && board.side_to_move() == Color::Black {
            *cosine = -*cosine;
        }
    }
    Ok(cosines)
}
