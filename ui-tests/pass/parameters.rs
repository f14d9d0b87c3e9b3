//! Every form of a parameter.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

type Maybe<T> = Option<T>;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Blue,
}

/// Not `Clone`, and recursive.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

/// Consumes what it is given.
#[tool]
#[pre(!tree.name.is_empty())]
#[post(|count| *count >= old(tree.children.len()))]
fn count(mut tree: Tree, colour: Colour, pair: (i8, String), list: Vec<Maybe<u16>>) -> usize {
    tree.children.push(Tree {
        name: format!("{colour:?}"),
        children: Vec::new(),
    });
    let Tree { children, .. } = tree;
    drop((pair, list));
    children.len()
}

/// Borrows what it is given, and its result from it.
#[tool]
#[pre(text.len() < 100 && names.len() < 5)]
#[post(|longest| longest.len() >= text.len())]
fn longest<'a, 'b: 'a>(
    text: &'a str,
    names: &'b [String],
    path: &Path,
    maybe: Option<&str>,
    colour: &Colour,
    small: Maybe<&Path>,
) -> &'a str
where
    'b: 'a,
{
    let _ = (path, maybe, colour, small);
    names
        .iter()
        .map(String::as_str)
        .chain([text])
        .max_by_key(|name| name.len())
        .unwrap_or(text)
}

/// Borrows across an await.
#[tool]
#[post(|text| text.len() > old(text.len()) && !more.is_empty())]
async fn later<'a>(text: &'a str, more: &[u8]) -> Cow<'a, str> {
    std::future::ready(()).await;
    Cow::Owned(format!("{text}{}", more.len()))
}

/// Anything at all.
#[tool]
fn anything(
    value: Value,
    map: BTreeMap<String, u8>,
    array: [u8; 2],
    letter: char,
    path: PathBuf,
    optional: std::option::Option<u8>,
    shared: Cow<'static, str>,
    big: u64,
    small: i8,
) -> Value {
    json!([
        value, map, array, letter, path, optional, shared, big, small
    ])
}

/// All that a model may call its arguments.
#[tool]
#[pre(r#type > 0 && größe > 0, "{type} {größe}")]
fn raw(
    r#type: u32,
    #[arg(name = "size")] größe: u32,
    #[arg(name = "self")] this: u32,
    #[arg(default = "here", example = "there", example = "no\"where\\\n")] place: &str,
    #[arg(default = Colour::Red, example = "blue")] colour: Colour,
) -> String {
    format!("{} {place} {colour:?}", r#type + größe + this)
}

/// Raw and not ASCII.
#[tool(name = "size")]
fn größe(#[arg(name = "count")] größe: u32) -> u32 {
    größe
}

/// A keyword.
#[tool]
fn r#match(r#match: u32) -> u32 {
    r#match
}

/// Where it runs.
#[tool]
#[cfg(not(any()))]
fn configured(
    #[cfg(all())] here: u32,
    #[cfg(any())] there: Missing,
    #[cfg(any())] here: Missing,
    #[allow(unused_variables)] unused: u32,
) -> u32 {
    here
}

/// Never there.
#[tool]
#[cfg(any())]
fn never(missing: Missing) -> Missing {
    missing
}

/// Twenty-six of them.
#[tool]
#[pre(a + z > 0)]
fn many(
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    e: u8,
    f: u8,
    g: u8,
    h: u8,
    i: u8,
    j: u8,
    k: u8,
    l: u8,
    m: u8,
    n: u8,
    o: u8,
    p: u8,
    q: u8,
    r: u8,
    s: u8,
    t: u8,
    u: u8,
    v: u8,
    w: u8,
    x: u8,
    y: u8,
    z: u8,
) -> u32 {
    [
        a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,
    ]
    .into_iter()
    .map(u32::from)
    .sum()
}

fn main() {
    let registry = registry!().build().unwrap();
    let called = |name: &str, arguments: Value| {
        let call = ToolCall::new("1", name, arguments.to_string());
        registry
            .call(call)
            .blocking()
            .into_result()
            .text()
            .to_owned()
    };
    let tree = json!({"name": "a", "children": []});
    let count = json!({"tree": tree, "colour": "red", "pair": [1, "b"], "list": [null, 5]});
    assert_eq!(called("count", count), "1");
    let longest = json!({"text": "ab", "names": ["abc"], "path": ".", "colour": "blue"});
    assert_eq!(called("longest", longest), "abc");
    assert_eq!(
        called("later", json!({"text": "ab", "more": [1, 2]})),
        "ab2"
    );
    let all = json!({
        "value": {"x": null}, "map": {"k": 1}, "array": [1, 2], "letter": "x", "path": "p", "shared": "s",
        "big": u64::MAX, "small": -1,
    });
    assert_eq!(
        called("anything", all),
        r#"[{"x":null},{"k":1},[1,2],"x","p",null,"s",18446744073709551615,-1]"#
    );
    assert_eq!(
        called("raw", json!({"type": 1, "size": 2, "self": 3})),
        "6 here Red"
    );
    assert_eq!(called("size", json!({"count": 2})), "2");
    assert_eq!(called("match", json!({"match": 2})), "2");
    assert_eq!(called("configured", json!({"here": 2, "unused": 1})), "2");
    let letters = ('a'..='z').map(|letter| (letter.to_string(), json!(1)));
    assert_eq!(called("many", Value::Object(letters.collect())), "26");
    assert!(registry.tool("never").is_none());
    let raw = registry.tool("raw").unwrap().input_schema();
    assert_eq!(
        raw["properties"]["place"]["examples"],
        json!(["there", "no\"where\\\n"])
    );
    assert_eq!(raw["properties"]["place"]["default"], "here");
    assert_eq!(raw["properties"]["colour"]["examples"], json!(["blue"]));
    assert_eq!(raw["required"], json!(["type", "size", "self"]));

    // The functions are what they were.
    assert_eq!(longest_of("a"), "a");
    assert_eq!(größe(5) + r#match(1), 6);
}

fn longest_of(text: &str) -> &str {
    longest(text, &[], Path::new("."), None, &Colour::Red, None)
}
