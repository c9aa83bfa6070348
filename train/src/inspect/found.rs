//! Positions of files that need no labels: FENs, EPD, and games.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_chess::pgn::{Game, Reader, open_text};
use azimuth_chess::position::Position;

use crate::data::dataset::read_all;
use crate::data::label::Label;
use crate::data::packed::PackedPosition;
use crate::data::read::epd::parse;
use crate::data::read::format::{Format, ending};
use crate::data::read::lines::Lines;

/// A position with or without a label.
pub struct Found {
    pub position: PackedPosition,
    pub has_label: bool,
}

impl Found {
    fn new(position: &Position, label: Option<Label>) -> Self {
        // The label of a position without one is never read.
        let stored = label.unwrap_or(Label::Centipawns(0));
        let position = PackedPosition::new(position.board(), stored);
        Self { position, has_label: label.is_some() }
    }
}

/// The positions of `paths`, in their order: all positions of files of FENs or EPD, and the
/// labelled positions of other files. A PGN file without evaluations gives all positions of the
/// main lines.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for path in paths {
        if is_lines(path) {
            of_lines(path, &mut found)?;
            continue;
        }
        let labelled = read_all(std::slice::from_ref(path), usize::MAX)?;
        if labelled.is_empty() && Format::of(path)? == Format::Pgn {
            of_games(path, &mut found)?;
        }
        let labelled = labelled.positions.into_iter();
        found.extend(labelled.map(|position| Found { position, has_label: true }));
    }
    Ok(found)
}

/// Whether a file has a FEN or an EPD record on each line, by its name. `-` is standard input.
fn is_lines(path: &Path) -> bool {
    path.as_os_str() == "-"
        || ending(path).is_some_and(|ending| ["epd", "fen", "fens", "txt"].contains(&&*ending))
}

fn of_lines(path: &Path, found: &mut Vec<Found>) -> Result<()> {
    let mut lines = Lines::new(open_text(path)?);
    let name = || format!("'{}'", path.display());
    while let Some(line) = lines.next().with_context(name)? {
        if line.is_empty() {
            continue;
        }
        let parsed = read_line(line);
        let place = || format!("'{}': line {}", path.display(), lines.number());
        found.push(parsed.with_context(place)?);
    }
    Ok(())
}

/// Parses a FEN or an EPD record. After the fourth field, a FEN has only numbers, and an EPD record
/// has operations.
fn read_line(line: &str) -> Result<Found> {
    let is_number = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
    if line.split_whitespace().skip(4).all(is_number) {
        return Ok(Found::new(&Position::from_fen(line)?, None));
    }
    let (position, label) = parse(line)?;
    Ok(Found::new(&position, label))
}

fn of_games(path: &Path, found: &mut Vec<Found>) -> Result<()> {
    let mut reader = Reader::new(open_text(path)?);
    let name = || format!("'{}'", path.display());
    while let Some(game) = reader.read_game::<Game>().with_context(name)? {
        let game = game.with_context(name)?;
        let mut position = game.start;
        found.push(Found::new(&position, None));
        for played in game.moves {
            position.play(played.mv);
            found.push(Found::new(&position, None));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_fen_or_epd() -> Result<()> {
        let fen = read_line("4k3/8/8/8/8/8/4P3/4K3 b - - 7 9")?;
        let board = fen.position.board()?;
        assert_eq!((board.halfmove_clock(), board.fullmove_number()), (7, 9));
        for (line, label) in [
            ("4k3/8/8/8/8/8/4P3/4K3 b - -", None),
            ("4k3/8/8/8/8/8/4P3/4K3 b - - bm Kd7;", None),
            ("4k3/8/8/8/8/8/4P3/4K3 b - - ce -70; id \"a\";", Some(Label::Centipawns(70))),
        ] {
            let found = read_line(line)?;
            assert_eq!(found.has_label.then(|| found.position.label()), label, "{line}");
        }
        for bad in ["hello", "4k3/8/8/8/8/8/4P3/4K3 b -", "8/8/8/8/8/8/8/8 w - - 0 1"] {
            assert!(read_line(bad).is_err(), "{bad}");
        }
        Ok(())
    }
}
