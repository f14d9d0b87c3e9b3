//! The page's evaluator of portable rules says what `cel` says, rule by rule and value by value.

#[path = "../fourforms/rules/tools.rs"]
mod tools;
#[path = "../fourforms/rules/values.rs"]
mod values;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use cel::{Context, Program};
use serde_json::{Value, json};

use tools::{CLAUSES, registry};
use values::{Chance, Values};

tests![
    the_page_judges_as_another_evaluator_does,
    the_page_is_never_wrong_beyond_the_corpus,
    what_the_page_does_not_know_is_undecided,
];

const CASES: usize = 500;

/// What a rule says, as the page prints it.
fn answer(program: &Program, functions: &Context<'_, '_>, arguments: &Value) -> &'static str {
    let mut context = functions.new_inner_scope();
    context.add_variable("args", arguments).unwrap();
    match program.execute(&context) {
        Ok(cel::Value::Bool(true)) => "true",
        Ok(cel::Value::Bool(false)) => "false",
        _ => "undecided",
    }
}

/// What the page says of the same cases, for this test; nothing where there is no `node`, which is then said.
fn said(name: &str, cases: &[(String, String)]) -> Option<Vec<String>> {
    let here = env!("CARGO_MANIFEST_DIR");
    let page = |name| format!("{here}/src/cli/inspect/page/{name}");
    let node = Command::new("node")
        .arg(format!("{here}/tests/inspect/judge.mjs"))
        .args(["json.js", "rule.js", "values.js"].map(page))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut node = match node {
        Ok(node) => node,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "NOT RUN inspect {name}: `node`: {error}");
            return None;
        }
    };
    let mut input = node.stdin.take().unwrap();
    let line = |(rule, arguments): &(String, String)| {
        json!({"rule": rule, "arguments": arguments}).to_string()
    };
    let lines: Vec<String> = cases.iter().map(line).collect();
    let lines = lines.join("\n");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

fn compare(cases: &[(String, String)]) {
    let Some(said) = said("the_page_judges_as_another_evaluator_does", cases) else {
        return;
    };
    assert_eq!(said.len(), cases.len());
    let functions = Context::default();
    let mut programs = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut mute = BTreeMap::<&str, usize>::new();
    for ((rule, arguments), page) in cases.iter().zip(&said) {
        let program = programs
            .entry(rule)
            .or_insert_with(|| Program::compile(rule).unwrap());
        let value = serde_json::from_str(arguments).unwrap();
        let expected = answer(program, &functions, &value);
        if page != expected {
            wrong.push(format!(
                "the page says {page}, `cel` says {expected}: {rule} of {arguments}"
            ));
        }
        *mute.entry(rule).or_default() += usize::from(page == "undecided");
    }
    let first = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} cases: {first:#?}", wrong.len());
    for (rule, times) in mute {
        let all = cases.iter().filter(|(one, _)| one == rule).count();
        assert!(
            times * 10 < all * 9,
            "seldom decided: {rule}, {times} of {all}"
        );
    }
}

fn the_page_judges_as_another_evaluator_does() {
    let registry = registry();
    let mut cases = Vec::new();
    for (index, clause) in (1..).zip(CLAUSES) {
        let tool = registry.tool(clause.name).unwrap();
        let rule = &tool.conditions()[0].rule().unwrap().rule;
        let mut chance = Chance(index);
        let values = Values::of(clause, tool.input_schema(), &mut chance);
        for _ in 0..CASES {
            let arguments = Value::Object(values.arguments(&mut chance));
            cases.push((rule.clone(), arguments.to_string()));
        }
    }
    compare(&cases);
}

/// Rules of the profile that no clause of the corpus makes, and that meet every end of every kind.
const RULES: [&str; 28] = [
    "int(args.a) * int(args.b) < 5",
    "int(args.a) + int(args.b) > int(args.a)",
    "int(args.a) - int(args.b) != 3",
    "int(args.a) % int(args.b) == 0",
    "-int(args.a) <= 7",
    "int(args.x) == int(args.a)",
    "double(args.a) < double(args.x)",
    "double(args.x) * 1e308 - double(args.y) * 1e308 < 1.0",
    "double(args.x) + double(args.y) >= 0.30000000000000004",
    "double(args.x) != -0.0 && -double(args.y) < 2.5e-1",
    "int(args.a) > 2 && int(args.b) > 2 || int(args.a) < 0",
    "int(args.a) * 2 + int(args.b) > 1 ? true : int(args.a) > 0",
    "int(args.a) > 0 ? int(args.b) > 0 : int(args.b) < 0",
    "!(int(args.a) > 0) && !has(args.missing)",
    "has(args.s) && args.s == 'é' || 'n' in args",
    "args.missing == 'x' || int(args.a) > 0",
    "int(args.a) > 0 && args.missing == 'x' || int(args.b) > 0",
    "type(args.n) != null_type ? size(args.n) > 0 : true",
    r#"args.s in ['a', '\u00e9', '\U0001f600', 'it\'s', "q"]"#,
    "size(args.s) + size(bytes(args.s)) < 6",
    r"args.s.startsWith(args.t) || args.s.endsWith('\n')",
    "args.s.contains(args.t) == true",
    "args.s.matches('^[a-zé]{1,2}$')",
    "args.l.all(one, int(one) > 0)",
    "args.l.exists(one, int(one) > 0 && int(one) % 2 == 0)",
    "args.l.all(one, int(one) != 0 && 7 % int(one) >= 0)",
    "args.l.exists(one, args.l.all(two, int(two) <= int(one)))",
    "2 + 3 * int(args.a) - 1 - 1 < 4 * -2 + 16",
];

fn anything(chance: &mut Chance) -> Value {
    let ends = [i64::MIN, i64::MAX, i64::MIN + 1, 1 << 53, -1, 0, 1, 2, 3, 7];
    let floats = [
        0.0, 0.1, 0.2, 1.0, -1.0, 2.5, 9.3e18, 9.2e18, -1e300, 1e-300, 10.0,
    ];
    let texts = [
        "", "a", "é", "😀", "it's", "q", "é\n", "ab", "abc", "\u{2028}", "n",
    ];
    let mut arguments = serde_json::Map::new();
    for name in ["a", "b", "x", "y", "s", "t", "l", "n"] {
        let value = match (name, chance.below(12)) {
            (_, 0) => continue,
            (_, 1) => Value::Null,
            (_, 2) => [json!(true), json!("7"), json!({"a": 1})][chance.below(3)].clone(),
            ("l", _) => {
                let items = 0..chance.below(4);
                items
                    .map(|_| json!(ends[chance.below(ends.len())]))
                    .collect()
            }
            ("s" | "t", _) => json!(texts[chance.below(texts.len())]),
            ("n", _) => json!(texts[chance.below(3)]),
            ("a" | "b", 3) => json!(u64::MAX),
            ("a" | "b", _) => json!(ends[chance.below(ends.len())]),
            _ => json!(floats[chance.below(floats.len())]),
        };
        arguments.insert(name.to_owned(), value);
    }
    Value::Object(arguments)
}

fn the_page_is_never_wrong_beyond_the_corpus() {
    let mut chance = Chance(7);
    let mut cases = Vec::new();
    for rule in RULES {
        for _ in 0..400 {
            cases.push((rule.to_owned(), anything(&mut chance).to_string()));
        }
    }
    let Some(said) = said("the_page_is_never_wrong_beyond_the_corpus", &cases) else {
        return;
    };
    let functions = Context::default();
    let mut decided = BTreeMap::<&str, [usize; 2]>::new();
    for ((rule, arguments), page) in cases.iter().zip(&said) {
        let counts = decided.entry(rule).or_default();
        if page == "undecided" {
            continue;
        }
        counts[usize::from(page == "true")] += 1;
        let value = serde_json::from_str(arguments).unwrap();
        let expected = answer(&Program::compile(rule).unwrap(), &functions, &value);
        assert_eq!(page, expected, "{rule} of {arguments}");
    }
    for (rule, counts) in decided {
        // Nobody sends what is `missing`, so the half of a rule that names it is never the one that decides.
        let enough = if rule.contains("missing") {
            counts[0] + counts[1] > 0
        } else {
            counts[0] > 0 && counts[1] > 0
        };
        assert!(enough, "never one of both, {counts:?}: {rule}");
    }
}

fn what_the_page_does_not_know_is_undecided() {
    let rules = [
        "args.s < args.t",
        "args.a == args.b",
        "args.a == 1",
        "args.a in [1, 2]",
        "1u < 2u",
        "uint(args.a) > uint(1)",
        "args.l.map(one, one).size() > 0",
        "args.l.filter(one, true) == args.l",
        "size([1, 2]) == 2 && args.l[0] == 1",
        "{'a': 1}.a == 1",
        "timestamp(args.s) < timestamp(args.t)",
        "args.s.constructor == args.t",
        "args.s.toString() == args.t",
        "args.__proto__ == args.t",
        "int.constructor == 1",
        "args.s.matches('(')",
        // Engines read these in different ways.
        r"args.s.matches('\\w')",
        r"args.s.matches('\\bx')",
        "args.s.matches('^.$')",
        "args.s.matches('(?i)A')",
        "args.s.matches('[a&&b]')",
        "args.s.matches('[[:alpha:]]')",
        "null in [null]",
        "[1] in [[1]]",
        "1 in [1.0]",
        "2.0 in ['a', 1]",
        "args.s",
        "args",
        "null",
        "1 +",
        "(1 < 2",
        "1 < 2)",
        "'a",
        "a.b",
        "int(args.a) > 9223372036854775808",
        "`a` == 'b'",
        "1 < 2 // and a comment",
        "r'a' == 'a'",
        "b'a' == 'a'",
        "\"\"\"a\"\"\" == 'a'",
    ];
    let arguments = json!({"s": "a", "t": "b", "a": 1, "b": 1, "l": [1, 2]}).to_string();
    let cases: Vec<_> = rules
        .map(|rule| (rule.to_owned(), arguments.clone()))
        .into();
    let said = said("what_the_page_does_not_know_is_undecided", &cases);
    for (rule, page) in rules.iter().zip(said.unwrap_or_default()) {
        assert_eq!(page, "undecided", "{rule}");
    }
}
