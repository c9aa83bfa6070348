//! Speed of the search: time per move by depth, number of scored positions, and idle time of the
//! encoder's thread. Throughput of the encoder alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use azimuth_search::encoder::Scores;
use azimuth_search::inference::Worker;
use azimuth_search::model::Model;
use azimuth_search::{
    Beam, BeamSettings, Control, Limits, Planner, PlannerSettings, Report, Resources,
};
use candle_core::{DType, Device};
use cozy_chess::Board;

use super::results::GameSpeed;
use crate::device::start_worker;

/// Score cache of the measured searches, in megabytes.
const CACHE: usize = 16;

/// The setting of the measured searches.
pub struct Setting<'a> {
    pub weights: &'a Arc<Weights>,
    pub device: &'a Device,
    pub dtype: DType,
    pub beam: BeamSettings,
}

/// The totals of one search from every root, run one after another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub time: Duration,
    pub looked_at: u64,
    pub scored: u64,
    /// Time that the encoder ran on a separate thread.
    pub busy: Duration,
    /// Time that the search waited for the encoder.
    pub waited: Duration,
}

/// Number of plies of the measured game.
const GAME_PLIES: usize = 60;

impl Setting<'_> {
    fn worker(&self) -> Result<Worker> {
        start_worker(self.weights.clone(), self.device, self.dtype)
    }

    fn planner(&self, worker: &Worker) -> Result<Beam> {
        let settings = PlannerSettings { beam: self.beam, ..PlannerSettings::default() };
        Beam::new(worker, &settings, Resources { hash_mb: CACHE, threads: 1 })
    }

    /// Searches every root with an empty cache.
    pub fn round(&self, roots: &[Position]) -> Result<Round> {
        let worker = self.worker()?;
        let mut beam = self.planner(&worker)?;
        let mut round = Round::default();
        for root in roots {
            beam.new_game();
            let (report, time) = search(&mut beam, root)?;
            round.time += time;
            round.looked_at += report.nodes;
            round.scored += report.scored;
            round.waited += report.waited;
        }
        round.busy = worker.busy();
        Ok(round)
    }

    /// Plays a game from the starting position; the cache is kept between moves.
    pub fn game(&self) -> Result<GameSpeed> {
        let worker = self.worker()?;
        let mut beam = self.planner(&worker)?;
        let mut position = Position::default();
        let (mut total, mut moves) = (Round::default(), 0);
        while moves < GAME_PLIES && position.has_legal_move() {
            let (report, time) = search(&mut beam, &position)?;
            position.play(*report.pv.first().context("the search found no move")?);
            total.time += time;
            total.looked_at += report.nodes;
            total.scored += report.scored;
            moves += 1;
        }
        let mean = |sum: u64| sum as f64 / moves as f64;
        Ok(GameSpeed {
            depth: self.beam.depth,
            moves,
            milliseconds: total.time.as_secs_f64() * 1e3 / moves as f64,
            looked_at: mean(total.looked_at),
            scored: mean(total.scored),
            hits: 1.0 - total.scored as f64 / total.looked_at as f64,
        })
    }
}

fn search(beam: &mut Beam, root: &Position) -> Result<(Report, Duration)> {
    let mut control = Control::without_signals(Limits::default());
    let began = Instant::now();
    let report = beam.search(root, &mut control, &mut |_| ())?;
    Ok((report, began.elapsed()))
}

/// A batch that takes longer than this is too large to measure.
const LONGEST_BATCH: Duration = Duration::from_secs(8);

/// Positions per second of the encoder, including the preparation of the inputs and the calibration
/// of the scores. A device has two batches in flight, as in play. `None` if one batch would take
/// too long.
pub fn encoder_throughput(
    model: &mut Model,
    boards: &[Board],
    batch: usize,
) -> Result<Option<f64>> {
    // A part of the batch predicts the time of the whole batch.
    let mut trial = Batches { boards, batch: batch.div_ceil(16), next: 0 };
    let began = Instant::now();
    evaluate(model, trial.take())?;
    if began.elapsed() * 16 > LONGEST_BATCH {
        return Ok(None);
    }
    measured_throughput(model, boards, batch).map(Some)
}

/// Minimum duration of one measurement of the encoder.
const ENCODER_TIME: Duration = Duration::from_millis(150);

/// Positions per second of the encoder, however long one batch takes.
pub fn measured_throughput(model: &mut Model, boards: &[Board], batch: usize) -> Result<f64> {
    let mut batches = Batches { boards, batch, next: 0 };
    evaluate(model, batches.take())?;
    let (began, mut positions) = (Instant::now(), 0);
    let mut last = begin(model, batches.take())?;
    while positions == 0 || began.elapsed() < ENCODER_TIME {
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
