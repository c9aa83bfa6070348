//! The engine with python-chess, on which lichess-bot is built.

use anyhow::Result;
use azimuth_tests::{binary, python, root};

#[test]
fn python_chess_drives_everything_that_it_knows() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let paths = [
        binary("azimuth")?,
        root().join("weights/default.safetensors"),
        root().join("syzygy"),
        folder.path().join("azimuth.log"),
    ];
    let arguments = paths.map(|path| path.to_string_lossy().into_owned());
    let printed = python("client.py", &arguments.each_ref().map(String::as_str))?;
    assert!(printed.ends_with("done\n"), "{printed}");
    Ok(())
}

#[test]
fn the_lichess_bot_configuration_of_the_documents_plays() -> Result<()> {
    let paths = [binary("azimuth")?, root().join("docs/uci.md")];
    let arguments = paths.map(|path| path.to_string_lossy().into_owned());
    let printed = python("lichess_bot.py", &arguments.each_ref().map(String::as_str))?;
    assert_eq!(printed, "done\n");
    Ok(())
}
