//! The hand-written evaluation (seed document 003, section 2) under alpha-beta. It has no weights.

use anyhow::Result;
use azimuth_chess::position::move_count;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_search::Planner;
use azimuth_search::inference::EvaluateOne;
use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square};

use crate::planners::{AlphaBeta, DEFAULT_DEPTH};

/// 1, material: pawn, knight, bishop, rook, queen, king.
const MATERIAL: [i32; Piece::NUM] = [100, 320, 330, 500, 900, 0];

/// 3, game phase: the weight of each piece. All pieces of both sides sum to 24.
const PHASE: [i32; Piece::NUM] = [0, 1, 1, 2, 4, 0];

const FULL_PHASE: i32 = 24;

/// 4, pawn structure: an isolated pawn.
const ISOLATED: i32 = -12;

/// A passed pawn's bonus by its rank, seen from its own side.
const PASSED: [i32; Rank::NUM] = [0, 5, 10, 20, 35, 60, 100, 0];

/// 5, bishop pair.
const BISHOP_PAIR: i32 = 30;

/// 6, rook on an open file.
const ROOK_ON_OPEN_FILE: i32 = 20;

/// 7, for each additional legal move.
const MOBILITY: i32 = 2;

/// The evaluation of a position in centipawns, from White's point of view.
fn evaluate(board: &Board) -> i32 {
    let [white, black] = [Color::White, Color::Black].map(|side| side_stages(board, side));
    let both = mobility(board);
    let [opening, endgame] = [0, 1].map(|stage| white[stage] - black[stage] + both);
    // 8, interpolation.
    let phase = phase(board);
    (opening * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE
}

/// The centipawns of a side with all pieces on the board (opening), and with only kings and pawns
/// left (endgame).
fn side_stages(board: &Board, side: Color) -> [i32; 2] {
    let structure =
        pawn_structure(board, side) + bishop_pair(board, side) + open_files(board, side);
    let mut stages = [structure; 2];
    for piece in Piece::ALL {
        for square in board.colored_pieces(side, piece) {
            // 2, piece-square values.
            let place = piece_square_value(piece, square.relative_to(side));
            stages.iter_mut().zip(place).for_each(|(sum, of_place)| {
                *sum += MATERIAL[piece as usize] + of_place;
            });
        }
    }
    stages
}

/// The game phase, from 0 (only kings and pawns) to 24 (all pieces).
fn phase(board: &Board) -> i32 {
    let count = |piece: Piece| PHASE[piece as usize] * board.pieces(piece).len() as i32;
    Piece::ALL.into_iter().map(count).sum::<i32>().min(FULL_PHASE)
}

fn pawn_structure(board: &Board, side: Color) -> i32 {
    let [own, theirs] = [side, !side].map(|side| board.colored_pieces(side, Piece::Pawn));
    let mut sum = 0;
    for pawn in own {
        let beside = pawn.file().adjacent();
        if (own & beside).is_empty() {
            sum += ISOLATED;
        }
        let in_the_way = (beside | pawn.file().bitboard()) & ahead(side, pawn);
        if (theirs & in_the_way).is_empty() {
            sum += PASSED[pawn.relative_to(side).rank() as usize];
        }
    }
    sum
}

fn ahead(side: Color, square: Square) -> BitBoard {
    let rank = square.rank();
    let beyond = Rank::ALL.into_iter().filter(|&other| match side {
        Color::White => other > rank,
        Color::Black => other < rank,
    });
    beyond.fold(BitBoard::EMPTY, |all, rank| all | rank.bitboard())
}

fn bishop_pair(board: &Board, side: Color) -> i32 {
    let bishops = board.colored_pieces(side, Piece::Bishop);
    if bishops.len() >= 2 { BISHOP_PAIR } else { 0 }
}

fn open_files(board: &Board, side: Color) -> i32 {
    let open = |file: File| (board.pieces(Piece::Pawn) & file.bitboard()).is_empty();
    let rooks = board.colored_pieces(side, Piece::Rook).into_iter();
    ROOK_ON_OPEN_FILE * rooks.filter(|rook| open(rook.file())).count() as i32
}

/// White's legal moves minus Black's, weighted. 0 in check, where the other side's moves cannot be
/// counted by a null move.
fn mobility(board: &Board) -> i32 {
    let Some(passed) = board.null_move() else { return 0 };
    let difference = move_count(board) as i32 - move_count(&passed) as i32;
    MOBILITY * if board.side_to_move() == Color::White { difference } else { -difference }
}

/// The value of a piece on a square, in the opening and in the endgame. The square is seen from its
/// own side: a1 is in its own corner.
fn piece_square_value(piece: Piece, square: Square) -> [i32; 2] {
    let (file, rank) = (square.file() as i32, square.rank() as i32);
    let centre = centrality(file) + centrality(rank);
    match piece {
        Piece::Pawn => {
            [4 * (rank - 1) + 3 * centrality(file) * i32::from(rank < 5), 6 * (rank - 1)]
        }
        Piece::Knight => [7 * centre, 6 * centre],
        Piece::Bishop => [4 * centre, 3 * centre],
        Piece::Rook => [2 * centrality(file) + 15 * i32::from(rank == 6), 5 * i32::from(rank == 6)],
        Piece::Queen => [centre, 3 * centre],
        Piece::King => [-6 * centrality(file) - 18 * rank.min(3), 8 * centre],
    }
}

/// The centrality of a file or rank, from -3 at the edge to 3 in the centre.
fn centrality(line: i32) -> i32 {
    3 - 2 * (line.min(7 - line) - 3).abs()
}

pub fn planner(remembered: usize) -> Result<Box<dyn Planner>> {
    Ok(Box::new(AlphaBeta::new(Heuristic, |_| DEFAULT_DEPTH, remembered)?))
}

/// The evaluation, as a win probability.
#[derive(Clone)]
pub struct Heuristic;

impl EvaluateOne for Heuristic {
    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let of_white = evaluate(board);
        let own = if board.side_to_move() == Color::White { of_white } else { -of_white };
        Ok((2.0 * win_probability_of_centipawns(own.into()) - 1.0) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fen: &str) -> i32 {
        evaluate(&fen.parse().expect("valid"))
    }

    #[test]
    fn a_mirrored_position_is_worth_as_much_to_the_other_side() {
        assert_eq!(evaluate(&Board::startpos()), 0);
        for (one, other) in [
            ("4k3/pp6/8/3N4/8/8/P6P/R3K3 w Q - 0 1", "r3k3/p6p/8/8/3n4/8/PP6/4K3 b q - 0 1"),
            ("6k1/5ppp/8/8/8/8/8/3R2K1 w - - 0 1", "3r2k1/8/8/8/8/8/5PPP/6K1 b - - 0 1"),
        ] {
            assert_eq!(of(one), -of(other), "{one}");
        }
    }

    #[test]
    fn every_component_counts_as_its_table_says() {
        // Only a pair of bishops gets the bonus.
        let board = |fen: &str| -> Board { fen.parse().expect("valid") };
        let bishops = ["4k3/8/8/8/8/8/8/2B1K3 w - - 0 1", "4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1"];
        let bonuses = bishops.map(|fen| bishop_pair(&board(fen), Color::White));
        assert_eq!(bonuses, [0, BISHOP_PAIR]);
        // a4 is isolated and passed; the three pawns on the other wing are neither.
        let pawns = board("4k3/5ppp/8/8/P7/8/5PPP/4K3 w - - 0 1");
        assert_eq!(pawn_structure(&pawns, Color::White), ISOLATED + PASSED[3]);
        assert_eq!(pawn_structure(&pawns, Color::Black), 0);
        // An enemy pawn on an adjacent file ahead means that the pawn is not passed.
        let stopped = board("4k3/1p6/8/8/P7/8/8/4K3 w - - 0 1");
        assert_eq!(pawn_structure(&stopped, Color::White), ISOLATED);
        // Only the rook on d1 has no pawn on its file, of either side.
        let rooks = board("4k3/p7/8/8/8/8/8/R2RK3 w - - 0 1");
        assert_eq!(open_files(&rooks, Color::White), ROOK_ON_OPEN_FILE);
        assert_eq!(phase(&Board::startpos()), FULL_PHASE);
        assert_eq!(phase(&rooks), 4);
        // Bare kings have five moves each; a side in check cannot pass.
        let of = |fen: &str| mobility(&board(fen));
        assert_eq!(of("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), 0);
        assert_eq!(of("7k/8/8/8/3Q4/8/8/K7 b - - 0 1"), 0);
        // A rook's 14 moves and 3 of its king, minus 3 of Black's king.
        assert_eq!(of("7k/8/8/8/2R5/8/8/K7 w - - 0 1"), MOBILITY * 14);
        assert_eq!(of("7k/8/8/8/2R5/8/8/K7 b - - 0 1"), MOBILITY * 14);
    }
}
