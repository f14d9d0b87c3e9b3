//! Models that are masked token by token.

use std::sync::Mutex;

use contract_agent::{
    ConstrainedAgent, ConstrainedDecoder, Constraint, ContractAgent, DecodingStep, Enforcement,
    Event, NextToken, RunError, TokenMask, TokenModel, TokenSet, Vocabulary,
};
use contract_runtime::Status;
use serde_json::json;

use crate::sampled::is_left_to_the_call;
use crate::tools::{Random, judge, registry};

/// Chooses at random among what it may.
#[derive(Debug)]
struct Monkey {
    vocabulary: Vocabulary,
    random: Mutex<Random>,
}

impl Monkey {
    fn new(vocabulary: Vocabulary, seed: u64) -> Self {
        Self {
            vocabulary,
            random: Mutex::new(Random::new(seed)),
        }
    }
}

impl TokenModel for Monkey {
    fn name(&self) -> &'static str {
        "monkey"
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn next<'a>(&'a self, step: DecodingStep<'a>) -> NextToken<'a> {
        let allowed: Vec<u32> = step.allowed.iter().collect();
        let token = self.random.lock().expect("no panic").token(
            &allowed,
            self.vocabulary.end(),
            step.written.len(),
        );
        Box::pin(async move { Ok(token) })
    }
}

/// Single bytes, and words of several.
fn words() -> Vocabulary {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let words = [
        "{\"", "\":", "\",\"", "tool", "_call", "an", "swer", "\"}", "argu", "ments", "12", "}}",
        "\u{e9}",
    ];
    let words = words.map(|word| word.as_bytes().to_vec());
    Vocabulary::new(bytes.chain(words).chain([b"</s>".to_vec()]), 269)
}

#[tokio::test]
async fn a_masked_model_makes_only_calls_whose_arguments_are_taken() {
    let (mut calls, mut answers) = (0, 0);
    for seed in 0..12 {
        let vocabulary = if seed % 2 == 0 {
            Vocabulary::bytes()
        } else {
            words()
        };
        let model = ConstrainedDecoder::new(Monkey::new(vocabulary, seed)).max_tokens(2_000);
        let inner = ConstrainedAgent::new(model, registry())
            .expect("it can be said")
            .enforcement(Enforcement::ByEngine);
        let agent = ContractAgent::builder(inner)
            .invariant("six steps", |state| state.iterations <= 6)
            .build();
        let result = agent.run("go").await;
        for step in &result.steps {
            match step {
                Event::Observation {
                    status, text, tool, ..
                } => {
                    let refused = *status == Status::InvalidArguments;
                    assert!(!refused || is_left_to_the_call(text), "{tool}: {text}");
                    assert_ne!(*status, Status::UnknownTool);
                    calls += 1;
                }
                Event::Answer { .. } => answers += 1,
                // A reply that was as long as it may be.
                Event::Error {
                    error: RunError::Model { message, .. },
                } => {
                    assert!(message.contains("EOF while parsing"), "{message}");
                }
                _ => {}
            }
        }
    }
    assert!(calls > 3 && answers > 2, "{calls} calls, {answers} answers");
}

#[test]
fn a_mask_allows_every_token_that_begins_what_may_come() {
    let constraint =
        Constraint::from_schema(json!({"enum": ["tool", "toil"]})).expect("it can be said");
    let vocabulary = Vocabulary::new(
        [
            "\"", "t", "to", "too", "tool", "toil\"", "tools", "x", "\"to", "</s>", "o", "l",
            "ol\"",
        ]
        .map(|word| word.as_bytes().to_vec()),
        9,
    );
    let mut mask = TokenMask::new(&constraint, &vocabulary).expect("the engine reads the grammar");
    let list = |allowed: &TokenSet| -> Vec<String> {
        allowed
            .iter()
            .map(|token| String::from_utf8(vocabulary.text(token)).expect("text"))
            .collect()
    };
    assert_eq!(
        list(&mask.allowed().expect("within limits")),
        ["\"", "\"to"]
    );
    mask.accept(0).expect("it is allowed");
    assert_eq!(
        list(&mask.allowed().expect("within limits")),
        ["t", "to", "too", "tool", "toil\""]
    );
    assert!(mask.fork().accept(7).is_err());
    mask.accept(5).expect("it is allowed");
    assert!(
        mask.allowed()
            .expect("within limits")
            .contains(vocabulary.end())
    );
}

#[test]
fn without_a_mask_the_same_monkey_makes_no_reply() {
    let mut random = Random::new(5);
    let all: Vec<u32> = (32..127).collect();
    let text: String = (0..60)
        .map(|length| char::from(u8::try_from(random.token(&all, 256, length)).expect("a byte")))
        .collect();
    assert!(judge(&registry(), "nothing", &text).is_err());
}
