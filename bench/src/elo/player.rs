//! A player at the board: the game so far in, a move out.

use std::time::Duration;

use anyhow::{Context, Result};
use azimuth::inference::Worker;
use azimuth::search::{Control, Handicap, Limits, Planner, Value};
use azimuth::uci::{Go, budget};
use azimuth_chess::position::Position;
use cozy_chess::Move;

use super::settings::{InProcessPlayer, Limit};
use crate::games::evaluation::Evaluation;

/// The game that a player looks at.
pub struct Situation<'a> {
    /// FEN of the start.
    pub start: &'a str,
    /// The moves since then.
    pub moves: &'a [Move],
    /// Where they led.
    pub position: &'a Position,
    /// White's and Black's time left, where they play by a clock.
    pub clocks: [Option<Duration>; 2],
    /// White's and Black's increment.
    pub increments: [Duration; 2],
    /// Moves until the side to move gets more time, where it does.
    pub moves_to_go: Option<u32>,
}

/// A player's answer.
#[derive(Clone, Debug)]
pub struct Choice {
    /// In UCI notation; a player may name a move that is not legal.
    pub mv: String,
    /// From White's view, where the player says it.
    pub evaluation: Option<Evaluation>,
    /// Plies searched, where the player says it.
    pub depth: Option<u32>,
    pub time: Duration,
}

/// Who plays.
pub trait Player: Send {
    /// Forgets the game before.
    fn new_game(&mut self) -> Result<()>;

    /// A move in a position that has one. Fails where the player is broken, which ends the match: a
    /// crash is no result.
    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice>;
}

/// Azimuth in this process, on a worker that others share.
pub struct InProcess {
    planner: Box<dyn Planner>,
    limit: Limit,
    handicap: Option<Handicap>,
}

impl InProcess {
    pub fn new(worker: &Worker, settings: &InProcessPlayer, limit: Limit) -> Result<Self> {
        let handicap = Handicap { deviation: settings.noise, seed: rand::random() };
        let handicap = (settings.noise > 0.0).then_some(handicap);
        let InProcessPlayer { planner, planners, resources, .. } = settings;
        let planner = planners.build(*planner, worker, *resources, None)?;
        Ok(Self { planner, limit, handicap })
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
        })
    }
}

fn evaluation(value: Value) -> Evaluation {
    match value.moves_to_mate() {
        Some(moves) => Evaluation::Mate(moves),
        None => Evaluation::Centipawns(value.centipawns()),
    }
}
