//! The engine as an opponent.

use std::time::Duration;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use cozy_chess::Move;

use crate::inference::ModelSource;
use crate::search::{Control, Limits, PlannerKind, PlannerSettings, Resources, TimeLimit};
use crate::session::Session;
use crate::uci::Level;

/// Of its caches and tables.
const RESOURCES: Resources = Resources { hash_mb: 64, threads: 1 };

/// A planner with its own weights.
pub fn open_session(kind: PlannerKind, settings: &PlannerSettings) -> Result<Session> {
    let notice = |text: &str| eprintln!("azimuth: {text}");
    Session::new(kind, settings, &ModelSource::default(), RESOURCES, None, notice)
}

/// The engine that plays against the human.
pub struct Opponent {
    session: Session,
    limits: Limits,
    elo: Option<u32>,
}

impl Opponent {
    /// An opponent of that rating, or one as strong as it can in `time` a move.
    pub fn new(elo: Option<u32>, time: Duration) -> Result<Self> {
        let (mut limits, usual) = (time_limits(time), PlannerSettings::default());
        let (kind, settings) = match elo.map(Level::of) {
            None => (PlannerKind::Selective, usual),
            Some(level) => {
                level.limit(&mut limits, rand::random());
                (level.planner, level.settings(usual))
            }
        };
        Ok(Self { session: open_session(kind, &settings)?, limits, elo })
    }

    /// `Azimuth`, with its rating if it is limited.
    pub fn name(&self) -> String {
        match self.elo {
            Some(elo) => format!("Azimuth ({elo})"),
            None => "Azimuth".to_owned(),
        }
    }

    /// Its move in a position that has one.
    pub fn choose(&mut self, position: &Position) -> Result<Move> {
        let control = &mut Control::without_signals(self.limits.clone());
        let report = self.session.planner.search(position, control, &mut |_| ())?;
        report.pv.first().copied().context("the search found no move")
    }
}

/// The limits of a search that takes at most `time`.
pub fn time_limits(time: Duration) -> Limits {
    Limits { time: Some(TimeLimit { soft: time, hard: time }), ..Limits::default() }
}
