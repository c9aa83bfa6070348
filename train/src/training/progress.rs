//! The progress of a run: losses, speed, and time left.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use azimuth_cli::say;
use candle_core::Tensor;
use indicatif::{ProgressBar, ProgressStyle};

/// Number of steps between reads of the losses; a read waits for the device.
const STEPS_BETWEEN: u64 = 16;

/// Weight of the latest losses in the averages that the bar shows.
const SHARE_OF_LAST: f64 = 0.1;

/// Time between progress lines.
const BETWEEN_LINES: Duration = Duration::from_secs(15);

/// Prints a line at intervals where standard error is no terminal for a bar.
pub struct ProgressLines {
    last: Instant,
}

impl ProgressLines {
    pub fn start() -> Self {
        Self { last: Instant::now() }
    }

    /// Prints `line` if `bar` is not visible and the last line is old enough.
    pub fn show(&mut self, bar: &ProgressBar, line: impl FnOnce() -> String) {
        if bar.is_hidden() && self.last.elapsed() > BETWEEN_LINES {
            say(line());
            self.last = Instant::now();
        }
    }
}

/// The progress bar of a run, and the losses and speed since the last line of its log.
pub struct Progress {
    bar: ProgressBar,
    /// False on all ranks but the first, which print no progress.
    pub(super) is_shown: bool,
    /// The plural noun for a step's examples.
    examples: &'static str,
    step: u64,
    /// Sums of the losses since the last read.
    unread: Vec<(&'static str, Tensor)>,
    unread_steps: u64,
    averages: Vec<(&'static str, f64)>,
    all: Period,
    since_line: Period,
    /// Sums of the losses since the last line.
    since_line_losses: Vec<(&'static str, f64)>,
    lines: ProgressLines,
}

/// Statistics of some steps of a run.
struct Period {
    began: Instant,
    /// Time spent on work other than steps.
    paused: Duration,
    steps: u64,
    examples: usize,
}

/// Statistics of the steps since the last line of the log.
pub struct Since {
    /// Number of steps that the run has done.
    pub step: u64,
    /// Mean losses.
    pub losses: Vec<(&'static str, f64)>,
    /// Examples per second.
    pub speed: f64,
}

/// The result of a step.
pub struct Learnt {
    /// Number of positions or other examples.
    pub examples: usize,
    /// Named losses, computed before the update.
    pub losses: Vec<(&'static str, Tensor)>,
}

impl Period {
    fn new() -> Self {
        Self { began: Instant::now(), paused: Duration::ZERO, steps: 0, examples: 0 }
    }

    fn speed(&self) -> f64 {
        self.examples as f64 / (self.began.elapsed() - self.paused).as_secs_f64()
    }
}

impl Progress {
    /// Progress of a run that has done `first` of `steps` steps. With `None`, shows neither a bar
    /// nor progress lines. `examples` is the plural noun for a step's examples.
    pub fn new(first: u64, steps: Option<u64>, examples: &'static str) -> Result<Self> {
        let style = "{bar:30} {pos}/{len} steps, {msg}, {eta} left";
        let bar = match steps {
            Some(steps) => ProgressBar::new(steps).with_position(first),
            None => ProgressBar::hidden(),
        };
        bar.set_style(ProgressStyle::with_template(style)?);
        Ok(Self {
            bar,
            is_shown: steps.is_some(),
            examples,
            step: first,
            unread: Vec::new(),
            unread_steps: 0,
            averages: Vec::new(),
            all: Period::new(),
            since_line: Period::new(),
            since_line_losses: Vec::new(),
            lines: ProgressLines::start(),
        })
    }

    /// Does work that is excluded from the speed.
    pub fn pause<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let done = work(self);
        for period in [&mut self.all, &mut self.since_line] {
            // The work may have started a new period by writing a log line.
            period.paused += began.max(period.began).elapsed();
        }
        done
    }

    /// Counts a step.
    pub(super) fn step(&mut self, learnt: Learnt) -> Result<()> {
        for period in [&mut self.all, &mut self.since_line] {
            period.steps += 1;
            period.examples += learnt.examples;
        }
        self.step += 1;
        self.unread_steps += 1;
        let losses = learnt.losses.into_iter().map(|(name, loss)| (name, loss.detach()));
        if self.unread.is_empty() {
            self.unread = losses.collect();
        } else {
            for ((_, sum), (_, loss)) in self.unread.iter_mut().zip(losses) {
                *sum = (&*sum + loss)?;
            }
        }
        if self.averages.is_empty() || self.unread_steps >= STEPS_BETWEEN {
            self.read_losses()?;
        }
        self.show();
        Ok(())
    }

    /// Reads the losses of the last steps. Fails if one is not finite.
    pub(super) fn read_losses(&mut self) -> Result<()> {
        let steps = std::mem::take(&mut self.unread_steps) as f64;
        for (place, (name, sum)) in std::mem::take(&mut self.unread).into_iter().enumerate() {
            let sum = f64::from(sum.to_scalar::<f32>()?);
            let loss = if name == "loss" { "loss".to_owned() } else { format!("{name} loss") };
            let (step, is_finite) = (self.step, sum.is_finite());
            ensure!(is_finite, "step {step}: the {loss} is {sum}; try a lower --learning-rate");
            match self.since_line_losses.get_mut(place) {
                Some((_, all)) => *all += sum,
                None => self.since_line_losses.push((name, sum)),
            }
            match self.averages.get_mut(place) {
                Some((_, average)) => *average += SHARE_OF_LAST * (sum / steps - *average),
                None => self.averages.push((name, sum / steps)),
            }
        }
        Ok(())
    }

    /// Updates the bar. Without a terminal, prints a line at intervals instead.
    fn show(&mut self) {
        if !self.is_shown {
            return;
        }
        let losses = self.averages.iter().map(|(name, loss)| format!("{name} {loss:.5}"));
        let speed = format!("{:.0} {}/s", self.all.speed(), self.examples);
        let message = losses.chain([speed]).collect::<Vec<_>>().join(", ");
        self.bar.set_position(self.step);
        self.lines.show(&self.bar, || format!("step {}: {message}", self.step));
        self.bar.set_message(message);
    }

    /// Examples per second over the whole run.
    pub fn speed(&self) -> f64 {
        self.all.speed()
    }

    /// Statistics of the steps since the previous call.
    pub fn since_last(&mut self) -> Result<Since> {
        self.read_losses()?;
        let period = std::mem::replace(&mut self.since_line, Period::new());
        let losses = std::mem::take(&mut self.since_line_losses).into_iter();
        let steps = period.steps.max(1) as f64;
        Ok(Since {
            step: self.step,
            losses: losses.map(|(name, sum)| (name, sum / steps)).collect(),
            speed: period.speed(),
        })
    }

    /// Prints a line above the bar.
    pub fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            say(line);
        } else {
            self.bar.println(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn a_line_has_the_mean_losses_since_the_last_one() -> Result<()> {
        let mut progress = Progress::new(5, Some(100), "positions")?;
        let step = |progress: &mut Progress, number: u32| {
            let of = |factor: f32| Tensor::new(number as f32 * factor, &Device::Cpu);
            let losses = vec![("contrastive", of(1.0)?), ("regression", of(0.5)?)];
            progress.step(Learnt { examples: 3, losses })
        };
        // The first line covers more steps than one read, the second fewer.
        for (numbers, mean, done) in [(1..=39, 20.0, 44), (40..=44, 42.0, 49)] {
            numbers.into_iter().try_for_each(|number| step(&mut progress, number))?;
            let since = progress.since_last()?;
            assert_eq!(since.step, done);
            assert_eq!(since.losses, [("contrastive", mean), ("regression", mean / 2.0)]);
            assert!(since.speed > 0.0);
        }
        Ok(())
    }

    #[test]
    fn pauses_are_no_part_of_the_speed() -> Result<()> {
        let mut progress = Progress::new(0, Some(10), "positions")?;
        let nap = Duration::from_millis(20);
        let sleep = |_: &mut Progress| {
            std::thread::sleep(nap);
            Ok(())
        };
        progress.pause(sleep)?;
        progress.pause(|progress| {
            std::thread::sleep(10 * nap);
            progress.since_last()
        })?;
        progress.pause(sleep)?;
        assert!(progress.all.paused >= 12 * nap);
        // The pause for writing a line started before the steps of the next one.
        let Period { began, paused, .. } = progress.since_line;
        assert!(paused >= nap && paused <= began.elapsed());
        Ok(())
    }
}
