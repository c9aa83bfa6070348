//! The interface of a player: it gets the game so far and returns a move.

use std::time::Duration;

use anyhow::{Context, Result};
use azimuth::inference::Worker;
use azimuth::search::{Control, Handicap, Limits, Planner, Value};
use azimuth::uci::{Go, budget};
use azimuth_chess::position::Position;
use cozy_chess::Move;

use super::settings::{InProcessPlayer, Limit};
use crate::games::evaluation::Evaluation;

/// The game so far, as passed to a player.
pub struct Situation<'a> {
    /// FEN of the starting position.
    pub start: &'a str,
    /// The moves played since `start`.
    pub moves: &'a [Move],
    /// The position after `moves`.
    pub position: &'a Position,
    /// Time left of White and Black, if they play with a clock.
    pub clocks: [Option<Duration>; 2],
    /// Increments of White and Black.
    pub increments: [Duration; 2],
    /// Number of moves until the side to move gets more time, if the time control has such a
    /// number.
    pub moves_to_go: Option<u32>,
}

/// A player's answer.
#[derive(Clone, Debug)]
pub struct Choice {
    /// In UCI notation; it may be illegal.
    pub mv: String,
    /// From White's view; `None` if the player reports no score.
    pub evaluation: Option<Evaluation>,
    /// Depth in plies; `None` if the player reports none.
    pub depth: Option<u32>,
    pub time: Duration,
    /// The part of `time` that the search waited for an encoder on another thread; `None` if the
    /// player uses none.
    pub waited: Option<Duration>,
}

/// A player of games.
pub trait Player: Send {
    /// Clears the state of the previous game.
    fn new_game(&mut self) -> Result<()>;

    /// Chooses a move in a position that has one. An error means a broken player and ends the
    /// match: a crash is not a game result.
    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice>;
}

/// Azimuth in this process, on a shared worker.
pub struct InProcess {
    planner: Box<dyn Planner>,
    limit: Limit,
    handicap: Option<Handicap>,
    /// Whether its encoder runs on another thread.
    shares_encoder: bool,
}

impl InProcess {
    pub fn new(worker: &Worker, settings: &InProcessPlayer, limit: Limit) -> Result<Self> {
        let handicap = Handicap { deviation: settings.noise, seed: rand::random(), nodes: None };
        let handicap = (settings.noise > 0.0).then_some(handicap);
        let InProcessPlayer { planner, planners, resources, .. } = settings;
        let planner = planners.build(*planner, worker, *resources, None)?;
        Ok(Self { planner, limit, handicap, shares_encoder: !worker.runs_in_searches() })
    }
}

impl Player for InProcess {
    fn new_game(&mut self) -> Result<()> {
        self.planner.new_game();
        if let Some(handicap) = &mut self.handicap {
            handicap.seed = rand::random();
        }
        Ok(())
    }

    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice> {
        let board = situation.position.board();
        let go = Go {
            time: situation.clocks,
            increment: situation.increments,
            moves_to_go: situation.moves_to_go,
            move_time: self.limit.move_time,
            ..Go::default()
        };
        let limits = Limits {
            depth: self.limit.depth,
            nodes: self.limit.nodes,
            time: budget(&go, board.side_to_move(), Duration::ZERO),
            handicap: self.handicap,
            ..Limits::default()
        };
        let mut control = Control::without_signals(limits);
        let report = self.planner.search(situation.position, &mut control, &mut |_| ())?;
        let time = control.elapsed();
        let mv = report.pv.first().context("the search found no move")?;
        let evaluation = evaluation(report.value).seen_by(board.side_to_move());
        Ok(Choice {
            mv: mv.to_string(),
            evaluation: Some(evaluation),
            depth: Some(report.depth),
            time,
            waited: self.shares_encoder.then_some(report.waited),
        })
    }
}

fn evaluation(value: Value) -> Evaluation {
    match value.moves_to_mate() {
        Some(moves) => Evaluation::Mate(moves),
        None => Evaluation::Centipawns(value.centipawns()),
    }
}
