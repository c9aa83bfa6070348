//! Shared parts of the end-to-end tests: the paths of binaries and other programs, and a UCI
//! session.

pub mod kills;
pub mod odd_games;
pub mod server;
pub mod uci_lines;

use std::env::consts::{EXE_EXTENSION, EXE_SUFFIX};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// Longest wait for an answer of the engine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The Python of the virtual environment.
const VENV_PYTHON: &str =
    if cfg!(windows) { ".venv/Scripts/python.exe" } else { ".venv/bin/python" };

/// A few labelled games of Stockfish 15.1 against itself, with variations.
pub const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/games.pgn.zst");

/// The path of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A binary of this workspace, built beside the tests.
pub fn binary(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.ancestors().nth(2).context("tests run from target/PROFILE/deps")?;
    let path = folder.join(name).with_extension(EXE_EXTENSION);
    ensure!(path.exists(), "'{}' is not built; run make test", path.display());
    Ok(path)
}

/// Runs a binary of this workspace to its end.
pub fn run(program: &str, arguments: &[impl AsRef<OsStr>]) -> Result<Output> {
    Ok(Command::new(binary(program)?).args(arguments).output()?)
}

/// Runs a command with `input` on its standard input. A command that refuses its arguments need not
/// read it.
pub fn run_with_input(command: &mut Command, input: &str) -> Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let _ = child.stdin.take().context("no input")?.write_all(input.as_bytes());
    Ok(child.wait_with_output()?)
}

/// The standard output of a command; fails with its text on standard error if the command failed.
pub fn printed(output: Output) -> Result<String> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The single line on standard error of a command that failed.
pub fn refused(output: Output) -> Result<String> {
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.code() == Some(1), "{}: {said}", output.status);
    ensure!(said.lines().count() == 1, "not one line: {said}");
    Ok(said.trim_end().to_owned())
}

/// Runs a binary of this workspace that fails, and returns its single line on standard error.
pub fn refusal(program: &str, arguments: &[&str]) -> Result<String> {
    refused(run(program, arguments)?)
}

/// Runs a script of `tests/python` in the virtual environment and returns its output.
pub fn python(script: &str, arguments: &[&str]) -> Result<String> {
    let interpreter = root().join(VENV_PYTHON);
    ensure!(interpreter.exists(), "no virtual environment; run make test");
    let path = root().join("tests/python").join(script);
    let output = Command::new(interpreter).arg(path).args(arguments).output()?;
    printed(output).with_context(|| format!("{script} failed"))
}

/// The memory of a process that no file backs, in kB, and the number of its open handles.
#[cfg(target_os = "linux")]
pub fn memory_and_handles(process: u32) -> Result<(u64, usize)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let memory = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no size")?;
    Ok((memory.parse()?, std::fs::read_dir(format!("/proc/{process}/fd"))?.count()))
}

/// The names in a folder, in order.
pub fn names_in(folder: &Path) -> Result<Vec<String>> {
    let names = std::fs::read_dir(folder)?.map(|entry| Ok(text(entry?.file_name().as_ref())));
    let mut names = names.collect::<Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// A path as an argument of a command.
pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Runs the trainer and returns its output; fails with its text on standard error.
pub fn trainer(arguments: &[&str]) -> Result<String> {
    printed(run("azimuth-train", arguments)?)
}

/// Runs a script of `tests/python` with `input`, in a Python that has PyTorch, and returns its
/// output.
pub fn pytorch(script: &str, arguments: &[&str], input: &str) -> Result<String> {
    // Importing PyTorch takes seconds.
    static INTERPRETER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let imports = |python: &PathBuf| {
            let mut command = Command::new(python);
            command.args(["-c", "import torch, numpy"]).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let system = ["python3", "/usr/bin/python3"].map(PathBuf::from);
        std::iter::once(root().join(VENV_PYTHON)).chain(system).find(imports)
    });
    let interpreter = INTERPRETER.as_ref().context("PyTorch is missing; run make test")?;
    let mut command = Command::new(interpreter);
    command.arg(root().join("tests/python").join(script)).args(arguments);
    printed(run_with_input(&mut command, input)?).with_context(|| format!("{script} failed"))
}

/// The word after `name` in a line.
pub fn word_after<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split(' ').skip_while(|&word| word != name).nth(1)
}

/// The path of Stockfish, if the system has it.
pub fn stockfish() -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .chain([PathBuf::from("/usr/games")])
        .map(|folder| folder.join(format!("stockfish{EXE_SUFFIX}")))
        .find(|path| path.exists())
        .context("Stockfish is missing; run make test")
}

/// A UCI session with the engine.
pub struct Session {
    engine: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Session {
    /// Starts the engine.
    pub fn start() -> Result<Self> {
        let mut engine = Command::new(binary("azimuth")?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = engine.stdout.take().context("no output")?;
        let input = engine.stdin.take();
        Ok(Self { engine, input, lines: read_lines(output) })
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.engine.id()
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) -> Result<()> {
        let input = self.input.as_mut().context("the input is closed")?;
        writeln!(input, "{line}")?;
        Ok(input.flush()?)
    }

    /// Reads up to the first line that begins with `start`, and returns all lines read.
    pub fn read_until(&mut self, start: &str) -> Result<Vec<String>> {
        let mut read = Vec::new();
        loop {
            let line = self
                .lines
                .recv_timeout(PATIENCE)
                .with_context(|| format!("waiting for '{start}', the engine said {read:?}"))?;
            read.push(line);
            if read.last().is_some_and(|line| line.starts_with(start)) {
                return Ok(read);
            }
        }
    }

    /// Sends a line and reads up to the first line that begins with `start`.
    pub fn ask(&mut self, line: &str, start: &str) -> Result<Vec<String>> {
        self.send(line)?;
        self.read_until(start)
    }

    /// Sends a line and returns the first line that begins with `start`.
    pub fn answer(&mut self, line: &str, start: &str) -> Result<String> {
        self.ask(line, start)?.pop().context("no answer")
    }

    /// Closes the engine's input.
    pub fn close(&mut self) {
        drop(self.input.take());
    }

    /// Closes the input and waits for the engine to end without an error.
    pub fn end(mut self) -> Result<()> {
        self.close();
        let status = self.engine.wait()?;
        if !status.success() {
            bail!("the engine ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // After a failed test the engine may still be running.
        let _ = self.engine.kill();
        let _ = self.engine.wait();
    }
}

fn read_lines(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}
