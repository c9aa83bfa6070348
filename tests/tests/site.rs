//! The folder that `scripts/build-site` writes, in a headless Chromium. The build needs Rust's target
//! `wasm32-unknown-unknown`, so these tests run in the nightly workflow.

use anyhow::Result;
use azimuth_tests::{python, root, text};

/// Runs a scenario of the page, with the folder `target/site`.
fn scenario(name: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let site = root().join("target/site");
    let printed = python("site_page.py", &[&text(&site), name, &text(folder.path())])?;
    print!("{printed}");
    assert!(printed.ends_with(&format!("{name}: as it should be\n")), "{printed}");
    Ok(())
}

macro_rules! scenarios {
    ($($test:ident => $name:literal;)*) => {$(
        #[test]
        #[ignore = "needs scripts/build-site"]
        fn $test() -> Result<()> {
            scenario($name)
        }
    )*};
}

scenarios! {
    the_second_visit_needs_no_host => "first";
    a_new_task_stops_the_one_before => "stops";
    a_new_version_replaces_the_old_one => "update";
    files_of_another_version_are_refused => "faults";
    a_game_is_played_to_mate => "play";
    a_position_is_analysed => "analyse";
    variations_are_shown => "variations";
    a_move_is_explained => "why";
    the_space_is_drawn => "space";
    a_game_is_judged => "report";
    every_tab_fits_every_screen => "everywhere";
}
