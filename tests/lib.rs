//! Shared parts of the end-to-end tests: the paths of binaries and other programs, folders in which
//! programs run, and a UCI session.

pub mod kills;
pub mod odd_games;
pub mod server;

use std::env::consts::{EXE_EXTENSION, EXE_SUFFIX};
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// Longest wait for an answer, a file or the end of a process.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The Python of the virtual environment.
const VENV_PYTHON: &str =
    if cfg!(windows) { ".venv/Scripts/python.exe" } else { ".venv/bin/python" };

/// A few labelled games of Stockfish 15.1 against itself, with variations.
pub const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/games.pgn.zst");

/// A position with moves of every kind.
pub const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// All rivals.
pub const RIVALS: [&str; 8] =
    ["deepchess", "heuristic", "qlearning", "diffusion", "policy", "twohead", "value", "nnue"];

/// Time between two looks at a process or a file.
const PAUSE: Duration = Duration::from_millis(2);

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

/// A binary of this workspace under a limit of the shell's `ulimit`: `-f 8` (blocks of 512 bytes for a
/// file) or `-v 4000000` (KiB of memory).
pub fn limited(limit: &str, program: &str) -> Result<Command> {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]).arg(binary(program)?);
    Ok(shell)
}

/// Waits for the end of a process. After `patience`, kills it and returns `None`.
pub fn wait(child: &mut Child, patience: Duration) -> Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(PAUSE);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Waits until `holds` returns true; fails after [`PATIENCE`].
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) -> Result<()> {
    let began = Instant::now();
    while !holds() {
        ensure!(began.elapsed() < PATIENCE, "after {PATIENCE:?}: {what}");
        sleep(PAUSE);
    }
    Ok(())
}

/// The standard output of a command; fails with its text on standard error if the command failed.
pub fn printed(output: Output) -> Result<String> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The standard error of a command; fails with it if the command failed.
pub fn notices(output: Output) -> Result<String> {
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{}: {said}", output.status);
    Ok(said)
}

/// The single line on standard error of a command that failed.
pub fn refused(output: Output) -> Result<String> {
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.code() == Some(1), "{}: {said}", output.status);
    ensure!(said.lines().count() == 1, "not one line: {said}");
    Ok(said.trim_end().to_owned())
}

/// The line of error of a trainer that failed: the last one, after lines about the progress.
pub fn trainer_refused(output: Output) -> Result<String> {
    let said = String::from_utf8(output.stderr)?;
    ensure!(!output.status.success(), "not refused: {said}");
    let mut lines = said.lines().filter(|line| line.starts_with("azimuth-train: "));
    let line = lines.next().with_context(|| format!("no line of error: {said}"))?.to_owned();
    ensure!(lines.next().is_none() && said.ends_with(&format!("{line}\n")), "{said}");
    Ok(line)
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

/// The number after `name` in the last of the lines that have one.
pub fn last_number<T: FromStr>(lines: &[String], name: &str) -> Result<T> {
    let number = lines.iter().rev().find_map(|line| word_after(line, name)?.parse().ok());
    number.with_context(|| format!("no number after '{name}': {lines:?}"))
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

/// A temporary folder with the files of a test.
pub struct Folder(TempDir);

impl Folder {
    /// An empty folder.
    pub fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        Ok(std::fs::write(self.at(name), content)?)
    }

    /// Reads a text.
    pub fn read(&self, name: &str) -> Result<String> {
        std::fs::read_to_string(self.at(name)).with_context(|| name.to_owned())
    }

    /// Reads a file with a JSON value on each line, such as the log of a run.
    pub fn json_lines(&self, name: &str) -> Result<Vec<Value>> {
        self.read(name)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// The names of its files, in order.
    pub fn names(&self) -> Result<Vec<String>> {
        names_in(self.path())
    }

    /// The words of a command line. `@NAME` is a file of the folder, `ROOT/NAME` one of the
    /// repository, `GAMES` is [`GAMES`], and `STOCKFISH` the program.
    pub fn words(&self, line: &str) -> Result<Vec<String>> {
        let word = |word: &str| -> Result<String> {
            Ok(match (word.strip_prefix('@'), word.strip_prefix("ROOT/")) {
                (Some(name), _) => text(&self.at(name)),
                (_, Some(name)) => text(&root().join(name)),
                _ if word == "GAMES" => GAMES.to_owned(),
                _ if word == "STOCKFISH" => text(&stockfish()?),
                _ => word.to_owned(),
            })
        };
        line.split_whitespace().map(word).collect()
    }

    /// Runs a binary of this workspace with the [words](Self::words) of a line.
    pub fn run(&self, program: &str, line: &str) -> Result<Output> {
        run(program, &self.words(line)?)
    }

    /// Runs a binary of this workspace that fails, and returns its single line on standard error.
    pub fn refusal(&self, program: &str, line: &str) -> Result<String> {
        refused(self.run(program, line)?)
    }

    /// Runs the trainer and returns its output; fails with its text on standard error.
    pub fn trainer(&self, line: &str) -> Result<String> {
        printed(self.run("azimuth-train", line)?)
    }

    /// Runs the trainer, which fails, and returns its [line of error](trainer_refused).
    pub fn trainer_error(&self, line: &str) -> Result<String> {
        trainer_refused(self.run("azimuth-train", line)?).with_context(|| line.to_owned())
    }
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

    /// Sets an option.
    pub fn set(&mut self, name: &str, value: impl Display) -> Result<()> {
        self.send(&format!("setoption name {name} value {value}"))
    }

    /// Sends a line and returns the lines that it prints, which end in `readyok`.
    pub fn said(&mut self, line: &str) -> Result<Vec<String>> {
        self.send(line)?;
        self.ask("isready", "readyok")
    }

    /// Sets a position, such as `startpos` or `fen FEN`, and returns the lines of a search in it.
    pub fn search(&mut self, position: &str, go: &str) -> Result<Vec<String>> {
        self.send(&format!("position {position}"))?;
        self.ask(go, "bestmove")
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

/// The lines of an output, which another thread reads.
pub fn read_lines(output: impl Read + Send + 'static) -> Receiver<String> {
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
