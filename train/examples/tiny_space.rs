//! Trains a tiny space in a minute. The positions are from random games; the labels are material
//! and mates in one.
//!
//! cargo run --release -p azimuth-train --example tiny_space

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after, fen_of, legal_moves};
use azimuth_train::options::TrainOptions;
use azimuth_train::ranks::Alone;
use azimuth_train::run::train_encoder;
use clap::FromArgMatches;
use cozy_chess::{Board, Piece};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const GAMES: usize = 1500;
const PLIES: usize = 120;

fn main() -> Result<()> {
    let folder = Path::new("tiny-space");
    fs::create_dir_all(folder)?;
    let data = folder.join("games.epd");
    fs::write(&data, labelled_positions()?).context("cannot write the labels")?;
    let weights = folder.join("tiny.safetensors");
    let options = options(&data, &weights)?;
    let (mut config, compute) = (options.config()?, options.compute(0)?);
    let dataset = options.data.read(&config.architecture, &compute.device)?;
    config.data.clone_from(&dataset.files);
    let outcome = train_encoder(&config, &dataset, &compute, &options.output(), &Alone)?;
    if let Some(outcome) = outcome {
        println!("Kendall tau-b on held-out games: {:.3}", outcome.measured.plays.tau);
    }
    println!("setoption name WeightsFile value {}", weights.display());
    Ok(())
}

fn options(data: &Path, weights: &Path) -> Result<TrainOptions> {
    let command = format!(
        "tiny_space --data {} --out {} --features piece-square --accumulator 128 \
         --steps 300 --anchors 512 --seed 1",
        data.display(),
        weights.display()
    );
    let matches = TrainOptions::command().try_get_matches_from(command.split_whitespace())?;
    Ok(TrainOptions::from_arg_matches(&matches)?)
}

/// The positions of random games as EPD: `ce` is material in centipawns, `dm` a mate in one for or
/// against the side to move.
fn labelled_positions() -> Result<String> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut text = String::new();
    for _ in 0..GAMES {
        let mut position = Position::default();
        for _ in 0..random.random_range(10..PLIES) {
            let moves = legal_moves(position.board());
            let Some(&mv) = moves.choose(&mut random) else { break };
            position.play(mv);
            let board = position.board();
            let fields = fen_of(board);
            let placement: Vec<&str> = fields.split(' ').take(4).collect();
            let label = if mates_in_one(board) {
                "dm 1".to_owned()
            } else if is_mated_in_one(board) {
                "dm -1".to_owned()
            } else {
                format!("ce {}", material(board))
            };
            writeln!(text, "{} {label};", placement.join(" "))?;
        }
    }
    Ok(text)
}

fn mates_in_one(board: &Board) -> bool {
    let is_mate = |after: &Board| !after.checkers().is_empty() && legal_moves(after).is_empty();
    legal_moves(board).into_iter().any(|mv| is_mate(&board_after(board, mv)))
}

/// Whether the opponent mates after every move.
fn is_mated_in_one(board: &Board) -> bool {
    let moves = legal_moves(board);
    !moves.is_empty() && moves.into_iter().all(|mv| mates_in_one(&board_after(board, mv)))
}

/// The side to move's material minus the opponent's, in centipawns.
fn material(board: &Board) -> i32 {
    let values = [
        (Piece::Pawn, 100),
        (Piece::Knight, 300),
        (Piece::Bishop, 300),
        (Piece::Rook, 500),
        (Piece::Queen, 900),
    ];
    let of = |side| -> i32 {
        let count = |piece| board.colored_pieces(side, piece).len() as i32;
        values.iter().map(|&(piece, value)| count(piece) * value).sum()
    };
    of(board.side_to_move()) - of(!board.side_to_move())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_are_those_of_train() -> Result<()> {
        options(Path::new("games.epd"), Path::new("tiny.safetensors"))?.config()?;
        Ok(())
    }
}
