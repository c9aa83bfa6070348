//! What a run says of itself while it runs: loss, speed, time left.

use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

/// Between two lines where there is no terminal for a bar.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// A bar, or lines.
pub struct Progress {
    bar: ProgressBar,
    began: Instant,
    steps: u64,
    loss: Option<f64>,
    shown: Instant,
}

impl Progress {
    /// Begins after step `first` of `steps`.
    pub fn new(first: u64, steps: u64) -> Result<Self> {
        let bar = ProgressBar::new(steps).with_position(first);
        bar.set_style(ProgressStyle::with_template(
            "{bar:30} {pos}/{len} steps, {msg}, {eta} left",
        )?);
        let now = Instant::now();
        Ok(Self { bar, began: now, steps: 0, loss: None, shown: now })
    }

    /// Counts a step of `batch` examples with its loss.
    pub fn step(&mut self, batch: usize, loss: f64) {
        self.steps += 1;
        self.loss = Some(self.loss.map_or(loss, |before| before + 0.02 * (loss - before)));
        let per_second = self.steps as f64 / self.began.elapsed().as_secs_f64();
        let average = self.loss.unwrap_or(loss);
        let message = format!("loss {average:.4}, {:.0} examples/s", per_second * batch as f64);
        self.bar.inc(1);
        if self.bar.is_hidden() && self.shown.elapsed() > BETWEEN_LINES {
            let (step, steps) = (self.bar.position(), self.bar.length().unwrap_or_default());
            let left = (steps.saturating_sub(step)) as f64 / per_second;
            let left = humantime::format_duration(Duration::from_secs(left as u64));
            eprintln!("{step}/{steps} steps, {message}, {left} left");
            self.shown = Instant::now();
        }
        self.bar.set_message(message);
    }

    /// Prints a line above the bar.
    pub fn say(&self, line: &str) {
        if self.bar.is_hidden() { eprintln!("{line}") } else { self.bar.println(line) }
    }
}
