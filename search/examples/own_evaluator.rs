//! Searches with another evaluator in place of the encoder: here, one that counts material.
//!
//!     cargo run --release -p azimuth-search --example own_evaluator -- "FEN"

use anyhow::Result;
use azimuth_chess::position::{Position, uci_move};
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_search::inference::{EvaluateOne, Worker};
use azimuth_search::{Control, Limits, Planner, Resources, Selective, SelectiveSettings};
use cozy_chess::{Board, Piece};

/// White to move wins a queen.
const HANGING_QUEEN: &str = "4k3/8/3q4/8/8/2N5/8/3QK3 w - - 0 1";

/// Counts material.
struct Material;

impl EvaluateOne for Material {
    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let pieces = [
            (Piece::Pawn, 100),
            (Piece::Knight, 320),
            (Piece::Bishop, 330),
            (Piece::Rook, 500),
            (Piece::Queen, 900),
        ];
        let material = |side| -> i32 {
            let of = |(piece, value)| board.colored_pieces(side, piece).len() as i32 * value;
            pieces.into_iter().map(of).sum()
        };
        let ahead = material(board.side_to_move()) - material(!board.side_to_move());
        Ok(2.0 * win_probability_of_centipawns(ahead.into()) as f32 - 1.0)
    }
}

fn main() -> Result<()> {
    let fen = std::env::args().nth(1).unwrap_or_else(|| HANGING_QUEEN.to_owned());
    let root = Position::from_fen(&fen)?;
    let worker = Worker::with_evaluator(|| Material, |notice| eprintln!("{notice}"));
    let resources = Resources { hash_mb: 16, threads: 1 };
    let mut planner = Selective::new(&worker, SelectiveSettings::default(), resources)?;
    let limits = Limits { depth: Some(8), ..Limits::default() };
    let best = planner.search(&root, &mut Control::without_signals(limits), &mut |_| ())?;
    let mv = best.pv.first().map(|&mv| uci_move(root.board(), mv, false));
    println!("best move {}, {}", mv.as_deref().unwrap_or("(none)"), best.value);
    Ok(())
}
