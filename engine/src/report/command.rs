//! The command line of `azimuth report`.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, ensure};
use azimuth_chess::pgn::{is_compressed, pgn_files};
use azimuth_cli::print_line;
use azimuth_network::checksum::hex;
use azimuth_network::replace_file::{Replacement, check_output};
use azimuth_search::inference::ModelSource;
use azimuth_search::names::name_of;
use azimuth_search::{
    DefaultWeights, Limits, PlannerKind, PlannerSettings, Resources, StopSwitch, TimeLimit,
};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::analysis::Analyst;
use super::game::{Faults, games};
use super::page::{GameData, Journal, write_page};
use crate::session::{Models, Plan, notice};

/// Analysis time for each position if no limit is given.
const DEFAULT_TIME: Duration = Duration::from_millis(100);

/// Analyses games move by move and writes one HTML page that needs no other file: a board, a graph
/// of the expected score, the moves that lost expected score with better ones, and the game's path
/// on a map of the embedding space. If it is interrupted, the same command goes on with the next
/// game.
#[derive(Args)]
pub struct ReportCommand {
    /// PGN file (plain or .zst), folder of PGN files, or - for standard input.
    pgn: PathBuf,
    /// HTML file to write [default: the name of the PGN file or folder, with .html]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Analysis time for each position, for example 100ms or 1s [default: 100ms without --nodes]
    #[arg(long, value_parser = humantime::parse_duration)]
    engine_time: Option<Duration>,
    /// Maximum number of positions to search for each position of a game. Without --engine-time,
    /// and with one thread, the same games give the same page.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Search to use.
    #[arg(long, value_enum, default_value_t = PlannerKind::Selective)]
    planner: PlannerKind,
    /// Weights file [default: the embedded weights of the search]
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Number of search threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Size of the score cache and transposition table together, in MB.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
}

impl ReportCommand {
    /// Analyses the games one by one and writes the page. A game that cannot be read is reported
    /// with its number and skipped. Fails if no game is left.
    pub fn run(&self) -> Result<()> {
        let out = self.out()?;
        let files = pgn_files(&self.pgn)?;
        let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        check_output(&out, &inputs)?;
        for file in inputs.iter().filter(|file| file.as_os_str() != "-") {
            file.metadata().with_context(|| format!("'{}'", file.display()))?;
        }
        // A pipe can be read only once.
        let can_reread = inputs.iter().all(|file| file.is_file());
        let positions = can_reread.then(|| self.count_positions()).transpose()?;
        let source = ModelSource { weights: self.weights.clone(), ..ModelSource::default() };
        let models = Models::open(source, None)?;
        let resources = Resources { hash_mb: self.hash as usize, threads: self.threads.into() };
        let plan = Plan::of(self.planner, PlannerSettings::default());
        let mut planner = models.planner(plan, resources)?;
        let (mut model, mut painter) =
            (models.model(plan.embedded())?, models.model(DefaultWeights::Beam)?);
        let map = models.map()?;
        let mut analyst = Analyst {
            planner: &mut *planner,
            model: &mut model,
            limits: self.limits(),
            switch: StopSwitch::default(),
        };
        let mut journal = Journal::open(&out, &self.settings()?)?;
        let bar = progress_bar(positions)?;
        let say = |message: Option<String>| {
            message.inspect(|text| bar.suspend(|| notice(text)));
        };
        let (mut faults, mut analysed, mut resumed) = (Faults::default(), 0u64, 0u64);
        for game in games(&self.pgn)? {
            let game = match game? {
                Ok(game) => game,
                Err(fault) => {
                    say(faults.add(fault));
                    continue;
                }
            };
            say(faults.end());
            let fault = game.fault.as_ref();
            say(fault.map(|fault| format!("{fault}; only the moves before it are analysed")));
            analysed += 1;
            let number = analysed + faults.count;
            let digest = game.digest()?;
            if journal.holds_next(&digest)? {
                resumed += 1;
                bar.inc(game.positions());
                bar.reset_eta();
                continue;
            }
            if resumed > 0 && resumed + 1 == analysed {
                say(Some(format!(
                    "{resumed} games are analysed already; going on with game {number}"
                )));
            }
            let stops = analyst.look_at(&game, || bar.inc(1));
            let data = stops.and_then(|stops| {
                let data = GameData::new(&game, &stops, map, &mut painter)?;
                journal.add(&digest, &data)
            });
            data.with_context(|| format!("game {number}"))?;
        }
        bar.finish_and_clear();
        let unread = faults.count;
        if analysed == 0 {
            journal.remove()?;
            return Err(self.without_games(faults));
        }
        let mut page = BufWriter::new(Replacement::new(&out)?);
        let name = || format!("cannot write '{}'", out.display());
        write_page(&mut journal, &models, &self.credit(), &mut page).with_context(name)?;
        let page = page.into_inner().map_err(|error| error.into_error()).with_context(name)?;
        page.finish()?;
        journal.remove()?;
        print_line(format_args!("{analysed} of {} games to '{}'", analysed + unread, out.display()))
    }

    /// The page's name.
    fn out(&self) -> Result<PathBuf> {
        if let Some(out) = &self.out {
            ensure!(
                out.as_os_str() != "-",
                "--out -: a report is a file; name one, such as report.html"
            );
            return Ok(out.clone());
        }
        let name = self.pgn.file_name().filter(|&name| name != "-");
        let name = name.with_context(|| {
            format!("'{}' gives the page no name; choose one with --out", self.pgn.display())
        })?;
        let mut plain = self.pgn.with_file_name(name);
        if self.pgn.is_dir() {
            return Ok(plain.with_added_extension("html"));
        }
        if is_compressed(&plain) {
            plain = plain.with_extension("");
        }
        Ok(plain.with_extension("html"))
    }

    /// Number of positions in all games. Fails if no game can be read.
    fn count_positions(&self) -> Result<u64> {
        let (mut faults, mut positions) = (Faults::default(), 0);
        for game in games(&self.pgn)? {
            match game? {
                Ok(game) => positions += game.positions(),
                Err(fault) => drop(faults.add(fault)),
            }
        }
        if positions == 0 { Err(self.without_games(faults)) } else { Ok(positions) }
    }

    fn without_games(&self, faults: Faults) -> Error {
        let name = format!("'{}'", self.pgn.display());
        match faults.only() {
            Some(first) => anyhow!("{name}: no game in it can be read; {first:#}"),
            None => anyhow!("{name}: there is no game in it"),
        }
    }

    /// Time for each position.
    fn time(&self) -> Option<Duration> {
        self.engine_time.or_else(|| self.nodes.is_none().then_some(DEFAULT_TIME))
    }

    fn limits(&self) -> Limits {
        Limits { time: self.time().map(TimeLimit::exactly), nodes: self.nodes, ..Limits::default() }
    }

    /// The settings that determine the analysis of a game. A journal with other settings cannot be
    /// continued.
    fn settings(&self) -> Result<String> {
        // Other weights may be at the same path later.
        let weights = self.weights.as_ref().map(|path| -> Result<String> {
            let name = || format!("weights file '{}'", path.display());
            Ok(hex(&Sha256::digest(std::fs::read(path).with_context(name)?)))
        });
        let settings = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "time": self.time(),
            "nodes": self.nodes,
            "planner": name_of(&self.planner),
            "weights": weights.transpose()?,
            "threads": self.threads,
            "hash": self.hash,
        });
        Ok(settings.to_string())
    }

    fn credit(&self) -> String {
        let time = self.time().map(|time| humantime::format_duration(time).to_string());
        let nodes = self.nodes.map(|nodes| format!("{nodes} nodes"));
        let limits: Vec<String> = time.into_iter().chain(nodes).collect();
        format!(
            "Analysed by Azimuth {}, {} planner, {} for each position.",
            env!("CARGO_PKG_VERSION"),
            name_of(&self.planner),
            limits.join(" or "),
        )
    }
}

fn progress_bar(positions: Option<u64>) -> Result<ProgressBar> {
    let (bar, style) = match positions {
        Some(positions) => {
            (ProgressBar::new(positions), "{bar:30} {pos}/{len} positions, {eta} left")
        }
        None => (ProgressBar::no_length(), "{spinner} {pos} positions, {elapsed}"),
    };
    Ok(bar.with_style(ProgressStyle::with_template(style)?))
}
