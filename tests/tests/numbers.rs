//! Every number of every command line at its extremes. A program may refuse the number or work with
//! it, even for longer than the test waits. It must not panic or abort, and it must report an error
//! in one line.
//!
//! The options are those that `--help` names, so that no new one is forgotten. By default the test
//! takes a sample; `AZIMUTH_NUMBERS=all cargo test --release -p azimuth-tests --test numbers` takes
//! them all.

#![cfg(unix)]

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_tests::{Folder, GAMES, limited, printed, run, wait};

const NUMBERS: &str = "0 -1 1 0.5 NaN inf 1e300 4294967295 4294967296 9223372036854775807 \
                       18446744073709551615 18446744073709551616";

/// Commands that do little work. The test sets each of their options to each number. In a command
/// with an `N`, only the `N` becomes each number; so it does in the indented options of the command
/// above them.
const COMMANDS: &str = include_str!("../data/numbers.txt");

/// Command lines tried in the usual run.
const SAMPLE: usize = 24;

/// A program that still runs after this time has accepted the number.
const WORKING: Duration = Duration::from_millis(1500);

/// Memory limit of each program. A program that needs more must say so in one line, as on a machine
/// without more memory.
const MEMORY: &str = "-v 8000000";

/// A command line: the program and its arguments.
type Line = (&'static str, Vec<String>);

/// Writes the files that the commands read.
fn prepare(folder: &Folder) -> Result<()> {
    let games = String::from_utf8(zstd::decode_all(File::open(GAMES)?)?)?;
    let first: Vec<&str> = games.split_inclusive("\n\n").take(2).collect();
    folder.write("game.pgn", first.concat())?;
    let book = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - bm Nf3;\n";
    folder.write("book.epd", book)?;
    folder.trainer("data GAMES --out @data.azd").map(drop)
}

/// The options of a command that take a value.
fn options(program: &str, command: &str) -> Result<Vec<String>> {
    let command = command.split_whitespace().next().context("a command")?;
    let text = printed(run(program, &[command, "--help"])?).context(program.to_owned())?;
    let named = |line: &str| -> Option<String> {
        let option =
            line.trim_start().strip_prefix("--").or_else(|| line.split_once(", --")?.1.into())?;
        let (name, value) = option.split_once(' ')?;
        (line.starts_with("  ") && value.starts_with('<')).then(|| format!("--{name}"))
    };
    Ok(text.lines().filter_map(named).collect())
}

/// A command with `value` as the value of an option, in place of any value that it has.
fn with(command: &[String], option: &str, value: &str) -> Vec<String> {
    let mut rest = command.iter();
    let mut changed = Vec::new();
    while let Some(word) = rest.next() {
        if word == option {
            rest.next();
        } else {
            changed.push(word.clone());
        }
    }
    changed.push(format!("{option}={value}"));
    changed
}

fn command_lines(folder: &Folder) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    let (mut program, mut command) = ("", Vec::new());
    for line in COMMANDS.lines() {
        let (first, rest) = line.trim_start().split_once(' ').context("one word")?;
        let numbers = NUMBERS.split(' ');
        if line.starts_with(' ') {
            let values = numbers.map(|number| rest.replace('N', number));
            lines.extend(values.map(|value| (program, with(&command, first, &value))));
        } else if rest.contains('N') {
            for number in numbers {
                lines.push((first, folder.words(&rest.replace('N', number))?));
            }
        } else {
            (program, command) = (first, folder.words(rest)?);
            let all = options(program, rest)?;
            ensure!(!all.is_empty(), "{line}: no options in its help");
            for option in all {
                lines.extend(numbers.clone().map(|it| (program, with(&command, &option, it))));
            }
        }
    }
    Ok(lines)
}

/// Runs a command line until it ends, for at most [`WORKING`]. Fails if it panics, aborts or
/// reports an error in another form.
fn check((program, arguments): &Line, folder: &Folder) -> Result<()> {
    let mut child = limited(MEMORY, program)?
        .args(arguments)
        .current_dir(folder.path())
        // With it, errors would contain stack traces.
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(folder.at("stderr"))?)
        .spawn()?;
    let status = wait(&mut child, WORKING)?;
    let errors = folder.read("stderr")?;
    ensure!(!errors.contains("panicked"), "{errors}");
    let Some(status) = status else { return Ok(()) };
    ensure!(status.signal().is_none(), "{status}: {errors}");
    if !status.success() {
        let last = errors.trim_end().lines().last().unwrap_or_default();
        let by_clap = errors.contains("error: ");
        ensure!(by_clap || last.starts_with(&format!("{program}: ")), "{status}: {errors}");
    }
    Ok(())
}

#[test]
fn no_number_ends_in_a_panic() -> Result<()> {
    let folder = Folder::new()?;
    prepare(&folder)?;
    let lines = command_lines(&folder)?;
    let sample = match std::env::var("AZIMUTH_NUMBERS") {
        Ok(text) if text == "all" => lines.len(),
        Ok(text) => text.parse().context("AZIMUTH_NUMBERS")?,
        Err(_) => SAMPLE,
    };
    // Each run of the test takes another sample.
    let every = (lines.len() / sample.max(1)).max(1);
    let first = std::process::id() as usize % every;
    let mut failures = Vec::new();
    for line in lines.iter().skip(first).step_by(every) {
        if let Err(error) = check(line, &folder) {
            failures.push(format!("{} {}\n{error:#}", line.0, line.1.join(" ")));
        }
    }
    ensure!(failures.is_empty(), "{} of them:\n{}", failures.len(), failures.join("\n\n"));
    Ok(())
}
