//! Durations in a run, as a number of steps or a time.

use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// A number of steps, or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepsOrTime {
    /// Optimiser steps.
    Steps(u64),
    /// Elapsed time.
    Time(Duration),
}

impl FromStr for StepsOrTime {
    type Err = anyhow::Error;

    /// Parses a number of steps, or a time with its unit: `2000`, `90s`, `9m 30s`.
    fn from_str(text: &str) -> Result<Self> {
        let length = match text.parse() {
            Ok(steps) => Self::Steps(steps),
            Err(_) => Self::Time(humantime::parse_duration(text).with_context(|| {
                format!("'{text}' is no number of steps and no time such as 90s or 5m")
            })?),
        };
        ensure!(
            length != Self::Steps(0) && length != Self::Time(Duration::ZERO),
            "'{text}' is nothing"
        );
        Ok(length)
    }
}

/// Measures whether a number of steps, or a time, has passed.
pub struct Stopwatch {
    length: StepsOrTime,
    first: u64,
    started: Instant,
}

impl Stopwatch {
    /// Starts after `step` steps.
    pub fn start(length: StepsOrTime, step: u64) -> Self {
        Self { length, first: step, started: Instant::now() }
    }

    /// Whether the duration has passed after `step` steps.
    pub fn has_passed(&self, step: u64) -> bool {
        match self.length {
            StepsOrTime::Steps(steps) => step >= self.first + steps,
            StepsOrTime::Time(time) => self.started.elapsed() >= time,
        }
    }

    /// Restarts after `step` steps.
    pub fn restart(&mut self, step: u64) {
        *self = Self::start(self.length, step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_steps_or_times() -> Result<()> {
        assert_eq!("2000".parse::<StepsOrTime>()?, StepsOrTime::Steps(2000));
        assert_eq!("9m 30s".parse::<StepsOrTime>()?, StepsOrTime::Time(Duration::from_secs(570)));
        for nothing in ["", "0", "0s", "-3", "5 parsecs", "1.5"] {
            assert!(nothing.parse::<StepsOrTime>().is_err(), "{nothing}");
        }
        Ok(())
    }

    #[test]
    fn a_stopwatch_tells_when_they_have_passed() {
        let mut steps = Stopwatch::start(StepsOrTime::Steps(3), 10);
        assert!(!steps.has_passed(12) && steps.has_passed(13));
        steps.restart(13);
        assert!(!steps.has_passed(15) && steps.has_passed(16));
        assert!(
            !Stopwatch::start(StepsOrTime::Time(Duration::from_secs(3600)), 0).has_passed(1 << 40)
        );
        assert!(Stopwatch::start(StepsOrTime::Time(Duration::from_nanos(1)), 0).has_passed(0));
    }
}
