//! Search speed: time per move by depth, number of scored positions, and idle time of the encoder's
//! thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use azimuth::inference::Worker;
use azimuth::search::{
    Beam, BeamSettings, Control, Limits, Planner, PlannerSettings, Report, Resources,
};
use azimuth_chess::position::Position;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};

use super::results::GameSpeed;
use crate::device::start_worker;

/// Score cache of the measured searches, in megabytes.
const CACHE: usize = 16;

/// Number of plies of the measured game.
const GAME_PLIES: usize = 60;

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

/// The setting of the measured searches.
pub struct Setting<'a> {
    pub weights: &'a Arc<Weights>,
    pub device: &'a Device,
    pub dtype: DType,
    pub beam: BeamSettings,
}

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
