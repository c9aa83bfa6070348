//! The built `azimuth-bench` on its command line.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context, Result};
use azimuth_tests::{Folder, binary, printed, refused, root, run, stockfish, text};

const OPENINGS: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1
rnbqkb1r/pppppppp/5n2/8/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2
";

/// A match in a temporary folder.
struct Match {
    folder: Folder,
    concurrency: usize,
}

impl Match {
    fn new() -> Result<Self> {
        let folder = Folder::new()?;
        folder.write("book.epd", OPENINGS)?;
        Ok(Self { folder, concurrency: 2 })
    }

    fn games(&self) -> PathBuf {
        self.folder.at("games.pgn")
    }

    fn play(&self, arguments: &[&str]) -> Result<Output> {
        let usual = "elo --games 8 --book @book.epd --pgn @games.pgn --concurrency";
        let mut words = self.folder.words(&format!("{usual} {}", self.concurrency))?;
        words.extend(arguments.iter().map(|&argument| argument.to_owned()));
        run("azimuth-bench", &words)
    }
}

#[test]
fn an_interrupted_match_goes_on_to_the_same_games() -> Result<()> {
    let whole = Match::new()?;
    let players = ["--player", "depth=2", "--against", "depth=1 width=1 elo=1000"];
    let table = printed(whole.play(&players)?)?;
    assert!(table.contains("Azimuth w3 d2") && table.contains("8 games played"), "{table}");
    let text = fs::read_to_string(whole.games())?;
    assert_eq!(text.matches("[Event ").count(), 8);

    // Cut the file in the moves of a game, as after a kill.
    let game = text[..text.len() * 2 / 3].rfind("[Event ").context("a game")?;
    let cut = game + text[game..].find("\n\n").context("its moves")? + 20;
    fs::write(whole.games(), &text[..cut])?;
    let kept = text[..game].matches("[Event ").count();
    let table = printed(whole.play(&players)?)?;
    assert!(table.contains(&format!("{} games played", 8 - kept)), "kept {kept}: {table}");
    let moves = |text: &str| {
        let mut games: Vec<String> = text.split("[Event ").skip(1).map(without_times).collect();
        games.sort_unstable();
        games
    };
    // Players with a fixed depth repeat the same games.
    assert_eq!(moves(&fs::read_to_string(whole.games())?), moves(&text));

    let json = whole.folder.at("results.json").display().to_string();
    let again = printed(whole.play(&[&players[..], &["--json", json.as_str()]].concat())?)?;
    assert!(again.contains("0 games played"), "{again}");
    let results: serde_json::Value = serde_json::from_str(&fs::read_to_string(json)?)?;
    let counts = ["wins", "losses", "draws"].map(|key| results[0][key].as_u64());
    assert_eq!(counts.into_iter().flatten().sum::<u64>(), 8, "{results}");
    Ok(())
}

#[test]
fn a_match_tells_how_long_it_waits_for_a_transformer() -> Result<()> {
    let shared = Match { concurrency: 8, ..Match::new()? };
    let weights = root().join("weights/mini.safetensors");
    let player = |width| format!("weights={} depth=1 verify=none width={width}", weights.display());
    let (one, two) = (player(1), player(2));
    let draw = "moves=1,score=32000,from=1";
    let arguments = ["--player", &one, "--against", &two, "--draw", draw];
    let table = printed(shared.play(&arguments)?)?;
    assert!(table.contains("waiting for the encoder: "), "{table}");
    assert!(table.contains("8 games played"), "{table}");
    Ok(())
}

#[test]
fn outputs_of_a_match_have_different_names() -> Result<()> {
    let own = Match::new()?;
    let players = ["--player", "depth=1", "--against", "depth=1 width=1"];
    let output = ["--json", &text(&own.games())];
    let error = refused(own.play(&[&players[..], &output].concat())?)?;
    assert!(error.contains("is needed twice; choose another name"), "{error}");
    assert!(!own.games().exists());
    Ok(())
}

/// A game's tags and moves, without the tags that differ from run to run.
fn without_times(game: &str) -> String {
    let lines = game
        .lines()
        .filter(|line| !["[UTC", "[Date", "[GameDuration"].iter().any(|tag| line.starts_with(tag)));
    let text = lines.collect::<Vec<_>>().join(" ");
    let words = text.split(' ').filter(|word| !word.contains(":00:"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn another_engine_plays_and_python_chess_reads_the_games() -> Result<()> {
    let played = Match::new()?;
    let against = format!(
        "cmd='{}' movetime=5 margin=60000 option.UCI_LimitStrength=true option.UCI_Elo=1350 \
         option.Hash=1",
        stockfish()?.display()
    );
    let table = printed(played.play(&["--player", "depth=1", "--against", &against])?)?;
    assert!(table.contains("at 1350") && table.contains("known"), "{table}");
    let path = text(&played.games());
    let read = azimuth_tests::python("read_games.py", &[&path])?;
    assert_eq!(read.trim(), "8 games, every move legal, with a score and a time");
    assert!(printed(run("azimuth-bench", &["rate", &path])?)?.contains("Azimuth w3 d1"));
    Ok(())
}

#[test]
fn a_test_ends_once_it_is_decided() -> Result<()> {
    let played = Match::new()?;
    let players = ["--player", "depth=4", "--against", "depth=1 width=1 name=weak"];
    let sprt = ["--sprt", "elo0=0,elo1=300,alpha=0.2,beta=0.2,model=logistic"];
    let table = printed(played.play(&[players.as_slice(), &sprt].concat())?)?;
    assert!(table.contains("]: better, LLR"), "{table}");
    Ok(())
}

#[test]
fn what_is_wrong_is_said_in_one_line_and_the_games_stay() -> Result<()> {
    let played = Match::new()?;
    let usual = ["--player", "depth=1", "--against", "depth=2"];
    printed(played.play(&usual)?)?;
    let before = fs::read(played.games())?;
    let engine = binary("azimuth")?;
    let lacks = format!("cmd='{}' depth=1 option.Contempt=1", engine.display());
    // An engine that no longer reads: the next command to it is a write to a closed pipe.
    let deaf = "read uci; exec <&-; echo uciok; sleep 1";
    let deaf = format!("cmd=/bin/sh depth=1 args='-c \"{deaf}\"'");
    for (arguments, part) in [
        (["--player", "depth=1 hash=2", "--against", "depth=2"], "use another --pgn or name="),
        (["--player", "depth=1 elo=1900", "--against", "depth=2"], "was played with no elo= for"),
        (["--player", "depth=1", "--against", "depth=1"], "two players are called"),
        (["--player", "depth=1", "--against", "cmd=/no/engine depth=1"], "cannot start"),
        (["--player", "depth=1", "--against", "cmd=/bin/true depth=1"], "engine 'true': it"),
        (["--player", "depth=1", "--against", &deaf], "engine 'sh': it has gone away"),
        (["--player", "depth=1", "--against", &lacks], "it has no option 'Contempt'"),
        (["--player", "weights=/no/file", "--against", "depth=2"], "weights file '/no/file'"),
    ] {
        let error = refused(played.play(&arguments)?)?;
        assert!(error.contains(part), "{error}");
        assert_eq!(fs::read(played.games())?, before);
    }
    Ok(())
}

#[test]
fn the_readme_shows_the_results() -> Result<()> {
    let mut command = Command::new(binary("azimuth-bench")?);
    printed(command.args(["report", "--check"]).current_dir(root()).output()?).map(drop)
}

#[test]
fn a_judge_says_what_moves_lose() -> Result<()> {
    let own = Match::new()?;
    let [book, json] = ["book.epd", "out.json"].map(|name| text(&own.folder.at(name)));
    let engine = stockfish()?;
    let engine = format!("cmd='{}'", engine.display());
    let judge = format!("{engine} nodes=2000");
    let judged = |arguments: &[&str]| -> Result<serde_json::Value> {
        let usual = ["accuracy", "--concurrency", "2", "--count", "4"];
        let files = ["--judge", &judge, "--json", &json];
        let table = printed(run("azimuth-bench", &[&usual, &files[..], arguments].concat())?)?;
        assert!(table.starts_with("| player | phase |"), "{table}");
        Ok(serde_json::from_str(&fs::read_to_string(&json)?)?)
    };
    // The player `itself` has the judge's limit, so it plays the judge's moves. The player `weak`
    // searches one ply, so it sometimes errs.
    let (itself, weak) = (format!("{engine} nodes=2000 name=itself"), "depth=1 width=1 name=weak");
    let found = judged(&["--positions", &book, "--player", &itself, "--player", weak])?;
    let [itself, weak] = [0, 1].map(|place| &found["players"][place]);
    assert_eq!((&itself["player"], &weak["player"]), (&"itself".into(), &"weak".into()));
    assert_eq!((&itself["all"]["moves"], &itself["all"]["loss"]), (&4.into(), &0.0.into()));
    assert!(weak["all"]["loss"].as_f64() > Some(0.0), "{weak}");
    assert_eq!(weak["phases"][0][1]["moves"], 4);
    let timed = ["--positions", &book, "--player", "tc=10+0.1"];
    let error = judged(&timed).expect_err("positions have no clock").to_string();
    assert!(error.contains("separate positions have no clock"), "{error}");

    printed(own.play(&["--player", "depth=2 name=a", "--against", "depth=1 name=b"])?)?;
    let found = judged(&["--games", &text(&own.games())])?;
    let moves: Vec<_> = [0, 1].map(|place| found["players"][place]["all"]["moves"].clone()).into();
    assert_eq!(moves, [4, 4]);
    Ok(())
}

#[test]
fn speed_and_suites_are_written_as_json() -> Result<()> {
    let folder = Folder::new()?;
    // A mate in one, and a move that does not mate.
    let suite = "6k1/8/6K1/8/8/8/8/R7 w - - bm Ra8#;\n6k1/8/6K1/8/8/8/8/R7 w - - bm Ra7;\n";
    folder.write("two.epd", suite)?;
    let measured = |line: &str| -> Result<serde_json::Value> {
        printed(folder.run("azimuth-bench", &format!("{line} --json @out.json"))?)?;
        Ok(serde_json::from_str(&folder.read("out.json")?)?)
    };
    let suites = measured("suite @two.epd --depth 2")?;
    assert_eq!(suites[0]["depths"][1]["solved"], 1);
    let speed = measured("speed --encoder beam --batch 8 --depth 2 --rounds 1")?;
    let found = speed["encoders"][0]["positions_per_second"].as_f64().context("a number")?;
    assert!(found > 0.0 && speed["machine"]["limit"].as_f64().context("a number")? > 0.0);
    assert_eq!(speed["searches"][0]["depths"].as_array().context("a list")?.len(), 2);
    Ok(())
}
