//! Whatever a model says: the events keep to a grammar, the numbers add up, and the run ends.

use contract_agent::{
    Budget, ConstrainedAgent, ContractAgent, Event, InnerAgent, LoopDetection, ReActAgent,
    Recovery, Scripted, ToolCallingAgent, Usage,
};
use contract_runtime::Policy;
use proptest::prelude::*;

use crate::tools::registry;

#[derive(Clone, Debug)]
enum Said {
    Text(String),
    Object(String),
    Calls(Vec<(String, String)>),
}

fn said() -> impl Strategy<Value = Said> {
    let tool = prop_oneof![Just("root"), Just("hide"), Just("nothing")].prop_map(str::to_owned);
    let arguments = prop_oneof![
        (-5..5i32).prop_map(|of| format!(r#"{{"of":{of}}}"#)),
        Just(r#"{"of":40000}"#.to_owned()),
        Just(r#"{"what":"assert"}"#.to_owned()),
        Just(r#"{"what":"fail"}"#.to_owned()),
        Just(r#"{"of":"#.to_owned()),
        Just("[]".to_owned()),
    ];
    prop_oneof![
        1 => prop_oneof![
            Just("Answer: 42".to_owned()),
            Just("perhaps".to_owned()),
            Just("Action: root\nAction Input: {\"of\": -1}".to_owned()),
            Just("Action: root(4)".to_owned()),
            Just("Action: hide('assert')".to_owned()),
            Just(String::new()),
        ].prop_map(Said::Text),
        1 => prop_oneof![
            Just(r#"{"type":"answer","content":"42"}"#),
            Just(r#"{"reasoning":"so","type":"answer","content":"4\u0032"}"#),
            Just(r#"{"type":"answer","content":"perhaps"}"#),
            Just(r#"{"type":"answer","#),
        ].prop_map(|text| Said::Object(text.to_owned())),
        3 => prop::collection::vec((tool, arguments), 1..4).prop_map(Said::Calls),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        Just(Policy::Ignore),
        Just(Policy::Observe),
        Just(Policy::Enforce),
        Just(Policy::QuickEnforce)
    ]
}

fn check(events: &[Event]) -> Result<(), TestCaseError> {
    let (mut open, mut ended) = (0_i64, false);
    let mut last_check = None;
    for event in events {
        prop_assert!(!ended, "{event:?} came after the end");
        match event {
            Event::ContractCheck { check } => last_check = Some(check.contract.clone()),
            // Nothing is violated that was not checked; calls side by side may check others in between.
            Event::ContractViolation { .. } => prop_assert!(last_check.is_some()),
            Event::Action { .. } => open += 1,
            Event::Observation { .. } => {
                open -= 1;
                prop_assert!(open >= 0, "an observation without its action");
            }
            Event::Answer { .. } | Event::Error { .. } => ended = true,
            _ => {}
        }
    }
    prop_assert!(ended, "the run has no end");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn every_script_gives_well_formed_events_and_an_end(
        script in prop::collection::vec(said(), 0..12),
        policy in policy(),
        attempts in 0..3u32,
        way in 0..3,
        strict in any::<bool>(),
    ) {
        let mut model = Scripted::new();
        for said in &script {
            model = match said {
                Said::Text(text) | Said::Object(text) => model.text(text.clone()),
                // Where calls are objects, they come one by one.
                Said::Calls(calls) if way == 2 => calls.iter().fold(model, |model, (tool, arguments)| {
                    model.text(format!(r#"{{"reasoning":"hm","type":"tool_call","tool":"{tool}","arguments":{arguments}}}"#))
                }),
                Said::Calls(calls) => model.calls("hm", calls.clone()),
            };
        }
        let inner: Box<dyn InnerAgent> = match way {
            0 => Box::new(ReActAgent::new(model, registry())),
            1 => Box::new(ToolCallingAgent::new(model, registry())),
            _ => Box::new(ConstrainedAgent::new(model, registry())),
        };
        let agent = ContractAgent::builder(inner)
            .policy(policy)
            .recovery(Recovery::retry(attempts))
            .loop_detection(LoopDetection::default().same_action(3))
            .budget(Budget::Iterations(if strict { 3 } else { 100 }))
            .answer_post("holds 42", |answer| answer.contains("42"))
            .build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let result = runtime.block_on(agent.run("go"));
        check(&result.steps)?;
        let count = |wanted: fn(&Event) -> bool| result.steps.iter().filter(|event| wanted(event)).count() as u64;
        prop_assert_eq!(result.statistics.checks, count(|event| matches!(event, Event::ContractCheck { .. })));
        prop_assert_eq!(result.statistics.violations, count(|event| matches!(event, Event::ContractViolation { .. })));
        prop_assert_eq!(result.statistics.retries, count(|event| matches!(event, Event::Retry { .. })));
        prop_assert_eq!(result.success, result.answer.is_some());
        let mut cost = Usage::default();
        for event in &result.steps {
            if let Event::Usage { usage } = event {
                cost += *usage;
            }
        }
        prop_assert_eq!(result.usage, cost);
        prop_assert_eq!(result.success, result.error.is_none());
        for event in &result.steps {
            let text = serde_json::to_string(event).expect("events serialise");
            let back: Event = serde_json::from_str(&text).expect("and are read back");
            prop_assert_eq!(&back, event);
        }
    }
}
