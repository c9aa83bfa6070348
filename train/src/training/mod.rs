//! Training runs of any model: the loop of steps, measurements and checkpoints, and its end, which
//! may be asked for by Ctrl-C or by a number of steps or a time.

mod checkpoint;
mod log;
mod progress;

use std::ops::Range;
use std::process::exit;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use azimuth_cli::say;
use clap::Args;

pub use checkpoint::Checkpoint;
pub(crate) use checkpoint::prefixed;
pub use log::Log;
pub(crate) use progress::ProgressLines;
pub use progress::{Learnt, Progress, Since};

/// A run, as the loop uses it.
pub trait Run {
    /// Trains on the batch of step `index`, counted from 0.
    fn step(&mut self, index: u64, progress: &mut Progress) -> Result<Learnt>;

    /// Called after `done` steps to measure and log as needed; checkpoints are separate.
    fn after_step(&mut self, done: u64, progress: &mut Progress) -> Result<()>;

    /// Writes a checkpoint after `done` steps, from which the run resumes to the same weights.
    fn save(&mut self, done: u64) -> Result<()>;

    /// The wishes of all processes that train together, given those of this one.
    fn agree(&mut self, wishes: Wishes) -> Result<Wishes> {
        Ok(wishes)
    }

    /// Whether the run ends before its last step.
    fn is_over(&self) -> bool {
        false
    }
}

/// Actions between two steps that depend on the time or on the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Write a checkpoint.
    pub save: bool,
    /// Stop, as [`Pace::stop_after`] has passed.
    pub stop: bool,
    /// Stop, as the user has pressed Ctrl-C.
    pub interrupt: bool,
}

/// When a run writes checkpoints, and when it stops.
#[derive(Args, Clone, Copy)]
pub struct Pace {
    /// Time (90s, 5m) or steps (2000) between checkpoints.
    #[arg(long, default_value = "5m")]
    pub checkpoint_every: StepsOrTime,
    /// Write a checkpoint and stop after this time (90s, 5m) or number of steps (2000); the same
    /// command resumes the run, also on another machine.
    #[arg(long)]
    pub stop_after: Option<StepsOrTime>,
}

/// The reason for the end of a run, and the number of steps done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is complete.
    Complete(u64),
    /// [`Pace::stop_after`] has passed.
    Stopped(u64),
}

/// Runs the steps `steps`, counted from 0. A loss that is not finite ends the run with an error
/// before a checkpoint is overwritten. Ctrl-C ends the run with a checkpoint and an error that says
/// how to continue; a second Ctrl-C ends the process at once.
pub fn train(
    run: &mut dyn Run,
    steps: Range<u64>,
    pace: Pace,
    progress: &mut Progress,
) -> Result<End> {
    let mut until_checkpoint = Stopwatch::start(pace.checkpoint_every, steps.start);
    let until_stop = pace.stop_after.map(|span| Stopwatch::start(span, steps.start));
    let _interruption = Interruption::receive()?;
    let mut done = steps.start;
    let wishes = |until_checkpoint: &Stopwatch, done| Wishes {
        save: until_checkpoint.has_passed(done),
        stop: until_stop.as_ref().is_some_and(|stopwatch| stopwatch.has_passed(done)),
        interrupt: Interruption::was_asked(),
    };
    let mut agreed = run.agree(wishes(&until_checkpoint, done))?;
    while done < steps.end && !run.is_over() {
        if agreed.stop {
            save(run, done, progress)?;
            if progress.is_shown {
                say(format_args!(
                    "stopped at step {done}; the same command continues from the checkpoint"
                ));
            }
            return Ok(End::Stopped(done));
        }
        let learnt = run.step(done, progress)?;
        done += 1;
        progress.step(learnt)?;
        run.after_step(done, progress)?;
        agreed = run.agree(wishes(&until_checkpoint, done))?;
        let is_complete = done == steps.end || run.is_over();
        if agreed.interrupt || is_complete || agreed.save {
            save(run, done, progress)?;
            until_checkpoint = Stopwatch::start(pace.checkpoint_every, done);
        }
        if agreed.interrupt && !is_complete {
            bail!("stopped at step {done} by Ctrl-C; the same command continues from there")
        }
    }
    Ok(End::Complete(done))
}

fn save(run: &mut dyn Run, done: u64, progress: &mut Progress) -> Result<()> {
    progress.read_losses()?;
    run.save(done)
}

/// States of [`INTERRUPTION`]: no run is in progress, so that Ctrl-C ends the process; a run is in
/// progress; the user has asked it to end.
const IDLE: u8 = 0;
const RUNNING: u8 = 1;
const ASKED: u8 = 2;

/// Exit code after Ctrl-C, as in shells: 128 plus the number of SIGINT.
const INTERRUPTED: i32 = 130;

static INTERRUPTION: AtomicU8 = AtomicU8::new(IDLE);

/// While a value of this type exists, the first Ctrl-C asks the run to end ([`Self::was_asked`]).
/// The second ends the process at once.
pub(crate) struct Interruption {
    /// Whether no other `Interruption` existed when this one was created.
    is_first: bool,
}

impl Interruption {
    /// Receives Ctrl-C, unless the process ignores it or already has a handler for it.
    pub fn receive() -> Result<Self> {
        static HANDLER: OnceLock<Result<(), ctrlc::Error>> = OnceLock::new();
        match HANDLER.get_or_init(|| ctrlc::try_set_handler(handle_interrupt)) {
            Ok(()) | Err(ctrlc::Error::MultipleHandlers) => {}
            Err(error) => return Err(anyhow::anyhow!("{error}")).context("Ctrl-C"),
        }
        let begun =
            INTERRUPTION.compare_exchange(IDLE, RUNNING, Ordering::SeqCst, Ordering::SeqCst);
        Ok(Self { is_first: begun.is_ok() })
    }

    /// Whether the user has asked the run in progress to end.
    pub fn was_asked() -> bool {
        INTERRUPTION.load(Ordering::SeqCst) == ASKED
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        if self.is_first {
            INTERRUPTION.store(IDLE, Ordering::SeqCst);
        }
    }
}

/// Runs on another thread at each Ctrl-C.
fn handle_interrupt() {
    let asked = INTERRUPTION.compare_exchange(RUNNING, ASKED, Ordering::SeqCst, Ordering::SeqCst);
    if asked.is_err() {
        exit(INTERRUPTED);
    }
}

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
        let is_nothing = [Self::Steps(0), Self::Time(Duration::ZERO)].contains(&length);
        ensure!(!is_nothing, "'{text}' is nothing");
        Ok(length)
    }
}

/// Measures whether a number of steps, or a time, has passed.
struct Stopwatch {
    length: StepsOrTime,
    first: u64,
    started: Instant,
}

impl Stopwatch {
    fn start(length: StepsOrTime, step: u64) -> Self {
        Self { length, first: step, started: Instant::now() }
    }

    /// Whether the duration has passed after `step` steps.
    fn has_passed(&self, step: u64) -> bool {
        match self.length {
            StepsOrTime::Steps(steps) => step >= self.first + steps,
            StepsOrTime::Time(time) => self.started.elapsed() >= time,
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;

    /// Records the calls of the loop.
    #[derive(Default)]
    struct Noted {
        steps: Vec<u64>,
        after: Vec<u64>,
        saved: Vec<u64>,
        over_after: Option<usize>,
        /// The step whose loss is not a number.
        diverges_at: Option<u64>,
    }

    impl Run for Noted {
        fn step(&mut self, index: u64, _: &mut Progress) -> Result<Learnt> {
            self.steps.push(index);
            let loss = if self.diverges_at == Some(index) { f32::NAN } else { 1.0 };
            let losses = vec![("loss", Tensor::new(loss, &Device::Cpu)?)];
            Ok(Learnt { examples: 1, losses })
        }

        fn after_step(&mut self, done: u64, _: &mut Progress) -> Result<()> {
            self.after.push(done);
            Ok(())
        }

        fn save(&mut self, done: u64) -> Result<()> {
            self.saved.push(done);
            Ok(())
        }

        fn is_over(&self) -> bool {
            self.over_after.is_some_and(|steps| self.steps.len() >= steps)
        }
    }

    fn train_noted(run: &mut Noted, steps: Range<u64>, stop_after: Option<u64>) -> Result<End> {
        let stop_after = stop_after.map(StepsOrTime::Steps);
        let pace = Pace { checkpoint_every: StepsOrTime::Steps(3), stop_after };
        let mut progress = Progress::new(steps.start, Some(steps.end), "positions")?;
        train(run, steps, pace, &mut progress)
    }

    #[test]
    fn a_run_saves_at_its_pace_and_at_its_end() -> Result<()> {
        let mut run = Noted::default();
        assert_eq!(train_noted(&mut run, 2..9, None)?, End::Complete(9));
        assert_eq!(run.steps, (2..9).collect::<Vec<_>>());
        assert_eq!(run.after, (3..10).collect::<Vec<_>>());
        assert_eq!(run.saved, [5, 8, 9]);

        let mut run = Noted::default();
        assert_eq!(train_noted(&mut run, 2..9, Some(4))?, End::Stopped(6));
        assert_eq!((run.after.last(), run.saved), (Some(&6), vec![5, 6]));

        let mut run = Noted { over_after: Some(2), ..Noted::default() };
        assert_eq!(train_noted(&mut run, 0..9, None)?, End::Complete(2));
        assert_eq!(run.saved, [2]);
        assert_eq!(train_noted(&mut Noted::default(), 9..9, None)?, End::Complete(9));
        Ok(())
    }

    #[test]
    fn no_checkpoint_follows_a_loss_that_is_no_number() -> Result<()> {
        let mut run = Noted { diverges_at: Some(4), ..Noted::default() };
        let error = train_noted(&mut run, 0..9, None).expect_err("it diverges").to_string();
        assert!(error.contains("loss is NaN") && error.contains("--learning-rate"), "{error}");
        assert_eq!(run.saved, [3]);
        Ok(())
    }

    #[test]
    fn lengths_are_steps_or_times() -> Result<()> {
        assert_eq!("2000".parse::<StepsOrTime>()?, StepsOrTime::Steps(2000));
        assert_eq!("9m 30s".parse::<StepsOrTime>()?, StepsOrTime::Time(Duration::from_secs(570)));
        for nothing in ["", "0", "0s", "-3", "5 parsecs", "1.5"] {
            assert!(nothing.parse::<StepsOrTime>().is_err(), "{nothing}");
        }
        Ok(())
    }
}
