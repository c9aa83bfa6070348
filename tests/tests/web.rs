//! The script of the page of `azimuth serve`: its types, its unit tests, and whether the committed
//! bundle matches its sources.

// `scripts/check-web` needs a POSIX shell.
#[cfg(unix)]
#[test]
fn the_bundle_is_what_its_sources_give() -> anyhow::Result<()> {
    let script = azimuth_tests::root().join("scripts/check-web");
    azimuth_tests::printed(std::process::Command::new(script).output()?).map(drop)
}
