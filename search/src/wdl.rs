//! Chances to win, draw and lose of a score: a logistic model of the score and the material on the
//! board, fitted to recorded games, as in Stockfish.

use azimuth_chess::see::piece_value;
use cozy_chess::{Board, Piece};

use crate::value::Value;

/// Material, in pawns, for which the model is fitted. Material outside this range counts as the
/// nearest end.
const FITTED_MATERIAL: [u32; 2] = [17, 78];

/// Material whose powers the coefficients multiply: a middlegame's.
const USUAL_MATERIAL: f64 = 58.0;

/// For a score of `x` centipawns and material `m`, as a share of a middlegame's, the chance to win
/// is `1 / (1 + exp((a(m) - x) / b(m)))`. The chance to lose is the chance to win at `-x`. The rest
/// is the chance to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WdlModel {
    /// Coefficients of the polynomial `a`, the score with even chances to win, constant first.
    pub even: [f64; 4],
    /// Coefficients of the polynomial `b`, the width of the transition, constant first.
    pub width: [f64; 4],
}

impl WdlModel {
    /// The fit to games of the beam with verification, as `azimuth-bench wdl` prints it.
    pub(super) const BEAM: Self = Self {
        even: [1136.77, -3209.19, 3174.21, -1028.58],
        width: [594.99, -1517.44, 1499.88, -467.79],
    };

    /// The fit to games of the selective search.
    pub(super) const SELECTIVE: Self = Self {
        even: [753.38, -2254.93, 2527.32, -906.7],
        width: [318.53, -1016.76, 1213.33, -441.12],
    };

    /// Chances to win, draw and lose, in [0, 1], of a score with this material on the board.
    pub fn chances(&self, centipawns: i32, material: u32) -> [f64; 3] {
        let powers = Self::powers(material);
        let [even, width] = [self.even, self.width].map(|coefficients| dot(coefficients, powers));
        let reached = |score: f64| 1.0 / (1.0 + ((even - score) / width).exp());
        let [win, loss] = [centipawns, -centipawns].map(|score| reached(score.into()));
        [win, 1.0 - win - loss, loss]
    }

    /// Chances of the side to move of `board` to win, draw and lose, in permille; they sum to 1000.
    pub fn permille(&self, value: Value, board: &Board) -> [u32; 3] {
        if value.is_decisive() {
            return if value > Value::DRAW { [1000, 0, 0] } else { [0, 0, 1000] };
        }
        let [win, _, loss] = self.chances(value.centipawns(), material(board));
        let [win, loss] = [win, loss].map(|chance| (1000.0 * chance).round() as u32);
        let loss = loss.min(1000 - win);
        [win, 1000 - win - loss, loss]
    }

    /// The powers of the material that the coefficients multiply.
    pub fn powers(material: u32) -> [f64; 4] {
        let [least, most] = FITTED_MATERIAL;
        let share = f64::from(material.clamp(least, most)) / USUAL_MATERIAL;
        [1.0, share, share.powi(2), share.powi(3)]
    }
}

/// The material of both sides in pawns, without the kings.
pub fn material(board: &Board) -> u32 {
    let pieces = Piece::ALL.into_iter().filter(|&piece| piece != Piece::King);
    pieces.map(|piece| piece_value(Some(piece)) as u32 * board.pieces(piece).len()).sum()
}

fn dot(coefficients: [f64; 4], powers: [f64; 4]) -> f64 {
    coefficients.iter().zip(powers).map(|(coefficient, power)| coefficient * power).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [WdlModel; 2] = [WdlModel::BEAM, WdlModel::SELECTIVE];

    /// Of 78, 19 and 2 pawns.
    const BOARDS: [&str; 3] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "4k3/r4ppp/8/8/8/8/R4PPP/B1K5 w - - 0 1",
        "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1",
    ];

    fn board(fen: &str) -> Board {
        fen.parse().expect("a position")
    }

    #[test]
    fn material_counts_both_sides() {
        assert_eq!(BOARDS.map(|fen| material(&board(fen))), [78, 19, 2]);
    }

    #[test]
    fn chances_rise_with_the_score_and_are_the_opponents_reversed() {
        for model in MODELS {
            for material in 0..=78 {
                let mut before = [0.0, 0.0, 1.0];
                for score in -500..=500 {
                    let chances = model.chances(score, material);
                    let [win, draw, loss] = chances;
                    assert!(win > before[0] && loss < before[2], "{score} {material}");
                    assert!(draw > 0.0, "{score} {material}: {chances:?}");
                    let [lost, _, won] = model.chances(-score, material);
                    assert_eq!([won, lost], [win, loss]);
                    before = chances;
                }
            }
        }
    }

    #[test]
    fn permille_sum_up_and_no_score_is_special() {
        for model in MODELS {
            for fen in BOARDS {
                let board = board(fen);
                let of = |value| model.permille(value, &board);
                let values = (-1000..=1000).map(|step| Value::estimate(step as f32 / 1000.0));
                let chances: Vec<[u32; 3]> = values.map(of).collect();
                assert!(chances.iter().all(|chances| chances.iter().sum::<u32>() == 1000));
                assert!(chances.is_sorted_by_key(|[win, _, loss]| (*win, 1000 - loss)));
                // The score of a certain draw has the chances of the scores beside it.
                let [even, beside] = [Value::DRAW, Value::estimate(0.002)].map(of);
                assert!(even.iter().zip(beside).all(|(&one, other)| one.abs_diff(other) <= 3));
                assert_eq!(of(-Value::mated_in(9)), [1000, 0, 0]);
                assert_eq!(of(Value::mated_in(8)), [0, 0, 1000]);
                assert_eq!(of(-Value::tablebase_loss_in(3)), [1000, 0, 0]);
            }
        }
    }
}
