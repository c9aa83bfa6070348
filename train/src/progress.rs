//! What a run says of itself: loss, speed, time left.

use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::loss::LossValues;

/// Steps between looks at the losses: to read them is to wait for the device, which could have begun the next
/// step.
const STEPS_BETWEEN: usize = 16;

/// Between two lines where there is no terminal for a bar.
const BETWEEN_LINES: Duration = Duration::from_secs(15);

/// The bar with loss, speed and time left.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// Spent on other things than steps.
    paused: Duration,
    /// Spent waiting for batches.
    waited: Duration,
    steps: usize,
    positions: usize,
    contrastive: f64,
    regression: f64,
    shown: Instant,
}

impl Progress {
    /// Begins after step `first` of `steps`.
    pub fn new(first: u64, steps: u64) -> Result<Self> {
        let style = "{bar:30} {pos}/{len} steps, {msg}, {eta} left";
        let bar = ProgressBar::new(steps).with_position(first);
        bar.set_style(ProgressStyle::with_template(style)?);
        let now = Instant::now();
        Ok(Self {
            bar,
            started: now,
            paused: Duration::ZERO,
            waited: Duration::ZERO,
            steps: 0,
            positions: 0,
            contrastive: 0.0,
            regression: 0.0,
            shown: now,
        })
    }

    /// Receives a batch.
    pub fn wait<T>(&mut self, receive: impl FnOnce() -> T) -> T {
        let asked = Instant::now();
        let received = receive();
        self.waited += asked.elapsed();
        received
    }

    /// Does something that is no part of the speed.
    pub fn pause(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let began = Instant::now();
        let done = work(self);
        self.paused += began.elapsed();
        done
    }

    /// Counts a step.
    pub fn step(&mut self, positions: usize, found: &LossValues) -> Result<()> {
        if self.steps.is_multiple_of(STEPS_BETWEEN) {
            let weight = if self.steps == 0 { 1.0 } else { 0.1 };
            let contrastive: f32 = found.contrastive.to_scalar()?;
            let regression: f32 = found.regression.to_scalar()?;
            self.contrastive += weight * (f64::from(contrastive) - self.contrastive);
            self.regression += weight * (f64::from(regression) - self.regression);
        }
        self.steps += 1;
        self.positions += positions;
        self.bar.inc(1);
        self.bar.set_message(self.message());
        if self.bar.is_hidden() && self.shown.elapsed() > BETWEEN_LINES {
            eprintln!("step {}: {}", self.bar.position(), self.message());
            self.shown = Instant::now();
        }
        Ok(())
    }

    /// Positions a second.
    pub fn speed(&self) -> f64 {
        self.positions as f64 / (self.started.elapsed() - self.paused).as_secs_f64()
    }

    /// Step, losses, speed and the share of time spent waiting for batches.
    pub fn facts(&self) -> Value {
        json!({
            "step": self.bar.position(),
            "contrastive": self.contrastive,
            "regression": self.regression,
            "positions_per_second": self.speed(),
            "waiting_for_data": self.waiting(),
        })
    }

    fn waiting(&self) -> f64 {
        self.waited.as_secs_f64() / (self.started.elapsed() - self.paused).as_secs_f64()
    }

    fn message(&self) -> String {
        format!(
            "loss {:.4} (contrastive), {:.5} (regression), {:.0} positions/s, {:.1}% waiting for data",
            self.contrastive,
            self.regression,
            self.speed(),
            100.0 * self.waiting()
        )
    }

    /// Prints a line above the bar.
    pub fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }
}
