//! Outputs: writing one file never destroys another, and two runs never write one file at once.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_tests::{GAMES, binary, names_in, refusal, refused, root, text, trainer};

/// Options of a run that ends quickly.
const SHORT: [&str; 6] = ["--steps", "1", "--anchors", "8", "--sample", "100"];

/// Waits for a file to appear.
fn wait_for(path: &Path) -> Result<()> {
    let began = Instant::now();
    while !path.exists() {
        ensure!(began.elapsed() < Duration::from_secs(60), "'{}' does not appear", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

#[test]
fn files_of_others_are_left_alone() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("run.safetensors");
    let own = folder.path().join("run.partial");
    std::fs::write(&own, "a user's own file")?;
    trainer(&[&["train", "--data", GAMES, "--out", &text(&out)], &SHORT[..]].concat())?;
    assert_eq!(std::fs::read(&own)?, b"a user's own file");
    let names = std::fs::read_dir(folder.path())?.count();
    assert_eq!(names, 5, "weights, checkpoint, log, options and the user's file");
    Ok(())
}

#[test]
fn an_output_that_is_an_input_or_cannot_be_written_is_refused_at_once() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| text(&folder.path().join(name));
    let (data, games) = (at("games.azd"), at("games.pgn"));
    std::fs::write(&games, "1. e4 *\n")?;
    trainer(&["data", GAMES, "--out", &data])?;
    let before = std::fs::read(&data)?;
    let weights = at("run.safetensors");
    trainer(&[&["train", "--data", &data, "--out", &weights], &SHORT[..]].concat())?;
    let checkpoint = at("run.checkpoint");

    let [x, beside, missing] = ["x", "x.checkpoint", "none/x"].map(at);
    let train = ["train", "--data", &data];
    let rival = ["train", "value", "--data", &data, "--preset", "small"];
    let [data, weights, checkpoint] = [&data, &weights, &checkpoint].map(String::as_str);
    for (program, command, more, part) in [
        ("azimuth-train", &train[..], &["--out", data][..], "is also an input"),
        ("azimuth-train", &train, &["--out", &x, "--checkpoint", data], "is also an input"),
        ("azimuth-train", &train, &["--out", weights, "--from", weights], "is also an input"),
        ("azimuth-train", &train, &["--out", &beside], "is needed twice"),
        ("azimuth-train", &train, &["--out", &missing], "none' does not exist; create it first"),
        ("azimuth-train", &train, &["--out", "/dev/null"], "not a regular file"),
        ("azimuth-rivals", &rival, &["--out", data], "is also an input"),
        ("azimuth", &["report", &games], &["--out", &games], "is also an input"),
    ] {
        let steps = if program == "azimuth-train" { &SHORT[..] } else { &[] };
        let line = refusal(program, &[command, more, steps].concat())?;
        assert!(line.contains(part), "{more:?}: {line}");
    }
    let export = ["export", "--checkpoint", checkpoint, "--data", data, "--out", checkpoint];
    let line = refusal("azimuth-train", &export)?;
    assert!(line.contains("is also an input"), "{line}");
    assert!(std::fs::read(data)? == before && std::fs::read(games)? == b"1. e4 *\n");
    Ok(())
}

#[test]
fn a_missing_folder_is_named_and_not_an_unfinished_file() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let missing = folder.path().join("none");
    let reason = format!("folder '{}' does not exist; create it first", missing.display());
    let games = text(&folder.path().join("games.pgn"));
    std::fs::write(&games, "1. e4 *\n")?;
    for (program, command, out) in [
        ("azimuth-train", &["train", "--data", GAMES, "--steps", "1"][..], "x.safetensors"),
        ("azimuth-train", &["data", GAMES], "x.azd"),
        ("azimuth-train", &["label", "--walks", "1", "--engine", "e", "--fens", "f"], "x.azd"),
        ("azimuth", &["report", &games], "x.html"),
    ] {
        let out = text(&missing.join(out));
        let line = refusal(program, &[command, &["--out", &out]].concat())?;
        assert_eq!(line, format!("{program}: cannot write '{out}': {reason}"));
    }
    Ok(())
}

#[test]
fn a_report_of_nothing_leaves_nothing() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let line = refusal("azimuth", &["report", &text(&folder.path().join("none.pgn"))])?;
    assert!(line.contains("none.pgn': "), "{line}");
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_journal_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| text(&folder.path().join(name));
    let (games, data) = (at("games.pgn"), at("games.azd"));
    std::fs::write(&games, "1. e4 *\n")?;
    let weights = at("run.safetensors");
    for (program, command, pipe) in [
        ("azimuth", &["report", &games][..], "games.html.journal"),
        ("azimuth-train", &["data", GAMES, "--out", &data], "games.azd.journal"),
        (
            "azimuth-train",
            &["train", "--data", GAMES, "--steps", "1", "--out", &weights],
            "run.safetensors.lock",
        ),
    ] {
        ensure!(Command::new("mkfifo").arg(at(pipe)).status()?.success(), "{pipe}");
        let line = refusal(program, command)?;
        assert!(line.contains(&format!("{pipe}': not a regular file")), "{line}");
    }
    Ok(())
}

/// The limit lets the smaller pages be written, and not the others.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_all_manual_pages_or_none() -> Result<()> {
    for program in ["azimuth", "azimuth-bench", "azimuth-train", "azimuth-rivals"] {
        let folder = tempfile::tempdir()?;
        let (path, out) = (binary(program)?, folder.path().display());
        let limited = format!("ulimit -f 5; '{}' man '{out}'", path.display());
        let output = Command::new("sh").args(["-c", &limited]).output()?;
        assert!(refused(output)?.contains("File too large"));
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 0, "{program}");
    }
    Ok(())
}

#[test]
fn a_checkpoint_is_not_exported_without_its_means() -> Result<()> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("x.black_mean.npy"))?;
    let (weights, out) = (root().join("weights/mini.safetensors"), folder.path().join("x.pth"));
    let command = ["export", "--format", "solis", "--weights", &text(&weights)];
    let line = refusal("azimuth-train", &[&command[..], &["--out", &text(&out)]].concat())?;
    assert!(line.contains("x.black_mean.npy': it is not a regular file"), "{line}");
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
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
    let folder = tempfile::tempdir()?;
    let out = text(&folder.path().join("run.safetensors"));
    let options = ["train", "--data", GAMES, "--out", &out, "--anchors", "8", "--sample", "100"];
    let mut first = Command::new(binary("azimuth-train")?)
        .args([&options[..], &["--steps", "1000000", "--checkpoint-every", "1"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let refused = wait_for(&folder.path().join("run.checkpoint"))
        .and_then(|()| refusal("azimuth-train", &[&options[..], &["--steps", "1"]].concat()));
    first.kill()?;
    first.wait()?;
    let line = refused?;
    assert!(line.contains("another process writes it"), "{line}");

    // A killed run leaves its locks and an unfinished checkpoint. The next run continues and
    // removes them.
    let unfinished = folder.path().join("run.checkpoint.Ab12Cd.partial");
    std::fs::write(&unfinished, "half")?;
    let more = ["--steps", "1000000", "--stop-after", "1"];
    trainer(&[&options[..], &more].concat())?;
    assert_eq!(names_in(folder.path())?, ["run.checkpoint", "run.jsonl", "run.toml"]);
    Ok(())
}

#[test]
fn locks_are_for_one_output_each() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let outs = ["a", "b"].map(|name| text(&folder.path().join(format!("{name}.safetensors"))));
    let runs = outs.each_ref().map(|out| {
        let arguments = [&["train", "--data", GAMES, "--out", out], &SHORT[..]].concat();
        let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
        std::thread::spawn(move || {
            trainer(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        })
    });
    for run in runs {
        run.join().ok().context("a thread")??;
    }
    assert!(outs.iter().all(|out| Path::new(out).exists()));
    Ok(())
}
