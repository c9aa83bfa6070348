//! A model alone: boards in, win probabilities out, in batches on one thread.

use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth::encoder::Scores;
use azimuth::model::Model;
use azimuth_network::Inputs;
use cozy_chess::Board;

/// Minimum duration of one measurement.
const TIME: Duration = Duration::from_millis(150);

/// A batch that takes longer than this is too large to measure.
const LONGEST: Duration = Duration::from_secs(8);

/// Positions per second, including the preparation of the inputs and the calibration of the scores.
/// A device has two batches in flight, as in play. `None` if one batch would take too long.
pub fn throughput(model: &mut Model, boards: &[Board], batch: usize) -> Result<Option<f64>> {
    // A part of the batch predicts the time of the whole batch.
    let mut trial = Batches { boards, batch: batch.div_ceil(16), next: 0 };
    let began = Instant::now();
    evaluate(model, trial.take())?;
    if began.elapsed() * 16 > LONGEST {
        return Ok(None);
    }
    measured(model, boards, batch).map(Some)
}

/// Positions per second, however long one batch takes.
pub fn measured(model: &mut Model, boards: &[Board], batch: usize) -> Result<f64> {
    let mut batches = Batches { boards, batch, next: 0 };
    evaluate(model, batches.take())?;
    let (began, mut positions) = (Instant::now(), 0);
    let mut last = begin(model, batches.take())?;
    while positions == 0 || began.elapsed() < TIME {
        let next = begin(model, batches.take())?;
        finish(model, std::mem::replace(&mut last, next))?;
        positions += batch;
    }
    finish(model, last)?;
    positions += batch;
    Ok(positions as f64 / began.elapsed().as_secs_f64())
}

fn evaluate<'a>(model: &mut Model, boards: impl Iterator<Item = &'a Board>) -> Result<()> {
    let scores = begin(model, boards)?;
    finish(model, scores)
}

fn begin<'a>(model: &mut Model, boards: impl Iterator<Item = &'a Board>) -> Result<Scores> {
    let inputs = Inputs::of(model.attributes().input, boards);
    Ok(model.begin(&inputs)?)
}

fn finish(model: &Model, scores: Scores) -> Result<()> {
    let (cosines, calibration) = (scores.wait()?, &model.space().calibration);
    let scores = cosines.iter().map(|&cosine| calibration.win_probability(cosine));
    // The scores are used, so that the compiler cannot remove the work.
    std::hint::black_box(scores.sum::<f32>());
    Ok(())
}

/// Cycles through the boards.
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
