//! Labels from a UCI engine: positions like those that a search visits, with a score for the moves
//! among which it chose.

mod labeller;
mod options;
mod output;
mod sources;
mod walk;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth::inference::Worker;
use azimuth::weights::Weights;
use candle_core::{DType, Device};
use crossbeam_channel::{Receiver, Sender, bounded};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::batches::mix;
use labeller::Labeller;
pub use options::LabelOptions;
use output::Output;
use walk::Walker;

/// Walks whose labels make up one part of the output, which is written as a whole.
const WALKS_A_PART: u64 = 64;

/// Parts that an engine may be ahead of the writer.
const PARTS_AHEAD: usize = 4;

/// Labelled games as text, and how many labels they hold.
struct Part {
    text: String,
    labels: u64,
}

/// Walks and labels until all games are written. Part `n` of the output depends on the options
/// and `n` alone, so a run that was stopped continues, with any number of engines.
pub fn label(options: &LabelOptions) -> Result<()> {
    ensure!(options.engines > 0, "--engines must be at least 1");
    ensure!(options.plies > 0, "--plies must be at least 1");
    ensure!(options.width > 0, "--width must be at least 1");
    ensure!(options.best + options.others > 0, "--best and --others: no label would be kept");
    let starts = sources::read(&options.fens)?;
    eprintln!("{} positions to start from", starts.len());
    let mut output = Output::open(&options.out)?;
    let first = output.parts();
    let parts = options.walks.div_ceil(WALKS_A_PART);
    if first > 0 {
        eprintln!("continuing after {} walks of '{}'", first * WALKS_A_PART, options.out.display());
    }
    let weights = Arc::new(Weights::read_or_embedded(options.weights.as_deref())?);
    let notice = Box::new(|text: &str| eprintln!("{text}"));
    let worker = Worker::start(weights, &Device::Cpu, DType::F32, notice)?;

    thread::scope(|scope| {
        let mut results = Vec::new();
        for number in 0..options.engines {
            let (sender, receiver) = bounded(PARTS_AHEAD);
            results.push(receiver);
            let mine = (first + number..parts).step_by(options.engines as usize);
            let walker = Walker::new(&worker, options.width)?;
            let engine = Labeller::start(&options.engine, options.depth)?;
            let starts = &starts;
            scope.spawn(move || make_parts(options, starts, walker, engine, mine, &sender));
        }
        write_parts(&results, first..parts, &mut output)
    })
}

fn make_parts(
    options: &LabelOptions,
    starts: &[String],
    mut walker: Walker,
    mut engine: Labeller,
    parts: impl Iterator<Item = u64>,
    sender: &Sender<Result<Part>>,
) {
    for part in parts {
        let seed = options.seed ^ mix(part);
        let made = make_part(options, starts, &mut walker, &mut engine, seed, part);
        let failed = made.is_err();
        if sender.send(made).is_err() || failed {
            return;
        }
    }
}

fn make_part(
    options: &LabelOptions,
    starts: &[String],
    walker: &mut Walker,
    engine: &mut Labeller,
    seed: u64,
    part: u64,
) -> Result<Part> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut made = Part { text: String::new(), labels: 0 };
    let last = ((part + 1) * WALKS_A_PART).min(options.walks);
    for _ in part * WALKS_A_PART..last {
        engine.new_game()?;
        let game = walker.walk(starts, options, engine, &mut rng)?;
        made.labels += game.labels;
        made.text.push_str(&game.text);
    }
    Ok(made)
}

fn write_parts(
    results: &[Receiver<Result<Part>>],
    parts: std::ops::Range<u64>,
    output: &mut Output,
) -> Result<()> {
    let (began, mut shown) = (Instant::now(), Instant::now());
    let (mut labels, end, first) = (0, parts.end, parts.start);
    for part in parts {
        let results = &results[(part - first) as usize % results.len()];
        let made = results.recv().context("a thread that labels ended")??;
        labels += made.labels;
        output.write(&made.text)?;
        if shown.elapsed() > Duration::from_secs(15) || part + 1 == end {
            let speed = labels as f64 / began.elapsed().as_secs_f64();
            eprintln!("{} of {end} parts, {labels} labels, {speed:.0} labels/s", part + 1);
            shown = Instant::now();
        }
    }
    Ok(())
}
