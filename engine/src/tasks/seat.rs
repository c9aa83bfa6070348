//! The seats of searches, and the models that they share.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Context, Result};
use azimuth_search::inference::{ModelClient, ModelSource, Worker};
use azimuth_search::{
    DefaultWeights, Planner, PlannerKind, PlannerSettings, Resources, Tablebases,
};

use crate::map::{Map, MapWeights};
use crate::session::notice;
use crate::uci::Level;
use crate::{embedded_tables, embedded_weights};

/// Room for one search. It keeps the planner of its last task, so that the next search of the same
/// page finds its tables filled.
pub struct Seat {
    models: Arc<Models>,
    allowance: Allowance,
    /// With the role and the resources that it was built for.
    planner: Option<((Role, Resources), Box<dyn Planner>)>,
    /// The page whose searches filled the planner's tables.
    page: Option<u64>,
}

/// The resources of each search.
#[derive(Clone, Copy)]
pub struct Allowance {
    /// If it asks for none.
    pub usual: Resources,
    /// At most.
    pub most: Resources,
}

impl Allowance {
    /// The resources of a search that asks for `threads` and for tables of `hash` MB.
    pub fn grant(
        &self,
        threads: Option<NonZero<usize>>,
        hash: Option<NonZero<usize>>,
    ) -> Resources {
        let Self { usual, most } = self;
        Resources {
            hash_mb: hash.map_or(usual.hash_mb, |hash| hash.get().min(most.hash_mb)),
            threads: threads.map_or(usual.threads, |threads| threads.get().min(most.threads)),
        }
    }
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

impl Seat {
    /// A seat without a planner.
    pub fn new(models: Arc<Models>, allowance: Allowance) -> Self {
        Self { models, allowance, planner: None, page: None }
    }

    /// The models.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The resources of its searches.
    pub fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// The planner of a role with the usual resources; see [`Self::planner_with`].
    pub fn planner(&mut self, role: Role, page: u64) -> Result<&mut dyn Planner> {
        self.planner_with(role, self.allowance.usual, page)
    }

    /// The planner of a role with these resources, for a page. Its tables are empty unless the same
    /// page used it last. Fails if memory is missing.
    pub fn planner_with(
        &mut self,
        role: Role,
        resources: Resources,
        page: u64,
    ) -> Result<&mut dyn Planner> {
        let wanted = (role, resources);
        let known = self.planner.take().filter(|(known, _)| *known == wanted);
        let mut planner = match known {
            Some((_, planner)) => planner,
            None => self.build(role, resources)?,
        };
        if self.page.replace(page) != Some(page) {
            planner.new_game();
        }
        Ok(&mut *self.planner.insert((wanted, planner)).1)
    }

    /// Drops the planner: after a panic its state is unknown.
    pub fn forget(&mut self) {
        self.planner = None;
    }

    fn build(&self, role: Role, resources: Resources) -> Result<Box<dyn Planner>> {
        let usual = PlannerSettings::default();
        let limited = Resources { threads: Level::THREADS, ..resources };
        let (kind, settings, resources) = match role {
            Role::Analyst => (PlannerKind::Selective, usual, resources),
            Role::Beam => (PlannerKind::Beam, usual, resources),
            Role::Limited(kind) => (kind, Level::settings_of(kind, usual), limited),
        };
        let weights = settings.default_weights(kind);
        let tablebases = Some(self.models.tablebases.clone());
        let build = |worker: &Worker| settings.build(kind, worker, resources, tablebases);
        self.models.with_worker(weights, build)
    }
}

/// The models that all searches share.
pub struct Models {
    source: ModelSource,
    tablebases: Arc<Tablebases>,
    selective: Mutex<Worker>,
    /// Opened when a task needs it first.
    beam: Mutex<Option<Worker>>,
    /// Drawn when a task needs it first.
    map: OnceLock<Map>,
}

impl Models {
    /// Opens the model of the selective search, and the embedded tablebases with those in the
    /// folders `syzygy`. Fails if the weights cannot be read or no folder has a table.
    pub fn open(source: ModelSource, syzygy: Option<&str>) -> Result<Self> {
        let selective =
            Mutex::new(source.start(|| embedded_weights::read(DefaultWeights::Selective), notice)?);
        let tablebases = Arc::new(embedded_tables::open(syzygy, notice).context("--syzygy")?);
        Ok(Self { source, tablebases, selective, beam: Mutex::new(None), map: OnceLock::new() })
    }

    /// Calls `connect` with the worker of these weights, and opens the worker first if necessary.
    fn with_worker<T>(
        &self,
        weights: DefaultWeights,
        connect: impl FnOnce(&Worker) -> Result<T>,
    ) -> Result<T> {
        // A weights file that the user names takes the place of both.
        if weights == DefaultWeights::Selective || self.source.weights.is_some() {
            return connect(&lock(&self.selective));
        }
        let mut beam = lock(&self.beam);
        if beam.is_none() {
            *beam =
                Some(self.source.start(|| embedded_weights::read(DefaultWeights::Beam), notice)?);
        }
        connect(beam.as_ref().context("no model")?)
    }

    /// The tablebases.
    pub fn tablebases(&self) -> &Tablebases {
        &self.tablebases
    }

    /// Access to the model of these weights.
    pub fn model(&self, weights: DefaultWeights) -> Result<ModelClient> {
        self.with_worker(weights, Worker::model)
    }

    /// The map of the beam's weights. Fails if the model does.
    pub fn map(&self) -> Result<&Map> {
        if let Some(map) = self.map.get() {
            return Ok(map);
        }
        let map = Map::draw(&mut self.model(DefaultWeights::Beam)?)?;
        Ok(self.map.get_or_init(|| map))
    }

    /// The weights of the map.
    pub fn map_weights(&self) -> MapWeights {
        if self.source.weights.is_some() { MapWeights::User } else { MapWeights::Beam }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_gets_at_most_its_allowance() {
        let usual = Resources { hash_mb: 64, threads: 1 };
        let most = Resources { hash_mb: 512, threads: 6 };
        let granted = |threads, hash| {
            Allowance { usual, most }.grant(NonZero::new(threads), NonZero::new(hash))
        };
        assert_eq!(granted(0, 0), usual);
        assert_eq!(granted(7, usize::MAX), most);
        assert_eq!(granted(5, 16), Resources { hash_mb: 16, threads: 5 });
    }
}
