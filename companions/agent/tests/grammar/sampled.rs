//! Whatever a grammar accepts is a reply, and whatever it enforces a call accepts.

use contract_agent::{
    ConstrainedAgent, Constraint, ContractAgent, Enforcement, Event, RunError, Scripted, TokenMask,
    Vocabulary,
};

use crate::gbnf_reader::Gbnf;
use crate::tools::{Random, arguments, judge, registry, sample};

const ROUNDS: usize = 60;

/// Why a call may refuse what llguidance accepts: a condition or keyword that it does not enforce, or a number that no type has.
pub(crate) fn is_left_to_the_call(error: &str) -> bool {
    [
        "requires",
        "refuses this call",
        "more than once",
        "expected anything but",
        "out of range",
        "18446744073709551615",
        "an integer from -2^63 to 2^64 - 1",
        "3.4028235e+38",
    ]
    .iter()
    .any(|reason| error.contains(reason))
        || refused_number(error).is_some_and(|number| number.abs() > 9_007_199_254_740_992.0)
}

/// The number that a call refused; beyond 2^53 no grammar bounds one, and a call takes those of 64 bits.
fn refused_number(error: &str) -> Option<f64> {
    let (_, number) = error.rsplit_once("got the number ")?;
    let end = number.find(|letter: char| !"+-.eE0123456789".contains(letter));
    number[..end.unwrap_or(number.len())].parse().ok()
}

#[test]
fn a_call_accepts_every_sampled_text_as_far_as_it_is_enforced() {
    let registry = registry();
    let mut random = Random::new(1);
    for tool in registry.tools() {
        let (_, mask) = arguments(&registry, tool.name()).expect("llguidance compiles it");
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..ROUNDS {
            let Some(text) = sample(&mask, &mut random) else {
                continue;
            };
            match judge(&registry, tool.name(), &text) {
                Ok(()) => accepted += 1,
                Err(error) => {
                    assert!(
                        is_left_to_the_call(&error),
                        "{}({text}): {error}",
                        tool.name()
                    );
                    refused += 1;
                }
            }
        }
        println!("{}: {accepted} accepted, {refused} refused", tool.name());
        assert!(accepted > ROUNDS / 6, "{}: {accepted}", tool.name());
    }
}

/// The agent reads each text as a reply of an engine that enforces its grammar.
#[tokio::test]
async fn every_sampled_reply_can_be_read() {
    let registry = registry();
    let constraint = Constraint::replies(&registry, true).expect("the schemas are sound");
    let mask = TokenMask::new(&constraint, &Vocabulary::bytes()).expect("llguidance compiles it");
    let gbnf = Gbnf::read(&constraint.gbnf());
    let mut random = Random::new(2);
    let (mut answers, mut calls, mut accepted) = (0, 0, 0);
    for round in 0..300 {
        let text = if round % 2 == 0 {
            sample(&mask, &mut random)
        } else {
            gbnf.sample(&mut random)
        };
        let Some(text) = text else { continue };
        let model = Scripted::new().text(text.as_str());
        let inner = ConstrainedAgent::new(model, registry.clone())
            .expect("the schemas are sound")
            .enforcement(Enforcement::ByEngine);
        let result = ContractAgent::builder(inner).build().run("go").await;
        if result.answer.is_some() {
            answers += 1;
            continue;
        }
        // After a call that goes on, the model has nothing more to say.
        let made = result.steps.iter().find_map(|step| match step {
            Event::Observation {
                tool, status, text, ..
            } => Some((tool, status, text)),
            _ => None,
        });
        let violated = matches!(result.error, Some(RunError::Contract { .. }));
        assert!(made.is_some() || violated, "{text}: {:?}", result.error);
        calls += 1;
        if made.is_some_and(|(.., status, _)| *status == contract_runtime::Status::Ok) {
            accepted += 1;
        }
    }
    assert!(
        answers > 10 && calls > 100 && accepted > 30,
        "{answers} answers, {calls} calls, {accepted} accepted"
    );
}
