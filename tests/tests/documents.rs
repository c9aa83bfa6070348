//! The documents: the README is short, and all links have a target.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use azimuth_tests::root;

/// Every Markdown file of the repository.
fn documents() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in ["", "bench", "docs", "python", "rivals", "rivals/weights", "train", "weights"] {
        for entry in fs::read_dir(root().join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// The text without code blocks and code spans.
fn prose(text: &str) -> String {
    let outside = text.split("```").step_by(2).collect::<String>();
    outside.split('`').step_by(2).collect()
}

/// The targets of the links in a text.
fn targets(text: &str) -> Vec<String> {
    let links = prose(text);
    let links = links.split("](").skip(1);
    links.filter_map(|link| Some(link.split_once(')')?.0.to_owned())).collect()
}

/// The anchors of a document's headings, as on GitHub.
fn anchors(path: &Path) -> Result<HashSet<String>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut code = false;
    let mut anchors = HashSet::new();
    for line in text.lines() {
        code ^= line.trim_start().starts_with("```");
        if !code && line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    Ok(anchors)
}

#[test]
fn every_link_leads_somewhere() -> Result<()> {
    let (mut broken, mut followed) = (Vec::new(), 0);
    for document in documents()? {
        let folder = document.parent().context("a file is in a folder")?;
        for target in targets(&fs::read_to_string(&document)?) {
            if target.starts_with("http") {
                continue;
            }
            followed += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if path.is_empty() { document.clone() } else { folder.join(path) };
            let leads = path.exists() && (anchor.is_empty() || anchors(&path)?.contains(anchor));
            if !leads {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(followed > 50, "only {followed} links were found");
    assert!(broken.is_empty(), "{broken:#?}");
    Ok(())
}

#[test]
fn the_readme_is_read_to_its_end() -> Result<()> {
    let lines = fs::read_to_string(root().join("README.md"))?.lines().count();
    assert!(lines < 200, "{lines} lines");
    Ok(())
}

/// The package has a copy: a link would be a file with a path in it where Windows checks it out.
#[test]
fn the_package_has_the_licence() -> Result<()> {
    let copy = root().join("python/LICENSE");
    assert!(!fs::symlink_metadata(&copy)?.is_symlink());
    assert!(fs::read(copy)? == fs::read(root().join("LICENSE"))?);
    Ok(())
}
