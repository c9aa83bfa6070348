//! The command `label`: labels by a UCI engine or a network, for positions and for alternative moves.
//! Several engines make parts in parallel, which are written in order.

mod labeller;
mod options;
mod walk;

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::decompressed;
use azimuth_chess::position::{Position, split_operations};
use azimuth_cli::say;
use azimuth_network::checksum::hex;
use azimuth_network::replace_file::check_output;
use azimuth_search::inference::Worker;
use azimuth_search::{DefaultWeights, Tablebases};
use crossbeam_channel::{Receiver, Sender, bounded};
use indicatif::{ProgressBar, ProgressStyle};
use labeller::Labeller;
use options::WalkKind;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use walk::{EndingSampler, MoveWalker, SearchWalker, Task, Walk};

use crate::data::family::Game;
use crate::data::file::Source;
use crate::data::pack::Packer;
use crate::data::read::{Lines, Skipped};
use crate::data::sampler::split_mix;
use crate::training::ProgressLines;

pub use options::LabelOptions;

/// Number of walks in a part. A resumed run repeats the part that was interrupted.
const WALKS_A_PART: u64 = 64;

/// Number of parts that an engine may finish ahead of the writer.
const PARTS_AHEAD: usize = 4;

/// Labels walks until all parts of the shard are written. A part depends only on the options, the
/// starts and its index, so an interrupted run can resume with a different number of engines.
pub fn label(options: &LabelOptions) -> Result<()> {
    check_options(options)?;
    let starts = Starts::read(&options.fens)?;
    if options.walk != WalkKind::Endings {
        say(format_args!("{} positions to start from", starts.fens.len()));
    }
    let engines = Labeller::start_all(options)?;
    let weights = default_weights(options.walk).or_read(options.weights.as_deref())?;

    let shard = options.shard.of(options.walks.div_ceil(WALKS_A_PART));
    let made_by = made_by(options, engines[0].name())?;
    let job =
        json!({"label": made_by, "starts": starts.sha256, "shard": options.shard.to_string()});
    let Some(mut packer) = Packer::open(&options.out, &job, Vec::new(), options.commit_every)?
    else {
        say(format_args!("'{}' is complete", options.out.display()));
        return Ok(());
    };
    let sha256 = starts.sha256.clone();
    packer.begin(Source::new("label".to_owned(), made_by, sha256, shard.start));
    let (inputs_done, first) = packer.place();
    if inputs_done == 0 {
        if first > shard.start {
            let walks = (first - shard.start) * WALKS_A_PART;
            say(format_args!("continuing after {walks} walks of '{}'", options.out.display()));
        }
        let worker = Worker::on_cpu(weights, |text| say(text))?;
        label_parts(options, &starts, &worker, engines, first..shard.end, &mut packer)?;
        packer.end(None)?;
    }
    say(format_args!("{} positions in '{}'", packer.positions(), options.out.display()));
    packer.finish()
}

fn check_options(options: &LabelOptions) -> Result<()> {
    ensure!(options.engines > 0, "--engines must be at least 1");
    ensure!(options.plies > 0, "--plies must be at least 1");
    ensure!(options.width > 0, "--width must be at least 1");
    ensure!(options.best + options.others > 0, "--best and --others: no label would be kept");
    let azd = options.out.extension().is_some_and(|extension| extension == "azd");
    ensure!(azd, "--out '{}': the name must end in .azd", options.out.display());
    let walks_from_starts = options.walk != WalkKind::Endings;
    ensure!(!walks_from_starts || !options.fens.is_empty(), "--fens is missing: no file of starts");
    let endings_without_starts = walks_from_starts || options.fens.is_empty();
    ensure!(endings_without_starts, "--fens: --walk endings takes no starts");
    check_output(&options.out, &[])
}

/// Runs each engine on a separate thread that makes every n-th part, and writes the parts in order.
fn label_parts(
    options: &LabelOptions,
    starts: &Starts,
    worker: &Worker,
    engines: Vec<Labeller>,
    parts: Range<u64>,
    packer: &mut Packer,
) -> Result<()> {
    let open = |folders: &str| Tablebases::open(folders, |text| say(text)).map(Arc::new);
    let tablebases = options.syzygy.as_deref().map(open).transpose().context("--syzygy")?;
    thread::scope(|scope| {
        let (mut results, count) = (Vec::new(), engines.len());
        for (number, engine) in engines.into_iter().enumerate() {
            let (sender, receiver) = bounded(PARTS_AHEAD);
            results.push(receiver);
            let mine = parts.clone().skip(number).step_by(count);
            let walker: Box<dyn Walk> = match options.walk {
                WalkKind::Leaves | WalkKind::Search => Box::new(SearchWalker::new(worker)?),
                WalkKind::Endings => Box::new(EndingSampler { tablebases: tablebases.clone() }),
                WalkKind::Beam | WalkKind::Engine => Box::new(MoveWalker::new(worker)?),
            };
            scope.spawn(move || make_parts(options, starts, walker, engine, mine, &sender));
        }
        write_parts(&results, parts, packer)
    })
}

/// The default weights of the search that makes the walks.
fn default_weights(walk: WalkKind) -> DefaultWeights {
    match walk {
        WalkKind::Leaves | WalkKind::Search => DefaultWeights::Selective,
        WalkKind::Beam | WalkKind::Engine | WalkKind::Endings => DefaultWeights::Beam,
    }
}

/// The settings that determine the labels, except for the starts.
fn made_by(options: &LabelOptions, engine: &str) -> Result<Value> {
    let path = options.weights.clone().unwrap_or_else(|| default_weights(options.walk).path());
    let name = || format!("weights '{}'", path.display());
    let weights = hex(&Sha256::digest(std::fs::read(&path).with_context(name)?));
    let mut made_by = json!({
        "engine": engine,
        "depth": options.network.is_none().then_some(options.depth),
        "walk": options.walk,
        "walks": options.walks,
        "plies": options.plies,
        "seed": options.seed,
        "weights": weights,
    });
    let own = match options.walk {
        WalkKind::Leaves => json!({"nodes": options.nodes, "leaf_every": options.leaf_every}),
        WalkKind::Search => json!({"nodes": options.nodes}),
        WalkKind::Endings => json!({"tables": options.syzygy.is_some()}),
        WalkKind::Beam | WalkKind::Engine => {
            json!({"width": options.width, "best": options.best, "others": options.others})
        }
    };
    if let (Some(all), Value::Object(own)) = (made_by.as_object_mut(), own) {
        all.extend(own);
        // Leaves out defaults, so that files from before these options existed can be continued.
        if options.quiescence {
            all.insert("quiescence".to_owned(), true.into());
        }
        if options.lead > 0 {
            all.insert("lead".to_owned(), options.lead.into());
        }
    }
    Ok(made_by)
}

fn make_parts(
    options: &LabelOptions,
    starts: &Starts,
    mut walker: Box<dyn Walk>,
    mut engine: Labeller,
    parts: impl Iterator<Item = u64>,
    sender: &Sender<Result<Vec<Game>>>,
) {
    for part in parts {
        let rng = Xoshiro256PlusPlus::seed_from_u64(options.seed ^ split_mix(part));
        let mut task = Task { starts: &starts.fens, options, engine: &mut engine, rng };
        let end = ((part + 1) * WALKS_A_PART).min(options.walks);
        let walks = (part * WALKS_A_PART..end).map(|_| {
            task.engine.new_game()?;
            walker.walk(&mut task)
        });
        let made: Result<Vec<Game>> = walks.collect();
        let failed = made.is_err();
        if sender.send(made).is_err() || failed {
            return;
        }
    }
}

fn write_parts(
    results: &[Receiver<Result<Vec<Game>>>],
    parts: Range<u64>,
    packer: &mut Packer,
) -> Result<()> {
    let (began, before, all) = (Instant::now(), packer.positions(), parts.end - parts.start);
    let style = "{bar:30} {pos}/{len} parts, {msg}, {eta} left";
    let bar = ProgressBar::new(all).with_style(ProgressStyle::with_template(style)?);
    let mut lines = ProgressLines::start();
    for ((part, results), done) in parts.zip(results.iter().cycle()).zip(1..) {
        let made = results.recv().context("a thread that labels ended")??;
        made.into_iter().try_for_each(|game| packer.add(game))?;
        packer.reached(part + 1, Skipped::new())?;
        let new = packer.positions() - before;
        let speed = new as f64 / began.elapsed().as_secs_f64();
        let message = format!("{new} positions, {speed:.0} positions/s");
        bar.set_position(done);
        lines.show(&bar, || {
            let left = humantime::format_duration(Duration::from_secs(bar.eta().as_secs()));
            format!("{done} of {all} parts, {message}, {left} left")
        });
        bar.set_message(message);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The positions at which walks start.
struct Starts {
    /// FENs of legal positions.
    fens: Vec<String>,
    /// SHA-256 of the lines.
    sha256: String,
}

impl Starts {
    /// Reads the lines of all files, except empty ones and comments (`#`), as they stand in opening
    /// books. Fails if one is not a position, or if the files have none.
    fn read(paths: &[PathBuf]) -> Result<Self> {
        let (mut fens, mut hash) = (Vec::new(), Sha256::new());
        for path in paths {
            let name = || format!("FEN file '{}'", path.display());
            let file = File::open(path).with_context(name)?;
            let mut lines = Lines::new(decompressed(path, file).with_context(name)?);
            while let Some(line) = lines.next().with_context(name)? {
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                hash.update(line.as_bytes());
                hash.update(b"\n");
                let (fen, _) = split_operations(line);
                let place = || format!("{}: line {}", name(), lines.number());
                Position::from_fen(&fen).with_context(place)?;
                fens.push(fen);
            }
        }
        let names = || paths.iter().map(|path| format!("'{}'", path.display())).collect::<Vec<_>>();
        let found = paths.is_empty() || !fens.is_empty();
        ensure!(found, "no positions in {}", names().join(", "));
        Ok(Self { fens, sha256: hex(&hash.finalize()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_read_as_from_an_opening_book() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("book.epd");
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - -";
        std::fs::write(&path, format!("\u{feff}# a list\r\n\r\n{fen} id \"x\";\r\n\u{1a}"))?;
        let starts = Starts::read(std::slice::from_ref(&path))?;
        assert_eq!(starts.fens, [fen]);
        std::fs::write(&path, "# a list\nhello\n")?;
        let error = format!("{:#}", Starts::read(&[path]).err().context("no position")?);
        assert!(error.contains("book.epd': line 2: FEN 'hello'"), "{error}");
        Ok(())
    }
}
