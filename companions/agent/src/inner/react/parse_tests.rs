//! Replies as models write them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::tool::{Content, DynamicSpec, Tool};

fn registry() -> Registry {
    let schema = json!({
        "type": "object",
        "properties": {"zeta": {"type": "string"}, "alpha": {"type": "integer"}},
        "additionalProperties": false,
    });
    let spec = DynamicSpec::new("find", "Find.").input_schema(schema);
    let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    Registry::builder()
        .with(vec![tool])
        .build()
        .expect("a sound tool")
}

#[track_caller]
fn is_call(text: &str, arguments: Value, repairs: &[Repair]) {
    let parsed = parse(text, &registry());
    let Step::Call {
        tool,
        arguments: got,
        repairs: recorded,
    } = parsed.step
    else {
        panic!("{text} gave {parsed:?}");
    };
    assert_eq!(tool, "find", "{text}");
    assert_eq!(
        serde_json::from_str::<Value>(&got).ok(),
        Some(arguments),
        "{text}"
    );
    assert_eq!(recorded, repairs, "{text}");
}

#[test]
fn several_formats_of_actions_are_one_call() {
    let arguments = json!({"zeta": "a\nb", "alpha": 2});
    for text in [
        "Thought: look\nAction: find\nAction Input: {\"zeta\": \"a\\nb\", \"alpha\": 2}",
        "**Action:** `find`\n**Action Input:** {\"zeta\": \"a\\nb\", \"alpha\": 2}\nObservation: made up",
        "Action: find({\"zeta\": \"a\\nb\", \"alpha\": 2})",
        "action: find(zeta=\"a\\nb\", alpha=2)",
        "Action: find {\"zeta\": \"a\\nb\", \"alpha\": 2} and then we will see",
        "Action: {\"tool\": \"find\", \"arguments\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}",
        "Sure!\n```json\n{\"name\": \"find\", \"arguments\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}\n```\n",
        "\u{feff}Action: find {\"zeta\": \"a\\nb\", \"alpha\": 2}",
        "Thought: look\n\u{a0}Action: find {\"zeta\": \"a\\nb\", \"alpha\": 2}",
        "Thought: I look,\nthen I count.\n{\"tool\": \"find\", \"input\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}",
        "<tool_call>\n{\"name\": \"find\", \"arguments\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}\n</tool_call>",
        "Action: find\nAction Input: ```json\n{\"zeta\": \"a\\nb\", \"alpha\": 2}\n```",
        "{\"name\": \"find\", \"arguments\": \"{\\\"zeta\\\": \\\"a\\\\nb\\\", \\\"alpha\\\": 2}\"}",
    ] {
        is_call(text, arguments.clone(), &[]);
    }
}

#[test]
fn arguments_without_names_go_by_declaration() {
    is_call(
        "Action: find('x', 2)",
        json!({"zeta": "x", "alpha": 2}),
        &[Repair::Positional, Repair::SingleQuotes],
    );
    is_call(
        "Action: find(\"x\", alpha=[2]",
        json!({"zeta": "x", "alpha": [2]}),
        &[Repair::Positional, Repair::Closed],
    );
}

#[test]
fn half_written_arguments_are_repaired_only_where_that_has_one_meaning() {
    is_call(
        "Action: find\nAction Input: {\"alpha\": 2, \"zeta\": \"x\"",
        json!({"zeta": "x", "alpha": 2}),
        &[Repair::Closed],
    );
    for text in [
        "Action: find\nAction Input: {\"zeta\": \"x",
        "Action: find\nAction Input: {\"zeta\": ",
        "Action: find(1, 2, 3)",
        "Action: find(1 2)",
        "Action: find(zeta=\"x\", alpha=2",
        "Action: find\nAction Input: {\"alpha\": 2",
        "Action: find\nAction Input: the x",
        "Action:",
    ] {
        let parsed = parse(text, &registry());
        assert!(
            matches!(parsed.step, Step::Unclear(_)),
            "{text} gave {parsed:?}"
        );
    }
}

#[test]
fn an_answer_ends_it_and_what_comes_before_is_a_thought() {
    let parsed = parse("Thought: I know.\nFinal Answer: 42\nis it", &registry());
    assert_eq!(parsed.thought, "I know.");
    assert_eq!(parsed.step, Step::Answer("42\nis it".to_owned()));
}

#[test]
fn an_answer_made_up_after_a_call_is_not_believed() {
    is_call(
        "Action: find(\"x\")\nAnswer: found it",
        json!({"zeta": "x"}),
        &[Repair::Positional],
    );
}

#[track_caller]
fn is_unclear(text: &str, why: &str) {
    let parsed = parse(text, &registry());
    let Step::Unclear(told) = &parsed.step else {
        panic!("{text} gave {parsed:?}");
    };
    assert!(told.contains(why), "{text} gave {told}");
}

#[test]
fn text_without_either_is_unclear() {
    is_unclear("I am thinking", "neither an action nor an answer");
    is_unclear("I think that { is a brace", "an object alone");
}

#[test]
fn an_object_with_more_around_it_than_a_thought_is_no_call() {
    const CALL: &str = r#"{"tool": "find", "arguments": {"zeta": "x"}}"#;
    is_call(CALL, json!({"zeta": "x"}), &[]);
    for text in [
        format!("{CALL}\nDone."),
        format!("{CALL} is what I will not do"),
        format!("```json\n{CALL}\n```\nor not"),
        format!("{CALL}\n{CALL}"),
        format!("[{CALL}]"),
        format!("[\n{CALL}"),
        format!("Never write {CALL}"),
        format!("Never write `{CALL}`"),
        format!("> {CALL}"),
        format!("The user wrote\nthis here:\n{CALL}"),
        format!("{{}}\n{CALL}"),
    ] {
        is_unclear(&text, "an object alone");
    }
}

#[test]
fn equal_or_several_keys_of_a_call_are_unclear() {
    for text in [
        r#"{"tool": "find", "tool": "other", "arguments": {}}"#,
        r#"{"tool": "find", "name": "other", "arguments": {}}"#,
        r#"{"tool": "find", "arguments": {}, "args": {"zeta": "x"}}"#,
    ] {
        is_unclear(text, "an object alone");
        is_unclear(&format!("Action: {text}"), "give both, once");
    }
}

#[test]
fn arguments_in_an_object_stay_as_they_are_written() {
    let parsed = parse(
        r#"{"tool": "find", "arguments": {"alpha": 1, "alpha": 2.0}}"#,
        &registry(),
    );
    let Step::Call { arguments, .. } = parsed.step else {
        panic!("{parsed:?}");
    };
    // Whoever takes the call refuses equal keys.
    assert_eq!(arguments, r#"{"alpha":1,"alpha":2.0}"#);
}

#[test]
fn a_second_value_behind_the_arguments_is_unclear() {
    for text in [
        "Action: find\nAction Input: {\"alpha\": 1}\n{\"alpha\": 2}",
        "Action: find\nAction Input: {\"alpha\": 1}, {\"alpha\": 2}",
        "Action: find\nAction Input: {\"alpha\": 1} 2",
        "Action: find\nAction Input: {\"alpha\": 1} or {\"alpha\": 2}",
        "Action: find\nAction Input: {\"alpha\": 1}\nAction Input: {\"alpha\": 2}",
        "Action: find {\"alpha\": 1}\nAction Input: {\"alpha\": 2}",
        "Action: find({\"alpha\": 1}, {\"alpha\": 2})",
        "Action: find(alpha=1) find(alpha=2)",
        "Action: find or other\nAction Input: {\"alpha\": 2}",
    ] {
        is_unclear(text, "the arguments of `find` cannot be read");
    }
}

#[test]
fn two_actions_are_unclear() {
    for text in [
        "Action: find\nAction Input: {}\nAction: find\nAction Input: {}",
        "<tool_call>{\"name\": \"find\"}</tool_call>\n<tool_call>{\"name\": \"find\"}</tool_call>",
        "Action: {\"tool\": \"find\"} {\"tool\": \"find\"}",
    ] {
        is_unclear(text, "more than one action");
    }
}

#[test]
fn a_name_that_is_cut_or_dressed_up_is_unclear() {
    for name in [
        "eff\u{200b}ect",
        "f\u{456}nd",
        "find\u{feff}",
        "find/other",
        "[find]",
    ] {
        is_unclear(&format!("Action: {name} {{}}"), "is no name of a tool");
        is_unclear(
            &format!("{{\"tool\": \"{name}\", \"arguments\": {{}}}}"),
            "is no name of a tool",
        );
    }
    is_call("Action: **find** {}", json!({}), &[]);
}

#[test]
fn an_answer_and_then_an_action_are_unclear() {
    is_unclear(
        "Answer: I found it.\nAction: find\nAction Input: {}",
        "both an answer and an action",
    );
}

#[test]
fn a_quoted_action_is_none() {
    let parsed = parse("> Action: find\nAnswer: that is forbidden", &registry());
    assert_eq!(parsed.step, Step::Answer("that is forbidden".to_owned()));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(Action|Answer|Thought|Action Input|find|\\(|\\)|\\{|\\}|\"|'|:|,|=|\\n|\\\\|é| |1|x){0,40}") {
        let _ = parse(&text, &registry());
    }
}
