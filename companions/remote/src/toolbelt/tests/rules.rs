//! Untrusted rules: parsed, restricted to the profile, evaluated.

use std::thread;

use contract_manifest::ToolManifest;
use serde_json::{Map, Value, json};

use super::{STACK, Tested, condition, custom, with_little_stack};
use crate::toolbelt::Rules;
use crate::toolbelt::expression::{ParsedRule, parse_rule};

#[test]
fn a_rule_of_what_ends_no_call_is_read_and_refuses_nothing() -> Tested {
    let with = |policy: Value, rule: &str| {
        let mut one = condition(rule);
        one["policy"] = policy;
        let tool = custom(|tool| tool["conditions"] = json!([one.clone()]));
        serde_json::from_value::<ToolManifest>(tool)
    };
    for (policy, refused) in [
        ("ignore", false),
        ("observe", false),
        ("enforce", true),
        ("quick_enforce", true),
    ] {
        let tool = with(policy.into(), "false")?;
        let rules = Rules::new(&tool).map_err(|id| format!("{id} is no rule"))?;
        let broken = rules.first_broken(&Map::new());
        assert_eq!(broken.is_some(), refused, "{policy}");
        let named = broken.is_none_or(|broken| broken.condition.policy.name() == policy);
        assert!(named, "the policy of the refusal is `{policy}`");
        assert!(
            Rules::new(&with(policy.into(), "((((")?).is_err(),
            "{policy}"
        );
    }
    Ok(())
}

#[test]
fn no_rule_is_too_deep_for_the_stack() -> Tested {
    let wrap = |before: &str, inside: &str, after: &str| {
        let most = (4_096 - inside.len()) / (before.len() + after.len());
        let levels = [8, 16, 23, 24, 25, 40, 100, 400, most];
        let texts = levels.into_iter().filter(|levels| *levels <= most);
        let texts = texts.map(|levels| before.repeat(levels) + inside + &after.repeat(levels));
        texts.collect::<Vec<_>>()
    };
    let rules = [
        wrap("(", "true", ")"),
        wrap("(", "", ""),
        wrap("[", "1", "]"),
        wrap("{1:", "1", "}"),
        wrap("-(", "1", ")"),
        wrap("!(", "true", ")"),
        wrap("!", "true", ""),
        wrap("-", "1", ""),
        wrap("size(", "args", ")"),
        wrap("args.all(x, ", "true", ")"),
        wrap("[1].exists(x, ", "true", ")"),
        wrap("true?1:", "1", ""),
        wrap("1?1:", "1", ""),
        wrap("true?(", "1", "):1"),
        wrap("true?", "1", ":1"),
        wrap("", "1", "+1"),
        wrap("", "1", "<1"),
        wrap("", "1", "*2"),
        wrap("", "true", "&&true"),
        wrap("", "true", "||false"),
        wrap("", "args", ".a"),
        wrap("", "args", "[0]"),
        wrap("", "args", ".size()"),
        wrap("'", "", ""),
        wrap("\\", "", ""),
        wrap("@#$", "", ""),
        wrap("a{b:", "1", "}"),
    ];
    for rule in rules.iter().flatten() {
        let tool: ToolManifest =
            serde_json::from_value(custom(|tool| tool["conditions"] = json!([condition(rule)])))?;
        let judged = with_little_stack(|| parse_rule(rule).is_some())?;
        assert!(judged.is_some(), "{rule}");
        // Evaluation has the stack of a worker.
        let judge =
            move || Rules::new(&tool).map(|rules| rules.first_broken(&Map::new()).is_some());
        let judged = thread::Builder::new()
            .stack_size(4 * STACK)
            .spawn(judge)?
            .join();
        assert!(judged.is_ok(), "{rule}");
    }
    Ok(())
}

#[test]
fn a_rule_has_nothing_but_its_profile() {
    let foreign = [
        "",
        "args.",
        "1 +",
        "x",
        "args.x.map(y, y)",
        "args.x.filter(y, y > 1)",
        "args.x.exists_one(y, y > 1)",
        "{'a': 1}",
        "timestamp('2026-01-01T00:00:00Z') < args.x",
        "duration('1s')",
        "string(args.x)",
        "uint(args.x)",
        "args.x.matches(args.y)",
        "args.x.matches('(')",
        "args.x.matches('a', 'b')",
        "dyn(args.x)",
        "args.x / 2",
        "google.protobuf.Value{}",
        "args.x.format([1])",
        "args.x.split(',')",
        "y.all(z, z)",
        "max(1, 2)",
    ];
    for rule in foreign {
        assert!(parse_rule(rule).is_none(), "{rule}");
    }
    let portable = [
        "true",
        "int(args.end) > int(args.start)",
        "size(args.x) <= 80",
        "size(bytes(args.x)) == 1",
        "has(args.x) && type(args.x) != null_type ? double(args.x) % 2.0 == 0.0 : true",
        "args.x in ['a', 'b']",
        "args.x.startsWith('a') || args.x.endsWith('b') || args.x.contains('c')",
        "args['x y'] == -1 + 2 * 3 - 4",
        "args.exists(key, key == 'x')",
        "args.x.all(a, a.all(b, !(b == 1)))",
        "args.x.matches('^[a-z]{1,10}$')",
    ];
    for rule in portable {
        assert!(
            matches!(parse_rule(rule), Some(ParsedRule::Evaluable(..))),
            "{rule}"
        );
    }
    let large = [
        "args.x.matches('[a-z]{900}[a-z]{900}[a-z]{900}[a-z]{900}[a-z]{900}')",
        "args.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p == 1",
    ];
    for rule in large {
        assert!(
            matches!(parse_rule(rule), Some(ParsedRule::TooExpensive)),
            "{rule}"
        );
    }
}

#[test]
fn an_evaluation_that_would_take_an_hour_is_left_to_the_executor() -> Tested {
    let rules = |rule: &str| {
        let tool = custom(|tool| tool["conditions"] = json!([condition(rule)]));
        Rules::new(&serde_json::from_value(tool)?).map_err(Into::into)
    };
    let list = |length: usize| vec![json!(1); length];
    let many = json!((0..300).collect::<Vec<_>>()).to_string();
    // What is affordable is judged; what is not decides nothing.
    let table: [(String, Value, bool); 8] = [
        (
            "size(args.x) < 10".to_owned(),
            json!("x".repeat(1 << 20)),
            true,
        ),
        ("size(args.x) < 10".to_owned(), json!(list(1 << 18)), true),
        (
            "args.x.matches('^[a-z]{0,3}$')".to_owned(),
            json!("x".repeat(1 << 16)),
            true,
        ),
        (
            "args.x.matches('^[a-z]{0,3}$')".to_owned(),
            json!("x".repeat(1 << 20)),
            false,
        ),
        (
            "!args.x.all(a, args.x.all(b, a == b))".to_owned(),
            json!(list(20)),
            true,
        ),
        (
            "!args.x.all(a, args.x.all(b, a == b))".to_owned(),
            json!(list(1 << 18)),
            false,
        ),
        (
            "!args.x.all(a, args.x.all(b, args.x.all(c, args.x.all(d, a + b == c + d))))"
                .to_owned(),
            json!(list(100)),
            false,
        ),
        (
            format!("!{many}.all(a, {many}.all(b, {many}.all(c, a + b + c >= 0)))"),
            json!(1),
            false,
        ),
    ];
    for (rule, x, judged) in table {
        let arguments = Map::from_iter([("x".to_owned(), x)]);
        let rules: Rules = rules(&rule).map_err(|error: Box<dyn std::error::Error>| error)?;
        assert_eq!(
            rules.first_broken(&arguments).is_some(),
            judged,
            "{rule:.60}"
        );
    }
    Ok(())
}

#[test]
fn a_secret_stands_in_no_violation() -> Tested {
    let tool = custom(|tool| {
        tool["input_schema"]["properties"]["x"] = json!({"type": "string", "writeOnly": true});
        let mut condition = condition("size(args.x) > 100");
        condition["rule"]["paths"] = json!(["/x", "/y", "/z"]);
        tool["conditions"] = json!([condition]);
    });
    let rules = Rules::new(&serde_json::from_value(tool)?)?;
    let arguments = json!({"x": "hunter2", "y": 7});
    let broken = arguments
        .as_object()
        .and_then(|arguments| rules.first_broken(arguments));
    let shown = broken.map(|broken| Value::Object(broken.values));
    assert_eq!(shown, Some(json!({"x": "***", "y": 7})));
    Ok(())
}

#[test]
fn arguments_as_deep_as_any_are_judged() -> Tested {
    let tool = custom(|tool| tool["conditions"] = json!([condition("size(args.x) > 1")]));
    let rules = Rules::new(&serde_json::from_value(tool)?)?;
    let judge = move || {
        let x = (0..125).fold(json!(1), |inner, _| json!([inner]));
        let arguments = Map::from_iter([("x".to_owned(), x)]);
        rules.first_broken(&arguments).is_some()
    };
    let judged = thread::Builder::new()
        .stack_size(4 * STACK)
        .spawn(judge)?
        .join();
    assert_eq!(judged.ok(), Some(true));
    Ok(())
}
