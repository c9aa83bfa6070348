//! The engine with python-chess, on which lichess-bot is built.

use anyhow::Result;
use azimuth_tests::{binary, python, root, stockfish, text};

#[test]
fn python_chess_drives_everything_that_it_knows() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let paths = [
        binary("azimuth")?,
        root().join("weights/beam.safetensors"),
        root().join("syzygy"),
        folder.path().join("azimuth.log"),
    ];
    let arguments = paths.map(|path| text(&path));
    let printed = python("client.py", &arguments.each_ref().map(String::as_str))?;
    assert!(printed.ends_with("done\n"), "{printed}");
    Ok(())
}

#[test]
fn a_full_game_against_stockfish_ends_by_the_rules() -> Result<()> {
    let printed = python("game.py", &[&text(&binary("azimuth")?), &text(&stockfish()?)])?;
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.starts_with("2 games finished"), "{printed}");
    Ok(())
}

/// With the folder of lichess-bot in `AZIMUTH_LICHESS_BOT`, lichess-bot plays six games.
#[test]
fn the_lichess_bot_configuration_of_the_documents_plays() -> Result<()> {
    let config = root().join("docs/examples/lichess-bot.yml");
    let mut arguments = vec![text(&binary("azimuth")?), text(&config)];
    arguments.extend(std::env::var("AZIMUTH_LICHESS_BOT"));
    let arguments = arguments.iter().map(String::as_str).collect::<Vec<_>>();
    let printed = python("lichess_bot.py", &arguments)?;
    assert!(printed.ends_with("done\n"), "{printed}");
    Ok(())
}
