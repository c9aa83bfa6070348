//! Export of a dataset to PGN or CSV.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::pgn::is_compressed;
use azimuth_chess::position::{board_after, fen_of};
use azimuth_chess::san::san_of_move;
use azimuth_network::replace_file::Replacement;
use cozy_chess::{Board, Color, Move};
use indicatif::ProgressBar;

use super::family::{Family, FamilyLabels};
use super::file::dataset_file::DatasetFile;
use super::packed::Label;
use super::read::input::ending;

/// Zstandard level; higher levels reduce files little.
const COMPRESSION: i32 = 10;

/// Whether to export to `out`: whether its name is not that of a dataset (`.azd`).
pub fn is_export(out: &Path) -> bool {
    out.extension().is_none_or(|extension| extension != "azd")
}

/// Writes the positions of all files to `out`, `.pgn` or `.csv`, also with `.zst`.
pub fn export(files: &[&DatasetFile], out: &Path) -> Result<()> {
    let name = || format!("--out '{}'", out.display());
    ensure!(!out.exists(), "{}: it exists; remove it or choose another name", name());
    let mut writer: Box<dyn Format> = match ending(out).as_deref() {
        Some("pgn") => Box::new(PgnWriter::default()),
        Some("csv") => Box::new(CsvWriter),
        _ => bail!("{}: the name must end in .azd, .pgn, .csv, .pgn.zst or .csv.zst", name()),
    };
    let file = BufWriter::with_capacity(1 << 20, Replacement::new(out)?);
    let sink: Box<dyn Finish> = match is_compressed(out) {
        true => Box::new(zstd::Encoder::new(file, COMPRESSION).with_context(name)?),
        false => Box::new(file),
    };
    write(files, &mut *writer, sink).with_context(name)
}

fn write(files: &[&DatasetFile], writer: &mut dyn Format, mut sink: Box<dyn Finish>) -> Result<()> {
    writer.begin(&mut *sink)?;
    for file in files {
        let bar = ProgressBar::new(file.blocks() as u64);
        for block in 0..file.blocks() {
            for family in file.block(block)?.1 {
                writer.family(family, &mut *sink)?;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    writer.end(&mut *sink)?;
    sink.finish()
}

/// A stream that must be finished explicitly.
trait Finish: Write {
    fn finish(self: Box<Self>) -> Result<()>;
}

impl Finish for BufWriter<Replacement> {
    fn finish(self: Box<Self>) -> Result<()> {
        self.into_inner()?.finish()
    }
}

impl Finish for zstd::Encoder<'_, BufWriter<Replacement>> {
    fn finish(self: Box<Self>) -> Result<()> {
        Box::new((*self).finish()?).finish()
    }
}

trait Format {
    fn begin(&mut self, _sink: &mut dyn Write) -> Result<()> {
        Ok(())
    }

    fn family(&mut self, family: Family, sink: &mut dyn Write) -> Result<()>;

    fn end(&mut self, _sink: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

/// `fen,cp`: centipawns, or `#1` and `#-1` for mates, from White's point of view.
struct CsvWriter;

impl Format for CsvWriter {
    fn begin(&mut self, sink: &mut dyn Write) -> Result<()> {
        Ok(writeln!(sink, "fen,cp")?)
    }

    fn family(&mut self, family: Family, sink: &mut dyn Write) -> Result<()> {
        for (board, label) in family.positions() {
            writeln!(sink, "{},{label}", fen_of(&board))?;
        }
        Ok(())
    }
}

/// Writes each family as a move with variations. A family whose position follows from the previous
/// one continues its game.
#[derive(Default)]
struct PgnWriter {
    pending: Option<Family>,
    in_game: bool,
}

impl Format for PgnWriter {
    fn family(&mut self, family: Family, sink: &mut dyn Write) -> Result<()> {
        let last = self.pending.replace(family);
        let next = self.pending.as_ref().map(|family| family.board.clone());
        last.map_or(Ok(()), |last| self.write(&last, next.as_ref(), sink))
    }

    fn end(&mut self, sink: &mut dyn Write) -> Result<()> {
        let last = self.pending.take();
        last.map_or(Ok(()), |last| self.write(&last, None, sink))
    }
}

impl PgnWriter {
    /// Writes a family; the move that leads to `next` is the main line.
    fn write(&mut self, family: &Family, next: Option<&Board>, sink: &mut dyn Write) -> Result<()> {
        let board = &family.board;
        if !self.in_game {
            let fen = fen_of(board);
            // Castling rights as rook files mean Chess960.
            let standard = fen
                .split(' ')
                .nth(2)
                .is_some_and(|rights| rights.bytes().all(|b| b"KQkq-".contains(&b)));
            let variant = if standard { "" } else { "[Variant \"Chess960\"]\n" };
            writeln!(
                sink,
                "[Event \"?\"]\n[Result \"*\"]\n{variant}[FEN \"{fen}\"]\n[SetUp \"1\"]\n"
            )?;
        }
        let children = match &family.labels {
            FamilyLabels::Children(children) => children.as_slice(),
            FamilyLabels::Own(label) => {
                write!(sink, "{{ [%eval {}] }} ", eval(*label))?;
                &[]
            }
        };
        let leads = |&(mv, _): &(Move, Label)| Some(&board_after(board, mv)) == next;
        let played = children.iter().position(leads);
        let main = played.unwrap_or(0);
        if let Some(&(mv, label)) = children.get(main) {
            write!(sink, "{} ", describe(board, mv, label))?;
        }
        for (_, (mv, label)) in children.iter().enumerate().filter(|&(index, _)| index != main) {
            write!(sink, "( {} ) ", describe(board, *mv, *label))?;
        }
        self.in_game = played.is_some()
            || matches!(family.labels, FamilyLabels::Own(_)) && next == Some(board);
        if !self.in_game {
            writeln!(sink, "*\n")?;
        }
        Ok(())
    }
}

/// `12... Nf6 { [%eval 0.31] }`
fn describe(board: &Board, mv: Move, label: Label) -> String {
    let number = board.fullmove_number();
    let dots = if board.side_to_move() == Color::White { "." } else { "..." };
    format!("{number}{dots} {} {{ [%eval {}] }}", san_of_move(board, mv), eval(label))
}

fn eval(label: Label) -> String {
    match label {
        Label::Centipawns(value) => format!("{:.2}", f64::from(value) / 100.0),
        mate @ Label::Mate(_) => mate.to_string(),
    }
}
