//! Training streams: a killed stream continues to the same weights, rounds are deleted after
//! training on them, and branches do not change the stream.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_network::weights::Weights;
use azimuth_tests::{GAMES, binary, stockfish, text, trainer};
use serde_json::Value;

/// A small encoder, and steps of a twelfth of a round.
const RECIPE: [&str; 8] =
    ["--accumulator", "128", "--anchors", "128", "--warmup", "5", "--learning-rate", "0.001"];

/// A stream's folder, and its labelling options.
struct Stream {
    folder: PathBuf,
    labels: Vec<String>,
}

impl Stream {
    /// A folder whose held-out positions come from games, so that none need labels.
    fn new(parent: &Path, name: &str) -> Result<Self> {
        let (folder, fens) = (parent.join(name), parent.join("fens.txt"));
        fs::create_dir_all(folder.join("held-out"))?;
        trainer(&["data", GAMES, "--out", &text(&folder.join("held-out/games.azd"))])?;
        fs::write(
            &fens,
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n\
             r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 b - - 0 9\n",
        )?;
        let (engine, fens) = (text(&stockfish()?), text(&fens));
        let labels = ["--engine", &engine, "--depth", "1", "--fens", &fens, "--round", "2000"];
        let labels = labels.into_iter().map(str::to_owned).collect();
        Ok(Self { folder, labels })
    }

    fn command(&self, name: &str, more: &[&str]) -> Result<Command> {
        let mut command = Command::new(binary("azimuth-train")?);
        command.arg(name).arg("--folder").arg(&self.folder).args(&self.labels);
        command.args(["--log-every", "1"]).args(more);
        Ok(command)
    }

    fn start(&self, name: &str, more: &[&str]) -> Result<Child> {
        let mut command = self.command(name, more)?;
        Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    /// Runs a command to its end; fails with its text on standard error.
    fn run(&self, name: &str, more: &[&str]) -> Result<()> {
        let output = self.command(name, more)?.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Trains for this number of steps.
    fn learn(&self, steps: u64) -> Result<()> {
        let steps = steps.to_string();
        self.run("stream", &[&RECIPE[..], &["--stop-after", &steps]].concat())
    }

    fn branch(&self, steps: &str) -> Result<Vec<u8>> {
        let out = self.folder.with_extension("safetensors");
        self.run("branch", &["--steps", steps, "--out", &text(&out)])?;
        Ok(fs::read(out)?)
    }

    /// The lines of the log.
    fn log(&self) -> Result<Vec<Value>> {
        let text = fs::read_to_string(self.folder.join("log.jsonl"))?;
        text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    fn checkpoint(&self) -> PathBuf {
        self.folder.join("stream.checkpoint")
    }
}

/// Number of steps in a checkpoint's header.
fn step_of(checkpoint: &Path) -> Result<u64> {
    let bytes = fs::read(checkpoint)?;
    let length = bytes.first_chunk().map_or(0, |&length| u64::from_le_bytes(length) as usize);
    let header: Value = serde_json::from_slice(&bytes[8..8 + length])?;
    Ok(header["__metadata__"]["step"].as_str().context("no step")?.parse()?)
}

/// Kills a process as soon as a file has this number of lines.
fn kill_at(mut process: Child, file: &Path, lines: usize) -> Result<()> {
    let began = Instant::now();
    while fs::read_to_string(file).map_or(0, |text| text.lines().count()) < lines {
        ensure!(process.try_wait()?.is_none(), "it ended by itself");
        ensure!(began.elapsed() < Duration::from_secs(120), "'{}' stays short", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
    process.kill()?;
    process.wait()?;
    Ok(())
}

#[test]
fn a_killed_stream_goes_on_to_the_same_weights_and_a_branch_leaves_it_alone() -> Result<()> {
    let parent = tempfile::tempdir()?;
    let straight = Stream::new(parent.path(), "straight")?;
    straight.learn(60)?;

    // Its rounds are made by several threads.
    let mut killed = Stream::new(parent.path(), "killed")?;
    killed.labels.extend(["--labellers", "3"].map(str::to_owned));
    for lines in [5, 20, 40] {
        let often = [&RECIPE[..], &["--checkpoint-every", "4"]].concat();
        kill_at(killed.start("stream", &often)?, &killed.folder.join("log.jsonl"), lines)?;
    }
    let done = step_of(&killed.checkpoint())?;
    assert!((8..60).contains(&done), "{done} steps");
    killed.learn(60 - done)?;

    // Every step uses new positions, rounds are consecutive, and rounds that are used up are
    // deleted.
    let log = straight.log()?;
    let numbers = |key: &str| -> Vec<u64> {
        log.iter().map(|line| line[key].as_u64().unwrap_or(u64::MAX)).collect()
    };
    assert_eq!(numbers("positions"), (1..=60).map(|step| step * 128).collect::<Vec<_>>());
    let rounds = numbers("round");
    assert!(rounds[0] == 1 && rounds.windows(2).all(|two| two[1] - two[0] <= 1), "{rounds:?}");
    let last = rounds[59];
    assert!(last > 2, "{rounds:?}");
    for stream in [&straight, &killed] {
        for entry in fs::read_dir(stream.folder.join("shards"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let round: u64 = name.trim_end_matches(".unfinished").parse()?;
            assert!(round >= last, "round {name} is still there in round {last}");
        }
    }

    let before = fs::read(straight.checkpoint())?;
    let weights = straight.branch("20")?;
    assert!(before == fs::read(straight.checkpoint())?, "the branch moved its stream");
    assert!(!straight.folder.with_extension("branch").exists());
    // A killed branch continues, too.
    let out = killed.folder.with_extension("safetensors");
    let branch = ["--steps", "20", "--out", &text(&out), "--checkpoint-every", "4"];
    let log = killed.folder.with_extension("branch").join("log.jsonl");
    kill_at(killed.start("branch", &branch)?, &log, 6)?;
    let error = killed.branch("30").err().context("another length")?.to_string();
    assert!(error.contains("a branch of 20 steps"), "{error}");
    assert!(killed.branch("20")? == weights);

    let weights = Weights::read(&out)?;
    let schedule = &weights.metadata.training["config"]["schedule"];
    assert_eq!(schedule["shape"]["decay"]["first"], 60);
    assert_eq!((&weights.metadata.training["steps"], &schedule["steps"]), (&80.into(), &80.into()));
    // The stream continues after its branch.
    straight.learn(2)?;
    assert_eq!(step_of(&straight.checkpoint())?, 62);
    Ok(())
}

#[test]
fn each_pass_uses_a_whole_round() -> Result<()> {
    let parent = tempfile::tempdir()?;
    let steps_of_a_round = |name: &str, passes: &str| -> Result<usize> {
        let mut stream = Stream::new(parent.path(), name)?;
        stream.labels.extend(["--passes", passes].map(str::to_owned));
        stream.learn(50)?;
        let log = stream.log()?;
        let (first, others) =
            log.split_at(log.iter().take_while(|line| line["round"] == 1).count());
        ensure!(!others.is_empty(), "round 1 is not used up");
        Ok(first.len())
    };
    assert_eq!(steps_of_a_round("twice", "2")?, 2 * steps_of_a_round("once", "1")?);
    Ok(())
}

#[test]
fn datasets_of_mates_define_the_papers_axis_only() -> Result<()> {
    let parent = tempfile::tempdir()?;
    let mates = text(&parent.path().join("mates.azd"));
    trainer(&["data", GAMES, "--filter", "p=1..1", "--out", &mates])?;
    let axis = |name: &str, more: &[&str]| -> Result<_> {
        let stream = Stream::new(parent.path(), name)?;
        stream.run("stream", &[&RECIPE[..], &["--stop-after", "2"], more].concat())?;
        stream.branch("2")?;
        Ok(Weights::read(&stream.folder.with_extension("safetensors"))?.axis)
    };
    let (without, with) = (axis("without", &[])?, axis("with", &["--mates", &mates])?);
    assert_eq!(with.fitted, without.fitted);
    assert_ne!(with.white_mean, without.white_mean);
    Ok(())
}

#[test]
fn a_stream_for_the_beam_labels_no_leaves() -> Result<()> {
    let parent = tempfile::tempdir()?;
    let mut stream = Stream::new(parent.path(), "run")?;
    stream.labels.extend(["--planner", "beam"].map(str::to_owned));
    stream.learn(2)?;
    let shards = fs::read_dir(stream.folder.join("shards/1"))?.collect::<Result<Vec<_>, _>>()?;
    let mut walks = Vec::new();
    for shard in shards {
        let description = trainer(&["data", &text(&shard.path()), "--info"])?;
        walks.extend(
            ["beam", "leaves", "endings"]
                .into_iter()
                .filter(|walk| description.contains(&format!("\"walk\":\"{walk}\""))),
        );
    }
    walks.sort_unstable();
    assert_eq!(walks, ["beam", "beam", "endings"]);
    Ok(())
}

#[test]
fn a_stream_says_in_a_line_what_is_wrong() -> Result<()> {
    let parent = tempfile::tempdir()?;
    let stream = Stream::new(parent.path(), "run")?;
    let error = |name: &str, more: &[&str]| -> Result<String> {
        let error = stream.run(name, more).err().context("it went on")?.to_string();
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        Ok(error)
    };
    let out = text(&parent.path().join("out.safetensors"));
    let branch = ["--steps", "5", "--out", &out];
    let none = error("branch", &branch)?;
    assert!(none.contains("no stream has written a checkpoint"), "{none}");
    assert!(!parent.path().join("out.branch").exists());
    assert!(error("stream", &["--encoder", "mini"])?.contains("--encoder"));
    let small = error("stream", &["--anchors", "100000"])?;
    assert!(small.contains("shards/1'") && small.contains("--round"), "{small}");

    stream.learn(1)?;
    let other = error("stream", &["--accumulator", "128"])?;
    assert!(other.contains("its run has other options: --anchors 128 (now 1024)"), "{other}");
    let mut process = stream.start("stream", &RECIPE)?;
    let began = Instant::now();
    while stream.log()?.len() < 2 && began.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let two = error("stream", &RECIPE);
    process.kill()?;
    process.wait()?;
    assert!(two?.contains("another process works in it"));
    fs::remove_dir_all(stream.folder.join("held-out"))?;
    let missing = error("branch", &branch)?;
    assert!(missing.contains("held-out'"), "{missing}");
    Ok(())
}
