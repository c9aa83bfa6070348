//! Export of a dataset to PGN or CSV.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::pgn::{Writer, is_compressed};
use azimuth_chess::position::{board_after, fen_of};
use azimuth_network::replace_file::Replacement;
use cozy_chess::{Board, Move};
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
        let children = match &family.labels {
            FamilyLabels::Children(children) => children.as_slice(),
            FamilyLabels::Own(label) => {
                writer.comment(&comment(*label))?;
                &[]
            }
        };
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
