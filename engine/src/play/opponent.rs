//! The engine as an opponent.

use std::time::Duration;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use cozy_chess::Move;

use crate::inference::ModelSource;
use crate::search::{Control, Limits, PlannerKind, PlannerSettings, Resources, TimeLimit};
use crate::session::Session;
use crate::uci::Level;

/// Size of the score cache and transposition table together.
const HASH_MB: usize = 64;

/// Starts a planner with its default weights.
pub fn open_session(
    kind: PlannerKind,
    settings: &PlannerSettings,
    threads: usize,
) -> Result<Session> {
    let notice = |text: &str| eprintln!("azimuth: {text}");
    let resources = Resources { hash_mb: HASH_MB, threads };
    Session::new(kind, settings, &ModelSource::default(), resources, None, notice)
}

/// The engine that plays against the human.
pub struct Opponent {
    session: Session,
    limits: Limits,
    elo: Option<u32>,
}

impl Opponent {
    /// An opponent with a rating, or at full strength with `threads` threads and `time` per move.
    pub fn new(elo: Option<u32>, time: Duration, threads: usize) -> Result<Self> {
        let (mut limits, usual) = (time_limits(time), PlannerSettings::default());
        let (kind, settings, threads) = match elo.map(Level::of) {
            None => (PlannerKind::Selective, usual, threads),
            Some(level) => {
                level.limit(&mut limits, rand::random());
                (level.planner, level.settings(usual), Level::THREADS)
            }
        };
        Ok(Self { session: open_session(kind, &settings, threads)?, limits, elo })
    }

    /// `Azimuth`, with its rating if it is limited.
    pub fn name(&self) -> String {
        match self.elo {
            Some(elo) => format!("Azimuth ({elo})"),
            None => "Azimuth".to_owned(),
        }
    }

    /// Chooses a move in a position with a legal move. `limit`, from a clock, replaces the time per
    /// move.
    pub fn choose(&mut self, position: &Position, limit: Option<TimeLimit>) -> Result<Move> {
        let time = limit.or(self.limits.time);
        let control = &mut Control::without_signals(Limits { time, ..self.limits.clone() });
        let report = self.session.planner.search(position, control, &mut |_| ())?;
        report.pv.first().copied().context("the search found no move")
    }
}

/// The limits of a search that takes at most `time`.
pub fn time_limits(time: Duration) -> Limits {
    Limits { time: Some(TimeLimit { soft: time, hard: time }), ..Limits::default() }
}
