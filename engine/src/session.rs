//! The models and tablebases that searches share, and the planners that are built on them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZero;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result};
use azimuth_cli::say;
use azimuth_search::inference::{ModelClient, ModelSource, Worker};
use azimuth_search::{
    DefaultWeights, EmbeddedTables, Planner, PlannerKind, PlannerSettings, Resources, Tablebases,
};

use crate::embedded_weights;
use crate::limited_strength::Level;
use crate::map::{Map, MapWeights};

pub fn notice(text: &str) {
    say(format_args!("azimuth: {text}"));
}

/// The planner that a search needs.
#[derive(Clone, Copy, PartialEq)]
pub struct Plan {
    pub kind: PlannerKind,
    settings: PlannerSettings,
    /// The limited strength, if any. A planner that has played at another strength is not reused,
    /// because its tables hold other scores.
    level: Option<Level>,
}

impl Plan {
    pub fn of(kind: PlannerKind, settings: PlannerSettings) -> Self {
        Self { kind, settings, level: None }
    }

    /// Analyses as all commands do unless they are told otherwise.
    pub fn analyst() -> Self {
        Self::of(PlannerKind::Selective, PlannerSettings::default())
    }

    /// Plays at a limited strength, if there is one.
    pub fn player(level: Option<Level>) -> Self {
        level.map_or_else(Self::analyst, |level| Self::limited(level, PlannerSettings::default()))
    }

    /// The planner for a limited strength, with the other settings as set.
    pub fn limited(level: Level, settings: PlannerSettings) -> Self {
        let settings = Level::settings_of(level.planner, settings);
        Self { kind: level.planner, settings, level: Some(level) }
    }

    /// The embedded weights of the planner, used if no weights file is set.
    pub fn embedded(&self) -> DefaultWeights {
        self.settings.default_weights(self.kind)
    }
}

/// Both files of each table, with their names.
macro_rules! tables {
    ($($material:literal)*) => {
        &[$(
            (concat!($material, ".rtbw"), include_bytes!(concat!("../../syzygy/", $material, ".rtbw"))),
            (concat!($material, ".rtbz"), include_bytes!(concat!("../../syzygy/", $material, ".rtbz"))),
        )*]
    };
}

/// The Syzygy tables of three and four pieces, which are embedded in the program.
pub static TABLES: EmbeddedTables = tables![
    "KBBvK" "KBNvK" "KBPvK" "KBvK" "KBvKB" "KBvKN" "KBvKP" "KNNvK" "KNPvK" "KNvK" "KNvKN"
    "KNvKP" "KPPvK" "KPvK" "KPvKP" "KQBvK" "KQNvK" "KQPvK" "KQQvK" "KQRvK" "KQvK" "KQvKB"
    "KQvKN" "KQvKP" "KQvKQ" "KQvKR" "KRBvK" "KRNvK" "KRPvK" "KRRvK" "KRvK" "KRvKB" "KRvKN"
    "KRvKP" "KRvKR"
];

/// Opens the embedded tables and those in `folders`, a list separated as in `PATH`. `notice` shows
/// messages to the user. Fails if no folder has a table.
pub fn open_tablebases(
    folders: Option<&str>,
    notice: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Tablebases> {
    let tables = Tablebases::embedded(TABLES, notice);
    match folders {
        Some(folders) => tables.with_folders(folders),
        None => Ok(tables),
    }
}

/// The models and tablebases that all searches share.
pub struct Models {
    source: ModelSource,
    pub tablebases: Arc<Tablebases>,
    /// Inference workers, each started on first use: one for each set of embedded weights, or a
    /// single one under the key `None` if a weights file is set.
    workers: Mutex<BTreeMap<Option<DefaultWeights>, Worker>>,
    /// Shows messages about devices.
    notice: Arc<dyn Fn(&str) + Send + Sync>,
    /// Drawn when a task needs it first.
    map: OnceLock<Map>,
}

impl Models {
    /// Each model is loaded when it is first needed. `notice` shows messages about its device.
    pub fn new(
        source: ModelSource,
        tablebases: Arc<Tablebases>,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let (workers, notice) = (Mutex::default(), Arc::new(notice));
        Self { source, tablebases, workers, notice, map: OnceLock::new() }
    }

    /// Opens the embedded tablebases with those in the folders `syzygy`. Fails if no folder has a
    /// table.
    pub fn open(source: ModelSource, syzygy: Option<&str>) -> Result<Self> {
        let tablebases = open_tablebases(syzygy, notice).context("--syzygy")?;
        Ok(Self::new(source, Arc::new(tablebases), notice))
    }

    /// Calls `connect` with the worker of these embedded weights, or of the weights file that
    /// replaces them.
    pub fn with_worker<T>(
        &self,
        weights: DefaultWeights,
        connect: impl FnOnce(&Worker) -> Result<T>,
    ) -> Result<T> {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = match workers.entry(self.source.weights.is_none().then_some(weights)) {
            Entry::Occupied(worker) => worker.into_mut(),
            Entry::Vacant(place) => {
                let notice = self.notice.clone();
                let notice = move |text: &str| notice(text);
                place.insert(self.source.start(|| embedded_weights::read(weights), notice)?)
            }
        };
        connect(worker)
    }

    /// Builds a planner. Fails if its weights cannot be read, or if memory for its tables is
    /// missing.
    pub fn planner(&self, plan: Plan, resources: Resources) -> Result<Box<dyn Planner>> {
        self.planner_with(plan, resources, self.tablebases.clone())
    }

    /// As [`Self::planner`], with these tablebases.
    pub fn planner_with(
        &self,
        plan: Plan,
        resources: Resources,
        tablebases: Arc<Tablebases>,
    ) -> Result<Box<dyn Planner>> {
        let Plan { kind, settings, level } = plan;
        let threads = level.map_or(resources.threads, |_| Level::THREADS);
        let resources = Resources { threads, ..resources }.on_this_machine();
        let build = |worker: &Worker| settings.build(kind, worker, resources, Some(tablebases));
        self.with_worker(plan.embedded(), build)
    }

    /// Access to the model of these weights. Fails if the weights cannot be read.
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

    /// The weights that draw [`Self::map`].
    pub fn map_weights(&self) -> MapWeights {
        if self.source.weights.is_some() { MapWeights::User } else { MapWeights::Beam }
    }
}

/// Room for one search. It keeps the planner of its last task, so that the next search of the same
/// page finds its tables filled.
pub struct Seat {
    pub models: Arc<Models>,
    pub allowance: Allowance,
    /// With the plan and the resources that it was built for.
    planner: Option<((Plan, Resources), Box<dyn Planner>)>,
    /// The number of the page that has the seat; 0 if there is only one.
    pub page: u64,
    /// The seed of the last game that was played on the seat.
    pub game: Option<u32>,
    /// The page and the game whose searches filled the planner's tables.
    filled_by: (u64, Option<u32>),
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

impl Seat {
    pub fn new(models: Arc<Models>, allowance: Allowance) -> Self {
        Self { models, allowance, planner: None, page: 0, game: None, filled_by: (0, None) }
    }

    /// The planner of a plan with the usual resources; see [`Self::planner_with`].
    pub fn planner(&mut self, plan: Plan) -> Result<&mut dyn Planner> {
        self.planner_with(plan, self.allowance.usual)
    }

    /// The planner of a plan with these resources. Its tables are empty unless the same page used
    /// it last, in the same game. Fails if the weights cannot be read or memory is missing.
    pub fn planner_with(&mut self, plan: Plan, resources: Resources) -> Result<&mut dyn Planner> {
        let wanted = (plan, resources);
        let mut planner = match self.planner.take().filter(|(known, _)| *known == wanted) {
            Some((_, planner)) => planner,
            None => self.models.planner(plan, resources)?,
        };
        let user = (self.page, self.game);
        if self.filled_by != user {
            planner.new_game();
            self.filled_by = user;
        }
        Ok(&mut *self.planner.insert((wanted, planner)).1)
    }

    /// Drops the planner: after a panic its state is unknown.
    pub fn forget(&mut self) {
        self.planner = None;
    }
}

#[cfg(test)]
mod tests {
    use azimuth_search::inference::Backend;
    use cozy_chess::{Board, BoardBuilder, Color, Piece, Square};

    use super::*;

    #[test]
    fn a_weights_file_takes_the_place_of_all_embedded_ones() -> Result<()> {
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights/mini.safetensors");
        for (weights, workers_expected) in [(None, 2), (Some(mini.into()), 1)] {
            let source = ModelSource { weights, backend: Backend::Cpu, ..ModelSource::default() };
            let models = Models::open(source, None)?;
            for which in [DefaultWeights::Beam, DefaultWeights::Selective, DefaultWeights::Beam] {
                models.model(which)?;
            }
            let workers = models.workers.lock().unwrap_or_else(PoisonError::into_inner);
            assert_eq!(workers.len(), workers_expected);
        }
        Ok(())
    }

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

    /// A position with this material in which White can move and no side is in check.
    fn position(material: &str) -> Option<Board> {
        let (white, black) = material.split_once('v')?;
        let mut builder = BoardBuilder::empty();
        for (color, names, squares) in [
            (Color::White, white, [Square::A1, Square::B3, Square::C3]),
            (Color::Black, black, [Square::H6, Square::E7, Square::D7]),
        ] {
            for (name, square) in names.chars().zip(squares) {
                let piece: Piece = name.to_ascii_lowercase().try_into().ok()?;
                *builder.square_mut(square) = Some((piece, color));
            }
        }
        builder.build().ok()
    }

    #[test]
    fn every_material_of_up_to_four_pieces_is_known() -> Result<()> {
        let tables = Tablebases::embedded(TABLES, |problem: &str| panic!("{problem}"));
        assert_eq!((tables.max_pieces(), TABLES.len()), (4, 70));
        for (name, _) in TABLES {
            let material = name.split('.').next().context("a name")?;
            let board = position(material).with_context(|| material.to_owned())?;
            assert!(tables.distance_to_zeroing(&board).is_some(), "{name}: {board}");
        }
        Ok(())
    }
}
