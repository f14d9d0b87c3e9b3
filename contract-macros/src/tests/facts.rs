//! What is collected of an expression, and where its names are bound.

use super::tokens;
use crate::facts::Facts;

fn facts(source: &str) -> Facts {
    Facts::of_tokens(&tokens(source))
}

#[track_caller]
fn variables(source: &str, expected: &[&str]) {
    let found = facts(source).variables;
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "of `{source}`");
}

#[test]
fn a_binding_holds_for_its_scope() {
    variables(
        "list.iter().any(|item| item > least) && item",
        &["list", "least", "item"],
    );
    variables("{ let first = first + 1; first > 0 }", &["first"]);
    variables(
        "{ let Some(one) = list.first() else { return rest }; one }",
        &["list", "rest"],
    );
    variables(
        "if let Some(a) = a && a > b { a } else { c }",
        &["a", "b", "c"],
    );
    variables(
        "match kind { Some(n) if n > most => n, _ => other }",
        &["kind", "most", "other"],
    );
    variables(
        "matches!(size, Some(n) if n > most) && n",
        &["size", "most", "n"],
    );
    variables("{ for each in list { each; } each }", &["list", "each"]);
    variables(
        "{ while let Some(top) = stack { top; } top }",
        &["stack", "top"],
    );
    variables("|Point { x, y: (a, b) }| x + a + b + c", &["c"]);
}

#[test]
fn functions_fields_and_types_are_no_variables() {
    variables(
        "count(size) < self::MAX && a.b.c(d) as usize > LIMIT",
        &["size", "a", "d"],
    );
    variables(
        "Vec::<item>::new().len() == Point { x, y: z }.x",
        &["x", "z"],
    );
}

#[test]
fn macros_are_read() {
    variables(
        "format!(\"{name}: {}\", value, other = third) == text",
        &["value", "third", "text"],
    );
    variables("vec![zero; length] == list", &["zero", "length", "list"]);
    variables("cfg!(unix) || env!(\"HOME\") == home", &["home"]);
    let names = facts("format!(\"{name}\") == unknown!(a => b)").names;
    assert!(["name", "a", "b"].iter().all(|name| names.contains(*name)));
}

#[test]
fn what_is_the_same_for_every_call() {
    for source in [
        "5 > 3",
        "MAX > limits::MIN",
        "cfg!(unix)",
        "Some(5) == None",
    ] {
        assert!(facts(source).is_constant(), "{source}");
    }
    for source in ["now() > 3", "open", "MAX.get()", "return 5", "odd!(a => b)"] {
        assert!(!facts(source).is_constant(), "{source}");
    }
}

#[test]
fn a_closure_keeps_its_own_ends() {
    assert!(
        facts("list.iter().all(|one| { one?; return true })")
            .questions
            .is_empty()
    );
    assert!(!facts("list.iter().all(|one| { return true })").returns);
    assert_eq!(facts("a? && b.c()?").questions.len(), 2);
    assert_eq!(facts("(|| x.await)()").awaits.len(), 1);
}

#[test]
fn only_what_is_not_its_own_is_changed() {
    assert_eq!(facts("{ number = 2; true }").changes.len(), 1);
    assert_eq!(facts("{ number += 2; true }").changes.len(), 1);
    assert!(
        facts("{ let mut n = 1; n = 2; n += 1; n == 3 }")
            .changes
            .is_empty()
    );
}

#[test]
fn the_history_is_asked() {
    let used = facts(
        "rt::history().with(\"id\", &id).seen(find::<A>) || history().count_named(\"b\") > 1",
    );
    let tools = used.history.expect("it is asked").tools;
    let asked: Vec<_> = tools
        .iter()
        .map(|tool| (tool.path.is_some(), tool.arguments.len()))
        .collect();
    assert_eq!(asked, [(true, 1), (false, 0)]);
    assert!(facts("run.history().seen(find)").history.is_none());
    assert!(facts("all(history().ok(find), history)").history.is_some());
}
