//! The quiet positions at the ends of verified lines, and their cosines.

use std::collections::HashMap;

use anyhow::Result;
use azimuth_chess::position::board_after;
use cozy_chess::Board;

use crate::inference::ModelClient;
use crate::search::{ExplainedMove, Value, VerifiedMove};

/// The quiet positions of a tree of verified moves.
pub struct QuietPositions {
    /// Cosines for the side to move of each position.
    cosines: HashMap<Board, f32>,
}

/// The position at the end of a verified line.
pub struct QuietPosition {
    pub board: Board,
    /// Cosine for the side that makes the verified move. `None` if the value is exact and needs no
    /// embedding.
    pub cosine: Option<f32>,
}

impl QuietPositions {
    /// Collects the quiet positions of `moves` and of all their replies. Fails if the model does.
    pub fn of(board: &Board, moves: &[ExplainedMove], model: &mut ModelClient) -> Result<Self> {
        let mut boards = Vec::new();
        collect(board, moves, &mut boards);
        let cosines = model.cosines(&boards)?;
        Ok(Self { cosines: boards.into_iter().zip(cosines).collect() })
    }

    /// The quiet position of a verified move of `board`.
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

/// Whether the value comes from an embedding, not from a mate, a draw or a tablebase.
fn is_estimate(value: Value) -> bool {
    !value.is_decisive() && value != Value::DRAW
}
