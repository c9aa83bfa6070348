//! The command line of `azimuth explain`.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_chess::san::parse_move;
use azimuth_network::replace_file::check_output;
use clap::Args;

use super::study::{Study, Task};
use super::subject::Subject;
use super::{html, json, text};
use crate::inference::{Backend, ModelSource};
use crate::search::{
    BeamSettings, BeamVerify, Limits, PlannerKind, PlannerSettings, Resources, Tablebases,
    TimeLimit,
};
use crate::session::Session;

/// Thinking time where no limit is given.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Why a move was chosen: every legal move's cosine, win probability and rank before the search and after it, the quiet
/// position that verifies it, the best line, the tree, and in a few sentences the reason.
#[derive(Args)]
pub struct ExplainCommand {
    #[command(flatten)]
    subject: Subject,
    /// Moves to compare with the one that is chosen, with commas between: Nf3,g1f3
    #[arg(long, value_delimiter = ',')]
    moves: Vec<String>,
    /// Plies.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: Option<u32>,
    /// Positions looked at.
    #[arg(long)]
    nodes: Option<u64>,
    /// Time for the search: 500ms, 10s; one second where no limit is given. Moves that are compared are then searched as
    /// deep, each on its own.
    #[arg(long, value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// Who plans; where not given, as in UCI: the beam to a --depth of up to 6, else the selective search.
    #[arg(long, value_enum)]
    planner: Option<PlannerKind>,
    /// How the beam verifies a child before it keeps or drops it: none (the paper as written: the child's own embedding
    /// scores it), quiescence, or 1 to 4 (plies that an alpha-beta search goes beyond the beam's last, with quiescence
    /// search behind them).
    #[arg(long, value_enum, default_value_t = BeamSettings::default().verify)]
    verify: BeamVerify,
    /// Plies of the tree that are shown.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=6))]
    tree: u32,
    /// The weights file; the planner's own where not given.
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Folders of Syzygy tables, separated as in PATH.
    #[arg(long)]
    syzygy: Option<String>,
    /// Score cache and transposition table together, MB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Where the encoder runs.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    device: Backend,
    /// One JSON object (docs/explain.md) instead of text.
    #[arg(long)]
    json: bool,
    /// A page, which needs nothing else, instead of text: the file to write.
    #[arg(long, conflicts_with = "json")]
    html: Option<PathBuf>,
}

impl ExplainCommand {
    /// Searches, and writes the explanation to `output`. Fails with one line where the position, a move or a file is
    /// wrong.
    pub fn run(&self, mut output: impl Write) -> Result<()> {
        let (root, chess960) = self.subject.position()?;
        ensure!(
            root.has_legal_move(),
            "'{}': there is no legal move to explain, {}",
            root.fen(chess960),
            if root.board().checkers().is_empty() { "stalemate" } else { "checkmate" }
        );
        let compared = self.moves.iter().map(|text| parse_move(&root, text.trim()));
        let compared = compared.collect::<Result<Vec<_>>>().context("--moves")?;
        let limits = self.limits();
        if let Some(path) = &self.html {
            check_output(path, self.subject.file().as_slice())?;
        }
        let notice = |text: &str| eprintln!("azimuth: {text}");
        let beam = BeamSettings { verify: self.verify, ..BeamSettings::default() };
        let settings = PlannerSettings { beam, ..PlannerSettings::default() };
        let kind = self.planner.unwrap_or(match settings.is_for_the_beam(&limits) {
            true => PlannerKind::Beam,
            false => PlannerKind::Selective,
        });
        let open = |folders: &String| Tablebases::open(folders, Box::new(notice)).map(Arc::new);
        let tablebases = self.syzygy.as_ref().map(open).transpose().context("--syzygy")?;
        let resources = Resources { hash_mb: self.hash as usize, threads: 1 };
        let source = ModelSource {
            weights: self.weights.clone(),
            backend: self.device,
            ..ModelSource::default()
        };
        let Session { mut planner, worker } =
            Session::new(kind, &settings, &source, resources, tablebases, notice)?;
        let task = Task { root, limits, compared, plies: self.tree };
        let study = Study::make(task, &mut *planner, &mut worker.model()?)?;
        if let Some(early_end) = &study.early_end {
            notice(early_end);
        }
        match &self.html {
            Some(path) => html::write(&study, kind, chess960, path),
            None if self.json => json::write(&study, kind, chess960, &mut output),
            None => text::write(&study, kind, chess960, &mut output),
        }
    }

    fn limits(&self) -> Limits {
        let unlimited = self.depth.is_none() && self.nodes.is_none() && self.time.is_none();
        let time = self.time.or_else(|| unlimited.then_some(DEFAULT_TIME));
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time: time.map(|time| TimeLimit { soft: time, hard: time }),
            ..Limits::default()
        }
    }
}
