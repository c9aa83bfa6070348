//! Speed of the search: time per move by depth, and number of scored positions. Throughput of the
//! encoder alone.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_network::Inputs;
use azimuth_search::encoder::Scores;
use azimuth_search::model::Model;
use azimuth_search::{Beam, Control, Limits, Planner, Report};
use cozy_chess::Board;

use super::GameSpeed;

/// The totals of one search from every root, run one after another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub time: Duration,
    pub looked_at: u64,
    pub scored: u64,
}

impl Round {
    fn add(&mut self, report: &Report, time: Duration) {
        self.time += time;
        self.looked_at += report.nodes;
        self.scored += report.scored;
    }
}

const GAME_PLIES: usize = 60;

/// Searches every root with an empty cache.
pub fn round(beam: &mut Beam, roots: &[Position]) -> Result<Round> {
    let mut round = Round::default();
    for root in roots {
        beam.new_game();
        let (report, time) = search(beam, root)?;
        round.add(&report, time);
    }
    Ok(round)
}

/// Plays a game from the starting position; the cache is kept between moves.
pub fn game(beam: &mut Beam, depth: u32) -> Result<GameSpeed> {
    let mut position = Position::default();
    let (mut total, mut moves) = (Round::default(), 0);
    while moves < GAME_PLIES && position.has_legal_move() {
        let (report, time) = search(beam, &position)?;
        position.play(*report.pv.first().context("the search found no move")?);
        total.add(&report, time);
        moves += 1;
    }
    Ok(GameSpeed {
        depth,
        milliseconds: total.time.as_secs_f64() * 1e3 / moves as f64,
        scored: total.scored as f64 / moves as f64,
        hits: 1.0 - total.scored as f64 / total.looked_at as f64,
    })
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
    let began = Instant::now();
    evaluate(model, boards.iter().cycle().take(batch.div_ceil(16)))?;
    if began.elapsed() * 16 > LONGEST_BATCH {
        return Ok(None);
    }
    measured_throughput(model, boards, batch).map(Some)
}

const ENCODER_TIME: Duration = Duration::from_millis(150);

/// Positions per second of the encoder, however long one batch takes.
pub fn measured_throughput(model: &mut Model, boards: &[Board], batch: usize) -> Result<f64> {
    let mut boards = boards.iter().cycle();
    evaluate(model, boards.by_ref().take(batch))?;
    let (began, mut positions) = (Instant::now(), 0);
    let mut last = begin(model, boards.by_ref().take(batch))?;
    while positions == 0 || began.elapsed() < ENCODER_TIME {
        let next = begin(model, boards.by_ref().take(batch))?;
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
