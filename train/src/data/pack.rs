//! Packing of files in any formats into one dataset file: reading, filters, duplicates, and the
//! progress from which an interrupted run resumes.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{legal_moves, repetition_key};
use azimuth_chess::see::StaticExchange;
use azimuth_cli::say;
use azimuth_network::replace_file::check_output;
use cozy_chess::{Board, Color};
use crossbeam_channel::{Sender, bounded};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::family::{Family, Game};
use super::file::writer::{Journal, Writer, remove_parts};
use super::file::{Description, Source};
use super::packed::Label;
use super::read::input::{Format, Input};
use super::read::{Skipped, skip};

pub struct PackOptions {
    pub filters: Vec<Filter>,
    pub skip_illegal: bool,
    pub commit_every: Duration,
}

/// Packs `inputs` into `out`. Resumes a run after a kill or a system error ([`is_of_system`]).
pub fn pack(inputs: &[Input], options: &PackOptions, out: &Path) -> Result<()> {
    // Hashing large files takes minutes.
    check_output(out, &[])?;
    let hashes = inputs.iter().map(hash).collect::<Result<Vec<_>>>()?;
    let named = |(input, sha256): (&Input, &String)| {
        let name = input.name();
        json!({"name": name, "sha256": sha256, "made_by": made_by(input)})
    };
    let job = json!({
        "inputs": inputs.iter().zip(&hashes).map(named).collect::<Vec<_>>(),
        "filters": options.filters.iter().map(|filter| format!("{filter:?}")).collect::<Vec<_>>(),
        "skip_illegal": options.skip_illegal,
    });
    let filters = options.filters.clone();
    let Some(mut packer) = Packer::open(out, &job, filters, options.commit_every)? else {
        say(format_args!("'{}' is complete", out.display()));
        return Ok(());
    };
    let (begun, record) = packer.place();
    if (begun, record) != (0, 0) {
        say(format_args!("continuing with file {} after {record} records", begun + 1));
    }
    match pack_inputs(inputs, hashes, options.skip_illegal, &mut packer) {
        Ok(()) => packer.finish(),
        // The packed part is kept with its journal, as after a kill.
        Err(error) if is_of_system(&error) => Err(error),
        // After a content error, a repaired input has another hash, so the run cannot be resumed.
        Err(error) => {
            remove_parts(out);
            Journal::remove(out).and(Err(error))
        }
    }
}

/// Whether the operating system caused the error (a full disk, say), rather than a file's content.
pub fn is_of_system(error: &anyhow::Error) -> bool {
    use std::io::Error;
    // The kinds of errors that decoders return for damaged files.
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let of_content = [InvalidData, InvalidInput, Other, UnexpectedEof];
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<Error>());
    causes.any(|error| error.raw_os_error().is_some() || !of_content.contains(&error.kind()))
}

fn pack_inputs(
    inputs: &[Input],
    hashes: Vec<String>,
    skip_illegal: bool,
    packer: &mut Packer,
) -> Result<()> {
    let (begun, _) = packer.place();
    for (number, (input, sha256)) in inputs.iter().zip(hashes).enumerate().skip(begun) {
        packer.begin(Source::new(input.name(), made_by(input), sha256, 0));
        let name = || format!("data file '{}'", input.path.display());
        pack_input(input, skip_illegal, packer).with_context(name)?;
        say(format_args!("{} of {} files: {}", number + 1, inputs.len(), packer.summary()));
        packer.end(input.dataset.as_ref().map(|dataset| dataset.description()))?;
    }
    Ok(())
}

fn made_by(input: &Input) -> Value {
    match input.format {
        Format::Csv => json!({"format": input.format, "view": input.view}),
        _ => json!({"format": input.format}),
    }
}

fn hash(input: &Input) -> Result<String> {
    let bar = progress_bar(input, "hashed")?;
    let hash = input.sha256(&bar);
    bar.finish_and_clear();
    hash
}

const BATCHES_AHEAD: usize = 8;

/// Reads on a background thread and packs on this one.
fn pack_input(input: &Input, skip_illegal: bool, packer: &mut Packer) -> Result<()> {
    let bar = progress_bar(input, "read")?;
    let (_, first) = packer.place();
    thread::scope(|scope| {
        let (sender, receiver) = bounded(BATCHES_AHEAD);
        let source_bar = bar.clone();
        let reader =
            scope.spawn(move || read_games(input, &source_bar, first, skip_illegal, &sender));
        for ReadBatch { games, end, skipped } in receiver {
            games.into_iter().try_for_each(|game| packer.add(game))?;
            packer.reached(end, skipped)?;
        }
        bar.finish_and_clear();
        reader.join().ok().context("a thread that reads failed")?
    })
}

const LABELS_A_BATCH: usize = 4_096;

/// Games, the index of the record after them, and counts of the records left out.
struct ReadBatch {
    games: Vec<Game>,
    end: u64,
    skipped: Skipped,
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
            match source.next(&mut skipped)? {
                Some(Ok(game)) => {
                    labels += game.labels();
                    games.push(game);
                }
                Some(Err(_)) if skip_illegal => {
                    skip(&mut skipped, "not legal or not readable");
                    labels += 1;
                }
                Some(Err(error)) => return Err(error),
                None => ended = true,
            }
        }
        let batch = ReadBatch { games, end: source.record(), skipped };
        // The receiver is gone if packing failed; that error is reported there.
        if sender.send(batch).is_err() || ended {
            return Ok(());
        }
    }
}

fn progress_bar(input: &Input, done: &str) -> Result<ProgressBar> {
    let style = format!("{{bar:30}} {{bytes}}/{{total_bytes}} {done} of {{msg}}, {{eta}} left");
    let bar = ProgressBar::new(std::fs::metadata(&input.path)?.len());
    bar.set_style(ProgressStyle::with_template(&style)?);
    bar.set_message(input.name());
    Ok(bar)
}

/// A dataset that is being written.
pub struct Packer {
    out: PathBuf,
    journal: Journal,
    writer: Writer,
    filters: Vec<Filter>,
    /// The positions seen, by Zobrist hash. The hash covers pieces, side to move, castling rights
    /// and legal en passant, but not the move counters. Takes 9 to 18 bytes a position.
    seen: HashSet<u64>,
    commit_every: Duration,
    committed: Instant,
}

impl Packer {
    /// Starts or resumes `out`; `None` if it is complete. `job` describes everything that
    /// determines the output. Work since the last commit is repeated after a kill. Fails if `out`
    /// exists or was started by another job.
    pub fn open(
        out: &Path,
        job: &Value,
        filters: Vec<Filter>,
        commit_every: Duration,
    ) -> Result<Option<Self>> {
        let name = || format!("--out '{}'", out.display());
        let begun = Journal::read(out)?;
        if out.exists() {
            let ours = begun.is_some_and(|begun| begun.job == *job);
            ensure!(ours, "{}: it exists; remove it or choose another name", name());
            // The run was killed between its last two steps.
            remove_parts(out);
            Journal::remove(out)?;
            Journal::remove_unfinished(out);
            return Ok(None);
        }
        let begins = begun.is_none();
        let journal = begun.unwrap_or_else(|| Journal::new(job.clone()));
        ensure!(
            journal.job == *job,
            "{}: it was begun with other files or options; give those again, or remove '{0}.journal'",
            out.display()
        );
        let writer = Writer::open(out, journal.writer.clone()).with_context(name)?;
        Journal::remove_unfinished(out);
        let (out, seen, committed) = (out.to_owned(), HashSet::new(), Instant::now());
        let mut packer = Self { out, journal, writer, filters, seen, commit_every, committed };
        let ready = if begins { packer.commit() } else { packer.remember() };
        ready.map(|()| Some(packer))
    }

    /// The index of the current input, and of its first record that is not yet packed.
    pub fn place(&self) -> (usize, u64) {
        let record = self.journal.current.as_ref().map_or(0, |source| source.end);
        (self.journal.input, record)
    }

    /// Sets the source of the current input, unless the run was resumed within it.
    pub fn begin(&mut self, source: Source) {
        self.journal.current.get_or_insert(source);
    }

    pub fn add(&mut self, game: Game) -> Result<()> {
        let Journal { current, description, .. } = &mut self.journal;
        let source = current.as_mut().context("no input was begun")?;
        source.labels += game.labels() as u64;
        let split = game.split as usize;
        for mut family in game.families {
            family.retain(|board, label, loss| {
                if !board.generate_moves(|_| true) {
                    skip(&mut source.skipped, "game over");
                    return false;
                }
                let wanted = self.filters.iter().all(|filter| filter.passes(board, label, loss));
                let new = wanted && self.seen.insert(repetition_key(board));
                description.filtered += u64::from(!wanted);
                description.duplicates += u64::from(wanted && !new);
                new
            });
            if !family.is_empty() {
                self.writer.add(game.split, &family)?;
                description.positions[split] += family.len() as u64;
                description.families[split] += 1;
            }
        }
        Ok(())
    }

    /// Notes that the input is packed up to `record`. `skipped` counts the new omissions.
    pub fn reached(&mut self, record: u64, skipped: Skipped) -> Result<()> {
        let source = self.journal.current.as_mut().context("no input was begun")?;
        source.end = record;
        for (reason, count) in skipped {
            *source.skipped.entry(reason).or_default() += count;
        }
        if self.committed.elapsed() >= self.commit_every {
            self.commit()?;
        }
        Ok(())
    }

    /// Ends an input. For an input that is a dataset, `made_from` is its description.
    pub fn end(&mut self, made_from: Option<&Description>) -> Result<()> {
        let current = self.journal.current.take().context("no input was begun")?;
        let description = &mut self.journal.description;
        description.duplicates += made_from.map_or(0, |from| from.duplicates);
        description.filtered += made_from.map_or(0, |from| from.filtered);
        for source in made_from.map_or_else(|| vec![current], |from| from.sources.clone()) {
            let joined = description.sources.last_mut().is_some_and(|last| last.join(&source));
            if !joined {
                description.sources.push(source);
            }
        }
        self.journal.input += 1;
        self.commit()
    }

    pub fn summary(&self) -> String {
        let mut text = format!("{} positions so far", self.positions());
        for (reason, count) in self.journal.current.iter().flat_map(|source| &source.skipped) {
            text.push_str(&format!("; left out {count}: {reason}"));
        }
        let duplicates = self.journal.description.duplicates;
        text + &format!("; {duplicates} duplicates so far")
    }

    pub fn positions(&self) -> u64 {
        self.journal.description.positions.iter().sum()
    }

    /// Saves the progress, so that the run can resume from here.
    pub fn commit(&mut self) -> Result<()> {
        self.journal.writer = self.writer.sync()?;
        self.committed = Instant::now();
        self.journal.write(&self.out)
    }

    /// Writes the file under its final name.
    pub fn finish(mut self) -> Result<()> {
        self.commit()?;
        self.writer.finish(&self.journal.description)?;
        Journal::remove(&self.out)
    }

    /// Adds the positions written before a kill to the set of known positions.
    fn remember(&mut self) -> Result<()> {
        self.writer.visit(|encoded| {
            let family: Family = encoded.decode()?;
            self.seen.extend(family.positions().map(|(board, _)| repetition_key(&board)));
            Ok(())
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    NotInCheck,
    /// No capture or promotion of the side to move wins material by static exchange.
    Quiet,
    NoMate,
    /// Ply number, counted from the start of a game with move number 1.
    Ply(RangeInclusive<u32>),
    /// Centipawns from White's point of view; no range contains a mate.
    Centipawns(RangeInclusive<i32>),
    /// Number of pieces on the board, including kings.
    Pieces(RangeInclusive<u32>),
    /// Win probability of the side to move; a forced mate is 0 or 1.
    WinProbability(RangeInclusive<f32>),
    /// Maximum win probability that the move to the position loses compared with its best sibling.
    Loss(f32),
}

impl Filter {
    /// Whether a position meets the condition; the move to it loses the win probability `loss`.
    pub fn passes(&self, board: &Board, label: Label, loss: f32) -> bool {
        match self {
            Self::NotInCheck => board.checkers().is_empty(),
            Self::Quiet => !wins_material(board),
            Self::NoMate => !matches!(label, Label::Mate(_)),
            Self::Ply(range) => {
                let black = u32::from(board.side_to_move() == Color::Black);
                let moves = u32::from(board.fullmove_number()).saturating_sub(1);
                range.contains(&(moves * 2 + black))
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
    let number = |text: &str, open: T| if text.is_empty() { Some(open) } else { text.parse().ok() };
    let ends = text.split_once("..").with_context(|| format!("'{text}': expected A..B"))?;
    let ends = number(ends.0, least).zip(number(ends.1, most)).filter(|(a, b)| a <= b);
    let (first, last) = ends.with_context(|| format!("'{text}': expected A..B, A not above B"))?;
    Ok(first..=last)
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
