//! Positions with their labels and the labels of their moves.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, ensure};
use azimuth_chess::position::{Position, board_after, fen_of, legal_moves, repetition_key};
use azimuth_train::data::dataset;
use azimuth_train::data::family::{Family, FamilyLabels};
use azimuth_train::data::split::Split;
use cozy_chess::{Board, Color, Move};

/// A position with its label and the labels of its moves, as White's win probabilities.
pub struct Labelled {
    pub position: Position,
    pub label: f32,
    pub moves: Vec<(Move, f32)>,
}

/// The labelled positions of a file, with the labels of their moves if there are any.
pub fn read(path: &Path) -> Result<Vec<Labelled>> {
    let (data, _) = dataset::open(&[path.to_owned()])?;
    let mut own: Vec<(Board, f32)> = Vec::new();
    // The data keep one copy of each position, so the label after a move can be that of another
    // position.
    let mut known: HashMap<u64, f32> = HashMap::new();
    for split in Split::ALL {
        data.families(split, 1, |family, _| {
            let Family { board, labels } = family.decode()?;
            match labels {
                FamilyLabels::Own(label) => {
                    known.insert(repetition_key(&board), label.win_probability());
                    own.push((board, label.win_probability()));
                }
                FamilyLabels::Children(children) => {
                    known.extend(children.into_iter().map(|(mv, label)| {
                        (repetition_key(&board_after(&board, mv)), label.win_probability())
                    }));
                }
            }
            Ok(())
        })?;
    }
    ensure!(
        !own.is_empty(),
        "'{}': no position has a label; labels of moves alone are not enough",
        path.display()
    );
    let label_after = |board: &Board, mv: Move| {
        let after = board_after(board, mv);
        known.get(&repetition_key(&after)).copied().or_else(|| result(&after))
    };
    let labelled = own.into_iter().map(|(board, label)| {
        let moves = legal_moves(&board).into_iter();
        let moves = moves.filter_map(|mv| Some((mv, label_after(&board, mv)?))).collect();
        Ok(Labelled { position: Position::from_fen(&fen_of(&board))?, label, moves })
    });
    let mut labelled = labelled.collect::<Result<Vec<Labelled>>>()?;
    labelled.retain(|labelled| labelled.position.has_legal_move());
    Ok(labelled)
}

/// White's score of a game that is over; the data have no such positions.
fn result(board: &Board) -> Option<f32> {
    if board.generate_moves(|_| true) {
        return None;
    }
    let mated = !board.checkers().is_empty();
    let white_wins = board.side_to_move() == Color::Black;
    Some(if !mated { 0.5 } else { f32::from(u8::from(white_wins)) })
}
