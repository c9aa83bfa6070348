//! The script of the page of `azimuth serve`: its types, its unit tests, and whether the committed
//! bundle is what its sources give.

use std::process::Command;

use anyhow::{Result, ensure};
use azimuth_tests::root;

#[test]
fn the_bundle_is_what_its_sources_give() -> Result<()> {
    let output = Command::new(root().join("scripts/check-web")).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
