//! The UCI protocol. One loop reads commands and passes them to the engine, which holds the state
//! of the session. The engine drives a `Program`: Azimuth, or a single planner. Each search runs
//! in a separate thread, which prints its output.

mod azimuth;
mod bench;
mod command;
mod engine;
mod genfens;
mod options;
mod output;
mod running_search;
mod time_management;

use std::io::{BufRead, Read, Write};

use anyhow::{Result, anyhow};
use azimuth_chess::pgn::decode;

pub use crate::limited_strength::{Knowledge, Level};
pub use azimuth::Build;
use azimuth::{Azimuth, SinglePlanner};
pub use command::Go;
use command::{Command, parse};
use engine::Engine;
pub use engine::{build_facts, greeting};
use output::Output;
pub use time_management::{budget, time_for_choice};

/// Maximum length of a line, in bytes; the rest of a longer line is skipped.
const LINE_LIMIT: u64 = 1 << 20;

/// Runs Azimuth: reads commands from `input` until `quit` or the end of input, and answers on
/// `output`. Then a running search is stopped and prints its best move, and a running perft counts
/// to its end. Fails if an answer cannot be written, except to a closed pipe.
pub fn run(input: impl BufRead, output: impl Write + Send + 'static) -> Result<()> {
    let output = Output::new(output);
    converse(input, &output, azimuth_engine(&output))
}

/// As [`run`], with a single planner that `build` creates. `name` is sent as `id name`, and
/// `command` is the program's name on the command line. Fails if the planner cannot be built, and
/// as [`run`] does.
pub fn run_planner(
    name: String,
    command: &'static str,
    build: Build,
    input: impl BufRead,
    output: impl Write + Send + 'static,
) -> Result<()> {
    let (output, planner) = (Output::new(output), SinglePlanner::new(name, build)?);
    converse(input, &output, Engine::new(output.clone(), command, Box::new(planner)))
}

/// Runs one command of UCI to its end: `go infinite` runs as long as the process. Fails if the
/// command is wrong or fails.
pub fn run_command(line: &str, output: impl Write + Send + 'static) -> Result<()> {
    let output = Output::new(output);
    let mut engine = azimuth_engine(&output);
    if let Some(command) = parse(line)? {
        engine.execute(command)?;
    }
    engine.finish_running();
    output.check()
}

fn azimuth_engine(output: &Output) -> Engine {
    Engine::new(output.clone(), "azimuth", Box::new(Azimuth::new(output.clone())))
}

fn converse(mut input: impl BufRead, output: &Output, mut engine: Engine) -> Result<()> {
    let mut line = Vec::new();
    while let Some(complete) = read_line(&mut input, &mut line) {
        // Paths of GUIs may be in Windows-1252, and files that are piped have the marks of files.
        let text = decode(&line);
        let text = text.trim();
        output.heard(text);
        let parsed = if complete { parse(text) } else { Err(anyhow!("line too long, skipped")) };
        let executed = match parsed {
            Ok(Some(Command::Quit)) => break,
            Ok(Some(command)) => engine.execute(command),
            Ok(None) => Ok(()),
            Err(error) if asks_for_a_move(text) => engine.refuse_go(&error),
            Err(error) if text.split_whitespace().next() == Some("position") => {
                Err(engine.refuse_position(error))
            }
            Err(error) => Err(error),
        };
        if let Err(error) = executed {
            output.inform(&format!("{error:#}"));
        }
    }
    engine.quit();
    output.check()
}

/// Whether the client waits for a `bestmove` after a line.
fn asks_for_a_move(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("go") && words.next() != Some("perft")
}

/// Reads a line of at most [`LINE_LIMIT`] bytes. Returns whether it is complete, `None` at the end
/// of input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Option<bool> {
    line.clear();
    let read = input.by_ref().take(LINE_LIMIT).read_until(b'\n', line).ok()?;
    let cut = read as u64 == LINE_LIMIT && line.last() != Some(&b'\n');
    if cut {
        input.skip_until(b'\n').ok()?;
    }
    (read > 0).then_some(!cut)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A pipe whose reader has closed it; it counts the writes that it refuses.
    #[derive(Clone, Default)]
    struct Closed(Arc<AtomicUsize>);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0.fetch_add(1, Relaxed);
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Keeps everything that is written.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no writer panics").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_read_in_the_encodings_of_windows_and_dos() -> Result<()> {
        let input = b"\xef\xbb\xbfuci\r\nsetoption name SyzygyPath value /no/M\xfcller\r\n\x1a";
        let kept = Kept::default();
        run(&input[..], kept.clone())?;
        let said = String::from_utf8(kept.0.lock().expect("no writer panics").clone())?;
        assert!(said.contains("\nuciok\n"), "{said}");
        assert!(said.contains("info string Syzygy folder '/no/Müller': "), "{said}");
        assert!(!said.contains("unknown command"), "{said}");
        Ok(())
    }

    #[test]
    fn genfens_ends_when_nobody_reads() -> Result<()> {
        let (alone, session) = (Closed::default(), Closed::default());
        run_command("genfens 40 seed 1 book None", alone.clone())?;
        run(&b"genfens 40 seed 1 book None\n"[..], session.clone())?;
        assert_eq!([alone, session].map(|output| output.0.load(Relaxed)), [1, 1]);
        Ok(())
    }
}
