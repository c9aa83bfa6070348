//! A program with a single planner and no options.

use anyhow::{Result, bail};
use azimuth_chess::position::Position;

use super::bench::bench_planner;
use super::command::{Bench, quoted};
use super::display;
use super::program::Program;
use crate::search::{Explanation, Limits, Planner};

/// Builds the planner: at the start, and again after a failed search.
pub type Build = Box<dyn Fn() -> Result<Box<dyn Planner>>>;

/// A program with a single planner.
pub struct SinglePlanner {
    name: String,
    command: &'static str,
    build: Build,
    /// The idle planner; `None` during a search and after a failed one.
    planner: Option<Box<dyn Planner>>,
}

impl SinglePlanner {
    /// Builds the planner. Fails if `build` fails.
    pub fn new(name: String, command: &'static str, build: Build) -> Result<Self> {
        let planner = Some(build()?);
        Ok(Self { name, command, build, planner })
    }

    fn planner(&mut self) -> Result<&mut Box<dyn Planner>> {
        Ok(match &mut self.planner {
            Some(planner) => planner,
            lost => lost.insert((self.build)()?),
        })
    }
}

impl Program for SinglePlanner {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn command(&self) -> &'static str {
        self.command
    }

    fn options(&self) -> Vec<String> {
        Vec::new()
    }

    fn set_option(&mut self, name: &str, _value: Option<&str>) -> Result<()> {
        bail!("unknown option '{}'", quoted(name))
    }

    fn limit(&self, _limits: &mut Limits, _analyses: bool) {}

    fn warm_up(&mut self, _analyses: bool) -> Result<()> {
        self.planner()?;
        Ok(())
    }

    fn take_planner(&mut self, _limits: &Limits) -> Result<Box<dyn Planner>> {
        self.planner()?;
        self.planner.take().map_or_else(|| (self.build)(), Ok)
    }

    fn put_back(&mut self, planner: Option<Box<dyn Planner>>) {
        self.planner = planner;
    }

    fn new_game(&mut self) {
        if let Some(planner) = &mut self.planner {
            planner.new_game();
        }
    }

    fn evaluate(&mut self, position: &Position, chess960: bool) -> Result<String> {
        display::scores(&mut **self.planner()?, position, chess960)
    }

    fn explain(&mut self) -> Result<Option<Explanation>> {
        self.planner()?.explain(1)
    }

    fn bench(&mut self, bench: &Bench, _: &Position, say: &mut dyn FnMut(&str)) -> Result<()> {
        let Bench::Fixed(depth) = bench else {
            bail!("bench: expected a depth alone; '{}' has no hash and threads to set", self.name);
        };
        let name = self.name.clone();
        let cost = bench_planner(&mut **self.planner()?, &name, *depth, say)?;
        say(&cost.to_string());
        Ok(())
    }
}
