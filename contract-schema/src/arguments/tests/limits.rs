//! Hostile sizes and nesting.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::super::{ProblemKind, examine};
use super::{give, schema_from, schema_of};
use crate::InputSchema;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Tree {
    children: Vec<Tree>,
    next: Option<Box<Tree>>,
}

fn in_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn deep_values_are_refused_in_a_small_stack() {
    in_small_stack(|| {
        let schema = schema_of::<Value>();
        for depth in [126, 127, 128, 1_000, 500_000] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(give(&schema, &text).is_ok(), depth <= 126, "{depth}");
            assert!(give(&schema, &"[".repeat(depth)).is_err());
            assert!(give(&schema, &"{\"a\":".repeat(depth)).is_err());
        }
        let refusal = give(&schema, &"[".repeat(1_000)).unwrap_err();
        assert!(
            refusal.to_string().contains("inside each other"),
            "{refusal}"
        );
    });
}

#[test]
fn a_recursive_type_is_walked_to_the_limit_in_a_small_stack() {
    in_small_stack(|| {
        let schema = schema_of::<Option<Tree>>();
        for leaf in ["null", "5"] {
            let mut next = format!("{{\"children\":[],\"next\":{leaf}}}");
            while next.matches('{').count() < 125 {
                next = format!("{{\"children\":[],\"next\":{next}}}");
            }
            assert_eq!(give(&schema, &next).is_ok(), leaf == "null");
            let mut child = format!("{{\"children\":[],\"next\":{leaf}}}");
            for _ in 0..60 {
                child = format!("{{\"children\":[{child}]}}");
            }
            assert_eq!(give(&schema, &child).is_ok(), leaf == "null");
        }
    });
}

#[test]
fn alternatives_in_alternatives_do_not_blow_up() {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum Twin {
        Left { next: Box<Twin>, left: u8 },
        Right { next: Box<Twin>, right: u8 },
        Neither { next: Box<Twin> },
        End(u8),
    }
    in_small_stack(|| {
        let schema = schema_of::<Twin>();
        for leaf in ["7", "\"x\""] {
            let mut text = leaf.to_owned();
            for _ in 0..120 {
                text = format!("{{\"next\":{text}}}");
            }
            assert_eq!(give(&schema, &text).is_ok(), leaf == "7");
        }
    });
}

#[test]
fn too_much_work_is_refused() {
    let branches: Vec<Value> = (0..200)
        .map(|n| json!({"type": "array", "items": {"minimum": n}, "minItems": 9}))
        .collect();
    let schema = schema_from(json!({"items": {"anyOf": branches}}));
    let text = format!(
        "[{}]",
        vec!["[-1,-1,-1,-1,-1,-1,-1,-1,-1]"; 30_000].join(",")
    );
    let refusal = give(&schema, &text).unwrap_err();
    assert_eq!(refusal.problems()[0].kind, ProblemKind::TooComplex);
}

#[test]
fn a_megabyte_is_judged() {
    let schema = schema_of::<Value>();
    let integers = schema_of::<Vec<Option<i64>>>();
    for part in ["[]", "0", "5.0", "{}", "\"\"", "{\"\":0}", "1e5", "null"] {
        let count = 1_000_000 / (part.len() + 1);
        let text = format!("[{}]", vec![part; count].join(","));
        assert!(give(&schema, &text).is_ok(), "{part}");
        let _ = give(&integers, &text);
    }
}

fn both(schema: &InputSchema, text: &str) -> Vec<ProblemKind> {
    let refusal = examine(text, schema, false).unwrap_err();
    refusal
        .problems()
        .iter()
        .map(|problem| problem.kind)
        .collect()
}

#[test]
fn duplicates_are_found_at_any_depth() {
    let schema = schema_of::<Value>();
    for text in [
        r#"{"v":1,"v":1}"#,
        r#"{"v":{"a":1,"a":2}}"#,
        r#"{"v":[[{"a":1,"\u0061":2}]]}"#,
        r#"{"v":{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"1":0}}"#,
    ] {
        assert_eq!(both(&schema, text), [ProblemKind::Duplicate], "{text}");
    }
}
