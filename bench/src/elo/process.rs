//! A UCI engine as a player.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use azimuth_chess::position::uci_move;
use azimuth_client::{Engine, PATIENCE, UciScore, number_after, score};

use super::player::{Choice, Player, Situation};
use super::settings::{Limit, UciPlayer};
use crate::games::evaluation::Evaluation;

/// An engine that exceeds its limit by this much counts as hanging.
const HANGING: Duration = Duration::from_secs(10);

/// A UCI engine with its limits.
pub struct Process {
    engine: Engine,
    limit: Limit,
}

impl Process {
    /// Starts the engine and sets its options. Fails if it does not start, does not answer, or
    /// lacks an option.
    pub fn start(settings: &UciPlayer, limit: &Limit) -> Result<Self> {
        let options = settings.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let engine = Engine::start(&settings.command, &settings.arguments, options)?;
        Ok(Self { engine, limit: limit.clone() })
    }

    /// The name that the engine reports.
    pub fn name(&self) -> &str {
        self.engine.name()
    }

    /// Time after which the engine counts as hanging.
    fn patience(&self, situation: &Situation<'_>) -> Duration {
        let side = situation.position.board().side_to_move() as usize;
        match (self.limit.move_time, situation.clocks[side]) {
            (Some(time), _) | (None, Some(time)) => time + self.limit.margin + HANGING,
            (None, None) => PATIENCE,
        }
    }

    fn go(&self, situation: &Situation<'_>) -> String {
        let mut go = "go".to_owned();
        let [white, black] = situation.clocks;
        let [white_increment, black_increment] = situation.increments;
        let mut add = |name: &str, value: Option<u128>| {
            if let Some(value) = value {
                go.push_str(&format!(" {name} {value}"));
            }
        };
        if self.limit.clock.is_some() {
            // UCI has both clocks in one command; a side without a clock gets the opponent's time.
            add("wtime", Some(white.or(black).unwrap_or_default().as_millis()));
            add("btime", Some(black.or(white).unwrap_or_default().as_millis()));
            add("winc", Some(white_increment.as_millis()));
            add("binc", Some(black_increment.as_millis()));
            add("movestogo", situation.moves_to_go.map(u128::from));
        }
        add("depth", self.limit.depth.map(u128::from));
        add("nodes", self.limit.nodes.map(u128::from));
        add("movetime", self.limit.move_time.map(|time| time.as_millis()));
        go
    }
}

impl Player for Process {
    fn new_game(&mut self) -> Result<()> {
        self.engine.new_game()
    }

    fn choose(&mut self, situation: &Situation<'_>) -> Result<Choice> {
        let mut board =
            azimuth_chess::position::Position::from_fen(situation.start)?.board().clone();
        let mut position = format!("position fen {}", situation.start);
        for (number, &mv) in situation.moves.iter().enumerate() {
            position.push_str(if number == 0 { " moves " } else { " " });
            position.push_str(&uci_move(&board, mv, false));
            board.play_unchecked(mv);
        }
        self.engine.send(&position)?;
        let (mut evaluation, mut depth) = (None, None);
        let went = Instant::now();
        self.engine.send(&self.go(situation))?;
        let patience = self.patience(situation);
        loop {
            let line = self.engine.read(patience.saturating_sub(went.elapsed()))?;
            let words: Vec<&str> = line.text.split_whitespace().collect();
            match words.as_slice() {
                ["bestmove", mv, ..] => {
                    let evaluation = evaluation.map(|evaluation: Evaluation| {
                        evaluation.seen_by(situation.position.board().side_to_move())
                    });
                    let time = line.read.saturating_duration_since(went);
                    let mv = (*mv).to_owned();
                    return Ok(Choice { mv, evaluation, depth, time, waited: None });
                }
                ["bestmove"] => bail!("{}: bestmove without a move", self.engine),
                ["info", facts @ ..] => {
                    evaluation = read_score(facts).or(evaluation);
                    depth = number_after(facts, "depth").or(depth);
                }
                _ => {}
            }
        }
    }
}

/// The score of the principal line in the words after `info`; other MultiPV lines are ignored.
fn read_score(facts: &[&str]) -> Option<Evaluation> {
    if number_after::<u32>(facts, "multipv").is_some_and(|line| line > 1) {
        return None;
    }
    score(facts).map(|score| match score {
        UciScore::Centipawns(value) => Evaluation::Centipawns(value),
        UciScore::Mate(moves) => Evaluation::Mate(moves),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_from_the_first_line() {
        let read = |text: &str| read_score(&text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(
            read("depth 9 multipv 1 score cp -12 pv e2e4"),
            Some(Evaluation::Centipawns(-12))
        );
        assert_eq!(read("depth 9 score mate 3 pv e2e4"), Some(Evaluation::Mate(3)));
        assert_eq!(read("depth 9 multipv 2 score cp 5 pv e2e4"), None);
    }
}
