//! Random replies, whole and cut.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Replies in every form that is understood.
fn replies() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        any::<i32>().prop_map(Value::from),
        "[a-z\"'{}()<>`,: \n]{0,8}".prop_map(Value::from),
        prop::collection::vec(any::<bool>(), 0..3).prop_map(Value::from),
    ];
    let arguments = prop::collection::btree_map("[a-z]{1,5}", value, 0..4);
    let before = prop_oneof![
        Just(""),
        Just("Thought: I look.\n"),
        Just("<think>\nAction: find\nAction Input: {}\n</think>\n"),
    ];
    (arguments, before, 0..7usize).prop_map(|(arguments, before, form)| {
        let named: Vec<String> = arguments
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let object = json!(arguments);
        let call = match form {
            0 => format!("Action: find\nAction Input: {object}"),
            1 => format!("Action: find\nAction Input: ```json\n{object:#}\n```"),
            2 => format!("Action: find({})", named.join(", ")),
            3 => format!("Action: find({object})"),
            4 => format!("Action: {{\"tool\": \"find\", \"arguments\": {object}}}"),
            5 => format!(
                "<tool_call>\n{{\"name\": \"find\", \"arguments\": {object}}}\n</tool_call>"
            ),
            _ => format!("{{\"tool\": \"find\", \"arguments\": {object}}}"),
        };
        format!("{before}{call}\nObservation: made up\nAction: find\nAction Input: {{}}")
    })
}

proptest! {
    #[test]
    fn a_reply_that_is_cut_runs_nothing_or_what_the_whole_one_runs(reply in replies()) {
        let registry = registry();
        let whole = parse(&reply, &registry).step;
        prop_assert!(matches!(whole, Step::Call { .. }), "{reply} gave {whole:?}");
        for (end, _) in reply.char_indices() {
            let cut = parse(&reply[..end], &registry).step;
            if matches!(cut, Step::Call { .. }) {
                prop_assert_eq!(&cut, &whole, "{}", &reply[..end]);
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(Action|Answer|Thought|Action Input|find|<think>|</think>|```|~~~|</|\\(|\\)|\\{|\\}|\"|'|:|,|=|\\n|\\\\|é| |1|x){0,40}") {
        let _ = parse(&text, &registry());
    }
}
