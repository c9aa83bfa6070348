//! Writes the sample of positions that `azimuth serve` and `azimuth report` show as the map of the space: positions of
//! recorded games, and forced mates among them.
//!
//! ```text
//! cargo run --release --example map_sample -- bench/results/timed-{clock-shipped,10ms,50ms}.pgn.zst \
//!     > engine/src/map_sample.txt
//! ```

use std::path::PathBuf;

use anyhow::{Context, Result};
use azimuth::embedded_weights;
use azimuth_chess::pgn::{Game, Reader, open_text};
use azimuth_chess::position::{fen_of, uci_move};
use azimuth_search::inference::Worker;
use azimuth_search::{
    Control, DefaultWeights, Limits, Planner, PlannerKind, PlannerSettings, Resources,
};
use cozy_chess::Color;

/// Number of positions of a game that are spread over it.
const SPREAD: usize = 5;

/// Number of positions.
const COUNT: usize = 2_500;

/// Depth of the search for mates, in plies.
const DEPTH: u32 = 5;

fn main() -> Result<()> {
    let paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let weights = embedded_weights::read(DefaultWeights::Selective)?;
    let worker = Worker::on_cpu(weights, |notice| eprintln!("{notice}"))?;
    let resources = Resources { hash_mb: 16, threads: 1 };
    let settings = PlannerSettings::default();
    let mut planner = settings.build(PlannerKind::Selective, &worker, resources, None)?;
    let mut left = COUNT;
    for path in &paths {
        let mut reader = Reader::new(open_text(path)?);
        let mut number = 0usize;
        while let Some(game) = reader.read_game::<Game>()? {
            let Ok(game) = game else { continue };
            number += 1;
            // Mates are near the end of games; the other positions are spread over the game, at
            // other plies in each game.
            let plies = game.moves.len();
            let end = plies.checked_sub(1 + number % 5).filter(|_| number.is_multiple_of(2));
            let spread =
                (0..SPREAD).map(|part| (plies * part / SPREAD + number * 7) % plies.max(1));
            let taken: Vec<usize> = spread.chain(end).collect();
            let mut position = game.start.clone();
            for (ply, played) in game.moves.iter().enumerate() {
                if left > 0 && taken.contains(&ply) {
                    let (board, mate) = (position.board(), mate(&mut *planner, &position)?);
                    let mv = uci_move(board, played.mv, false);
                    let mate = mate.map(|moves| format!(";{moves}")).unwrap_or_default();
                    println!("{};{mv}{mate}", fen_of(board));
                    left -= 1;
                }
                position.play(played.mv);
            }
        }
    }
    (left == 0).then_some(()).context("there are too few games")
}

/// Moves to a forced mate by White, or minus those by Black.
fn mate(
    planner: &mut dyn Planner,
    position: &azimuth_chess::position::Position,
) -> Result<Option<i32>> {
    let limits = Limits { depth: Some(DEPTH), ..Limits::default() };
    let control = &mut Control::without_signals(limits);
    let report = planner.search(position, control, &mut |_| ())?;
    let moves = report.value.moves_to_mate();
    let white = position.board().side_to_move() == Color::White;
    Ok(moves.map(|moves| if white { moves } else { -moves }))
}
