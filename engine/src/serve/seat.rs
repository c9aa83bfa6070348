//! A seat: room for one search. It keeps the planner of its last task, so that the next search of
//! the same page finds its tables filled.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Context, Result};

use crate::embedded_weights::EmbeddedWeights;
use crate::inference::{ModelClient, ModelSource, Worker};
use crate::map::{Map, MapWeights};
use crate::search::{Planner, PlannerKind, PlannerSettings, Resources};
use crate::uci::Level;

/// The models that all searches share.
pub struct Models {
    source: ModelSource,
    selective: Mutex<Worker>,
    /// Opened when a task needs it first.
    beam: Mutex<Option<Worker>>,
    /// Drawn when a task needs it first.
    map: OnceLock<Map>,
}

/// The planner that a task needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// Analyses at full strength, with all threads of a search.
    Analyst,
    /// The beam, as `explain` uses it.
    Beam,
    /// Plays with limited strength.
    Limited(PlannerKind),
}

/// Room for one search.
pub struct Seat {
    models: Arc<Models>,
    resources: Resources,
    planner: Option<(Role, Box<dyn Planner>)>,
    /// The page whose searches filled the planner's tables.
    page: Option<u64>,
}

impl Models {
    /// Opens the model of the selective search. Fails if the weights cannot be read.
    pub fn open(source: ModelSource) -> Result<Self> {
        let selective = Mutex::new(source.start(EmbeddedWeights::Selective, notice)?);
        Ok(Self { source, selective, beam: Mutex::new(None), map: OnceLock::new() })
    }

    /// Calls `connect` with the worker of these weights, and opens the worker first if necessary.
    fn with_worker<T>(
        &self,
        weights: EmbeddedWeights,
        connect: impl FnOnce(&Worker) -> Result<T>,
    ) -> Result<T> {
        // A weights file that the user names takes the place of both.
        if weights == EmbeddedWeights::Selective || self.source.weights.is_some() {
            return connect(&lock(&self.selective));
        }
        let mut beam = lock(&self.beam);
        if beam.is_none() {
            *beam = Some(self.source.start(EmbeddedWeights::Beam, notice)?);
        }
        connect(beam.as_ref().context("no model")?)
    }

    /// Access to the model of these weights.
    pub fn model(&self, weights: EmbeddedWeights) -> Result<ModelClient> {
        self.with_worker(weights, Worker::model)
    }

    /// The map of the beam's weights. Fails if the model does.
    pub fn map(&self) -> Result<&Map> {
        if let Some(map) = self.map.get() {
            return Ok(map);
        }
        let map = Map::draw(&mut self.model(EmbeddedWeights::Beam)?)?;
        Ok(self.map.get_or_init(|| map))
    }

    /// The weights of the map.
    pub fn map_weights(&self) -> MapWeights {
        if self.source.weights.is_some() { MapWeights::User } else { MapWeights::Beam }
    }
}

impl Seat {
    /// A seat without a planner.
    pub fn new(models: Arc<Models>, resources: Resources) -> Self {
        Self { models, resources, planner: None, page: None }
    }

    /// The models.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The planner of a role, for a page. Its tables are empty unless the same page used it last.
    /// Fails if memory is missing.
    pub fn planner(&mut self, role: Role, page: u64) -> Result<&mut dyn Planner> {
        let known = self.planner.take().filter(|(known, _)| *known == role);
        let mut planner = match known {
            Some((_, planner)) => planner,
            None => self.build(role)?,
        };
        if self.page.replace(page) != Some(page) {
            planner.new_game();
        }
        Ok(&mut *self.planner.insert((role, planner)).1)
    }

    /// Drops the planner: after a panic its state is unknown.
    pub fn forget(&mut self) {
        self.planner = None;
    }

    fn build(&self, role: Role) -> Result<Box<dyn Planner>> {
        let usual = PlannerSettings::default();
        let limited = Resources { threads: Level::THREADS, ..self.resources };
        let (kind, settings, resources) = match role {
            Role::Analyst => (PlannerKind::Selective, usual, self.resources),
            Role::Beam => (PlannerKind::Beam, usual, self.resources),
            Role::Limited(kind) => (kind, Level::settings_of(kind, usual), limited),
        };
        let weights = settings.embedded(kind);
        self.models.with_worker(weights, |worker| settings.build(kind, worker, resources, None))
    }
}

fn notice(text: &str) {
    eprintln!("azimuth: {text}");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
