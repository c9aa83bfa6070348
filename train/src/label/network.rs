//! Labels from a Stockfish network without a search. In quiet positions they are as close to the
//! result of a search as the labels of a shallow search, and far cheaper.

use azimuth_chess::placement::Placement;
use azimuth_chess::position::board_after;
use azimuth_nnue::StockfishNetwork;
use cozy_chess::{Board, Color, Move};

use super::scored_move::ScoredMove;
use crate::data::label::Label;

/// Scores a position that has a legal move, from White's point of view.
pub fn value(network: &mut StockfishNetwork, board: &Board) -> Label {
    Label::Centipawns(network.centipawns(&Placement::of(board))).seen_by(board.side_to_move())
}

/// Scores `moves`, and sorts them with the best for the side to move first.
pub fn score(network: &mut StockfishNetwork, board: &Board, moves: &[Move]) -> Vec<ScoredMove> {
    let scored = moves.iter().map(|&mv| {
        let after = board_after(board, mv);
        let label = result(&after).unwrap_or_else(|| {
            let centipawns = network.centipawns(&Placement::of(&after));
            Label::Centipawns(centipawns).seen_by(after.side_to_move())
        });
        ScoredMove { mv, label }
    });
    best_first(scored.collect(), board.side_to_move())
}

/// Sorts moves of `side` by their labels, the best first.
pub fn best_first(mut scored: Vec<ScoredMove>, side: Color) -> Vec<ScoredMove> {
    scored.sort_by_key(|scored| -i32::from(scored.label.seen_by(side).bits()));
    scored
}

/// The result of a game that is over: mate or stalemate. `None` if there is a legal move.
pub fn result(board: &Board) -> Option<Label> {
    if board.generate_moves(|_| true) {
        return None;
    }
    let mated = !board.checkers().is_empty();
    let drawn = Label::Centipawns(0);
    Some(if mated { Label::Mate(board.side_to_move() == Color::Black) } else { drawn })
}
