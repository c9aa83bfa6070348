//! Self-play: many games in parallel, so that the network evaluates batches. Each move is drawn in
//! proportion to the visits of a small search. Each position is kept with these visits and a value,
//! the mean of the search's value and the game's outcome. The outcome alone is too noisy in games
//! at this level.

use std::collections::VecDeque;

use anyhow::{Context, Error, Result, ensure};
use azimuth_chess::position::{Position, fen_of};
use azimuth_search::{Value, terminal_value};
use cozy_chess::{Board, Move};
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::TwoHeadNetwork;
use super::monte_carlo::Tree;
use crate::board::{as_double, as_text, for_side};
use crate::studies::Study;

const GAMES: usize = 32;

/// Number of positions kept; the oldest are dropped first.
const KEPT: usize = 20_000;

/// Plies after which a game is declared drawn.
const LONGEST: usize = 200;

/// Simulations for each move. The document uses ten; here the evaluation of the root counts as one.
const SIMULATIONS: u32 = 16;

/// A position from self-play, and the move that was played in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experience {
    #[serde(with = "as_text")]
    pub board: Board,
    #[serde(with = "as_text")]
    played: Move,
    /// The moves that the search visited.
    visited: Vec<Visited>,
    /// For White: the mean of the search's value and the game's outcome, in [-1, 1].
    #[serde(with = "as_double")]
    pub value: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Visited {
    #[serde(with = "as_text")]
    mv: Move,
    visits: u32,
}

impl Experience {
    /// The distribution of the search's visits over moves; the shares sum to 1.
    pub fn policy(&self) -> Vec<(Move, f32)> {
        let all = self.visited.iter().map(|visited| visited.visits).sum::<u32>() as f32;
        self.visited.iter().map(|visited| (visited.mv, visited.visits as f32 / all)).collect()
    }
}

/// The running games, and the positions of finished ones.
#[derive(Serialize, Deserialize)]
pub struct SelfPlay {
    games: Vec<RunningGame>,
    kept: VecDeque<Experience>,
}

/// A game. A checkpoint has its start and its positions with their moves.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "SavedGame", try_from = "SavedGame")]
struct RunningGame {
    /// FEN of the first position.
    start: String,
    position: Position,
    so_far: Vec<Experience>,
}

type SavedGame = (String, Vec<Experience>);

impl From<RunningGame> for SavedGame {
    fn from(game: RunningGame) -> Self {
        (game.start, game.so_far)
    }
}

impl TryFrom<SavedGame> for RunningGame {
    type Error = Error;

    fn try_from((start, so_far): SavedGame) -> Result<Self> {
        let mut position = Position::from_fen(&start)?;
        for &Experience { played, .. } in &so_far {
            ensure!(position.board().is_legal(played), "checkpoint: illegal move {played}");
            position.play(played);
        }
        Ok(Self { start, position, so_far })
    }
}

impl SelfPlay {
    /// Games that start from random positions of the data, so that they differ.
    pub fn new(starts: &[Study], rng: &mut impl Rng) -> Result<Self> {
        let games = (0..GAMES).map(|_| RunningGame::new(starts, rng)).collect::<Result<_>>()?;
        Ok(Self { games, kept: VecDeque::new() })
    }

    pub fn play(
        &mut self,
        network: &TwoHeadNetwork,
        starts: &[Study],
        rng: &mut impl Rng,
    ) -> Result<()> {
        let mut trees: Vec<Tree> =
            self.games.iter().map(|game| Tree::new(&game.position)).collect();
        for _ in 0..SIMULATIONS {
            let leaves: Vec<_> = trees.iter_mut().map(Tree::select).collect();
            let open: Vec<&Position> = leaves
                .iter()
                .filter(|leaf| leaf.end.is_none())
                .map(|leaf| &leaf.position)
                .collect();
            let assessed = if open.is_empty() { Vec::new() } else { network.assess(&open)? };
            let mut assessed = assessed.iter();
            for (tree, leaf) in trees.iter_mut().zip(&leaves) {
                match leaf.end {
                    Some(value) => tree.back_up(leaf, value),
                    None => tree.expand(leaf, assessed.next().context("no assessment")?),
                }
            }
        }
        for (game, tree) in self.games.iter_mut().zip(&trees) {
            if game.play(tree, rng)? {
                let ended = std::mem::replace(game, RunningGame::new(starts, rng)?);
                self.kept.extend(ended.so_far);
            }
        }
        let surplus = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..surplus);
        Ok(())
    }

    /// `count` random experiences; empty before the first game has ended.
    pub fn sample(&self, count: usize, rng: &mut impl Rng) -> Vec<&Experience> {
        if self.kept.is_empty() {
            return Vec::new();
        }
        (0..count).map(|_| &self.kept[rng.random_range(0..self.kept.len())]).collect()
    }
}

impl RunningGame {
    fn new(starts: &[Study], rng: &mut impl Rng) -> Result<Self> {
        loop {
            let board = &starts[rng.random_range(0..starts.len())].board;
            let start = fen_of(board);
            let position = Position::from_fen(&start)?;
            if terminal_value(position.board(), 0, &[]).is_none() {
                return Ok(Self { start, position, so_far: Vec::new() });
            }
        }
    }

    /// Plays a move drawn in proportion to the visits and returns whether the game is over. If so,
    /// adds the outcome to the values of its positions.
    fn play(&mut self, tree: &Tree, rng: &mut impl Rng) -> Result<bool> {
        let visited = tree.root_moves().into_iter().filter(|&(_, visits, _)| visits > 0);
        let visited: Vec<_> = visited.collect();
        let drawn = WeightedIndex::new(visited.iter().map(|(_, visits, _)| visits))?.sample(rng);
        let played = visited[drawn].0;
        let board = self.position.board().clone();
        let all = visited.iter().map(|(_, visits, _)| visits).sum::<u32>() as f32;
        let found =
            visited.iter().map(|&(_, visits, value)| visits as f32 / all * value).sum::<f32>();
        let value = for_side(board.side_to_move(), found) / 2.0;
        let visited = visited.into_iter().map(|(mv, visits, _)| Visited { mv, visits }).collect();
        self.so_far.push(Experience { board, played, visited, value });
        self.position.play(played);
        let (board, history) = (self.position.board(), self.position.history());
        let end = terminal_value(board, self.so_far.len() as u32, history);
        let Some(end) = end.or_else(|| (self.so_far.len() >= LONGEST).then_some(Value::DRAW))
        else {
            return Ok(false);
        };
        if end != Value::DRAW {
            // The side to move is mated.
            let of_white = for_side(board.side_to_move(), -1.0);
            self.so_far.iter_mut().for_each(|experience| experience.value += of_white / 2.0);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use candle_nn::VarMap;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::network::TowerConfig;
    use crate::training::first_parameters;

    #[test]
    fn games_come_back_and_go_on_alike() -> Result<()> {
        let vb = first_parameters(&VarMap::new(), 1, &Device::Cpu);
        let network =
            TwoHeadNetwork::new(TowerConfig { blocks: 1, channels: 4, oriented: true }, &vb)?;
        // The second is a mate in one, so its games end at once.
        let starts = [Board::startpos(), "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1".parse().expect("valid")];
        let starts = starts.map(|board| {
            let moves = azimuth_chess::position::legal_moves(&board);
            Study { moves: vec![(moves[0], 0.5)], board }
        });
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut games = SelfPlay::new(&starts, &mut rng)?;
        for _ in 0..4 {
            games.play(&network, &starts, &mut rng)?;
        }
        assert!(!games.kept.is_empty(), "no game has ended");
        let text = serde_json::to_string(&games)?;
        let mut others: SelfPlay = serde_json::from_str(&text)?;
        let position =
            |game: &RunningGame| (game.position.board().clone(), game.position.history().to_vec());
        assert!(games.games.iter().map(position).eq(others.games.iter().map(position)));
        let mut other_rng = rng.clone();
        games.play(&network, &starts, &mut rng)?;
        others.play(&network, &starts, &mut other_rng)?;
        assert_eq!(serde_json::to_string(&games)?, serde_json::to_string(&others)?);
        let broken = text.replace("\"played\":\"", "\"played\":\"h");
        assert!(serde_json::from_str::<SelfPlay>(&broken).is_err());
        Ok(())
    }
}
