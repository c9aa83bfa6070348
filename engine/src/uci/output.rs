//! The output to the GUI, and the log of both directions. Also tables for the terminal: static
//! scores, and the root moves of a search.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, uci_move};
use azimuth_chess::text::{printable, shortened};
use azimuth_cli::unless_closed;
use azimuth_network::replace_file::check_regular;
use azimuth_search::{Bound, Control, ExplainedMove, Explanation, Limits, Planner, Value};
use cozy_chess::Move;

use crate::explain::side_name;

/// Maximum length of an `info string` text, in characters: enough for a long path and a FEN.
const TEXT_LIMIT: usize = 600;

/// The output to the GUI, shared by all threads. Lines are never interleaved.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Sink>>);

struct Sink {
    gui: Box<dyn Write + Send>,
    /// The first write error.
    failed: Option<io::Error>,
    log: Option<Log>,
}

struct Log {
    file: File,
    began: Instant,
}

impl Output {
    pub fn new(gui: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Sink { gui: Box::new(gui), failed: None, log: None })))
    }

    /// Writes a line to the GUI. A write error does not end a search; [`Self::check`] returns it.
    pub fn say(&self, line: &str) {
        let mut sink = self.lock();
        if let Err(error) = writeln!(sink.gui, "{line}").and_then(|()| sink.gui.flush()) {
            sink.failed.get_or_insert(error);
        }
        sink.note('<', line);
    }

    /// Whether a write has failed, for example because the GUI has closed the pipe.
    pub fn has_failed(&self) -> bool {
        self.lock().failed.is_some()
    }

    /// Returns the first write error, unless the GUI has closed the pipe.
    pub fn check(&self) -> Result<()> {
        let failed = self.lock().failed.take();
        unless_closed(failed.map_or(Ok(()), Err).context("standard output"))
    }

    /// Writes an `info string` line. Line breaks in the text become spaces, and other control
    /// characters are escaped.
    pub fn inform(&self, text: &str) {
        let line = text.replace(['\n', '\r'], " ");
        self.say(&format!("info string {}", printable(&shortened(&line, TEXT_LIMIT))));
    }

    /// Passes messages of planners and workers to [`Self::inform`].
    pub fn notice(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let output = self.clone();
        move |text: &str| output.inform(text)
    }

    /// Logs a line from the GUI.
    pub fn heard(&self, line: &str) {
        self.lock().note('>', line);
    }

    /// Logs a remark.
    pub fn note(&self, text: &str) {
        self.lock().note('#', text);
    }

    /// Appends all lines to a log file from now on; `None` ends logging. Fails if the file cannot
    /// be written, and then keeps the previous log.
    pub fn log_to(&self, path: Option<&Path>) -> Result<()> {
        let log = path.map(Log::open).transpose()?;
        self.lock().log = log;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink {
    fn note(&mut self, direction: char, line: &str) {
        let Some(log) = &mut self.log else { return };
        let seconds = log.began.elapsed().as_secs_f64();
        if let Err(error) = writeln!(log.file, "{seconds:.3} {direction} {line}") {
            self.log = None;
            let _ = writeln!(self.gui, "info string Debug Log File: {error}; the log ends here")
                .and_then(|()| self.gui.flush());
        }
    }
}

impl Log {
    fn open(path: &Path) -> Result<Self> {
        let name = || format!("Debug Log File '{}'", path.display());
        check_regular(path).with_context(name)?;
        let mut file =
            OpenOptions::new().create(true).append(true).open(path).with_context(name)?;
        writeln!(file, "Azimuth {}", env!("CARGO_PKG_VERSION")).with_context(name)?;
        Ok(Self { file, began: Instant::now() })
    }
}

/// The score of the position and of each legal move, best first.
pub fn scores(planner: &mut dyn Planner, position: &Position, chess960: bool) -> Result<String> {
    let mut lines = Vec::new();
    if position.has_legal_move() {
        let limits = Limits { depth: Some(1), multipv: usize::MAX, ..Limits::default() };
        planner.search(position, &mut Control::without_signals(limits), &mut |report| {
            let mv = report.pv.first().map(|&mv: &Move| uci_move(position.board(), mv, chess960));
            lines.push(format!("{:8}{}", mv.unwrap_or_default(), score(report.value)));
        })?;
    }
    let own = planner.evaluate(position)?;
    let side = side_name(position.board().side_to_move());
    lines.push(format!("{:8}{} (the position itself; {side} is to move)", "", score(own)));
    Ok(lines.join("\n"))
}

/// A table of the root moves of a search, best first: static evaluation, verified value if any,
/// depth in plies, and score.
pub fn explanation(explanation: &Explanation, chess960: bool) -> String {
    let Explanation { root, moves } = explanation;
    let verifies = moves.iter().any(|explained| explained.verified.is_some());
    let column = if verifies { format!("{:>20}", "verified") } else { String::new() };
    let mut lines =
        vec![format!("{:8}{:>20}{column}  {:>6}  {:>22}", "move", "static", "plies", "backed up")];
    for ExplainedMove { mv, static_value, verified, searched, .. } in moves {
        let mv = uci_move(root.board(), *mv, chess960);
        let (plies, value) = match searched {
            None => ("-".to_owned(), "dropped".to_owned()),
            Some(found) => {
                let bound = match found.bound {
                    Bound::Exact => "",
                    Bound::Upper => "at most",
                    Bound::Lower => "at least",
                };
                (found.depth.to_string(), format!("{bound:>8}{}", score(found.value)))
            }
        };
        let verified = verified.as_ref().map_or(String::new(), |verified| score(verified.value));
        lines.push(format!("{mv:8}{}{verified}  {plies:>6}  {value}", score(*static_value)));
    }
    lines.join("\n")
}

fn score(value: Value) -> String {
    let p = value.win_probability();
    match value.moves_to_mate() {
        Some(moves) => format!("{:>10}  {:6.2}%", format!("mate {moves}"), 100.0 * p),
        None => format!("{:>+7} cp  {:6.2}%", value.centipawns(), 100.0 * p),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_tablebases_and_mates_are_those_of_uci() {
        let won = -Value::tablebase_loss_in(3);
        assert_eq!(score(won).trim(), "+19997 cp  100.00%");
        assert_eq!(score(Value::mated_in(4)).trim(), "mate -2    0.00%");
        assert_eq!(score(Value::DRAW).trim(), "+0 cp   50.00%");
    }
}
