//! `azimuth report`: the page in a headless Chromium, and the errors about games that cannot be
//! read.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use azimuth_tests::{binary, python, text};

/// A game whose tags and comments try to run scripts on the page, a game that starts from a
/// position and has clocks and evaluations, and a game of Chess960.
const GAMES: &str = r#"[Event "</script><script>window.pwned = 1</script>"]
[White "<img src=x onerror=window.pwned=2>"]
[Black "\"><svg onload=window.pwned=3>"]
[Result "0-1"]

1. f3 {<b onclick=alert(1)>bad</b> </script><script>window.pwned = 4</script>} e5 2. g4 Qh4# 0-1

[White "Clock"]
[Black "Evaluation"]
[FEN "4k3/8/4K3/4P3/8/8/8/7R w - - 0 60"]
[Result "1-0"]

60. Rh8# {[%eval #1] [%clk 0:00:07] a comment} 1-0

[White "Broken"]

1. e4 e5 2. Ke3 *

[Variant "Chess960"]
[FEN "1k6/8/8/8/8/8/8/R4KR1 w AG - 0 1"]

1. O-O Kb7 *

[Variant "Atomic"]

1. e4 *
"#;

fn report(pgn: &Path, out: &Path) -> Result<Output> {
    let arguments = ["report", &text(pgn), "--out", &text(out), "--engine-time", "5ms"];
    Ok(Command::new(binary("azimuth")?).args(arguments).output()?)
}

fn games(folder: &Path, games: &str) -> Result<(PathBuf, PathBuf)> {
    let (pgn, page) = (folder.join("games.pgn"), folder.join("games.html"));
    std::fs::write(&pgn, games)?;
    Ok((pgn, page))
}

#[test]
fn the_page_works_by_keyboard_and_runs_nobodys_script() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (pgn, page) = games(folder.path(), GAMES)?;
    let output = report(&pgn, &page)?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("azimuth: game 3: half-move 3: move 'Ke3'"), "{said}");
    assert!(lines[1].starts_with("azimuth: game 5: the variant 'atomic'"), "{said}");
    let html = std::fs::read_to_string(&page)?;
    for kept in ["0:00:07", "\"eval\":\"#1\"", "a comment", "O-O"] {
        assert!(html.contains(kept), "{kept}");
    }
    let printed = python("report_page.py", &[&text(&page), &text(folder.path())])?;
    assert!(printed.ends_with("the page is as it should be\n"), "{printed}");
    Ok(())
}

#[test]
fn an_explanation_is_a_page_too() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = text(&folder.path().join("why.html"));
    let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    // The beam verifies moves; the selective search does not.
    for (limit, verified) in [("--nodes=5000", "0"), ("--depth=4", "48")] {
        let arguments = ["explain", fen, limit, "--tree", "3", "--html", &page];
        let output = Command::new(binary("azimuth")?).args(arguments).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = python("explain_page.py", &[&page, &text(folder.path()), verified])?;
        assert!(printed.ends_with("the explanation is as it should be\n"), "{printed}");
    }
    Ok(())
}

#[test]
fn moves_are_judged_by_what_they_give_away() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (pgn, page) = games(folder.path(), "1. f3 e5 2. g4 Qh4# 0-1\n")?;
    ensure!(report(&pgn, &page)?.status.success());
    let html = std::fs::read_to_string(&page)?;
    let (_, data) = html.split_once("id=\"data\">").context("data")?;
    let (data, _) = data.split_once("</script>").context("its end")?;
    let data: serde_json::Value = serde_json::from_str(data)?;
    let stops = data["games"][0]["stops"].as_array().context("stops")?;
    assert_eq!(stops.len(), 5);
    assert_eq!(stops[3]["move"]["judgement"], "blunder");
    assert_eq!((&stops[3]["p"], &stops[3]["score"]), (&0.0.into(), &"#-1".into()));
    assert_eq!(stops[3]["best"]["line"], "Qh4#");
    assert_eq!((&stops[4]["move"]["loss"], &stops[4]["best"]), (&0.0.into(), &().into()));
    assert_eq!(stops[4]["move"]["of"], 30);
    Ok(())
}

#[test]
fn a_file_without_games_is_refused_in_one_line_and_the_page_stays() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (text, expected) in [
        ("", "there is no game in it"),
        ("1. e4 e5 2. Ke3 *\n", "no game in it can be read"),
        ("\u{1}\u{2}PK", "no game in it can be read"),
        ("a text\n\n[of] several\n\nparagraphs 1. e4 Ke3\n", "no game in it can be read; game 1: "),
    ] {
        let (pgn, page) = games(folder.path(), text)?;
        std::fs::write(&page, "before")?;
        let output = report(&pgn, &page)?;
        let said = String::from_utf8(output.stderr)?;
        assert!(!output.status.success() && said.contains(expected), "{text:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(std::fs::read_to_string(&page)?, "before");
    }
    Ok(())
}
