//! The protocol: one loop that reads commands and hands them to the engine, which owns the session's state. Behind it
//! stands a program: Azimuth, or any one planner. Searches run on a thread of their own and print their own answers.

mod azimuth;
mod bench;
mod command;
mod display;
mod engine;
mod flip;
mod greeting;
mod limited_strength;
mod node_clock;
mod option_values;
mod options;
mod output;
mod perft;
mod program;
mod running;
mod running_search;
mod session_options;
mod single_planner;
mod skill_level;
mod time_management;
mod workers;

use std::io::{BufRead, Read, Write};

use anyhow::Result;

use azimuth::Azimuth;
pub use command::Go;
use command::{Bench, Command, parse};
use engine::Engine;
pub use greeting::greeting;
pub use limited_strength::{LIMITED_DEPTH, WEAKEST_TO_STRONGEST, noise_of_elo};
use output::Output;
use program::Program;
pub use single_planner::Build;
use single_planner::SinglePlanner;
pub use time_management::budget;

/// Longest line that is read; the rest of it is skipped.
const LINE_LIMIT: u64 = 1 << 20;

/// Azimuth: reads commands from `input` until `quit` or its end, and answers on `output`. A search that still runs then
/// is stopped and gives its best move. Fails where an answer could not be written, but not where the GUI is gone.
pub fn run(input: impl BufRead, output: impl Write + Send + 'static) -> Result<()> {
    let output = Output::new(output);
    converse(input, &output, Box::new(Azimuth::new(output.clone())));
    output.check()
}

/// The same with one planner of any kind behind the protocol, which `build` builds; `name` is told by `id name`, and
/// `command` is how the program is called. Fails where the planner cannot be built, and as [`run`] does.
pub fn run_planner(
    name: String,
    command: &'static str,
    build: Build,
    input: impl BufRead,
    output: impl Write + Send + 'static,
) -> Result<()> {
    let planner = SinglePlanner::new(name, command, build)?;
    let output = Output::new(output);
    converse(input, &output, Box::new(planner));
    output.check()
}

/// Runs `bench`, its selective search to `depth` plies, the default where `None`, and returns.
pub fn run_bench(depth: Option<u32>, output: impl Write + Send + 'static) -> Result<()> {
    let output = Output::new(output);
    let azimuth = Box::new(Azimuth::new(output.clone()));
    Engine::new(output.clone(), azimuth).execute(Command::Bench(Bench::Fixed(depth)))?;
    output.check()
}

fn converse(mut input: impl BufRead, output: &Output, program: Box<dyn Program>) {
    let mut engine = Engine::new(output.clone(), program);
    let mut line = Vec::new();
    while let Some(complete) = read_line(&mut input, &mut line) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        output.heard(text);
        if !complete {
            output.inform("line too long, skipped");
            continue;
        }
        let executed = match parse(text) {
            Ok(Some(Command::Quit)) => break,
            Ok(Some(command)) => engine.execute(command),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = executed {
            output.inform(&format!("{error:#}"));
        }
    }
    engine.quit();
}

/// Reads a line, or as much of it as is allowed; whether it is complete, `None` at the end of the
/// input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Option<bool> {
    line.clear();
    let read = input.by_ref().take(LINE_LIMIT).read_until(b'\n', line).ok()?;
    let cut = read as u64 == LINE_LIMIT && line.last() != Some(&b'\n');
    if cut {
        input.skip_until(b'\n').ok()?;
    }
    (read > 0).then_some(!cut)
}
