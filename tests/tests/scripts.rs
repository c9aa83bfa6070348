//! The scripts that releases, CUDA builds and the page of `azimuth serve` use.

// They need a POSIX shell.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use azimuth_tests::{Folder, names_in, printed, refused, root};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes the manifests of package managers to a folder.
fn render(tag: &str, folder: &Folder) -> Result<Output> {
    let mut command = Command::new(root().join("packaging/render"));
    Ok(command.args(["owner/name", tag]).arg(folder.path()).output()?)
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
    let folder = Folder::new()?;
    let archives = archives()?;
    let sums = (0..archives.len()).map(|number| format!("{number:064x}")).collect::<Vec<_>>();
    let lines = sums.iter().zip(&archives).map(|(sum, name)| format!("{sum}  {name}\n"));
    folder.write("SHA256SUMS", lines.collect::<String>())?;
    printed(render(&format!("v{VERSION}"), &folder)?)?;
    let mut all = String::new();
    for name in names_in(&root().join("packaging/manifests"))? {
        let text = folder.read(&name)?;
        ensure!(text.contains(VERSION) && !text.contains('@'), "{name}: {text}");
        all += &text;
    }
    for (sum, archive) in sums.iter().zip(&archives) {
        assert!(all.contains(sum), "no manifest has {archive}");
    }
    Ok(())
}

/// A licence that only one of the lists has fails the release or the nightly check.
#[test]
fn releases_accept_the_licences_that_the_check_allows() -> Result<()> {
    let licences = |file: &str, list: &str| -> Result<Vec<String>> {
        let text = fs::read_to_string(root().join(file))?;
        let (_, rest) = text.split_once(list).with_context(|| format!("{file} has no '{list}'"))?;
        let lines = rest.lines().skip(1).map(str::trim).take_while(|line| *line != "]");
        Ok(lines.filter(|line| !line.starts_with('#')).map(str::to_owned).collect())
    };
    let allowed = licences("deny.toml", "allow = [")?;
    ensure!(!allowed.is_empty(), "no licence is allowed");
    assert_eq!(licences("packaging/about.toml", "accepted = [")?, allowed);
    Ok(())
}

#[test]
fn manifests_are_refused_for_another_version_or_without_an_archive() -> Result<()> {
    let folder = Folder::new()?;
    folder.write("SHA256SUMS", "")?;
    for (tag, part) in [("v999.0.0", "'v999.0.0'"), (&format!("v{VERSION}"), "SHA256SUMS")] {
        let error = refused(render(tag, &folder)?)?;
        assert!(error.contains(part) && error.contains(VERSION), "{error}");
    }
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

/// `scripts/with-cuda` uses the driver if there is one, with or without `nvidia-smi`.
#[cfg(target_os = "linux")]
#[test]
fn the_stub_stays_behind_a_driver() -> Result<()> {
    let repository = Folder::new()?;
    fs::create_dir(repository.at("scripts"))?;
    fs::copy(root().join("scripts/with-cuda"), repository.at("scripts/with-cuda"))?;
    // The toolkit in the repository counts as complete.
    fs::create_dir_all(repository.at(".cuda/lib/python3.11/site-packages/nvidia/cu13/lib/stubs"))?;
    repository.write(".cuda/complete", "")?;
    let library_path = |before: &str| -> Result<String> {
        let output = Command::new(repository.at("scripts/with-cuda"))
            .args(["printenv", "LD_LIBRARY_PATH"])
            .env_remove("CUDA_HOME")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LD_LIBRARY_PATH", before)
            .output()?;
        printed(output)
    };

    let driver = repository.at("driver");
    fs::create_dir(&driver)?;
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let built = Command::new(compiler)
        .args(["-x", "c++", "-shared", "-fPIC", "-o"])
        .arg(driver.join("libcuda.so.1"))
        .arg("/dev/null")
        .status();
    ensure!(built.context("a C++ compiler; run make test")?.success(), "no library was built");
    let with_driver = library_path(&driver.to_string_lossy())?;
    assert!(with_driver.contains("cu13/lib:") && !with_driver.contains("stubs"), "{with_driver}");

    // Without a driver the stub is used, unless this machine has a driver itself.
    let load = "import ctypes; ctypes.CDLL('libcuda.so.1')";
    let installed = Command::new("python3").args(["-c", load]).output()?.status.success();
    let without = library_path("")?;
    assert_eq!(without.contains("stubs"), !installed, "{without}");
    Ok(())
}

/// The types of the page of `azimuth serve`, its unit tests, and whether the committed bundle matches
/// its sources.
#[test]
fn the_bundle_is_what_its_sources_give() -> Result<()> {
    printed(Command::new(root().join("scripts/check-web")).output()?).map(drop)
}
