//! Formats the numbers of an explanation for the terminal and for HTML.

use azimuth_chess::san::san_of_line;
use cozy_chess::{Board, Color, Move};

use crate::search::{Bound, ExplainedMove, PlannerKind, Value, WdlModel};

/// Win probability, in percent, of the side that moves.
pub fn percent(value: Value) -> f32 {
    100.0 * value.win_probability()
}

/// `53.2%  cp 35`, `≤53.2%  cp 35`.
pub fn bounded(value: Value, bound: Bound) -> String {
    let sign = match bound {
        Bound::Exact => "",
        Bound::Upper => "≤",
        Bound::Lower => "≥",
    };
    format!("{sign}{:.1}%  {value}", percent(value))
}

/// `wins 41.2%, draws 23.9%, loses 34.9%` of a search's value, for the side to move.
pub fn chances(planner: PlannerKind, value: Value, board: &Board) -> String {
    let permille = WdlModel::of(planner).permille(value, board);
    let [wins, draws, loses] = permille.map(|permille| f64::from(permille) / 10.0);
    format!("wins {wins:.1}%, draws {draws:.1}%, loses {loses:.1}%")
}

/// Search depth of a move of the tree and its values before the search: `4 plies, at first sight
/// 52.9%, verified 32.1%`.
pub fn before_the_search(explained: &ExplainedMove, plies: u32) -> String {
    let first = format!("{plies} plies, at first sight {:.1}%", percent(explained.static_value));
    match &explained.verified {
        Some(verified) => format!("{first}, verified {:.1}%", percent(verified.value)),
        None => first,
    }
}

/// `White` or `Black`.
pub fn side_to_move(board: &Board) -> &'static str {
    match board.side_to_move() {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// A line with its move numbers.
pub fn numbered(board: &Board, line: &[Move]) -> String {
    let first = usize::from(board.fullmove_number());
    let black_first = usize::from(board.side_to_move() == Color::Black);
    let mut words = Vec::new();
    for (ply, san) in san_of_line(board, line).into_iter().enumerate() {
        let half_moves = ply + black_first;
        let number = first + half_moves / 2;
        match half_moves % 2 {
            0 => words.push(format!("{number}. {san}")),
            _ if ply == 0 => words.push(format!("{number}... {san}")),
            _ => words.push(san),
        }
    }
    words.join(" ")
}
