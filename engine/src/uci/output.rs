//! What the engine says, and the log of it and of what it hears.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use azimuth_chess::text::shortened;

use crate::command_line::unless_closed;

/// Characters of an `info string` line: enough for a long path and a FEN.
const TEXT_LIMIT: usize = 600;

/// The way to the GUI, shared by all threads. Lines stay whole.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Sink>>);

struct Sink {
    gui: Box<dyn Write + Send>,
    /// Why the first line that could not be written was not.
    failed: Option<io::Error>,
    log: Option<Log>,
}

struct Log {
    file: File,
    began: Instant,
}

impl Output {
    /// Says everything to `gui`.
    pub fn new(gui: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Sink { gui: Box::new(gui), failed: None, log: None })))
    }

    /// A line to the GUI. One that cannot be written does not end a search; [`Self::check`] tells of it.
    pub fn say(&self, line: &str) {
        let mut sink = self.lock();
        if let Err(error) = writeln!(sink.gui, "{line}").and_then(|()| sink.gui.flush()) {
            sink.failed.get_or_insert(error);
        }
        sink.note('<', line);
    }

    /// Fails where a line could not be written, but not where the GUI has gone away.
    pub fn check(&self) -> Result<()> {
        let failed = self.lock().failed.take();
        unless_closed(failed.map_or(Ok(()), Err).context("standard output"))
    }

    /// An `info string` line, whatever the text is made of.
    pub fn inform(&self, text: &str) {
        let line = text.replace(['\n', '\r'], " ");
        self.say(&format!("info string {}", shortened(&line, TEXT_LIMIT)));
    }

    /// Notes a line that came from the GUI.
    pub fn heard(&self, line: &str) {
        self.lock().note('>', line);
    }

    /// Notes something for the reader of the log.
    pub fn note(&self, text: &str) {
        self.lock().note('#', text);
    }

    /// From now on appends all lines to a file, or to none. Fails where it cannot be written; the
    /// log from before is then kept.
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
        // Opening a pipe or a device could block for ever.
        let special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        ensure!(!special, "{}: not a regular file", name());
        let mut file =
            OpenOptions::new().create(true).append(true).open(path).with_context(name)?;
        writeln!(file, "Azimuth {}", env!("CARGO_PKG_VERSION")).with_context(name)?;
        Ok(Self { file, began: Instant::now() })
    }
}
