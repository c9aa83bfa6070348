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
use crate::explain::Subject;
use crate::uci::WEAKEST_TO_STRONGEST;

/// Play a game in the terminal. Moves are typed as Nf3 or g1f3; help lists what else can be typed.
#[derive(Args)]
pub struct PlayCommand {
    #[command(flatten)]
    start: Subject,
    /// Limit the engine to this rating, on the scale of Stockfish 16's UCI_Elo [default: no limit]
    #[arg(long, value_parser = clap::value_parser!(u32).range(elo_range()))]
    elo: Option<u32>,
    /// The engine's time for a move, and for hint and why: 500ms, 10s.
    #[arg(long, default_value = "1s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// You play White, as you do where neither side is given.
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
        let opponent = Opponent::new(self.elo, self.time)?;
        let advisor = Advisor::new(self.time);
        Session::new(Game::new(start), human, opponent, advisor, output).run(input)
    }
}
