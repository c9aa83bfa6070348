//! A player's clock.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

/// The longest time, in seconds. Sums and multiples of it still fit into a `Duration`.
const LONGEST: f64 = 1e9;

/// Time for the whole game or for a number of moves, and the increment per move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeControl {
    /// Number of moves after which the base is added again.
    pub moves: Option<NonZeroU32>,
    pub base: Duration,
    pub increment: Duration,
}

impl TimeControl {
    /// Reads `SECONDS`, `SECONDS+INCREMENT` or `MOVES/SECONDS+INCREMENT`, the notation of cutechess
    /// and fastchess.
    pub fn parse(text: &str) -> Result<Self> {
        let parse = || {
            let (moves, rest) = match text.split_once('/') {
                Some((moves, rest)) => {
                    (Some(moves.parse().ok().context("no number of moves")?), rest)
                }
                None => (None, text),
            };
            let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
            Ok(Self { moves, base: seconds(base)?, increment: seconds(increment)? })
        };
        parse().map_err(|error: anyhow::Error| {
            anyhow!("tc '{text}': expected SECONDS+INCREMENT or MOVES/SECONDS+INCREMENT ({error})")
        })
    }

    /// Time left after a player's move `number`, counted from 1, that took `time` of `left`.
    pub fn after(self, left: Duration, time: Duration, number: usize) -> Duration {
        left.saturating_sub(time) + self.added(number)
    }

    /// Time added to the clock after a player's move `number`.
    pub fn added(self, number: usize) -> Duration {
        let renewed = self.moves.is_some_and(|moves| number.is_multiple_of(moves.get() as usize));
        self.increment + if renewed { self.base } else { Duration::ZERO }
    }

    /// Moves until the base is added again, for a player that has made `made` moves.
    pub fn moves_to_go(self, made: usize) -> Option<u32> {
        self.moves.map(|moves| moves.get() - (made % moves.get() as usize) as u32)
    }
}

fn seconds(text: &str) -> Result<Duration> {
    let seconds: f64 = text.parse().ok().context("not a number of seconds")?;
    ensure!(seconds <= LONGEST, "more than {LONGEST} seconds");
    Duration::try_from_secs_f64(seconds).context("not a time")
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}+{}", self.base.as_secs_f64(), self.increment.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written() -> Result<()> {
        for (text, written) in
            [("10+0.1", "10+0.1"), ("60", "60+0"), ("40/10", "40/10+0"), ("3/2.5+1", "3/2.5+1")]
        {
            assert_eq!(TimeControl::parse(text)?.to_string(), written);
        }
        for text in [
            "",
            "ten",
            "-1",
            "0/10",
            "40/",
            "x/10",
            "10+",
            "10+-1",
            "1e300",
            "1e10",
            "1+9223372036854775807",
        ] {
            let error = TimeControl::parse(text).expect_err(text).to_string();
            assert!(error.contains("expected SECONDS+INCREMENT"), "{error}");
        }
        Ok(())
    }

    #[test]
    fn the_base_comes_again_after_so_many_moves() -> Result<()> {
        let control = TimeControl::parse("2/10+1")?;
        let seconds = Duration::from_secs;
        assert_eq!(control.after(seconds(10), seconds(4), 1), seconds(7));
        assert_eq!(control.after(seconds(7), seconds(8), 2), seconds(11));
        assert_eq!([0, 1, 2, 3].map(|made| control.moves_to_go(made)), [2, 1, 2, 1].map(Some));
        assert_eq!(TimeControl::parse("10+1")?.moves_to_go(5), None);
        Ok(())
    }
}
