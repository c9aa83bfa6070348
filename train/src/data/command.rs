//! The command `data`.

use std::fmt;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{fen_of, legal_moves};
use azimuth_chess::see::StaticExchange;
use azimuth_cli::unless_closed;
use clap::Args;
use cozy_chess::{Board, Color};

use super::export::{export, is_export};
use super::family::{Label, Split};
use super::file::dataset_file::DatasetFile;
use super::file::writer::Journal;
use super::pack::{PackOptions, is_of_system, pack};
use super::read::input::{Format, Input};
use super::read::position_lines::View;

/// Message after an operating-system error during packing.
const RESUMABLE: &str = "the packed part is kept, and the same command resumes";

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
                        true => error.context(RESUMABLE),
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

/// A condition on a position.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// The side to move is not in check.
    NotInCheck,
    /// No capture or promotion of the side to move wins material by static exchange.
    Quiet,
    /// The label is not a forced mate.
    NoMate,
    /// Ply number, counted from the start of a game with move number 1.
    Ply(RangeInclusive<u32>),
    /// Centipawns from White's point of view; no range contains a mate.
    Centipawns(RangeInclusive<i32>),
    /// Number of pieces on the board, including kings.
    Pieces(RangeInclusive<u32>),
    /// Win probability of the side to move; a forced mate is 0 or 1.
    WinProbability(RangeInclusive<f32>),
    /// Maximum win probability that the move to the position loses compared with its best labelled
    /// sibling.
    Loss(f32),
}

impl Filter {
    /// Whether a position meets the condition. `loss` is the win probability lost by the move to
    /// it, as in [`Self::Loss`].
    pub fn passes(&self, board: &Board, label: Label, loss: f32) -> bool {
        match self {
            Self::NotInCheck => board.checkers().is_empty(),
            Self::Quiet => !wins_material(board),
            Self::NoMate => !matches!(label, Label::Mate(_)),
            Self::Ply(range) => {
                let black = u32::from(board.side_to_move() == Color::Black);
                range
                    .contains(&((u32::from(board.fullmove_number()).saturating_sub(1)) * 2 + black))
            }
            Self::Centipawns(range) => {
                matches!(label, Label::Centipawns(value) if range.contains(&value))
            }
            Self::Pieces(range) => range.contains(&board.occupied().len()),
            Self::WinProbability(range) => {
                range.contains(&label.seen_by(board.side_to_move()).win_probability())
            }
            Self::Loss(most) => loss <= *most,
        }
    }
}

fn wins_material(board: &Board) -> bool {
    let placement = Placement::of(board);
    let exchange = StaticExchange::new(&placement);
    legal_moves(board).into_iter().any(|mv| exchange.see_of_move(mv) > 0)
}

impl FromStr for Filter {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text.split_once('=') {
            None if text == "not-in-check" => Self::NotInCheck,
            None if text == "quiet" => Self::Quiet,
            None if text == "no-mate" => Self::NoMate,
            Some(("ply", bounds)) => Self::Ply(range(bounds, 0, u32::MAX)?),
            Some(("cp", bounds)) => Self::Centipawns(range(bounds, i32::MIN, i32::MAX)?),
            Some(("pieces", bounds)) => Self::Pieces(range(bounds, 0, 64)?),
            Some(("p", bounds)) => Self::WinProbability(range(bounds, 0.0, 1.0)?),
            Some(("loss", most)) => {
                let most = most.parse().ok().filter(|most| (0.0..=1.0).contains(most));
                Self::Loss(most.with_context(|| format!("'{text}': expected 0 to 1"))?)
            }
            _ => bail!(
                "'{text}': expected not-in-check, quiet, no-mate, ply=A..B, cp=A..B, pieces=A..B, p=A..B or loss=P"
            ),
        })
    }
}

/// Parses an inclusive range such as `3..9`; either end may be omitted.
fn range<T: FromStr + PartialOrd>(text: &str, least: T, most: T) -> Result<RangeInclusive<T>> {
    let number = |text: &str, open: T| match text {
        "" => Some(open),
        text => text.parse().ok(),
    };
    let (first, last) =
        text.split_once("..").with_context(|| format!("'{text}': expected A..B"))?;
    let ends = number(first, least).zip(number(last, most)).filter(|(first, last)| first <= last);
    let (first, last) = ends.with_context(|| format!("'{text}': expected A..B, A not above B"))?;
    Ok(first..=last)
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInCheck => write!(f, "not-in-check"),
            Self::Quiet => write!(f, "quiet"),
            Self::NoMate => write!(f, "no-mate"),
            Self::Ply(range) => write!(f, "ply={}..{}", range.start(), range.end()),
            Self::Centipawns(range) => write!(f, "cp={}..{}", range.start(), range.end()),
            Self::Pieces(range) => write!(f, "pieces={}..{}", range.start(), range.end()),
            Self::WinProbability(range) => write!(f, "p={}..{}", range.start(), range.end()),
            Self::Loss(most) => write!(f, "loss={most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_say_what_they_mean() -> Result<()> {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let hanging = "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 20";
        let defended = "4k3/8/2p5/3p4/8/8/8/3RK3 w - - 0 20";
        let check = "4k3/4r3/8/8/8/8/8/4K3 w - - 0 3";
        for (text, fen, label, passes) in [
            ("not-in-check", check, 0, false),
            ("not-in-check", start, 0, true),
            ("quiet", hanging, 0, false),
            ("quiet", defended, 0, true),
            ("ply=..8", check, 0, true),
            ("ply=6..", start, 0, false),
            ("cp=-50..50", start, 51, false),
            ("cp=-50..50", start, 50, true),
            ("pieces=3..4", hanging, 0, true),
            ("p=..0.6", start, 138, false),
            ("p=0.4..0.6", start, 50, true),
            ("loss=0.05", start, 0, false),
            ("loss=0.1", start, 0, true),
        ] {
            let filter: Filter = text.parse()?;
            assert_eq!(filter, filter.to_string().parse()?);
            let board: Board = fen.parse().expect("valid");
            let label = Label::Centipawns(label);
            assert_eq!(filter.passes(&board, label, 0.1), passes, "{text} {fen}");
        }
        assert!(!Filter::NoMate.passes(&Board::default(), Label::Mate(true), 0.0));
        for bad in ["ply", "ply=5", "ply=9..3", "cp=a..b", "loss=2", "p=0.6..0.4", "loud", ""] {
            assert!(bad.parse::<Filter>().is_err(), "{bad}");
        }
        Ok(())
    }
}
