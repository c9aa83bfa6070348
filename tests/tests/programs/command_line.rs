//! The command lines of the programs, and the engine in a terminal.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use azimuth_tests::{Folder, binary, printed, python, refusal, run, text};

const PROGRAMS: [&str; 4] = ["azimuth", "azimuth-bench", "azimuth-train", "azimuth-rivals"];

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    printed(run(program, arguments)?).with_context(|| format!("{program} {arguments:?}"))
}

#[test]
fn a_terminal_is_greeted_and_helped() -> Result<()> {
    let engine = text(&binary("azimuth")?);
    let shown = python("terminal.py", &[&engine, "--", "help", "quit"])?;
    let greeting = shown.lines().next().context("it says nothing")?;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        greeting,
        format!("Azimuth {version}, encoder sparse 512 on cpu. UCI; type help or quit")
    );
    for command in ["setoption", "position", "go", "explain", "bench", "quit"] {
        assert!(shown.lines().any(|line| line.trim_start().starts_with(command)), "{shown}");
    }
    Ok(())
}

#[test]
fn a_gui_is_not_greeted() -> Result<()> {
    assert_eq!(output("azimuth", &[])?, "");
    Ok(())
}

#[test]
fn the_version_tells_of_the_build() -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(output("azimuth", &["-V"])?, format!("azimuth {version}\n"));
    let long = output("azimuth", &["--version"])?;
    assert!(long.starts_with(&format!("azimuth {version}\n")), "{long}");
    for fact in ["Compiler: rustc 1.", "Target: ", "Instruction set: "] {
        assert!(long.lines().any(|line| line.starts_with(fact)), "{long}");
    }
    Ok(())
}

#[test]
fn help_shows_by_example() -> Result<()> {
    let help = output("azimuth", &["--help"])?;
    for example in ["azimuth explain --pgn game.pgn --ply 31", "azimuth report game.pgn"] {
        assert!(help.contains(example), "{help}");
    }
    Ok(())
}

/// The form of OpenBench's `Client/genfens.py`.
#[test]
fn openbench_asks_for_positions_in_one_argument() -> Result<()> {
    let line = "genfens 3 seed 1 book None ";
    let drawn = output("azimuth", &[line, "quit"])?;
    assert_eq!(drawn.lines().count(), 3, "{drawn}");
    for line in drawn.lines() {
        let fen = line.strip_prefix("info string genfens ").context("another line")?;
        assert_eq!(fen.split(' ').count(), 6, "{fen}");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(output("azimuth", &words)?, drawn);
    let error = refusal("azimuth", &["genfens 3 seed 1 ", "quit"])?;
    assert!(error.starts_with("azimuth: genfens: expected N seed S book"), "{error}");
    Ok(())
}

#[test]
fn completions_are_scripts_of_every_command() -> Result<()> {
    for (program, command) in PROGRAMS.into_iter().zip(["explain", "elo", "neighbours", "tau"]) {
        for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
            let script = output(program, &["completions", shell])?;
            assert!(script.contains(command), "{program}, {shell}");
        }
    }
    let folder = Folder::new()?;
    folder.write("azimuth.bash", output("azimuth", &["completions", "bash"])?)?;
    let ask = "source ./azimuth.bash && COMP_WORDS=(azimuth ex) COMP_CWORD=1 \
               && _azimuth azimuth ex azimuth && echo ${COMPREPLY[@]}";
    let completed = Command::new("bash").args(["-c", ask]).current_dir(folder.path()).output()?;
    assert_eq!(String::from_utf8(completed.stdout)?.trim(), "explain");
    Ok(())
}

#[test]
fn every_command_has_a_manual_page_of_another_name() -> Result<()> {
    let mut pages = BTreeMap::new();
    for program in PROGRAMS {
        let folder = Folder::new()?;
        output(program, &["man", &text(folder.path())])?;
        for name in folder.names()? {
            let other = pages.insert(name.clone(), folder.read(&name)?);
            assert!(other.is_none(), "{program}: another program writes '{name}', too");
        }
    }
    for (name, usage) in [
        ("azimuth.1", "azimuth"),
        ("azimuth-uci-bench.1", "azimuth bench"),
        ("azimuth-bench.1", "azimuth-bench"),
        ("azimuth-explain.1", "azimuth explain"),
        ("azimuth-rivals-train.1", "azimuth-rivals train"),
        ("azimuth-train-train.1", "azimuth-train train"),
    ] {
        let page = pages.get(name).with_context(|| format!("{name} is missing"))?;
        assert!(page.contains(".TH") && page.contains(".SH OPTIONS"), "{page}");
        let usage = format!("\\fB{}\\fR", usage.replace('-', "\\-"));
        assert!(page.contains(&usage), "{name}: {usage}: {page}");
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_a_failure_and_a_closed_pipe_is_none() -> Result<()> {
    let folder = Folder::new()?;
    folder.trainer("data GAMES --out @games.azd")?;
    folder.trainer("data @games.azd --out @positions.csv")?;
    let tags = "[White \"a\"]\n[Black \"b\"]\n[WhiteElo \"2000\"]\n[Result \"1-0\"]\n\n";
    folder.write("played.pgn", format!("{tags}1. e4 1-0\n"))?;
    for (program, line) in [
        ("azimuth", "bench 1"),
        ("azimuth", "explain 8/8/8/4k3/8/4K3/4Q3/8 --depth 1"),
        ("azimuth", "explain 8/8/8/4k3/8/4K3/4Q3/8 --depth 1 --json"),
        ("azimuth", "completions bash"),
        ("azimuth-train", "data --info @games.azd"),
        ("azimuth-train", "data --head 3 @games.azd"),
        ("azimuth-train", "eval --data @games.azd --sample 100"),
        ("azimuth-train", "neighbours 8/8/8/4k3/8/4K3/4Q3/8 --data @games.azd --sample 100"),
        ("azimuth-bench", "rate @played.pgn --known a=2000"),
        ("azimuth-rivals", "tau heuristic --data @positions.csv"),
    ] {
        let mut command = Command::new(binary(program)?);
        command.args(folder.words(line)?);
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let run = command.stdout(full).output()?;
        let error = String::from_utf8(run.stderr)?;
        assert_eq!(run.status.code(), Some(1), "{program} {line}: {error}");
        let last = error.lines().last().unwrap_or_default();
        let says = last.starts_with(&format!("{program}: ")) && last.contains("No space left");
        assert!(says && !error.contains("panicked"), "{program} {line}: {error}");

        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        let run = command.stdout(writer).output()?;
        assert!(run.status.success(), "{program} {line}: {run:?}");
    }
    // The error cannot be printed either.
    for program in PROGRAMS {
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let mut command = Command::new(binary(program)?);
        let silent = command.args(["completions", "bash"]).stdout(full.try_clone()?).stderr(full);
        assert_eq!(silent.status()?.code(), Some(1), "{program}");
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn answers_that_cannot_be_written_are_a_failure() -> Result<()> {
    let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
    let mut engine = Command::new(binary("azimuth")?).stdin(Stdio::piped()).stdout(full).spawn()?;
    engine.stdin.take().context("no input")?.write_all(b"uci\nquit\n")?;
    assert_eq!(engine.wait()?.code(), Some(1));
    Ok(())
}
