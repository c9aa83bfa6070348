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

const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "0.5",
    "NaN",
    "inf",
    "1e300",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
];

/// Command lines tried in the usual run.
const SAMPLE: usize = 24;

/// A program that still runs after this time has accepted the number.
const WORKING: Duration = Duration::from_millis(1500);

/// Memory limit of each program. A program that needs more must say so in one line, as on a machine
/// without more memory.
const MEMORY: &str = "-v 8000000";

const TRAIN: &str = "train --data @data.azd --out @w.safetensors --steps 2 --accumulator 128 \
                     --features piece-square --embedding-dim 8 --sample 100";
const ELO: &str = "elo --player depth=1 --against depth=2 --games 2 --book @book.epd --pgn @g.pgn";
const LEARN: &str = "train value --preset small --data @data.azd --out @v.safetensors --steps 2 --batch 8 \
                     --size blocks=1 --size channels=8 --size last_channels=8";

/// Commands that do little work. The test sets each of their options to each number.
const COMMANDS: [(&str, &str); 21] = [
    ("azimuth", "explain --pgn GAMES --depth 2 --nodes 100"),
    ("azimuth", "report @game.pgn --out @report.html --engine-time 1ms"),
    ("azimuth", "play --time 1ms"),
    ("azimuth-bench", ELO),
    ("azimuth-bench", "accuracy --player depth=1 --games @game.pgn --count 2 --judge none"),
    ("azimuth-bench", "precision"),
    ("azimuth-bench", "rate @game.pgn"),
    ("azimuth-bench", "clock @game.pgn"),
    ("azimuth-bench", "speed --batch 1 --depth 1 --rounds 1"),
    ("azimuth-bench", "suite @book.epd --depth 1"),
    ("azimuth-bench", "tune --book @book.epd --out @tune.json --iterations 1 --player movetime=1"),
    ("azimuth-train", TRAIN),
    ("azimuth-train", "policy --data @data.azd --weights w --out @p.safetensors --steps 1"),
    ("azimuth-train", "data @data.azd --head 2"),
    ("azimuth-train", "label --out @l.azd --walks 2 --engine none --fens @book.epd"),
    ("azimuth-train", "embed --data @data.azd --out @e.npy --sample 10"),
    ("azimuth-train", "map --data @data.azd --out @map --sample 10"),
    ("azimuth-train", "neighbours 8/8/8/8/8/2k5/7p/2K5 --data @data.azd --sample 10"),
    ("azimuth-train", "eval --data @data.azd --sample 10"),
    ("azimuth-rivals", LEARN),
    ("azimuth-rivals", "tau nnue --data @data.azd"),
];

/// Numbers within values: `N` stands for the number.
const WITHIN: [(&str, &str, &str); 37] = [
    ("azimuth", "bench", "N"),
    ("azimuth", "genfens", "N seed 1 book none"),
    ("azimuth", "genfens", "1 seed N book none"),
    ("azimuth", "genfens", "1 seed 1 book none plies N"),
    ("azimuth", "genfens", "1 seed 1 book none score N"),
    ("azimuth-bench", ELO, "--player width=N depth=1"),
    ("azimuth-bench", ELO, "--player depth=N"),
    ("azimuth-bench", ELO, "--player nodes=N"),
    ("azimuth-bench", ELO, "--player movetime=N"),
    ("azimuth-bench", ELO, "--player tc=N+N"),
    ("azimuth-bench", ELO, "--player tc=N/N+N"),
    ("azimuth-bench", ELO, "--player depth=1 margin=N"),
    ("azimuth-bench", ELO, "--player depth=1 elo=N"),
    ("azimuth-bench", ELO, "--player depth=1 hash=N"),
    ("azimuth-bench", ELO, "--player depth=1 planner=selective threads=N"),
    ("azimuth-bench", ELO, "--player depth=1 noise=N"),
    ("azimuth-bench", ELO, "--player depth=1 verify=N"),
    ("azimuth-bench", ELO, "--player depth=2 planner=selective set=lmr-base:N"),
    ("azimuth-bench", ELO, "--draw moves=N,score=N,from=N"),
    ("azimuth-bench", ELO, "--resign moves=N,score=N"),
    ("azimuth-bench", ELO, "--sprt elo0=N,elo1=N,alpha=N,beta=N"),
    ("azimuth-bench", "rate @game.pgn", "--known A=N"),
    ("azimuth-train", "data @data.azd --out @f.azd", "--filter ply=N..N"),
    ("azimuth-train", "data @data.azd --out @f.azd", "--filter cp=N..N"),
    ("azimuth-train", "data @data.azd --out @f.azd", "--filter pieces=N..N"),
    ("azimuth-train", "data @data.azd --out @f.azd", "--filter p=N..N"),
    ("azimuth-train", "data @data.azd --out @f.azd", "--filter loss=N"),
    ("azimuth-train", "label --out @l.azd --walks 2 --engine none --fens @book.epd", "--shard N/N"),
    ("azimuth-train", TRAIN, "--features exchange-states-N"),
    ("azimuth-train", TRAIN, "--features piece-square+king-buckets-N"),
    ("azimuth-rivals", LEARN, "--size blocks=N"),
    ("azimuth-rivals", LEARN, "--size channels=N"),
    ("azimuth-rivals", LEARN, "--size last_channels=N"),
    ("azimuth-rivals", "train nnue --data @data.azd --out @n.w --steps 1", "--size half=N"),
    ("azimuth-rivals", "train diffusion --data @data.azd --out @d.w --steps 1", "--size width=N"),
    ("azimuth-rivals", "train diffusion --data @data.azd --out @d.w --steps 1", "--size heads=N"),
    (
        "azimuth-rivals",
        "train deepchess --data @data.azd --out @c.w --steps 1",
        "--size encoder=[N,N]",
    ),
];

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
    let mut rest = command.iter().peekable();
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
    for (program, command) in COMMANDS {
        let all = options(program, command)?;
        let words = folder.words(command)?;
        ensure!(
            !all.is_empty() || command == "play",
            "{program} {command}: no options in its help"
        );
        for option in all {
            for number in NUMBERS {
                lines.push((program, with(&words, &option, number)));
            }
        }
    }
    for (program, command, value) in WITHIN {
        let words = folder.words(command)?;
        for number in NUMBERS {
            let value = value.replace('N', number);
            let arguments = match value.split_once(' ') {
                Some((option, value)) if option.starts_with("--") => with(&words, option, value),
                _ => [&words[..], std::slice::from_ref(&value)].concat(),
            };
            lines.push((program, arguments));
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
