//! Splits a reply into channels, of which only one is shown.
//!
//! Source: `OpenAI`, "Harmony response format", 2025.

use super::marks::{ACTION, ANSWER, LONGEST_TAG, MOST_BLOCKS, ReplyParts, marked};

const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";

/// What ends a message.
const ENDS: [&str; 5] = ["<|end|>", "<|start|>", "<|call|>", "<|return|>", CHANNEL];

/// What is spoken of all channels is the message of `final`; a reply without channels is spoken as a whole.
///
/// `None` where the reply ends within another channel, or where an action or an answer stands before the first one: that may have
/// been part of one which the prompt began.
pub(super) fn split(reply: &str) -> Option<ReplyParts> {
    let (mut thinking, mut text) = (String::new(), String::new());
    let is_said = |before: &str| {
        [ACTION, ANSWER]
            .iter()
            .any(|of| marked(before, of).is_some())
    };
    let Some(mut header) = header(reply) else {
        let unread = reply.find(CHANNEL);
        text.push_str(reply);
        return unread
            .is_none_or(|start| is_said(&reply[..start]))
            .then_some(ReplyParts { thinking, text });
    };
    if is_said(header.before) {
        return None;
    }
    thinking.push_str(header.before);
    for _ in 0..MOST_BLOCKS {
        let end = ENDS.iter().filter_map(|end| header.after.find(end)).min();
        let (said, rest) = header.after.split_at(end.unwrap_or(header.after.len()));
        if header.is_final {
            text.push_str(said);
            text.push('\n');
        } else if end.is_none() {
            return None;
        } else {
            thinking.push_str(said);
        }
        match self::header(rest) {
            Some(next) => header = next,
            None => return Some(ReplyParts { thinking, text }),
        }
    }
    None
}

struct Header<'t> {
    before: &'t str,
    is_final: bool,
    after: &'t str,
}

/// The first header, such as `<|channel|>final<|message|>`.
fn header(text: &str) -> Option<Header<'_>> {
    let (before, rest) = text.split_once(CHANNEL)?;
    let (name, after) = rest.split_once(MESSAGE)?;
    let ends_name = |c: char| c.is_whitespace() || c == '<';
    let is_final = name.trim_start().split(ends_name).next() == Some("final");
    (name.len() <= LONGEST_TAG).then_some(Header {
        before,
        is_final,
        after,
    })
}

#[cfg(test)]
mod tests {
    use contract_runtime::Registry;

    use super::super::parse::{Step, parse};

    const CALL: &str = "Action: find\nAction Input: {\"zeta\": \"x\"}";
    const FINAL: &str = "<|start|>assistant<|channel|>final<|message|>";

    fn step(text: &str) -> Step {
        let registry = Registry::builder().build().expect("it has no tools");
        parse(text, &registry).step
    }

    #[test]
    fn what_is_final_is_spoken_and_no_other_channel() {
        for (reply, thought) in [
            (
                format!("<|channel|>analysis<|message|>Hm.\n{CALL}<|end|>{FINAL}"),
                format!("Hm.\n{CALL}"),
            ),
            (
                format!("Hm.<|end|>{FINAL}"),
                "Hm.<|end|><|start|>assistant".to_owned(),
            ),
            (
                format!(
                    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=f<|message|>b<|call|>{FINAL}"
                ),
                "ab".to_owned(),
            ),
        ] {
            let registry = Registry::builder().build().expect("it has no tools");
            for (said, ends) in [("Answer: 42", "<|return|>"), (CALL, "<|end|>"), (CALL, "")] {
                let text = format!("{reply}{said}{ends}");
                let parsed = parse(&text, &registry);
                assert_eq!(parsed.thought, thought, "{text}");
                match parsed.step {
                    Step::Answer(answer) => {
                        assert_eq!((answer.as_str(), said), ("42", "Answer: 42"));
                    }
                    Step::Call { tool, .. } => assert_eq!((tool.as_str(), said), ("find", CALL)),
                    Step::Unclear(why) => panic!("{text}: {why}"),
                }
            }
        }
    }

    #[test]
    fn an_action_or_an_answer_in_another_channel_is_none() {
        for said in [CALL, "Answer: 41", "Thought: so\nAction: find {}"] {
            for text in [
                format!("<|channel|>analysis<|message|>{said}"),
                format!("<|channel|>analysis<|message|>\n{said}\n<|end|>"),
                format!("<|channel|>analysis<|message|>\n{said}\nObservation: x"),
                format!("Thought: so <|channel|>analysis<|message|>\n{said}"),
                format!("Thought: so <|channel|>analysis\n{said}"),
                format!("<|channel|>commentary<|message|>\n{said}<|call|>"),
                format!("<|channel|>finally<|message|>\n{said}<|end|>"),
                format!("{said}\n<|end|>{FINAL}I will not."),
                format!("{said}\nObservation: gone\n<|end|>{FINAL}Answer: no"),
                format!("<|channel|>analysis<|message|>a<|end|>{said}\n{FINAL}"),
                "<|channel|>analysis<|message|>a<|end|>".repeat(200) + FINAL + said,
            ] {
                let step = step(&text);
                assert!(matches!(step, Step::Unclear(_)), "{text} gave {step:?}");
            }
        }
    }

    #[test]
    fn an_answer_may_name_the_word_that_begins_a_channel() {
        let text = "Answer: `<|channel|>` begins one";
        assert_eq!(
            step(text),
            Step::Answer("`<|channel|>` begins one".to_owned())
        );
    }
}
