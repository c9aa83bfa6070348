//! Self-play with epsilon-greedy moves, and the transitions to remember.

use anyhow::{Result, ensure};
use azimuth_chess::position::{Position, board_after};
use azimuth_search::{Value, terminal_value};
use cozy_chess::{Board, BoardBuilder, Move, Square};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::model::{QNetwork, largest, repetition, reward};
use crate::board::moves::{board_of, move_of, text_of};

/// Number of games played in parallel.
const GAMES: usize = 32;

/// Plies after which a game is declared drawn.
const LONGEST: usize = 160;

/// A move that was played, and its reward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "TransitionText", try_from = "TransitionText")]
pub struct Transition {
    /// The position before the move.
    pub board: Board,
    /// The move.
    pub mv: Move,
    /// Its reward, including the game's outcome.
    pub reward: f32,
    /// The position after the move, with the opponent to move. `None` if the game is over.
    pub after: Option<Board>,
}

/// A [`Transition`] in a checkpoint.
#[derive(Serialize, Deserialize)]
struct TransitionText {
    board: String,
    mv: String,
    /// A double, which JSON restores exactly.
    reward: f64,
    is_over: bool,
}

impl From<Transition> for TransitionText {
    fn from(transition: Transition) -> Self {
        let Transition { board, mv, reward, after } = transition;
        Self {
            board: text_of(&board),
            mv: mv.to_string(),
            reward: reward.into(),
            is_over: after.is_none(),
        }
    }
}

impl TryFrom<TransitionText> for Transition {
    type Error = anyhow::Error;

    fn try_from(text: TransitionText) -> Result<Self> {
        let board = board_of(&text.board)?;
        let mv = move_of(&text.mv, &board)?;
        let after = (!text.is_over).then(|| board_after(&board, mv));
        Ok(Self { board, mv, reward: text.reward as f32, after })
    }
}

/// The running games.
#[derive(Serialize, Deserialize)]
pub struct SelfPlay {
    games: Vec<RunningGame>,
    /// Number of finished games.
    pub episodes: u64,
}

/// The reward for each move of the winner, in addition; the loser's moves get its negative.
const OUTCOME: f32 = 0.01;

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(into = "Vec<String>", try_from = "Vec<String>")]
struct RunningGame {
    position: Position,
    so_far: Vec<Transition>,
}

/// A checkpoint has the moves from the starting position.
impl From<RunningGame> for Vec<String> {
    fn from(game: RunningGame) -> Self {
        game.so_far.iter().map(|transition| transition.mv.to_string()).collect()
    }
}

impl TryFrom<Vec<String>> for RunningGame {
    type Error = anyhow::Error;

    fn try_from(moves: Vec<String>) -> Result<Self> {
        let mut game = Self::default();
        for mv in &moves {
            let mv = move_of(mv, game.position.board())?;
            ensure!(!game.play(mv), "checkpoint: a game that is over");
        }
        Ok(game)
    }
}

impl SelfPlay {
    /// Games from the starting position.
    pub fn new() -> Self {
        Self { games: (0..GAMES).map(|_| RunningGame::default()).collect(), episodes: 0 }
    }

    /// Plays a move in every game: a random one with probability `epsilon`, otherwise the one with
    /// the largest value. The transitions of finished games go to `remember`.
    pub fn play(
        &mut self,
        network: &QNetwork,
        epsilon: f64,
        rng: &mut impl Rng,
        mut remember: impl FnMut(Transition) -> Result<()>,
    ) -> Result<()> {
        let positions: Vec<&Position> = self.games.iter().map(|game| &game.position).collect();
        let values = network.values_of(&positions)?;
        for (game, values) in self.games.iter_mut().zip(values) {
            let any = rng.random::<f64>() < epsilon;
            let chosen = if any { values.choose(rng).copied() } else { largest(&values) };
            let Some((mv, _)) = chosen else { continue };
            if game.play(mv) {
                self.episodes += 1;
                for transition in std::mem::take(game).so_far {
                    if rng.random::<bool>() {
                        remember(mirrored(&transition).unwrap_or(transition))?;
                    } else {
                        remember(transition)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl RunningGame {
    /// Plays a move and returns whether the game is over. If so, adds its outcome to the rewards of
    /// all moves.
    fn play(&mut self, mv: Move) -> bool {
        let board = self.position.board().clone();
        let reward = reward(&board, mv) + repetition(&self.position, mv);
        self.position.play(mv);
        let after = self.position.board();
        let ply = self.so_far.len() as u32 + 1;
        let end = terminal_value(after, ply, self.position.history())
            .or_else(|| (self.so_far.len() + 1 >= LONGEST).then_some(Value::DRAW));
        let next = end.is_none().then(|| after.clone());
        self.so_far.push(Transition { board, mv, reward, after: next });
        if let Some(end) = end.filter(|&end| end != Value::DRAW) {
            debug_assert!(end.is_mated());
            let winner = !after.side_to_move();
            for transition in &mut self.so_far {
                let won = transition.board.side_to_move() == winner;
                transition.reward += if won { OUTCOME } else { -OUTCOME };
            }
        }
        end.is_some()
    }
}

/// The transition mirrored from left to right, which is equivalent once neither side may castle.
/// (The document also rotates boards, but pawns move along files only.)
fn mirrored(transition: &Transition) -> Option<Transition> {
    let board = mirrored_board(&transition.board)?;
    let Move { from, to, promotion } = transition.mv;
    let mv = Move { from: from.flip_file(), to: to.flip_file(), promotion };
    let after = transition.after.as_ref().map(|_| board_after(&board, mv));
    Some(Transition { board, mv, reward: transition.reward, after })
}

fn mirrored_board(board: &Board) -> Option<Board> {
    let mut builder = BoardBuilder::from_board(board);
    if builder.castle_rights.iter().any(|rights| rights.short.or(rights.long).is_some()) {
        return None;
    }
    for square in Square::ALL {
        let other = square.flip_file();
        builder.board[square as usize] = board.piece_on(other).zip(board.color_on(other));
    }
    builder.en_passant = builder.en_passant.map(Square::flip_file);
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirrored_move_leads_to_the_mirrored_position() -> Result<()> {
        let fen = "6k1/8/8/2pP4/8/8/r7/6K1 w - c6 0 40";
        let position = Position::from_fen(fen)?;
        let mv = position.parse_move("d5c6")?;
        let after = Some(board_after(position.board(), mv));
        let board = position.board().clone();
        let found =
            mirrored(&Transition { board, mv, reward: 0.5, after }).expect("nobody castles");
        assert_eq!(found.board.to_string(), "1k6/8/8/4Pp2/8/8/7r/1K6 w - f6 0 40");
        assert_eq!((found.mv.to_string().as_str(), found.reward), ("e5f6", 0.5));
        let after = found.after.expect("the game goes on").to_string();
        assert_eq!(after, "1k6/8/5P2/8/8/8/7r/1K6 b - - 0 40");
        assert!(mirrored_board(&Board::startpos()).is_none());
        Ok(())
    }

    #[test]
    fn the_outcome_goes_to_every_move_of_a_game() -> Result<()> {
        let mut game = RunningGame::default();
        for mv in ["f2f3", "e7e5", "g2g4"] {
            assert!(!game.play(game.position.parse_move(mv)?));
        }
        let rewards: Vec<f32> = game.so_far.iter().map(|transition| transition.reward).collect();
        assert!(game.play(game.position.parse_move("d8h4")?));
        let with_outcome: Vec<f32> =
            game.so_far.iter().map(|transition| transition.reward).collect();
        for (place, (with, without)) in with_outcome.iter().zip(&rewards).enumerate() {
            let expected = if place % 2 == 0 { -OUTCOME } else { OUTCOME };
            assert!((with - without - expected).abs() < 1e-6);
        }
        assert!(game.so_far[2].after.is_some() && game.so_far[3].after.is_none());
        Ok(())
    }
}
