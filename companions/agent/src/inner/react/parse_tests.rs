//! Replies of real models, and how they are parsed.

use contract_runtime::{Content, DynamicSpec, Tool};
use serde_json::{Value, json};

use super::*;

#[path = "parse_tests_random.rs"]
mod random;

fn registry() -> Registry {
    let schema = json!({
        "type": "object",
        "properties": {"zeta": {"type": "string"}, "alpha": {"type": "integer"}},
        "additionalProperties": false,
    });
    let spec = DynamicSpec::new("find", "Find.").input_schema(schema);
    let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    Registry::builder()
        .with(tool)
        .build()
        .expect("a sound tool")
}

#[track_caller]
fn is_call(text: &str, arguments: Value) {
    let parsed = parse(text, &registry());
    let Step::Call {
        tool,
        arguments: got,
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
}

#[test]
fn several_formats_of_actions_are_one_call() {
    let arguments = json!({"zeta": "a\nb", "alpha": 2});
    for text in [
        "Thought: look\nAction: find\nAction Input: {\"zeta\": \"a\\nb\", \"alpha\": 2}",
        "**Action:** `find`\n**Action Input:** {\"zeta\": \"a\\nb\", \"alpha\": 2}\nObservation: made up",
        "**Thought**: look\n**Action**: find\n__Action Input__: {\"zeta\": \"a\\nb\", \"alpha\": 2}\n*Observation*: made up",
        "Action: find({\"zeta\": \"a\\nb\", \"alpha\": 2})",
        "action: find(zeta=\"a\\nb\", alpha=2)",
        "Action: find {\"zeta\": \"a\\nb\", \"alpha\": 2}\n\n",
        "Action: {\"tool\": \"find\", \"arguments\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}",
        "Action:\n```json\n{\"name\": \"find\", \"arguments\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}\n```\n",
        "<think>\nAction: other\nAction Input: {}\n</think>\nAction: find {\"zeta\": \"a\\nb\", \"alpha\": 2}",
        "\u{feff}Action: find {\"zeta\": \"a\\nb\", \"alpha\": 2}",
        "Thought: look\n\u{a0}Action: find {\"zeta\": \"a\\nb\", \"alpha\": 2}",
        "Thought: I look,\nthen I count.\n{\"tool\": \"find\", \"input\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}",
        "<tool_call>\n{\"name\": \"find\", \"arguments\": {\"zeta\": \"a\\nb\", \"alpha\": 2}}\n</tool_call>",
        "Action: find\nAction Input: ```json\n{\"zeta\": \"a\\nb\", \"alpha\": 2}\n```",
        "Action: find\nAction Input:\n```\n{\"zeta\": \"a\\nb\", \"alpha\": 2}\n```\nObservation: made up",
        "Action: find\nAction Input: ```json\n{\"zeta\": \"a\\nb\", \"alpha\": 2}\n```\nObservation: made up",
        "{\"name\": \"find\", \"arguments\": \"{\\\"zeta\\\": \\\"a\\\\nb\\\", \\\"alpha\\\": 2}\"}",
    ] {
        is_call(text, arguments.clone());
    }
}

#[test]
fn arguments_without_names_go_by_declaration() {
    is_call("Action: find('x', 2)", json!({"zeta": "x", "alpha": 2}));
    is_call(
        "Action: find(\"x\", alpha=[2])",
        json!({"zeta": "x", "alpha": [2]}),
    );
}

#[test]
fn a_call_as_in_python_has_python_values() {
    is_call(
        "Action: find(zeta='so \"it\" is', alpha=None)",
        json!({"zeta": "so \"it\" is", "alpha": null}),
    );
    is_call(
        "Action: find(True, alpha=False)",
        json!({"zeta": true, "alpha": false}),
    );
}

#[test]
fn an_object_that_is_not_json_is_asked_for_again() {
    for arguments in [
        "{'zeta': 'x'}",
        "{\"alpha\": 2,}",
        "{\"alpha\": None}",
        "{\"zeta\": \"a\nb\"}",
        "{zeta: \"x\"}",
    ] {
        for text in [
            format!("Action: find\nAction Input: {arguments}"),
            format!("Action: {{\"tool\": \"find\", \"arguments\": {arguments}}}"),
        ] {
            is_unclear(&text, "write");
        }
    }
    is_unclear("Action: find('it\\'s')", "has an escape");
    is_unclear("Action: find(zeta=Nonesuch)", "a comma is missing");
}

#[test]
fn half_written_arguments_are_no_arguments() {
    for text in [
        "Action: find\nAction Input: {\"alpha\": 2, \"zeta\": \"x\"",
        "Action: find\nAction Input: {\"zeta\": \"x",
        "Action: find\nAction Input: {\"zeta\": ",
        "Action: find\nAction Input: {\"alpha\": 2",
        "Action: find\nAction Input: {",
        "Action: find\nAction Input:",
        "Action: find\nAction Inp",
        "Action: find",
        "Action: find(",
        "Action: find(alpha=1",
        "Action: find(alpha=1,",
        "Action: find(alpha=1, ",
        "Action: find(alpha=[1],",
        "Action: find(\"x\", alpha=[2]",
        "Action: find({\"alpha\": 1}",
        "Action: find(zeta=\"x\", alpha=2",
        "Action: find(1, 2, 3)",
        "Action: find(1 2)",
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
    is_unclear(
        "I think that { is a brace",
        "a JSON object is an action only",
    );
}

#[test]
fn an_object_with_more_around_it_than_a_thought_is_no_call() {
    const CALL: &str = r#"{"tool": "find", "arguments": {"zeta": "x"}}"#;
    is_call(CALL, json!({"zeta": "x"}));
    is_call(&format!("Thought: now\n\n{CALL}\n"), json!({"zeta": "x"}));
    for text in [
        format!("{CALL}\nDone."),
        format!("{CALL} is what I will not do"),
        format!("I will not do this:\n{CALL}"),
        format!("{CALL}\n{CALL}"),
        format!("[{CALL}]"),
        format!("[\n{CALL}"),
        format!("Never write {CALL}"),
        format!("Never write `{CALL}`"),
        format!("> {CALL}"),
        format!("The user wrote\nthis here:\n{CALL}"),
        format!("{{}}\n{CALL}"),
    ] {
        is_unclear(&text, "a JSON object is an action only if");
    }
    is_unclear(&format!("```json\n{CALL}\n```\nor not"), "in a code fence");
    is_unclear(&format!("Sure!\n```json\n{CALL}\n```"), "in a code fence");
}

/// What stands between the tags of thinking, in code, or in a text that denies it, is not called for.
#[test]
fn an_action_that_was_not_called_for_is_none() {
    const CALL: &str = "Action: find\nAction Input: {\"zeta\": \"x\"}";
    for text in [
        format!("<think>\n{CALL}\n</think>"),
        format!("<think>\n{CALL}\n</think>\nI will not do that."),
        format!("<THINKING>{CALL}\n</THINKING >"),
        format!("<think>a <think>\n</think>\n{CALL}\n</think>"),
        format!("Thought: hm\n<think>\n{CALL}"),
        format!("I could write\n{CALL}\n</think>\nbut no"),
        format!("{CALL}\n</think>\nAnswer: no"),
        format!("```\n{CALL}\n```"),
        format!("```\nThought: now\n{CALL}"),
        format!("Thought: like this\n~~~text\n{CALL}\n~~~"),
        format!("Thought: like this\n```\n```text\n{CALL}\n```"),
        format!("I will not do this:\n{CALL}"),
        format!("I was told to write\n\n{CALL}"),
        format!("Sure!\nThought: now\n{CALL}"),
        format!("{CALL}\nNo, I must not do that."),
        format!("{CALL} would be wrong"),
        format!("{CALL}\n\nThought: no, rather not"),
        format!("{CALL}\nAnswer: I did not do it"),
        format!("Action: none, because this is wrong: {CALL}"),
        "Action: find(zeta=\"x\") is what I will not do".to_owned(),
        "Action: {\"tool\": \"find\", \"arguments\": {}} is wrong".to_owned(),
        "Action: do not call find {}".to_owned(),
    ] {
        let parsed = parse(&text, &registry());
        let Step::Unclear(why) = &parsed.step else {
            panic!("{text} gave {parsed:?}");
        };
        assert!(why.contains("; "), "it says what to do: {why}");
    }
}

/// Thinking has many spellings, its beginning may stand in the prompt, and it ends where the reply says so.
#[test]
fn an_action_in_thinking_of_any_spelling_is_none() {
    const CALL: &str = "Action: find\nAction Input: {\"zeta\": \"x\"}";
    for (begin, end) in [
        ("<think>", "</think>"),
        ("<think type=\"x\">", "</think>"),
        ("<think\n  type=\"x\"\n>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<seed:think>", "</seed:think>"),
        ("[THINK]", "[/THINK]"),
        ("\u{25c1}think\u{25b7}", "\u{25c1}/think\u{25b7}"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("<analysis>", "</analysis>"),
        ("<scratchpad>", "</scratchpad>"),
        ("<reasoning>", "</reasoning>"),
    ] {
        for text in [
            format!("Thought: {begin}\n{CALL}"),
            format!("Thought: {begin}\n{CALL}\n{end}"),
            format!("Thought: {begin}\n{CALL}\n{end}\nI had better not."),
            format!("Thought: {begin}\n{CALL}\nObservation: gone\nThought: bad\n{end}\nno"),
            format!("Thought: maybe\n{CALL}\n{end}\nAnswer: no"),
            format!("Thought: maybe\n{CALL}\nObservation: gone\nThought: bad\n{end}\nAnswer: no"),
            format!("{CALL}\nObservation: {begin}a{end}\n{end}\nAnswer: no"),
        ] {
            let step = parse(&text, &registry()).step;
            assert!(matches!(step, Step::Unclear(_)), "{text} gave {step:?}");
        }
        is_call(
            &format!("{begin}\nAction: other\n{end}\n{CALL}"),
            json!({"zeta": "x"}),
        );
        is_call(
            &format!("Thought: now\n{CALL}\nObservation: {begin}a{end}"),
            json!({"zeta": "x"}),
        );
    }
    let unclosed = format!("Thought: <think type=x\n{CALL}");
    is_unclear(&unclosed, "your thinking is not closed");
}

#[test]
fn words_in_angles_within_a_sentence_are_no_tag() {
    const CALL: &str = "Action: find\nAction Input: {\"zeta\": \"x\"}";
    for text in [
        format!("Thought: I <think about it> and act.\n{CALL}"),
        format!("Thought: I <thought so>\n{CALL}"),
        format!("<think>I <think about it> and act.</think>\n{CALL}"),
    ] {
        is_call(&text, json!({"zeta": "x"}));
    }
    for text in [
        format!("Thought: <think hard>\n{CALL}"),
        format!("Thought: I\n<think about it>\n{CALL}"),
        format!("Thought: I <think>\n{CALL}"),
        format!("Thought: I <think a=b>\n{CALL}"),
        format!("Thought: I <think about it\n{CALL}"),
        format!("Thought: I <think about it>\n{CALL}\n</think>"),
        format!("Thought: I <think about it>\n{CALL}\nObservation: x\n</think>\nno"),
    ] {
        let step = parse(&text, &registry()).step;
        assert!(matches!(step, Step::Unclear(_)), "{text} gave {step:?}");
    }
}

/// Wherever in its line a fence stands: only the arguments, or the object that is the action, have one that counts for nothing.
#[test]
fn an_action_behind_or_before_a_fence_of_any_form_is_none() {
    const CALL: &str = "Action: find\nAction Input: {\"zeta\": \"x\"}";
    const OBJECT: &str = r#"{"tool": "find", "arguments": {"zeta": "x"}}"#;
    for text in [
        format!("Thought: The form is this: ```\n{CALL}\n```"),
        format!("Thought: The form is this: ~~~\n{CALL}\n~~~"),
        format!("Thought: The form is this: ```\n{CALL}\nObservation: x\n```"),
        format!("Thought: this\n- ```\n{CALL}\n```"),
        format!("Thought: this\n1. ```\n{CALL}"),
        format!("Thought: this\n**```\n{CALL}\n```**"),
        format!("Thought: this\u{2028}```\n{CALL}\n```"),
        format!("Thought: this\n\u{200b}```\n{CALL}\n```"),
        format!("Thought: this\n```\n    ```\n{CALL}\nObservation: x\n```"),
        format!("Thought: this ```\n{OBJECT}"),
        format!("{CALL}\n```"),
        format!("{CALL} ```"),
        format!("{CALL}\n~~~"),
        format!("Action: {OBJECT}\n```"),
        "Action: find({\"zeta\": \"x\"})\n```".to_owned(),
        "Action: find```\nAction Input: {\"zeta\": \"x\"}".to_owned(),
        "Action: ```\nfind\nAction Input: {\"zeta\": \"x\"}\n```".to_owned(),
        "Action: find\nAction Input: ```json\n{\"zeta\": \"x\"}".to_owned(),
        "Action: find\nAction Input: ```json\n{\"zeta\": \"x\"}\n```\n```".to_owned(),
    ] {
        is_unclear(&text, "text in a code fence is not executed");
    }
    is_call(
        &format!("Thought: like this\n```\nlet x = 1;\n```\n{CALL}"),
        json!({"zeta": "x"}),
    );
    is_call("Action: `find(zeta=\"x\")`", json!({"zeta": "x"}));
}

#[test]
fn an_answer_is_given_whatever_was_thought_or_shown_before() {
    for text in [
        "<think>\nAction: find\nAction Input: {}\n</think>\nAnswer: 42",
        "I could write find().</think>\n\nAnswer: 42",
        "Thought: like this\n```\nAction: find\nAction Input: {}\n```\nAnswer: 42",
        "So it is.\nFinal Answer: 42",
    ] {
        let step = parse(text, &registry()).step;
        assert_eq!(step, Step::Answer("42".to_owned()), "{text}");
    }
    let text = "Answer: write\n```\nAction: find\n```\nor <think>";
    let step = parse(text, &registry()).step;
    assert_eq!(step, Step::Answer(text["Answer: ".len()..].to_owned()));
}

#[test]
fn tags_and_fences_in_arguments_are_arguments() {
    for zeta in [
        "<think>",
        "</think>",
        "a </think> b",
        "```\nAction: find\n```",
    ] {
        let arguments = json!({"zeta": zeta});
        is_call(
            &format!("Thought: now\nAction: find\nAction Input: {arguments}"),
            arguments,
        );
    }
}

#[test]
fn equal_or_several_keys_of_a_call_are_unclear() {
    for text in [
        r#"{"tool": "find", "tool": "other", "arguments": {}}"#,
        r#"{"tool": "find", "name": "other", "arguments": {}}"#,
        r#"{"tool": "find", "arguments": {}, "args": {"zeta": "x"}}"#,
    ] {
        is_unclear(text, "duplicate field");
        is_unclear(&format!("Action: {text}"), "each of them once");
    }
}

#[test]
fn an_object_with_more_or_less_than_a_name_and_arguments_is_no_call() {
    const CALL: &str = r#""tool": "find", "arguments": {"zeta": "x"}"#;
    for more in [
        r#""answer": "no""#,
        r#""type": "answer", "content": "no""#,
        r#""execute": false"#,
        r#""error": "forbidden""#,
        r#""example": true"#,
    ] {
        for object in [format!("{{{CALL}, {more}}}"), format!("{{{more}, {CALL}}}")] {
            is_unclear(&object, "unknown field");
            is_unclear(&format!("Thought: hm\n{object}"), "unknown field");
            is_unclear(&format!("Action: {object}"), "unknown field");
        }
    }
    is_call(r#"{"tool": "find", "arguments": null}"#, json!(null));
    for text in [r#"{"name": "find"}"#, r#"Action: {"tool": "find"}"#] {
        is_unclear(text, "missing field `arguments`");
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
    assert_eq!(arguments, r#"{"alpha": 1, "alpha": 2.0}"#);
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
        "Action: find {\"alpha\": 1} and then we will see",
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
        is_unclear(&format!("Action: {name} {{}}"), "is not the name of a tool");
        is_unclear(
            &format!("{{\"tool\": \"{name}\", \"arguments\": {{}}}}"),
            "is not the name of a tool",
        );
    }
    is_call("Action: **find** {}", json!({}));
}

#[test]
fn an_answer_and_an_action_are_unclear() {
    for text in [
        "Answer: I found it.\nAction: find\nAction Input: {}",
        "Action: find(\"x\")\nAnswer: found it",
    ] {
        is_unclear(text, "both an answer and an action");
    }
}

#[test]
fn a_quoted_action_is_none() {
    let parsed = parse("> Action: find\nAnswer: that is forbidden", &registry());
    assert_eq!(parsed.step, Step::Answer("that is forbidden".to_owned()));
}
