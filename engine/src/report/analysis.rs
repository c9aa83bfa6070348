//! A game looked at position by position.

use anyhow::Result;
use azimuth_chess::position::{Position, board_after, legal_moves};
use cozy_chess::{Board, Move};

use super::game::Game;
use crate::inference::ModelClient;
use crate::search::{Control, Limits, Planner, Value};

/// Win probability that a move may give away until it is called an inaccuracy, a mistake, a blunder: lichess's bands
/// (0.1, 0.2 and 0.3 of winning chances in [-1, 1]).
const BANDS: [(f32, Judgement); 3] =
    [(0.15, Judgement::Blunder), (0.10, Judgement::Mistake), (0.05, Judgement::Inaccuracy)];

/// What a move is called that gives win probability away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// More than 0.05.
    Inaccuracy,
    /// More than 0.10.
    Mistake,
    /// More than 0.15.
    Blunder,
}

/// A position of the game.
pub struct Stop {
    /// The position.
    pub position: Position,
    /// What a search finds it worth to its side to move, or its exact result.
    pub value: Value,
    /// The line that the search would play; empty where the game is over.
    pub line: Vec<Move>,
    /// Where it lies in the space.
    pub embedding: Vec<f32>,
    /// The cosine with the axis, for White.
    pub cosine: f32,
    /// The move that led here; none at the start.
    pub arrival: Option<Arrival>,
}

/// A move of the game.
pub struct Arrival {
    /// The move.
    pub mv: Move,
    /// Its place among the legal moves by static evaluation, from 1, and how many there were.
    pub rank: (usize, usize),
    /// Win probability that it gave away.
    pub loss: f32,
    /// What it is called, if anything.
    pub judgement: Option<Judgement>,
}

/// What looks at games.
pub struct Analyst<'a> {
    pub planner: &'a mut dyn Planner,
    pub model: &'a mut ModelClient,
    /// Of each position.
    pub limits: Limits,
}

impl Analyst<'_> {
    /// Looks at a game from its start to its end; `looked` is called after each position.
    pub fn look_at(&mut self, game: &Game, mut looked: impl FnMut()) -> Result<Vec<Stop>> {
        self.planner.new_game();
        let mut stops = vec![self.stop(game.start.clone())?];
        looked();
        for played in &game.moves {
            let before = &stops[stops.len() - 1];
            let (value, best) = (before.value, before.line.first().copied());
            let rank = self.rank(before.position.board(), played.mv)?;
            let mut position = before.position.clone();
            position.play(played.mv);
            let mut stop = self.stop(position)?;
            let after = 1.0 - stop.value.win_probability();
            let loss = match best == Some(played.mv) {
                true => 0.0,
                false => (value.win_probability() - after).max(0.0),
            };
            let judgement = BANDS.iter().find(|(least, _)| loss >= *least).map(|band| band.1);
            stop.arrival = Some(Arrival { mv: played.mv, rank, loss, judgement });
            stops.push(stop);
            looked();
        }
        Ok(stops)
    }

    fn stop(&mut self, position: Position) -> Result<Stop> {
        let (value, line) = match position.has_legal_move() {
            true => {
                let control = &mut Control::without_signals(self.limits.clone());
                let report = self.planner.search(&position, control, &mut |_| ())?;
                (report.value, report.pv)
            }
            false => (self.planner.evaluate(&position)?, Vec::new()),
        };
        let board = position.board();
        let embedding = self.model.embeddings(std::slice::from_ref(board))?;
        let space = self.model.space();
        let cosine = space.cosine_for_white(space.axis.cosine(&embedding), board.side_to_move());
        Ok(Stop { position, value, line, embedding, cosine, arrival: None })
    }

    /// A legal move's place by static evaluation, from 1, and how many moves there are.
    fn rank(&mut self, board: &Board, mv: Move) -> Result<(usize, usize)> {
        let moves = legal_moves(board);
        let after: Vec<Board> = moves.iter().map(|&mv| board_after(board, mv)).collect();
        // For the opponent: the lower, the better the move.
        let cosines = self.model.cosines(&after)?;
        let own = moves.iter().position(|&known| known == mv).map_or(0.0, |index| cosines[index]);
        let better = cosines.iter().filter(|&&cosine| cosine < own).count();
        Ok((better + 1, moves.len()))
    }
}
