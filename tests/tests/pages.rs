//! `azimuth report`: the page in a headless Chromium, and the errors about games that cannot be
//! read.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use azimuth_tests::{
    Folder, KIWIPETE, binary, notices, printed, python, refused, run, run_with_input, text,
    wait_until,
};
use serde_json::{Value, json};

/// A game whose tags and comments try to run scripts on the page, a game that starts from a
/// position and has clocks and evaluations, and a game of Chess960.
const GAMES: &str = r#"[Event "</script><script>window.pwned = 1</script>"]
[White "<img src=x onerror=window.pwned=2>"]
[Black "\"><svg onload=window.pwned=3>"]
[Result "0-1"]

1. f3 {<b onclick=alert(1)>bad</b> </script><script>window.pwned = 4</script>} e5
(1... d5 {a side line} 2. g4 $1 (2. Ke3 {illegal}) Bxg4) 2. g4 Qh4# 0-1

[White "Clock"]
[Black "Evaluation"]
[FEN "4k3/8/4K3/4P3/8/8/8/7R w - - 0 60"]
[Result "1-0"]

60. Rh8# {[%eval #1] [%clk 0:00:07] a comment} 1-0

[White "Broken"]

1. Ke3 *

[Variant "Chess960"]
[FEN "1k6/8/8/8/8/8/8/R4KR1 w AG - 0 1"]

1. O-O Kb7 *

[Variant "Atomic"]

1. e4 *
"#;

/// Writes a report on `games` to `@games.html`. With a limit of nodes, the judgements are the same on
/// a busy machine.
fn report(folder: &Folder, games: &str) -> Result<Output> {
    folder.write("games.pgn", games)?;
    folder.run("azimuth", "report @games.pgn --out @games.html --nodes 3000")
}

#[test]
fn the_page_works_by_keyboard_and_runs_nobodys_script() -> Result<()> {
    let folder = Folder::new()?;
    let said = notices(report(&folder, GAMES)?)?;
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("azimuth: game 3: half-move 1: move 'Ke3'"), "{said}");
    assert!(lines[1].starts_with("azimuth: game 5: the variant 'atomic'"), "{said}");
    let html = folder.read("games.html")?;
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    let (_, policy) = html.split_once("Content-Security-Policy\" content=\"").context("policy")?;
    let (policy, _) = policy.split_once('"').context("its end")?;
    let policy = policy.replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(policy.contains("script-src 'sha256-") && !policy.contains("http"), "{policy}");
    let page = text(&folder.at("games.html"));
    let said = python("report_page.py", &[&page, &text(folder.path())])?;
    assert!(said.ends_with("the page is as it should be\n"), "{said}");
    Ok(())
}

#[test]
fn an_explanation_is_a_page_too() -> Result<()> {
    let folder = Folder::new()?;
    let page = text(&folder.at("why.html"));
    // The beam verifies moves; the selective search does not.
    for (limit, verified) in [("--nodes=5000", "0"), ("--depth=4", "48")] {
        let arguments = ["explain", KIWIPETE, limit, "--tree", "3", "--html", &page];
        printed(run("azimuth", &arguments)?)?;
        let said = python("explain_page.py", &[&page, &text(folder.path()), verified])?;
        assert!(said.ends_with("the explanation is as it should be\n"), "{said}");
    }
    Ok(())
}

/// The positions of a game, as the page of its report has them.
fn judged_positions(game: &str) -> Result<Vec<Value>> {
    let folder = Folder::new()?;
    printed(report(&folder, game)?)?;
    let html = folder.read("games.html")?;
    let (_, data) = html.split_once("id=\"data\">").context("data")?;
    let (data, _) = data.split_once("</script>").context("its end")?;
    let data: Value = serde_json::from_str(data)?;
    Ok(data["games"][0]["judged"].as_array().context("positions")?.clone())
}

#[test]
fn moves_are_judged_by_what_they_give_away() -> Result<()> {
    let judged = judged_positions("1. f3 e5 2. g4 Qh4# 0-1\n")?;
    assert_eq!(judged.len(), 5);
    assert_eq!(judged[3]["judgement"], "blunder");
    assert_eq!((&judged[3]["score"]["mate"], &judged[3]["pv"]), (&1.into(), &json!(["d8h4"])));
    assert_eq!((&judged[4]["loss"], &judged[4]["pv"]), (&0.0.into(), &json!([])));
    assert_eq!(judged[4]["rank"], json!([1, 30]));
    assert!(judged[3].get("compared").is_none());
    Ok(())
}

#[test]
fn a_repetition_is_a_draw_and_a_move_after_it_no_mistake() -> Result<()> {
    let judged = judged_positions("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. g4 *\n")?;
    assert_eq!((&judged[8]["score"]["cp"], &judged[8]["pv"]), (&0.into(), &json!([])));
    assert_ne!(judged[7]["pv"], json!([]));
    assert_eq!(judged[9]["loss"], 0.0);
    Ok(())
}

/// The command for a report with few nodes. It writes the same page each time.
fn quick_report(folder: &Folder, arguments: &str) -> Result<Command> {
    let mut command = Command::new(binary("azimuth")?);
    command.args(folder.words(&format!("report --nodes 1 --hash 1 {arguments}"))?);
    Ok(command)
}

#[test]
fn games_come_from_compressed_files_folders_and_pipes() -> Result<()> {
    let folder = Folder::new()?;
    let games = ["1. e4 e5 *\n\n", "1. d4 *\n\n1. Ke3 *\n\n1. c4 *\n\n"];
    std::fs::create_dir(folder.at("season"))?;
    folder.write("season/1.pgn", games[0])?;
    folder.write("season/2.pgn.zst", zstd::encode_all(games[1].as_bytes(), 3)?)?;
    folder.write("season/notes.txt", "no game")?;
    folder.write("all.pgn", games.concat())?;

    let said = printed(quick_report(&folder, "@all.pgn")?.output()?)?;
    assert_eq!(said, format!("3 of 4 games to '{}'\n", text(&folder.at("all.html"))));
    let page = folder.read("all.html")?;

    let second = text(&folder.at("season").join("2.pgn.zst"));
    let fault = format!("azimuth: '{second}': game 2: half-move 1: ");
    let errors = notices(quick_report(&folder, "@season")?.output()?)?;
    assert!(errors.starts_with(&fault) && errors.lines().count() == 1, "{errors}");
    assert_eq!(folder.read("season.html")?, page);

    assert!(quick_report(&folder, "@season/2.pgn.zst")?.status()?.success());
    assert!(folder.at("season/2.html").exists());

    let mut piped = quick_report(&folder, "- -o @piped.html")?;
    printed(run_with_input(&mut piped, &games.concat())?)?;
    assert_eq!(folder.read("piped.html")?, page);
    assert!(!folder.at("piped.html.journal").exists());
    Ok(())
}

#[test]
fn input_without_games_or_a_name_gets_one_line_and_leaves_nothing() -> Result<()> {
    let folder = Folder::new()?;
    for (arguments, input, expected) in [
        ("- -o @page.html", "one\n\ntwo 1. Ke3\n\nthree\n", "no game in it can be read"),
        ("- -o @page.html", "", "there is no game in it"),
        ("-", "1. e4 *\n", "choose one with --out"),
        ("@none.pgn", "", "none.pgn': "),
    ] {
        let error = refused(run_with_input(&mut quick_report(&folder, arguments)?, input)?)?;
        assert!(error.contains(expected), "{error}");
    }
    assert!(folder.names()?.is_empty());
    Ok(())
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("games.pgn", "1. e4 *\n")?;
    let mut command = quick_report(&folder, "@games.pgn")?;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop(child.stdout.take());
    let output = child.wait_with_output()?;
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(folder.at("games.html").exists());
    Ok(())
}

#[test]
fn a_report_that_was_killed_goes_on() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("games.pgn", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n\n".repeat(100))?;
    assert!(quick_report(&folder, "@games.pgn -o @whole.html")?.status()?.success());

    let journal = folder.at("games.html.journal");
    let mut child = quick_report(&folder, "@games.pgn")?.spawn()?;
    let has_games = || std::fs::metadata(&journal).is_ok_and(|file| file.len() >= 7_000);
    wait_until("no journal", has_games)?;
    child.kill()?;
    child.wait()?;
    ensure!(!folder.at("games.html").exists(), "it was not killed in time");
    // As if the process had been killed in the middle of a line.
    OpenOptions::new().append(true).open(&journal)?.write_all(b"{\"digest\":\"")?;
    let refused = refused(quick_report(&folder, "@games.pgn --threads 2")?.output()?)?;
    assert!(refused.contains("remove it to start anew"), "{refused}");

    let said = notices(quick_report(&folder, "@games.pgn")?.output()?)?;
    assert!(said.contains("games are analysed already; going on with game "), "{said}");
    assert_eq!(folder.read("games.html")?, folder.read("whole.html")?);
    assert!(!journal.exists());
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_number_of_games() -> Result<()> {
    let folder = Folder::new()?;
    let mut most = Vec::new();
    for count in [200, 1_000] {
        folder.write("games.pgn", "1. e4 e5 2. Nf3 Nc6 *\n\n".repeat(count))?;
        let mut child = quick_report(&folder, "@games.pgn")?.spawn()?;
        let mut sizes: Vec<u64> = Vec::new();
        while child.try_wait()?.is_none() {
            // A process that has just ended has no memory.
            let memory = azimuth_tests::memory_and_handles(child.id()).map(|(memory, _)| memory);
            sizes.extend(memory.ok());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // Memory peaks at the start, while the weights are loaded, so only the last quarter counts.
        most.push(sizes[sizes.len() * 3 / 4..].iter().max().copied().context("no sizes")?);
    }
    // Without a journal the second report had 4 MB more.
    assert!(most[1] < most[0] + 1_500, "kB: {most:?}");
    Ok(())
}

#[test]
fn the_moves_before_a_fault_are_analysed() -> Result<()> {
    let folder = Folder::new()?;
    let said = notices(report(&folder, "1. e4 e5 2. a2-a3 xyz 3. Nf3 *\n")?)?;
    let fault = "game 1: half-move 4: 'xyz' is no move; only the moves before it are analysed";
    assert!(said.contains(fault), "{said}");
    let page = folder.read("games.html")?;
    assert!(page.contains("\"parent\":2,\"uci\":\"a2a3\"}]"), "a3 is not the last move");
    Ok(())
}

#[test]
fn a_file_without_games_is_refused_in_one_line_and_the_page_stays() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("games.html", "before")?;
    for (text, expected) in [
        ("", "there is no game in it"),
        ("1. Ke3 *\n", "no game in it can be read"),
        ("\u{1}\u{2}PK", "no game in it can be read"),
        ("a text\n\n[of] several\n\nparagraphs 1. e4 Ke3\n", "no game in it can be read; game 1: "),
    ] {
        let error = refused(report(&folder, text)?)?;
        assert!(error.contains(expected), "{text:?}: {error}");
        assert_eq!(folder.read("games.html")?, "before");
    }
    Ok(())
}
