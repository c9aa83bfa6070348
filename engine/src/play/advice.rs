//! Advice for the player: a hint, and the reason why a move is good or bad.

use std::time::Duration;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use cozy_chess::Move;

use super::opponent::{open_session, time_limits};
use crate::explain::{Study, Task, numbered, reason};
use crate::search::{Control, PlannerKind, PlannerSettings, Report, StopSwitch};
use crate::session::Session;

/// An analyst that searches at full strength, whatever the opponent's strength.
pub struct Advisor {
    time: Duration,
    threads: usize,
    /// Loaded on first use.
    session: Option<Session>,
}

impl Advisor {
    /// An advisor that searches for `time` with `threads` threads.
    pub fn new(time: Duration, threads: usize) -> Self {
        Self { time, threads, session: None }
    }

    /// The best line in a position with a legal move.
    pub fn hint(&mut self, position: &Position) -> Result<Report> {
        let control = &mut Control::without_signals(time_limits(self.time));
        self.session()?.planner.search(position, control, &mut |_| ())
    }

    /// Explains whether the played move is the best one, or which move is better.
    pub fn why(&mut self, position: &Position, played: Move) -> Result<String> {
        let limits = time_limits(self.time);
        let root = position.clone();
        let (compared, stop) = (vec![played], StopSwitch::default());
        let task = Task { root, limits, compared, plies: 1, stop };
        let Session { planner, worker } = self.session()?;
        let study = Study::make(task, &mut **planner, &mut worker.model()?)?;
        let line = numbered(study.root.board(), &study.report.pv);
        Ok(format!("{}\nBest line: {line}", reason(&study)))
    }

    fn session(&mut self) -> Result<&mut Session> {
        if self.session.is_none() {
            let settings = PlannerSettings::default();
            self.session = Some(open_session(PlannerKind::Selective, &settings, self.threads)?);
        }
        self.session.as_mut().context("no planner")
    }
}
