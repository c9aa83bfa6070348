//! Outputs: writing one file never destroys another, and two runs never write one file at once.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use azimuth_tests::{Folder, binary, limited, refused, wait_until};

/// Options of a run that ends quickly.
const SHORT: &str = "--steps 1 --anchors 8 --sample 100";

#[test]
fn an_output_that_is_an_input_or_cannot_be_written_is_refused_at_once() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("games.pgn", "1. e4 *\n")?;
    folder.trainer("data GAMES --out @games.azd")?;
    let before = std::fs::read(folder.at("games.azd"))?;
    folder.trainer(&format!("train --data @games.azd --out @run.safetensors {SHORT}"))?;
    let train = format!("train --data @games.azd {SHORT}");
    let rival = "train value --data @games.azd --preset small";
    let export = "export --checkpoint @run.checkpoint --data @games.azd";
    for (program, command, more, part) in [
        ("azimuth-train", train.as_str(), "--out @games.azd", "is also an input"),
        ("azimuth-train", &train, "--out @x --checkpoint @games.azd", "is also an input"),
        (
            "azimuth-train",
            &train,
            "--out @run.safetensors --from @run.safetensors",
            "is also an input",
        ),
        ("azimuth-train", &train, "--out @x.checkpoint", "is needed twice"),
        ("azimuth-train", &train, "--out /dev/null", "not a regular file"),
        ("azimuth-train", export, "--out @run.checkpoint", "is also an input"),
        ("azimuth-rivals", rival, "--out @games.azd", "is also an input"),
        ("azimuth", "report @games.pgn", "--out @games.pgn", "is also an input"),
    ] {
        let line = folder.refusal(program, &format!("{command} {more}"))?;
        assert!(line.contains(part), "{more}: {line}");
    }
    assert!(std::fs::read(folder.at("games.azd"))? == before);
    assert_eq!(folder.read("games.pgn")?, "1. e4 *\n");
    Ok(())
}

#[test]
fn a_missing_folder_is_named_and_not_an_unfinished_file() -> Result<()> {
    let folder = Folder::new()?;
    let missing = folder.at("none");
    let reason = format!("': folder '{}' does not exist; create it first", missing.display());
    folder.write("games.pgn", "1. e4 *\n")?;
    for (program, command) in [
        ("azimuth-train", "train --data GAMES --steps 1 --out @none/x.safetensors"),
        ("azimuth-train", "policy --data GAMES --weights w --steps 1 --out @none/x.safetensors"),
        ("azimuth-train", "data GAMES --out @none/x.azd"),
        ("azimuth-train", "label --walks 1 --engine e --fens f --out @none/x.azd"),
        ("azimuth", "report @games.pgn --out @none/x.html"),
        ("azimuth-bench", "man @none"),
        ("azimuth-rivals", "man @none"),
    ] {
        let line = folder.refusal(program, command)?;
        let (_, out) = command.split_once("@none").context("an output")?;
        let start = format!("{program}: cannot write '{}{out}", missing.display());
        assert!(line.starts_with(&start) && line.ends_with(&reason), "{line}");
        assert!(!line.contains(".partial"), "{line}");
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_journal_is_refused() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("games.pgn", "1. e4 *\n")?;
    let train = "train --data GAMES --steps 1 --out @run.safetensors";
    for (program, command, pipe) in [
        ("azimuth", "report @games.pgn", "games.html.journal"),
        ("azimuth-train", "data GAMES --out @games.azd", "games.azd.journal"),
        ("azimuth-train", train, "run.safetensors.lock"),
    ] {
        ensure!(Command::new("mkfifo").arg(folder.at(pipe)).status()?.success(), "{pipe}");
        let line = folder.refusal(program, command)?;
        assert!(line.contains(&format!("{pipe}': not a regular file")), "{line}");
    }
    Ok(())
}

/// The limit lets the smaller pages be written, and not the others.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_all_manual_pages_or_none() -> Result<()> {
    for program in ["azimuth", "azimuth-bench", "azimuth-train", "azimuth-rivals"] {
        let folder = Folder::new()?;
        let output = limited("-f 5", program)?.arg("man").arg(folder.path()).output()?;
        assert!(refused(output)?.contains("File too large"));
        assert!(folder.names()?.is_empty(), "{program}");
    }
    Ok(())
}

#[test]
fn a_checkpoint_is_not_exported_without_its_means() -> Result<()> {
    let folder = Folder::new()?;
    std::fs::create_dir(folder.at("x.black_mean.npy"))?;
    let command = "export --format solis --weights ROOT/weights/mini.safetensors --out @x.pth";
    let line = folder.refusal("azimuth-train", command)?;
    assert!(line.contains("x.black_mean.npy': it is not a regular file"), "{line}");
    assert_eq!(folder.names()?, ["x.black_mean.npy"]);
    Ok(())
}

/// The system sends this signal if a mapped file is cut short.
#[cfg(unix)]
#[test]
fn a_file_that_is_cut_short_ends_the_program_with_a_line() -> Result<()> {
    let mut engine = Command::new(binary("azimuth")?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    engine.stdin.as_mut().context("its input")?.write_all(b"uci\n")?;
    engine.stdout.as_mut().context("its output")?.read_exact(&mut [0])?;
    let signal = ["-BUS".to_owned(), engine.id().to_string()];
    ensure!(Command::new("kill").args(signal).status()?.success(), "no signal");
    let output = engine.wait_with_output()?;
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said, "a data file was cut short, or the disk is full: the program ends\n");
    Ok(())
}

#[test]
fn two_runs_never_write_one_output() -> Result<()> {
    let folder = Folder::new()?;
    let train = "train --data GAMES --out @run.safetensors --anchors 8 --sample 100 --steps";
    let endless = folder.words(&format!("{train} 1000000 --checkpoint-every 1"))?;
    let mut first = Command::new(binary("azimuth-train")?)
        .args(endless)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let refused = wait_until("no checkpoint appears", || folder.at("run.checkpoint").exists())
        .and_then(|()| folder.refusal("azimuth-train", &format!("{train} 1")));
    first.kill()?;
    first.wait()?;
    let line = refused?;
    assert!(line.contains("another process writes it"), "{line}");

    // A killed run leaves its locks and an unfinished checkpoint. The next run continues and
    // removes them.
    folder.write("run.checkpoint.Ab12Cd.partial", "half")?;
    folder.trainer(&format!("{train} 1000000 --stop-after 1"))?;
    assert_eq!(folder.names()?, ["run.checkpoint", "run.jsonl", "run.toml"]);
    Ok(())
}
