//! The quiet positions that verified moves lead to, and their cosines.

use std::collections::HashMap;

use anyhow::Result;
use azimuth_chess::position::board_after;
use cozy_chess::Board;

use crate::inference::ModelClient;
use crate::search::{ExplainedMove, Value, VerifiedMove};

/// The quiet positions behind the moves of a tree.
pub struct QuietPositions {
    /// For the side to move there.
    cosines: HashMap<Board, f32>,
}

/// The position at the end of a verified move's line.
pub struct QuietPosition {
    pub board: Board,
    /// Its cosine for the side that makes the verified move; `None` where the value is exact and comes from no embedding.
    pub cosine: Option<f32>,
}

impl QuietPositions {
    /// Those behind `moves` of `board` and behind all replies. Fails where the model does.
    pub fn of(board: &Board, moves: &[ExplainedMove], model: &mut ModelClient) -> Result<Self> {
        let mut boards = Vec::new();
        collect(board, moves, &mut boards);
        let cosines = model.cosines(&boards)?;
        Ok(Self { cosines: boards.into_iter().zip(cosines).collect() })
    }

    /// The position that the verified move of `board` leads to.
    pub fn behind(&self, board: &Board, explained: &ExplainedMove) -> Option<QuietPosition> {
        let verified = explained.verified.as_ref()?;
        let end = end_of(board, explained, verified);
        let cosine = self.cosines.get(&end).filter(|_| is_estimate(verified.value));
        let same_side = end.side_to_move() == board.side_to_move();
        let cosine = cosine.map(|&cosine| if same_side { cosine } else { -cosine });
        Some(QuietPosition { board: end, cosine })
    }
}

fn collect(board: &Board, moves: &[ExplainedMove], boards: &mut Vec<Board>) {
    for explained in moves {
        let verified = explained.verified.as_ref();
        if let Some(verified) = verified.filter(|verified| is_estimate(verified.value)) {
            boards.push(end_of(board, explained, verified));
        }
        collect(&board_after(board, explained.mv), &explained.replies, boards);
    }
}

fn end_of(board: &Board, explained: &ExplainedMove, verified: &VerifiedMove) -> Board {
    let mut end = board_after(board, explained.mv);
    for &mv in &verified.line {
        end.play_unchecked(mv);
    }
    end
}

/// Whether an embedding gave the value: a mate, a draw or a tablebase gave it otherwise.
fn is_estimate(value: Value) -> bool {
    !value.is_decisive() && value != Value::DRAW
}
