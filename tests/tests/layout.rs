//! The layout of the code: no file takes a name from another that, itself or by way of others, takes one from
//! it. Tests apart, every name is followed to the file that defines it; a re-export takes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use quote::ToTokens;
use syn::visit::{Visit, visit_item, visit_path};
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

/// The crates' names and where each begins.
const CRATES: [(&str, &str); 8] = [
    ("azimuth", "engine/src/lib.rs"),
    ("azimuth_main", "engine/src/main.rs"),
    ("azimuth_client", "client/src/lib.rs"),
    ("azimuth_train", "train/src/lib.rs"),
    ("azimuth_train_main", "train/src/main.rs"),
    ("azimuth_rivals", "rivals/src/main.rs"),
    ("azimuth_bench", "bench/src/main.rs"),
    ("azimuth_tests", "tests/lib.rs"),
];

/// A name's way from its crate: `["azimuth", "search", "Report"]`.
type Name = Vec<String>;

/// A module, in a file of its own or inside another's.
struct Module {
    file: PathBuf,
    items: Vec<Item>,
    /// Names that it defines, modules apart.
    defined: BTreeSet<String>,
    /// Names that it brings in, and where from; `*` for all of a module.
    imported: Vec<(String, Name)>,
}

/// All modules of some crates.
#[derive(Default)]
struct Modules(BTreeMap<Name, Module>);

impl Modules {
    fn read(&mut self, name: Name, file: &Path) -> Result<()> {
        let context = || format!("'{}'", file.display());
        let text = fs::read_to_string(file).with_context(context)?;
        let items = syn::parse_file(&text).with_context(context)?.items;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let folder = file.parent().unwrap_or(Path::new("."));
        let own =
            if ["mod", "lib", "main"].contains(&&*stem) { PathBuf::new() } else { stem[..].into() };
        self.add(name, file, &folder.join(own), items)
    }

    /// Adds a module whose children's files are in `folder`.
    fn add(&mut self, name: Name, file: &Path, folder: &Path, items: Vec<Item>) -> Result<()> {
        let items: Vec<Item> = items.into_iter().filter(|item| !is_test(item)).collect();
        for item in &items {
            let Item::Mod(child) = item else { continue };
            let ident = child.ident.to_string();
            let path = [&name[..], std::slice::from_ref(&ident)].concat();
            match &child.content {
                Some((_, items)) => self.add(path, file, &folder.join(ident), items.clone())?,
                None => {
                    let places = [format!("{ident}.rs"), format!("{ident}/mod.rs")];
                    let mut places = places.iter().map(|place| folder.join(place));
                    let found = places.find(|place| place.exists());
                    self.read(path, &found.with_context(|| format!("no file of {ident}"))?)?;
                }
            }
        }
        let defined = items.iter().filter_map(defined_name).collect();
        let mut imported = Vec::new();
        for item in &items {
            if let Item::Use(tree) = item {
                imports(&name, &[], &tree.tree, &mut imported);
            }
        }
        self.0.insert(name, Module { file: file.to_owned(), items, defined, imported });
        Ok(())
    }

    /// The file that defines `name`; `None` for modules and names from elsewhere.
    fn defining_file(&self, name: &[String], steps: usize) -> Option<&Path> {
        let known = (1..name.len()).rev().find(|&end| self.0.contains_key(&name[..end]))?;
        let (module, rest) = (&self.0[&name[..known]], &name[known..]);
        if self.0.contains_key(name) || steps == 0 {
            return None;
        }
        if module.defined.contains(&rest[0]) {
            return Some(&module.file);
        }
        let from = module.imported.iter().filter(|(ident, _)| *ident == rest[0] || ident == "*");
        let mut found = from.filter_map(|(ident, from)| {
            let rest = if ident == "*" { rest } else { &rest[1..] };
            self.defining_file(&[from, rest].concat(), steps - 1)
        });
        found.next()
    }

    /// The files that each file takes names from.
    fn takings(&self) -> BTreeSet<(&Path, &Path)> {
        let mut takings = BTreeSet::new();
        for (name, module) in &self.0 {
            let mut names = Names { module: name, found: Vec::new() };
            module.items.iter().for_each(|item| names.visit_item(item));
            for taken in names.found {
                let Some(file) = self.defining_file(&taken, 8) else { continue };
                if file != module.file {
                    takings.insert((module.file.as_path(), file));
                }
            }
        }
        takings
    }

    /// Files that take from each other: a list of who takes from whom for each circle.
    fn circles(&self) -> Vec<Vec<String>> {
        let takings = self.takings();
        let graph: DiGraphMap<&Path, ()> = DiGraphMap::from_edges(&takings);
        let circles = tarjan_scc(&graph).into_iter().filter(|files| files.len() > 1);
        let inside = |files: Vec<&Path>| {
            takings
                .iter()
                .filter(|(taker, from)| files.contains(taker) && files.contains(from))
                .map(|(taker, from)| format!("{} takes from {}", taker.display(), from.display()))
                .collect()
        };
        circles.map(inside).collect()
    }
}

/// The names that the code of a module mentions.
struct Names<'a> {
    module: &'a [String],
    found: Vec<Name>,
}

impl<'a> Visit<'a> for Names<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_test(item) {
            visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, _: &'a ItemMod) {
        // It is a module of its own.
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        if matches!(item.vis, Visibility::Inherited) {
            let mut imported = Vec::new();
            imports(self.module, &[], &item.tree, &mut imported);
            self.found.extend(imported.into_iter().map(|(_, name)| name));
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let idents: Name = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.found.push(absolute(self.module, &idents));
        visit_path(self, path);
    }
}

/// A path as it is written in `module`, from its crate on.
fn absolute(module: &[String], path: &[String]) -> Name {
    match path.split_first() {
        Some((first, rest)) if first == "crate" => [&module[..1], rest].concat(),
        Some((first, rest)) if first == "self" => [module, rest].concat(),
        Some((first, rest)) if first == "super" => absolute(&module[..module.len() - 1], rest),
        Some((first, _)) if CRATES.iter().any(|(name, _)| name == first) => path.to_vec(),
        _ => [module, path].concat(),
    }
}

fn imports(module: &[String], before: &[String], tree: &UseTree, found: &mut Vec<(String, Name)>) {
    let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
    match tree {
        UseTree::Path(path) => imports(module, &with(&path.ident), &path.tree, found),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| imports(module, before, tree, found));
        }
        UseTree::Glob(_) => found.push(("*".to_owned(), absolute(module, before))),
        UseTree::Name(name) if name.ident == "self" => {
            let last = before.last().cloned().unwrap_or_default();
            found.push((last, absolute(module, before)));
        }
        UseTree::Name(name) => {
            found.push((name.ident.to_string(), absolute(module, &with(&name.ident))));
        }
        UseTree::Rename(name) => {
            found.push((name.rename.to_string(), absolute(module, &with(&name.ident))));
        }
    }
}

fn defined_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string() == "# [cfg (test)]")
}

#[test]
fn no_two_files_take_from_each_other() -> Result<()> {
    let mut modules = Modules::default();
    for (name, first) in CRATES {
        modules.read(vec![name.to_owned()], &azimuth_tests::root().join(first))?;
    }
    assert!(modules.takings().len() > 200, "{}", modules.takings().len());
    let circles = modules.circles();
    ensure!(circles.is_empty(), "files that take from each other: {circles:#?}");
    Ok(())
}

#[test]
fn a_circle_is_found_through_modules_and_re_exports() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text);
    let circles = |helper: &str| -> Result<usize> {
        write("lib.rs", "mod shape; mod helper; pub use shape::Shape; pub struct Ground;")?;
        write("shape.rs", "use crate::helper; pub struct Shape; fn f() { helper::help() }")?;
        write("helper.rs", helper)?;
        let mut modules = Modules::default();
        modules.read(vec!["c".to_owned()], &folder.path().join("lib.rs"))?;
        Ok(modules.circles().len())
    };
    assert_eq!(circles("pub fn help() {} fn ground(_: crate::Ground) {}")?, 0);
    assert_eq!(circles("pub fn help(_: crate::Shape) {}")?, 1);
    assert_eq!(circles("use super::*; pub fn help(_: Shape) {}")?, 1);
    assert_eq!(circles("pub fn help() {} #[cfg(test)] mod tests { use crate::Shape; }")?, 0);
    Ok(())
}
