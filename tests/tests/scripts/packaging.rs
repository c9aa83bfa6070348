//! Manifests of package managers: one version everywhere, and the names of the release's archives.

// `packaging/render` starts as a POSIX script.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use azimuth_tests::{names_in, printed, refused, root};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn render(tag: &str, folder: &Path) -> Result<Output> {
    let mut command = Command::new(root().join("packaging/render"));
    Ok(command.args(["owner/name", tag]).arg(folder).output()?)
}

/// The names of the archives that the release workflow makes.
fn archives() -> Result<Vec<String>> {
    let workflow = fs::read_to_string(root().join(".github/workflows/release.yml"))?;
    let targets = workflow.lines().filter_map(|line| line.trim().strip_prefix("- target: "));
    let platforms = targets.map(|target| target.split('.').next().unwrap_or(target));
    let archives = platforms.map(|platform| {
        let suffix = if platform.contains("windows") { "zip" } else { "tar.gz" };
        format!("azimuth-{VERSION}-{platform}.{suffix}")
    });
    Ok(archives.collect())
}

#[test]
fn manifests_have_the_version_and_the_sums_of_the_archives() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let archives = archives()?;
    let sums = (0..archives.len()).map(|number| format!("{number:064x}")).collect::<Vec<_>>();
    let lines = sums.iter().zip(&archives).map(|(sum, name)| format!("{sum}  {name}\n"));
    fs::write(folder.path().join("SHA256SUMS"), lines.collect::<String>())?;
    printed(render(&format!("v{VERSION}"), folder.path())?)?;
    let mut all = String::new();
    for name in names_in(&root().join("packaging/manifests"))? {
        let text = fs::read_to_string(folder.path().join(&name))?;
        ensure!(text.contains(VERSION) && !text.contains('@'), "{name}: {text}");
        all += &text;
    }
    for (sum, archive) in sums.iter().zip(&archives) {
        assert!(all.contains(sum), "no manifest has {archive}");
    }
    Ok(())
}

#[test]
fn manifests_are_refused_for_another_version_or_without_an_archive() -> Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("SHA256SUMS"), "")?;
    let error = refused(render("v999.0.0", folder.path())?)?;
    assert!(error.contains("'v999.0.0'") && error.contains(VERSION), "{error}");
    let error = refused(render(&format!("v{VERSION}"), folder.path())?)?;
    assert!(error.contains("SHA256SUMS") && error.contains(VERSION), "{error}");
    Ok(())
}

#[test]
fn the_changelog_and_the_container_have_the_versions_of_the_build() -> Result<()> {
    let changes = fs::read_to_string(root().join("CHANGELOG.md"))?;
    let newest = changes.lines().find_map(|line| line.strip_prefix("## "));
    assert_eq!(newest.and_then(|heading| heading.split(' ').next()), Some(VERSION));
    let toolchain = fs::read_to_string(root().join("rust-toolchain.toml"))?;
    let compiler = toolchain.split('"').nth(1).context("no channel")?;
    let container = fs::read_to_string(root().join("packaging/Dockerfile"))?;
    assert!(container.contains(&format!("FROM rust:{compiler}-")), "{container}");
    assert!(container.contains(&format!("RUSTUP_TOOLCHAIN={compiler}\n")), "{container}");
    Ok(())
}
