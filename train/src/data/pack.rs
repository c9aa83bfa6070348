//! Packing of files in any formats into one dataset file.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use azimuth_network::replace_file::check_output;
use crossbeam_channel::{Sender, bounded};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::family::Game;
use super::file::description::Source;
use super::filter::Filter;
use super::packer::Packer;
use super::read::format::Format;
use super::read::games::{ReadError, Skipped, skip};
use super::read::input::Input;

/// Number of labels that a reader sends at a time.
const LABELS_A_BATCH: usize = 4_096;

/// Maximum number of batches read ahead.
const BATCHES_AHEAD: usize = 8;

/// Games, the index of the record after them, and counts of the records left out.
struct ReadBatch {
    games: Vec<Game>,
    end: u64,
    skipped: Skipped,
}

/// Options for packing.
pub struct PackOptions {
    /// Conditions that positions must meet.
    pub filters: Vec<Filter>,
    /// Leave out records that are illegal or unreadable. Otherwise they are errors.
    pub skip_illegal: bool,
    /// Time between saves of the progress.
    pub commit_every: Duration,
}

/// Packs `inputs` into `out`. Resumes a run that was killed or ended with an operating-system error
/// ([`is_of_system`]).
pub fn pack(inputs: &[Input], options: &PackOptions, out: &Path) -> Result<()> {
    // Hashing large files takes minutes.
    check_output(out, &[])?;
    let hashes = hashes(inputs)?;
    let named = |(input, sha256): (&Input, &String)| {
        let name = input.name();
        json!({"name": name, "sha256": sha256, "made_by": made_by(input)})
    };
    let job = json!({
        "inputs": inputs.iter().zip(&hashes).map(named).collect::<Vec<_>>(),
        "filters": options.filters.iter().map(Filter::to_string).collect::<Vec<_>>(),
        "skip_illegal": options.skip_illegal,
    });
    let Some(mut packer) = Packer::open(out, &job, options.filters.clone(), options.commit_every)?
    else {
        eprintln!("'{}' is complete", out.display());
        return Ok(());
    };
    let (begun, record) = packer.place();
    if (begun, record) != (0, 0) {
        eprintln!("continuing with file {} after {record} records", begun + 1);
    }
    let packed = pack_inputs(inputs, hashes, options.skip_illegal, &mut packer);
    match packed {
        Ok(()) => packer.finish(),
        // The packed part is kept with its journal, as after a kill.
        Err(error) if is_of_system(&error) => Err(error),
        // After a content error, a repaired input has another hash, so the run cannot be resumed.
        Err(error) => packer.discard().and(Err(error)),
    }
}

/// Whether the operating system caused the error (for example a full disk), rather than the content
/// of a file.
pub fn is_of_system(error: &anyhow::Error) -> bool {
    use std::io::{Error, ErrorKind};
    /// Kinds of errors that decoders return for damaged files.
    const OF_CONTENT: [ErrorKind; 4] = [
        ErrorKind::InvalidData,
        ErrorKind::InvalidInput,
        ErrorKind::Other,
        ErrorKind::UnexpectedEof,
    ];
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<Error>())
        .any(|error| error.raw_os_error().is_some() || !OF_CONTENT.contains(&error.kind()))
}

fn pack_inputs(
    inputs: &[Input],
    hashes: Vec<String>,
    skip_illegal: bool,
    packer: &mut Packer,
) -> Result<()> {
    let (begun, _) = packer.place();
    for (number, (input, sha256)) in inputs.iter().zip(hashes).enumerate().skip(begun) {
        packer.begin(Source {
            name: input.name(),
            made_by: made_by(input),
            sha256,
            first: 0,
            end: 0,
            labels: 0,
            skipped: Skipped::new(),
        });
        let name = || format!("data file '{}'", input.path.display());
        pack_input(input, skip_illegal, packer).with_context(name)?;
        let made_from = input.dataset.as_ref().map(|dataset| {
            let description = dataset.description();
            (description.sources.clone(), description.duplicates, description.filtered)
        });
        eprintln!("{} of {} files: {}", number + 1, inputs.len(), packer.summary());
        packer.end(made_from)?;
    }
    Ok(())
}

fn made_by(input: &Input) -> Value {
    match input.format {
        Format::Csv => json!({"format": input.format, "view": input.view}),
        _ => json!({"format": input.format}),
    }
}

fn hashes(inputs: &[Input]) -> Result<Vec<String>> {
    let hash = |input: &Input| {
        let bar = bar(input, "hashed")?;
        let hash = input.sha256(&bar);
        bar.finish_and_clear();
        hash
    };
    inputs.iter().map(hash).collect()
}

/// Reads on a background thread and packs on this one.
fn pack_input(input: &Input, skip_illegal: bool, packer: &mut Packer) -> Result<()> {
    let bar = bar(input, "read")?;
    let (_, first) = packer.place();
    thread::scope(|scope| {
        let (sender, receiver) = bounded(BATCHES_AHEAD);
        let source_bar = bar.clone();
        let reader =
            scope.spawn(move || read_games(input, &source_bar, first, skip_illegal, &sender));
        for batch in receiver {
            let ReadBatch { games, end, skipped } = batch;
            games.into_iter().try_for_each(|game| packer.add(game))?;
            packer.reached(end, skipped)?;
        }
        bar.finish_and_clear();
        reader.join().ok().context("a thread that reads failed")?
    })
}

fn read_games(
    input: &Input,
    bar: &ProgressBar,
    first: u64,
    skip_illegal: bool,
    sender: &Sender<ReadBatch>,
) -> Result<()> {
    let mut source = input.games(bar)?;
    source.skip_to(first)?;
    loop {
        let (mut games, mut skipped, mut labels) = (Vec::new(), Skipped::new(), 0);
        let mut ended = false;
        while labels < LABELS_A_BATCH && !ended {
            match source.next(&mut skipped) {
                Ok(Some(game)) => {
                    labels += game.len();
                    games.push(game);
                }
                Ok(None) => ended = true,
                Err(ReadError::Record { .. }) if skip_illegal => {
                    skip(&mut skipped, "not legal or not readable");
                    labels += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let batch = ReadBatch { games, end: source.record(), skipped };
        // The receiver is gone if packing failed; that error is reported there.
        if sender.send(batch).is_err() || ended {
            return Ok(());
        }
    }
}

fn bar(input: &Input, done: &str) -> Result<ProgressBar> {
    let style = format!("{{bar:30}} {{bytes}}/{{total_bytes}} {done} of {{msg}}, {{eta}} left");
    let bar = ProgressBar::new(input.bytes()?);
    bar.set_style(ProgressStyle::with_template(&style)?);
    bar.set_message(input.name());
    Ok(bar)
}
