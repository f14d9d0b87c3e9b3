//! Modules of the core import downwards only: `contract` <- `schema` <- `tool` <- `registry`, and none imports what stands beside them. In no crate of
//! the workspace do more than three files import each other in a circle, but for those in `circles.txt`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::{fs, io};

use proc_macro2::{TokenStream, TokenTree};

/// Each may import those before it.
const LAYERS: [&str; 4] = ["contract", "schema", "tool", "registry"];

/// What uses the core, and is not used by it.
const BESIDE: [&str; 2] = ["__family", "__private"];

#[test]
fn no_import_runs_upwards() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut upwards = Vec::new();
    for (place, layer) in LAYERS.iter().enumerate() {
        let above = &LAYERS[place + 1..];
        let mut files = Vec::new();
        collect(&source.join(layer), &mut files).unwrap();
        assert!(files.len() > 5, "{layer}: {}", files.len());
        for (path, text) in files {
            let imported = imports(text.parse().unwrap());
            let wrong = imported
                .iter()
                .map(String::as_str)
                .filter(|name| above.contains(name) || BESIDE.contains(name));
            upwards.extend(wrong.map(|name| format!("{path} imports `{name}`")));
        }
    }
    assert!(upwards.is_empty(), "{}", upwards.join("\n"));
}

#[test]
fn imports_are_found_wherever_they_stand() {
    let found = |text: &str| imports(text.parse().unwrap());
    assert_eq!(found("use crate::tool::Tool;"), ["tool"]);
    assert_eq!(
        found("use crate::{contract::{a, b}, schema, tool::Tool};"),
        ["contract", "schema", "tool"]
    );
    assert_eq!(
        found("fn f() { g(vec![crate::registry::new()]) }"),
        ["registry"]
    );
    // The macros that are exported name the crate in this way.
    assert_eq!(
        found("macro_rules! m { () => { $crate::registry::new() } }"),
        [""; 0]
    );
    assert_eq!(found("/// [`crate::tool`]\nfn f() {}"), [""; 0]);
}

/// The modules at the top of the crate that a file names by `crate::`.
fn imports(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let is = |offset: usize, text: &str| {
            tokens
                .get(place + offset)
                .is_some_and(|token| token.to_string() == text)
        };
        if let TokenTree::Group(group) = token {
            found.extend(imports(group.stream()));
        }
        let is_exported = place
            .checked_sub(1)
            .is_some_and(|before| tokens[before].to_string() == "$");
        if !is(0, "crate") || is_exported || !is(1, ":") {
            continue;
        }
        match tokens.get(place + 3) {
            Some(TokenTree::Ident(name)) => found.push(name.to_string()),
            Some(TokenTree::Group(names)) => found.extend(firsts(names.stream())),
            _ => {}
        }
    }
    found
}

/// The first name of each path in a list.
fn firsts(list: TokenStream) -> Vec<String> {
    let tokens: Vec<_> = list.into_iter().collect();
    let paths =
        tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
    paths
        .filter_map(|path| path.first())
        .map(ToString::to_string)
        .collect()
}

/// The Rust files of a folder, but for those of tests.
fn collect(folder: &Path, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            files.push((path.display().to_string(), fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// A file of a crate: the paths that it names, and what it offers under another name by `pub use`.
#[derive(Default)]
struct File {
    paths: Vec<Vec<String>>,
    exports: HashMap<String, Vec<String>>,
}

/// The files that stand in a circle of imports of more than three files, by crate. A list that may only get shorter.
#[test]
fn no_new_circle_of_more_than_three_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeSet::new();
    for folder in ["", "companions", "examples"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.join("Cargo.toml").exists() && path.join("src").exists() {
                let name = path.strip_prefix(root).unwrap().display();
                found.extend(circular(&path.join("src")).map(|file| format!("{name} {file}")));
            }
        }
    }
    let listed: BTreeSet<_> = include_str!("circles.txt")
        .lines()
        .map(String::from)
        .collect();
    let listed_or = |file: &&String| !listed.contains(*file);
    let new: Vec<_> = found.iter().filter(listed_or).collect();
    assert!(
        new.is_empty(),
        "each of these imports files that import it again by way of three or more; turn one import around: {new:#?}"
    );
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        gone.is_empty(),
        "no longer in a circle; remove the lines from `tests/circles.txt`: {gone:#?}"
    );
}

#[test]
fn paths_lead_to_the_file_that_has_the_item() {
    let files = |texts: &[(&str, &str)]| {
        let read = |&(module, text): &(&str, &str)| {
            let module = module.split('/').filter(|name| !name.is_empty());
            (
                module.map(String::from).collect(),
                file(text.parse().unwrap()),
            )
        };
        texts.iter().map(read).collect::<HashMap<_, _>>()
    };
    let files = files(&[
        ("", "mod a; mod b; pub use a::A;"),
        (
            "a",
            "mod inner; pub(crate) use inner::{Inner as Other}; use crate::b::f; struct A;",
        ),
        (
            "a/inner",
            "use super::{A, super::b}; #[cfg(test)] mod tests { use crate::b::g; }",
        ),
        ("b", "fn f() { crate::a::Other::new(); crate::A }"),
    ]);
    let named = |module: &[&str]| {
        let module: Vec<_> = module.iter().map(ToString::to_string).collect();
        let mut all: Vec<_> = edges(&files, &module).map(|to| to.join("/")).collect();
        all.sort();
        all.dedup();
        all
    };
    assert_eq!(named(&[]), [""; 0]);
    assert_eq!(named(&["a"]), ["b"]);
    assert_eq!(named(&["a", "inner"]), ["a", "b"]);
    assert_eq!(named(&["b"]), ["a", "a/inner"]);
}

/// The files below `source` in a circle of more than three.
fn circular(source: &Path) -> impl Iterator<Item = String> {
    let mut texts = Vec::new();
    collect(source, &mut texts).unwrap();
    let mut files = HashMap::new();
    for (path, text) in &texts {
        let path = Path::new(path).strip_prefix(source).unwrap();
        let mut module: Vec<_> = path
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        let last = module.pop().unwrap();
        match last.strip_suffix(".rs") {
            Some("lib" | "mod") | None => {}
            Some("main") if !source.join("lib.rs").exists() => {}
            Some(name) => module.push(name.to_owned()),
        }
        files.insert(module, file(text.parse().unwrap()));
    }
    let imported: HashMap<_, HashSet<_>> = files
        .keys()
        .map(|module| (module.clone(), edges(&files, module).collect()))
        .collect();
    let reached: HashMap<_, HashSet<_>> = files
        .keys()
        .map(|module| {
            let (mut seen, mut open) = (HashSet::new(), vec![module.clone()]);
            while let Some(next) = open.pop() {
                open.extend(
                    imported[&next]
                        .iter()
                        .filter(|to| seen.insert((*to).clone()))
                        .cloned(),
                );
            }
            (module.clone(), seen)
        })
        .collect();
    let together = move |module: &Vec<String>| {
        reached[module]
            .iter()
            .filter(|other| reached[*other].contains(module))
            .count()
    };
    let modules: Vec<_> = files.into_keys().collect();
    modules
        .into_iter()
        .filter(move |module| together(module) > 3)
        .map(|module| module.join("/"))
}

/// The other files whose items a file names.
fn edges<'a>(
    files: &'a HashMap<Vec<String>, File>,
    module: &'a [String],
) -> impl Iterator<Item = Vec<String>> + 'a {
    let paths = files.get(module).into_iter().flat_map(|file| &file.paths);
    paths
        .filter_map(move |path| find(files, module, path, 8))
        .filter(move |to| to != module && files.contains_key(to))
}

/// The module in which a path ends, through what is exported under another name.
fn find(
    files: &HashMap<Vec<String>, File>,
    module: &[String],
    path: &[String],
    depth: usize,
) -> Option<Vec<String>> {
    let mut place = module.to_vec();
    let mut names = path.iter().peekable();
    match names.peek()?.as_str() {
        "crate" => place.clear(),
        "self" | "super" => {}
        first => {
            let child = [module, &[first.to_owned()]].concat();
            if !files.contains_key(&child) {
                return None;
            }
        }
    }
    for name in names {
        match &**name {
            "crate" | "self" => {}
            "super" => drop(place.pop()),
            name => {
                let child = [&place[..], &[name.to_owned()]].concat();
                if files.contains_key(&child) {
                    place = child;
                } else if let Some(export) =
                    files.get(&place).and_then(|file| file.exports.get(name))
                {
                    return find(files, &place, export, depth.checked_sub(1)?).or(Some(place));
                } else {
                    break;
                }
            }
        }
    }
    Some(place)
}

/// Reads the paths of a file. Modules of tests are left out.
fn file(tokens: TokenStream) -> File {
    let mut file = File::default();
    read(tokens, &mut file);
    file
}

fn read(tokens: TokenStream, file: &mut File) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let text = |place: usize| {
        tokens
            .get(place)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let follows_path = |place: usize| {
        let before = text(place.wrapping_sub(1));
        before == "$" || before == "." || before == ":" && text(place.wrapping_sub(2)) == ":"
    };
    let mut place = 0;
    while place < tokens.len() {
        let is_test = text(place) == "#" && text(place + 1).replace(' ', "") == "[cfg(test)]";
        if is_test && text(place + 2) == "mod" {
            place += 5;
            continue;
        }
        match &tokens[place] {
            // The place in `pub(in place)` is no import.
            TokenTree::Group(_) if text(place.wrapping_sub(1)) == "pub" => {}
            TokenTree::Group(group) => read(group.stream(), file),
            TokenTree::Ident(_) if !follows_path(place) => {
                let is_use = text(place) == "use";
                let is_export = is_use
                    && (text(place.wrapping_sub(1)) == "pub"
                        || text(place.wrapping_sub(2)) == "pub");
                place += usize::from(is_use);
                let mut found = Vec::new();
                place = tree(&tokens, place, &[], &mut found);
                for (path, name) in found {
                    if is_export {
                        file.exports.insert(name, path);
                    } else if path.len() > 1 || path[0] == "super" {
                        file.paths.push(path);
                    }
                }
                continue;
            }
            _ => {}
        }
        place += 1;
    }
}

/// Reads one path or tree of `use`, and returns the place behind it.
fn tree(
    tokens: &[TokenTree],
    mut place: usize,
    before: &[String],
    found: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let mut path = before.to_vec();
    let is = |place: usize, text: &str| {
        tokens
            .get(place)
            .is_some_and(|token| token.to_string() == text)
    };
    loop {
        match tokens.get(place) {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Group(group)) => {
                let list: Vec<_> = group.stream().into_iter().collect();
                let mut inside = 0;
                while inside < list.len() {
                    inside = tree(&list, inside, &path, found).max(inside + 1);
                }
                return place + 1;
            }
            _ => break,
        }
        place += 1;
        if !(is(place, ":") && is(place + 1, ":")) {
            break;
        }
        place += 2;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if is(place, "as") {
        name = tokens
            .get(place + 1)
            .map(ToString::to_string)
            .unwrap_or_default();
        place += 2;
    }
    if path.len() > before.len() {
        found.push((path, name));
    }
    place
}
