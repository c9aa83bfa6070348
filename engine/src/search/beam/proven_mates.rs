//! Forced mates proven by a search, kept between moves, so that an announced mate is played to its
//! end even if later searches get little time.

use std::collections::HashMap;

use azimuth_chess::position::{Position, legal_moves, repetition_key};
use cozy_chess::Move;

use crate::search::value::Value;

/// Positions in which the side to move mates by force: its move, and the maximum number of plies
/// until mate.
#[derive(Default)]
pub(super) struct ProvenMates(HashMap<u64, (Move, u32)>);

impl ProvenMates {
    pub(super) fn add(&mut self, key: u64, mv: Move, plies: u32) {
        let known = self.0.entry(key).or_insert((mv, plies));
        if plies < known.1 {
            *known = (mv, plies);
        }
    }

    /// The mate of `root` against the longest defence; `None` if none is known, or if the 50-move
    /// rule or a repetition may prevent it.
    pub(super) fn line(&self, root: &Position) -> Option<(Value, Vec<Move>)> {
        let (_, plies) = self.get(root)?;
        let in_time = u32::from(root.halfmove_clock()) + plies <= 100;
        let repeats = |key| self.0.get(key).is_some_and(|&(_, other)| other < plies);
        if !in_time || root.history().iter().any(repeats) {
            return None;
        }
        let mut position = root.clone();
        let mut line = Vec::new();
        while let Some((mv, left)) = self.get(&position) {
            line.push(mv);
            position.play(mv);
            // Each pair of moves reduces the distance to mate.
            let nearer = |reply: &(Move, u32)| reply.1 < left;
            let Some((reply, _)) = self.longest_defence(&position).filter(nearer) else { break };
            line.push(reply);
            position.play(reply);
        }
        Some((-Value::mated_in(plies), line))
    }

    fn get(&self, position: &Position) -> Option<(Move, u32)> {
        let &(mv, plies) = self.0.get(&repetition_key(position.board()))?;
        position.board().is_legal(mv).then_some((mv, plies))
    }

    fn longest_defence(&self, position: &Position) -> Option<(Move, u32)> {
        let known = |reply: Move| self.get(&position.after(reply)).map(|(_, plies)| (reply, plies));
        let replies = legal_moves(position.board());
        replies.into_iter().filter_map(known).max_by_key(|&(_, plies)| plies)
    }
}
