//! An encoder alone: boards in, scores out, in batches on one thread.

use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth::encoder::{Encoder, Scores};
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use cozy_chess::Board;

/// Least time of one measurement.
const TIME: Duration = Duration::from_millis(150);

/// A batch that takes longer than this is too large to measure.
const LONGEST: Duration = Duration::from_secs(8);

/// Positions a second, preparation of the inputs and calibration of the scores included; a device has two
/// batches at a time, as in play. `None` where one batch would take too long.
pub fn throughput(
    encoder: &mut dyn Encoder,
    weights: &Weights,
    boards: &[Board],
    batch: usize,
) -> Result<Option<f64>> {
    // A part of the batch tells how long all of it will take.
    let mut trial = Batches { boards, batch: batch.div_ceil(16), next: 0 };
    let began = Instant::now();
    finish(begin(encoder, weights, trial.take())?, weights)?;
    if began.elapsed() * 16 > LONGEST {
        return Ok(None);
    }
    measured(encoder, weights, boards, batch).map(Some)
}

/// Positions a second, however long one batch takes.
pub fn measured(
    encoder: &mut dyn Encoder,
    weights: &Weights,
    boards: &[Board],
    batch: usize,
) -> Result<f64> {
    let mut batches = Batches { boards, batch, next: 0 };
    finish(begin(encoder, weights, batches.take())?, weights)?;
    let (began, mut positions) = (Instant::now(), 0);
    let mut last = begin(encoder, weights, batches.take())?;
    while positions == 0 || began.elapsed() < TIME {
        let next = begin(encoder, weights, batches.take())?;
        finish(std::mem::replace(&mut last, next), weights)?;
        positions += batch;
    }
    finish(last, weights)?;
    positions += batch;
    Ok(positions as f64 / began.elapsed().as_secs_f64())
}

fn begin<'a>(
    encoder: &mut dyn Encoder,
    weights: &Weights,
    boards: impl Iterator<Item = &'a Board>,
) -> Result<Scores> {
    let inputs = Inputs::of(encoder.attributes().input, boards);
    encoder.begin(&inputs, &weights.axis)
}

fn finish(scores: Scores, weights: &Weights) -> Result<()> {
    let cosines = scores.wait()?;
    let scores = cosines.iter().map(|&cosine| weights.calibration.win_probability(cosine));
    // The scores are used, so that none of the work can be left out.
    std::hint::black_box(scores.sum::<f32>());
    Ok(())
}

/// Goes round and round the boards.
struct Batches<'a> {
    boards: &'a [Board],
    batch: usize,
    next: usize,
}

impl<'a> Batches<'a> {
    fn take(&mut self) -> impl Iterator<Item = &'a Board> + use<'a> {
        let (boards, first) = (self.boards, self.next);
        self.next = (first + self.batch) % boards.len();
        (first..first + self.batch).map(move |i| &boards[i % boards.len()])
    }
}
