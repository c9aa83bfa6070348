//! The command `data`.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::fen_of;
use azimuth_cli::unless_closed;
use clap::Args;

use super::export::{export, is_export};
use super::family::Split;
use super::file::dataset_file::DatasetFile;
use super::file::writer::Journal;
use super::pack::{Filter, PackOptions, is_of_system, pack};
use super::read::input::{Format, Input};
use super::read::position_lines::View;

/// Pack, merge, filter, convert or inspect datasets of labelled positions.
#[derive(Args)]
pub struct DataCommand {
    /// Input files: .azd, .pgn, .jsonl (lichess's evaluations), .epd, .csv, .bag, .bagz, .binpack,
    /// .bullet, .viri; text formats, .bullet and .viri also with .zst.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// File to write: a dataset (.azd), or, from datasets, .pgn or .csv, also with .zst. The same
    /// command resumes an interrupted run.
    #[arg(long, required_unless_present_any = ["info", "head"])]
    out: Option<PathBuf>,
    /// Print a summary of the datasets.
    #[arg(long, conflicts_with_all = ["out", "head"])]
    info: bool,
    /// Print the first N positions of the datasets with their labels.
    #[arg(long, conflicts_with = "out")]
    head: Option<usize>,
    /// Merge datasets; input files in other formats are an error.
    #[arg(long)]
    merge: bool,
    /// Keep only positions that meet all given conditions: not-in-check, quiet (no capture or
    /// promotion wins material), no-mate, ply=A..B, cp=A..B (centipawns from White's point of
    /// view), pieces=A..B, p=A..B (win probability of the side to move), loss=P (the move to the
    /// position loses at most P of win probability).
    #[arg(long, value_delimiter = ',', value_parser = |text: &str| text.parse::<Filter>())]
    filter: Vec<Filter>,
    /// Skip and count records that are illegal or unreadable; without this option they are errors.
    #[arg(long)]
    skip_illegal: bool,
    /// Format of all input files [default: from each file's name].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Time between saves of the progress; work since the last save is repeated after a kill.
    #[arg(long, default_value = "2s", value_parser = humantime::parse_duration)]
    commit_every: Duration,
    /// Point of view of the labels in CSV files.
    #[arg(long, value_enum, default_value_t = View::White)]
    view: View,
}

impl DataCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let input = |path: &PathBuf| Input::new(path, self.format, self.view);
        let inputs = self.files.iter().map(input).collect::<Result<Vec<_>>>()?;
        match (&self.out, self.head) {
            (Some(out), _) if is_export(out) => {
                ensure!(
                    self.filter.is_empty(),
                    "--filter: the dataset can be filtered, then written as '{}'",
                    out.display()
                );
                export(&datasets(&inputs)?, out)
            }
            (Some(out), _) => {
                if self.merge {
                    datasets(&inputs)?;
                }
                let filters = self.filter.clone();
                let (skip_illegal, commit_every) = (self.skip_illegal, self.commit_every);
                let options = PackOptions { filters, skip_illegal, commit_every };
                pack(&inputs, &options, out).map_err(|error| {
                    let begun = || Journal::read(out).is_ok_and(|journal| journal.is_some());
                    match is_of_system(&error) && begun() {
                        true => {
                            error.context("the packed part is kept, and the same command resumes")
                        }
                        false => error,
                    }
                })
            }
            (None, Some(count)) => unless_closed(head(&datasets(&inputs)?, count)),
            (None, None) => {
                datasets(&inputs)?.into_iter().try_for_each(|file| unless_closed(info(file)))
            }
        }
    }
}

/// The input files as datasets. Fails if one is not a dataset.
fn datasets(inputs: &[Input]) -> Result<Vec<&DatasetFile>> {
    let dataset = |input: &Input| {
        let name = input.path.display();
        format!("'{name}': not a dataset; pack it first, by data --out x.azd")
    };
    inputs.iter().map(|input| input.dataset.as_deref().with_context(|| dataset(input))).collect()
}

fn head(files: &[&DatasetFile], count: usize) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let mut left = count;
    for file in files {
        for block in 0..file.blocks() {
            for (board, label) in file.block(block)?.1.iter().flat_map(|family| family.positions())
            {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                writeln!(out, "{label:>6} {}", fen_of(&board))?;
            }
        }
    }
    Ok(())
}

fn info(file: &DatasetFile) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let description = file.description();
    let positions: u64 = description.positions.iter().sum();
    writeln!(out, "{}", file.path().display())?;
    writeln!(out, "  sha256       {}", file.sha256())?;
    let each = file.bytes() as f64 / positions.max(1) as f64;
    writeln!(out, "  bytes        {} ({each:.2} a position)", file.bytes())?;
    let parts = ["training", "calibration", "held out"];
    for (split, part) in Split::ALL.into_iter().zip(parts) {
        let [positions, families] =
            [description.positions, description.families].map(|counts| counts[split as usize]);
        writeln!(out, "  {part:<12} {positions} positions in {families} families")?;
    }
    writeln!(out, "  duplicates   {} left out", description.duplicates)?;
    writeln!(out, "  filtered     {} left out", description.filtered)?;
    writeln!(out, "  made by      {}", description.trainer)?;
    for source in &description.sources {
        writeln!(out, "  from         {} {}", source.name, source.made_by)?;
        writeln!(out, "    sha256     {}", source.sha256)?;
        writeln!(
            out,
            "    records    {} to {}, {} labels",
            source.first, source.end, source.labels
        )?;
        for (reason, count) in &source.skipped {
            writeln!(out, "    left out   {count}: {reason}")?;
        }
    }
    Ok(())
}
