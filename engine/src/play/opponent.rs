//! The engine as the opponent in a game, and its clock.

use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Error, Result, ensure};
use azimuth_chess::position::Position;
use azimuth_search::{Control, Limits, Planner, TimeLimit};
use cozy_chess::{Color, Move};

use crate::limited_strength::Level;
use crate::uci::{Go, budget};

/// The engine that plays against the human.
pub struct Opponent {
    planner: Box<dyn Planner>,
    /// Time for a move without a clock.
    time: TimeLimit,
    elo: Option<u32>,
    /// The seed of a limited strength.
    seed: u64,
    /// Its score of its last move, in centipawns.
    score: Option<i32>,
}

/// The opponent agrees to a draw if its score in centipawns is at most this, from this move of the
/// game on.
const DRAW_SCORE: i32 = 20;
const DRAW_MOVE: u16 = 10;

impl Opponent {
    /// An opponent with a rating, or at full strength, that takes `time` per move. The planner is
    /// that of its plan.
    pub fn new(planner: Box<dyn Planner>, elo: Option<u32>, time: TimeLimit) -> Self {
        Self { planner, time, elo, seed: rand::random(), score: None }
    }

    /// `Azimuth`, with its rating if it is limited.
    pub fn name(&self) -> String {
        match self.elo {
            Some(elo) => format!("Azimuth ({elo})"),
            None => "Azimuth".to_owned(),
        }
    }

    /// Chooses a move in a position with a legal move. `limit`, from a clock, replaces the time per
    /// move.
    pub fn choose(&mut self, position: &Position, limit: Option<TimeLimit>) -> Result<Move> {
        let mut limits = Limits { time: Some(limit.unwrap_or(self.time)), ..Limits::default() };
        if let Some(elo) = self.elo {
            Level::of(elo).limit(&mut limits, position, self.seed);
        }
        let control = &mut Control::without_signals(limits);
        let report = self.planner.search(position, control, &mut |_| ())?;
        self.score = Some(report.value.centipawns());
        report.pv.first().copied().context("the search found no move")
    }

    /// Answers an offer of a draw in `position`: the error says why it declines.
    pub fn agree_to_draw(&self, position: &Position) -> Result<()> {
        ensure!(
            position.board().fullmove_number() >= DRAW_MOVE,
            "draw: {} agrees to no draw before move {DRAW_MOVE}",
            self.name()
        );
        let agrees = self.score.is_some_and(|score| score <= DRAW_SCORE);
        ensure!(agrees, "draw: {} declines", self.name());
        Ok(())
    }
}

/// How the time is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The engine takes this time for a move, and the player has no limit.
    PerMove(Duration),
    /// Both sides have a clock: the time for the game, and the increment for each move.
    Clock(Duration, Duration),
}

impl FromStr for Timing {
    type Err = Error;

    /// Reads `10s` as a time for a move, and `5m+3s` as a clock. The numbers of a clock may stand
    /// alone, in seconds, as cutechess writes them: `300+3`.
    fn from_str(text: &str) -> Result<Self> {
        let Some((base, increment)) = text.split_once('+') else {
            return Ok(Self::PerMove(humantime::parse_duration(text)?));
        };
        let base = duration(base)?;
        let base = Some(base).filter(|base| !base.is_zero());
        Ok(Self::Clock(base.context("a clock needs some time")?, duration(increment)?))
    }
}

/// The longest time of a clock. Sums and multiples of it still fit into a `Duration`.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

fn duration(text: &str) -> Result<Duration> {
    let duration = match text.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds)?,
        Err(_) => humantime::parse_duration(text)?,
    };
    ensure!(duration <= LONGEST, "a clock has at most {} seconds", LONGEST.as_secs());
    Ok(duration)
}

/// Time of a move on a clock that is reserved for printing and waking up. A person does not notice
/// it.
const CLOCK_OVERHEAD: Duration = Duration::from_millis(30);

#[derive(Clone, Debug)]
pub struct Clock {
    base: Duration,
    increment: Duration,
    left: [Duration; 2],
}

impl Clock {
    pub fn new(base: Duration, increment: Duration) -> Self {
        Self { base, increment, left: [base; 2] }
    }

    /// Takes `used` off the time of `side`. Returns whether any is left.
    pub fn take(&mut self, side: Color, used: Duration) -> bool {
        let left = &mut self.left[side as usize];
        *left = left.saturating_sub(used);
        !left.is_zero()
    }

    pub fn add_increment(&mut self, side: Color) {
        self.left[side as usize] += self.increment;
    }

    /// The limits of the engine's next move, by the time management of its UCI games.
    pub fn limit(&self, side: Color) -> Option<TimeLimit> {
        let go = Go { time: self.left.map(Some), increment: [self.increment; 2], ..Go::default() };
        budget(&go, side, CLOCK_OVERHEAD)
    }

    /// `White 5:00, Black 4:58`.
    pub fn shown(&self) -> String {
        let [white, black] = self.left.map(shown_time);
        format!("White {white}, Black {black}")
    }

    /// As the PGN tag `TimeControl` writes it: `300+3`.
    pub fn as_pgn(&self) -> String {
        format!("{}+{}", self.base.as_secs_f64(), self.increment.as_secs_f64())
    }
}

/// Below this, clocks show tenths of a second.
const SHORT: Duration = Duration::from_secs(20);

fn shown_time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 if time < SHORT => format!("0:{:02}.{}", seconds, time.subsec_millis() / 100),
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_written_with_or_without_units() -> Result<()> {
        let seconds = Duration::from_secs;
        for (text, timing) in [
            ("10s", Timing::PerMove(seconds(10))),
            ("500ms", Timing::PerMove(Duration::from_millis(500))),
            ("5m+3s", Timing::Clock(seconds(300), seconds(3))),
            ("300+3", Timing::Clock(seconds(300), seconds(3))),
            ("0.5+0.1", Timing::Clock(Duration::from_millis(500), Duration::from_millis(100))),
            ("1h+0", Timing::Clock(seconds(3600), Duration::ZERO)),
        ] {
            assert_eq!(text.parse::<Timing>()?, timing, "{text}");
        }
        let wrong = "5 + 5+ +3 0+3 -1+0 1e300+0 1e10+0 1+1e19 nan+0 5m+x";
        for text in wrong.split(' ').chain([""]) {
            assert!(text.parse::<Timing>().is_err(), "{text}");
        }
        Ok(())
    }

    #[test]
    fn a_clock_runs_out_and_gains_its_increment() {
        let seconds = Duration::from_secs;
        let mut clock = Clock::new(seconds(300), seconds(3));
        assert_eq!(
            (clock.shown(), clock.as_pgn()),
            ("White 5:00, Black 5:00".into(), "300+3".into())
        );
        assert!(clock.take(Color::White, seconds(10)));
        clock.add_increment(Color::White);
        assert!(clock.take(Color::Black, Duration::from_millis(292_600)));
        assert_eq!(clock.shown(), "White 4:53, Black 0:07.4");
        let [white, black] = [Color::White, Color::Black].map(|side| clock.limit(side));
        assert!(white.is_some_and(|limit| limit.hard > seconds(8) && limit.hard < seconds(75)));
        assert!(black.is_some_and(|limit| limit.hard < seconds(4)));
        assert!(!clock.take(Color::Black, seconds(8)));
        assert_eq!(clock.shown(), "White 4:53, Black 0:00.0");
        assert_eq!(shown_time(seconds(3_723)), "1:02:03");
    }
}
