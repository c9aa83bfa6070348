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
    BeamSettings, BeamVerify, Limits, PlannerKind, PlannerSettings, Resources, StopSwitch,
    Tablebases, TimeLimit,
};
use crate::session::Session;

/// Search time if no limit is given.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Explains why the engine chose a move, in a few sentences. It also lists the cosine, the win
/// probability and the rank of every legal move before and after the search, the quiet position
/// that verifies a move, the best line and the search tree.
#[derive(Args)]
pub struct ExplainCommand {
    #[command(flatten)]
    subject: Subject,
    /// Moves to compare with the chosen move, separated by commas: Nf3,g1f3
    #[arg(long, value_delimiter = ',')]
    moves: Vec<String>,
    /// Search depth in plies.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: Option<u32>,
    /// Maximum number of positions to search.
    #[arg(long)]
    nodes: Option<u64>,
    /// Search time, for example 500ms or 10s [default: 1s if no limit is given]. Further searches
    /// compare other moves at the same depth and take extra time.
    #[arg(long, value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// Search to use [default: beam with a --depth of up to 6, otherwise selective]
    #[arg(long, value_enum)]
    planner: Option<PlannerKind>,
    /// How the beam verifies a child before it keeps or drops it. With none, the child's embedding
    /// gives its score, as in the paper. With quiescence, a quiescence search does. A number from 1
    /// to 4 adds an alpha-beta search to that number of plies beyond the beam's last ply.
    #[arg(long, value_enum, default_value_t = BeamSettings::default().verify)]
    verify: BeamVerify,
    /// Number of plies of the search tree to show.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=6))]
    tree: u32,
    /// Weights file [default: the embedded weights of the search]
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Folders with Syzygy tablebases, separated as in PATH.
    #[arg(long)]
    syzygy: Option<String>,
    /// Size of the score cache and transposition table together, in MB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Device that runs the encoder.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    device: Backend,
    /// Print one JSON object (described in docs/explain.md) instead of text.
    #[arg(long)]
    json: bool,
    /// Write a self-contained HTML page to this file instead of printing text.
    #[arg(long, conflicts_with = "json")]
    html: Option<PathBuf>,
}

impl ExplainCommand {
    /// Searches, and writes the explanation to `output`. Fails with a one-line error if the
    /// position, a move or a file is invalid.
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
        let stop = StopSwitch::default();
        let task = Task { root, limits, compared, plies: self.tree, stop };
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
