//! Modules of the core import downwards only: `contract` <- `schema` <- `tool` <- `registry`, and none imports what stands beside them.

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
        assert!(files.len() > 10, "{layer}: {}", files.len());
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

/// The files of a folder, but for those of tests.
fn collect(folder: &Path, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push((path.display().to_string(), fs::read_to_string(&path)?));
        }
    }
    Ok(())
}
