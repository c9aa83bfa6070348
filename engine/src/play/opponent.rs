//! The engine as an opponent.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use cozy_chess::Move;

use crate::inference::{Backend, Precision, Worker};
use crate::search::{
    BeamSettings, BeamVerify, Control, Handicap, Limits, Planner, PlannerKind, PlannerSettings,
    Resources, TimeLimit,
};
use crate::uci::{LIMITED_DEPTH, noise_of_elo};

/// Of its caches and tables.
const RESOURCES: Resources = Resources { hash_mb: 64, threads: 1 };

/// A planner with what it runs on.
pub struct Loaded {
    pub weights: Arc<Weights>,
    pub device: Device,
    pub dtype: DType,
    pub planner: Box<dyn Planner>,
    /// Answers the planner.
    _worker: Worker,
}

impl Loaded {
    /// Loads a planner with its own weights.
    pub fn new(kind: PlannerKind, settings: &PlannerSettings) -> Result<Self> {
        let notice = |text: &str| eprintln!("azimuth: {text}");
        let weights = Arc::new(settings.embedded(kind).weights()?);
        let architecture = &weights.metadata.architecture;
        let (device, dtype) = Backend::Auto.open(Precision::Auto, architecture, notice)?;
        let worker = Worker::start(weights.clone(), &device, dtype, Box::new(notice))?;
        let planner = settings.build(kind, &worker, RESOURCES, None)?;
        Ok(Self { weights, device, dtype, planner, _worker: worker })
    }
}

/// Who plays against the human.
pub struct Opponent {
    loaded: Loaded,
    limits: Limits,
    elo: Option<u32>,
}

impl Opponent {
    /// An opponent of that rating, or one as strong as it can in `time` a move.
    pub fn new(elo: Option<u32>, time: Duration) -> Result<Self> {
        let usual = PlannerSettings::default();
        let limited = PlannerSettings {
            beam: BeamSettings { verify: BeamVerify::None, ..usual.beam },
            ..usual
        };
        let (kind, settings, limits) = match elo {
            None => (PlannerKind::Selective, usual, time_limits(time)),
            Some(elo) => {
                let handicap = Handicap { deviation: noise_of_elo(elo), seed: rand::random() };
                let depth = Some(LIMITED_DEPTH);
                let handicap = Some(handicap);
                (PlannerKind::Beam, limited, Limits { depth, handicap, ..time_limits(time) })
            }
        };
        Ok(Self { loaded: Loaded::new(kind, &settings)?, limits, elo })
    }

    /// `Azimuth`, with its rating where it is limited.
    pub fn name(&self) -> String {
        match self.elo {
            Some(elo) => format!("Azimuth ({elo})"),
            None => "Azimuth".to_owned(),
        }
    }

    /// Its move in a position that has one.
    pub fn choose(&mut self, position: &Position) -> Result<Move> {
        let control = &mut Control::without_signals(self.limits.clone());
        let report = self.loaded.planner.search(position, control, &mut |_| ())?;
        report.pv.first().copied().context("the search found no move")
    }
}

/// The limits of a search that takes `time`.
pub fn time_limits(time: Duration) -> Limits {
    Limits { time: Some(TimeLimit { soft: time, hard: time }), ..Limits::default() }
}
