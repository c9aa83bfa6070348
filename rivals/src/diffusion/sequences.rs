//! Sequences in the data (state, best action, next state, its best action and so on), and their
//! tokens.

use azimuth_chess::position::board_after;
use azimuth_chess::tokens::{LEN, tokenize};
use cozy_chess::{Board, Color};

use crate::board::{MOVES, move_index, turned};
use crate::studies::Study;

/// Number of tokens of a state; the tokens are ChessBench's.
pub const STATE: usize = LEN;

/// Number of different state tokens.
pub const STATE_TOKENS: usize = 33;

/// Number of different action tokens: the move indices.
pub const ACTION_TOKENS: usize = MOVES;

/// Maximum distance in the data from a study to its successor. Variations may lie between the two.
const REACH: usize = 8;

/// Studies that start a sequence, in which each state follows from the best move of the state
/// before it.
pub struct Sequences<'a> {
    studies: &'a [Study],
    /// For each study, the index of its successor.
    next: Vec<Option<u32>>,
    /// Indices of the studies that start a sequence of `horizon` states.
    pub starts: Vec<u32>,
    horizon: usize,
}

impl<'a> Sequences<'a> {
    /// Sequences of `horizon` states and `horizon` actions.
    pub fn new(studies: &'a [Study], horizon: usize) -> Self {
        let following = |(place, study): (usize, &Study)| {
            let after = board_after(&study.board, study.best().0);
            let near = studies[place + 1..].iter().take(REACH);
            let steps =
                near.map(|study| &study.board).position(|board| board.same_position(&after));
            steps.map(|steps| (place + 1 + steps) as u32)
        };
        let next: Vec<_> = studies.iter().enumerate().map(following).collect();
        let is_long = |&start: &u32| {
            let mut at = Some(start);
            (1..horizon).all(|_| {
                at = at.and_then(|place| next[place as usize]);
                at.is_some()
            })
        };
        let starts = (0..studies.len() as u32).filter(is_long).collect();
        Self { studies, next, starts, horizon }
    }

    /// The first study of the sequence that begins at `start`, one of [`Self::starts`].
    pub fn first(&self, start: u32) -> &'a Study {
        &self.studies[start as usize]
    }

    /// The studies of the sequence that begins at `start`, one of [`Self::starts`].
    pub fn studies(&self, start: u32) -> impl Iterator<Item = &'a Study> {
        let follow = |&place: &u32| self.next[place as usize];
        let places = std::iter::successors(Some(start), follow).take(self.horizon);
        let studies = self.studies;
        places.map(move |place| &studies[place as usize])
    }
}

/// The tokens of a state, as `view` sees it.
pub fn state_tokens(board: &Board, view: Color) -> [u32; STATE] {
    let clock = board.halfmove_clock().into();
    let tokens = match view {
        Color::White => tokenize(board, clock),
        Color::Black => tokenize(&turned(board), clock),
    };
    tokens.map(u32::from)
}

/// The move index of a study's best move, as `view` sees it.
pub fn best_action(study: &Study, view: Color) -> u32 {
    move_index(&study.board, study.best().0, view) as u32
}
