//! The command `data`: packing, inspection, and conversion to PGN or CSV.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::pgn::{Writer, is_compressed};
use azimuth_chess::position::{board_after, fen_of};
use azimuth_cli::unless_closed;
use azimuth_network::replace_file::Replacement;
use clap::Args;
use cozy_chess::{Board, Move};
use indicatif::ProgressBar;

use super::family::{Family, FamilyLabels, Split};
use super::file::writer::Journal;
use super::file::{DatasetFile, Source};
use super::pack::{Filter, PackOptions, is_of_system, pack};
use super::packed::Label;
use super::read::input::{Format, Input, ending};
use super::read::position_lines::View;

/// Pack, merge, filter, convert or inspect datasets of labelled positions.
#[derive(Args)]
pub struct DataCommand {
    /// Input files: .azd, .pgn, .jsonl (lichess's evaluations), .epd, .csv, .bag, .bagz, .binpack,
    /// .bullet, .viri; text formats, .bullet and .viri also compressed (.gz, .bz2, .zst).
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
            (Some(out), _) if out.extension().is_none_or(|extension| extension != "azd") => {
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
                    let kept = "the packed part is kept, and the same command resumes";
                    if is_of_system(&error) && begun() { error.context(kept) } else { error }
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
        let Source { first, end, labels, .. } = source;
        writeln!(out, "    records    {first} to {end}, {labels} labels")?;
        for (reason, count) in &source.skipped {
            writeln!(out, "    left out   {count}: {reason}")?;
        }
    }
    Ok(())
}

/// Zstandard level; higher levels reduce files little.
const COMPRESSION: i32 = 10;

/// Writes the positions of all files to `out`, `.pgn` or `.csv`, also with `.zst`.
fn export(files: &[&DatasetFile], out: &Path) -> Result<()> {
    let name = || format!("--out '{}'", out.display());
    ensure!(!out.exists(), "{}: it exists; remove it or choose another name", name());
    let write: fn(&[&DatasetFile], &mut dyn Write) -> Result<()> = match ending(out).as_deref() {
        Some("pgn") => write_pgn,
        Some("csv") => write_csv,
        _ => bail!("{}: the name must end in .azd, .pgn, .csv, .pgn.zst or .csv.zst", name()),
    };
    let mut file = BufWriter::with_capacity(1 << 20, Replacement::new(out)?);
    if is_compressed(out) {
        let mut compressed = zstd::Encoder::new(file, COMPRESSION).with_context(name)?;
        write(files, &mut compressed).with_context(name)?;
        file = compressed.finish().with_context(name)?;
    } else {
        write(files, &mut file).with_context(name)?;
    }
    let written = file.into_inner().map_err(anyhow::Error::from).and_then(Replacement::finish);
    written.with_context(name)
}

/// Calls `visit` with every family of all files, in order, and shows the progress.
fn for_each_family(
    files: &[&DatasetFile],
    mut visit: impl FnMut(Family) -> Result<()>,
) -> Result<()> {
    for file in files {
        let bar = ProgressBar::new(file.blocks() as u64);
        for block in 0..file.blocks() {
            file.block(block)?.1.into_iter().try_for_each(&mut visit)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    Ok(())
}

/// Writes `fen,cp`: centipawns, or `#1` and `#-1` for mates, from White's point of view.
fn write_csv(files: &[&DatasetFile], sink: &mut dyn Write) -> Result<()> {
    writeln!(sink, "fen,cp")?;
    for_each_family(files, |family| {
        for (board, label) in family.positions() {
            writeln!(sink, "{},{label}", fen_of(&board))?;
        }
        Ok(())
    })
}

/// Writes each family as a move with variations. A family whose position follows from the previous
/// one continues its game.
fn write_pgn(files: &[&DatasetFile], sink: &mut dyn Write) -> Result<()> {
    let mut games = Games { writer: Writer::new(sink), in_game: false };
    let mut pending: Option<Family> = None;
    for_each_family(files, |family| match pending.replace(family) {
        Some(last) => games.add(&last, pending.as_ref().map(|next| &next.board)),
        None => Ok(()),
    })?;
    pending.map_or(Ok(()), |last| games.add(&last, None))
}

struct Games<'a> {
    writer: Writer<&'a mut dyn Write>,
    in_game: bool,
}

impl Games<'_> {
    /// Writes a family; the move that leads to `next` is the main line.
    fn add(&mut self, family: &Family, next: Option<&Board>) -> Result<()> {
        let (board, writer) = (&family.board, &mut self.writer);
        if !self.in_game {
            writer.begin([("Event", "?"), ("Result", "*")], &board.clone().into())?;
        }
        let mut children = &[][..];
        match &family.labels {
            FamilyLabels::Children(labelled) => children = labelled,
            FamilyLabels::Own(label) => writer.comment(&comment(*label))?,
        }
        let leads = |&(mv, _): &(Move, Label)| Some(&board_after(board, mv)) == next;
        let played = children.iter().position(leads);
        let main = played.unwrap_or(0);
        if let Some(&(mv, label)) = children.get(main) {
            writer.play(board, mv)?;
            writer.comment(&comment(label))?;
        }
        for (_, &(mv, label)) in children.iter().enumerate().filter(|&(index, _)| index != main) {
            writer.begin_variation()?;
            writer.play(board, mv)?;
            writer.comment(&comment(label))?;
            writer.end_variation()?;
        }
        self.in_game = played.is_some()
            || matches!(family.labels, FamilyLabels::Own(_)) && next == Some(board);
        if !self.in_game {
            writer.end(None)?;
        }
        Ok(())
    }
}

/// `[%eval 0.31]`, as lichess writes it.
fn comment(label: Label) -> String {
    match label {
        Label::Centipawns(value) => format!("[%eval {:.2}]", f64::from(value) / 100.0),
        mate @ Label::Mate(_) => format!("[%eval {mate}]"),
    }
}
