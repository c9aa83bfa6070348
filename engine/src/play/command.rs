//! The command line of `azimuth play`.

use std::io::{BufRead, Write};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use cozy_chess::Color;

use super::advice::Advisor;
use super::game::Game;
use super::opponent::Opponent;
use super::session::Session;
use super::time::{Clock, Timing};
use crate::explain::Subject;
use crate::uci::WEAKEST_TO_STRONGEST;

/// Time for hint and why if the game has a clock.
const ADVICE: Duration = Duration::from_secs(1);

/// Play a game in the terminal. Enter moves as Nf3 or g1f3; enter help for a list of commands.
#[derive(Args)]
pub struct PlayCommand {
    #[command(flatten)]
    start: Subject,
    /// Limit the engine to this rating, on the scale of Stockfish 16's UCI_Elo [default: no limit]
    #[arg(long, value_parser = clap::value_parser!(u32).range(elo_range()))]
    elo: Option<u32>,
    /// Time of the engine for a move (500ms, 10s), or a clock for both sides: the time for the game
    /// and the increment for a move. 5m+3s is five minutes and three seconds; 300+3 is the same,
    /// since numbers without a unit are seconds. With a clock, hint and why search for one second.
    #[arg(long, default_value = "1s")]
    time: Timing,
    /// Number of search threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Play White (the default).
    #[arg(long, conflicts_with = "black")]
    white: bool,
    /// Play Black.
    #[arg(long)]
    black: bool,
}

fn elo_range() -> std::ops::RangeInclusive<i64> {
    (*WEAKEST_TO_STRONGEST.start()).into()..=(*WEAKEST_TO_STRONGEST.end()).into()
}

impl PlayCommand {
    /// Plays until `quit` or the end of `input`. Fails with one line if the position or a file is
    /// invalid.
    pub fn run(&self, input: impl BufRead, output: impl Write) -> Result<()> {
        let (start, _) = self.start.position()?;
        let human = if self.black { Color::Black } else { Color::White };
        let (time, clock) = match self.time {
            Timing::PerMove(time) => (time, None),
            Timing::Clock(base, increment) => (ADVICE, Some(Clock::new(base, increment))),
        };
        let threads = self.threads.into();
        let opponent = Opponent::new(self.elo, time, threads)?;
        let advisor = Advisor::new(time, threads);
        Session::new(Game::new(start), human, opponent, advisor, clock, output).run(input)
    }
}
