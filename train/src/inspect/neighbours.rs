//! `azimuth-train neighbours`: the positions in the data that are nearest to a given one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_chess::pgn::{Game, Reader, open_text};
use azimuth_chess::position::{Position, fen_of};
use azimuth_cli::print_line;
use azimuth_network::{Inputs, Perspective};
use clap::Args;
use cozy_chess::Color;

use super::positions::PositionsOptions;
use crate::data::dataset::read_all;
use crate::data::family::Label;
use crate::data::packed::PackedPosition;
use crate::data::read::input::{Format, Lines, ending};
use crate::data::read::position_lines::parse;

/// Find the positions in the data that are nearest to a given one by cosine, with their labels.
#[derive(Args)]
pub struct NeighboursOptions {
    /// The position, as FEN.
    fen: String,
    #[command(flatten)]
    positions: PositionsOptions,
    /// Number of neighbours.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

/// A position and the cosine of its embedding with that of the given position.
struct Neighbour {
    similarity: f32,
    /// Win probability of White, by the label and by the space.
    label: f32,
    predicted: f32,
    position: PackedPosition,
}

impl NeighboursOptions {
    /// Prints the neighbours, nearest first.
    pub fn run(&self) -> Result<()> {
        let asked = Position::from_fen(&self.fen)?;
        let mut positions = self.positions.open()?;
        let inputs = Inputs::of(positions.encoder.attributes().input, [asked.board()]);
        let here = positions.encoder.encode(&inputs)?;
        let (dim, count) = (positions.dim(), self.count as usize);
        let mut nearest: Vec<Neighbour> = Vec::new();
        positions.for_each_part(|weights, part, embeddings| {
            let perspective = weights.metadata.architecture.perspective();
            for (position, embedding) in part.iter().zip(embeddings.chunks_exact(dim)) {
                let similarity: f32 = here.iter().zip(embedding).map(|(a, b)| a * b).sum();
                let p = weights.calibration.win_probability(weights.axis.cosine(embedding));
                let predicted = match (perspective, position.side_to_move()) {
                    (Perspective::SideToMove, Color::Black) => 1.0 - p,
                    _ => p,
                };
                let label = position.win_probability(Perspective::White);
                nearest.push(Neighbour { similarity, label, predicted, position: *position });
            }
            keep_nearest(&mut nearest, count);
            Ok(())
        })?;
        print_line("cosine   label  space  position (win probabilities of White)")?;
        for Neighbour { similarity, label, predicted, position } in nearest {
            let fen = fen_of(&position.board()?);
            let [label, predicted] = [label, predicted].map(|p| 100.0 * p);
            print_line(format_args!("{similarity:.4}  {label:5.1}%  {predicted:4.1}%  {fen}"))?;
        }
        Ok(())
    }
}

/// Keeps the nearest `count` in order, without repeated positions.
fn keep_nearest(nearest: &mut Vec<Neighbour>, count: usize) {
    nearest.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    let mut seen = HashSet::new();
    nearest.retain(|Neighbour { position, .. }| {
        seen.len() < count && seen.insert((position.piece_bytes(), position.side_to_move()))
    });
}

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
