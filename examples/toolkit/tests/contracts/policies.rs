//! Which policy holds, for the conditions of this package.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{PolicyOrigin, Run, Status};
use serde_json::Value;

use crate::common::{Ground, ended};
use crate::violating;

const POLICIES: [Option<Policy>; 5] = [
    None,
    Some(Policy::Ignore),
    Some(Policy::Observe),
    Some(Policy::Enforce),
    Some(Policy::QuickEnforce),
];

/// One call of each tool that breaks a condition and, where the condition is not evaluated, writes nothing.
fn one_of_each(registry: &Registry) -> Vec<(String, Value)> {
    let mut calls = violating(registry);
    calls.dedup_by(|one, other| one.0 == other.0);
    calls.retain(|(tool, _)| registry.tool(tool).unwrap().hints().read_only == Some(true));
    assert!(!calls.is_empty());
    calls
}

/// P1
#[test]
fn the_operator_comes_before_the_run_and_the_run_before_the_registry() {
    let ground = Ground::new();
    let calls = one_of_each(&ground.registry());
    let mut cases = 0;
    for by_name in POLICIES {
        for registry in POLICIES {
            for run in POLICIES {
                let (policy, origin) = match (by_name, run, registry) {
                    (Some(policy), _, _) => (policy, PolicyOrigin::Override),
                    (None, Some(policy), _) => (policy, PolicyOrigin::Run),
                    (None, None, Some(policy)) => (policy, PolicyOrigin::Registry),
                    (None, None, None) => (Policy::Enforce, PolicyOrigin::Process),
                };
                for (tool, arguments) in &calls {
                    cases += 1;
                    holds(
                        &ground,
                        (tool, arguments),
                        [by_name, registry, run],
                        (policy, origin),
                    );
                }
            }
        }
    }
    assert!(cases >= 125);
}

fn holds(
    ground: &Ground,
    (tool, arguments): (&str, &Value),
    [by_name, registry, run]: [Option<Policy>; 3],
    (policy, origin): (Policy, PolicyOrigin),
) {
    let told = Arc::new(AtomicUsize::new(0));
    let hears = Arc::clone(&told);
    let mut builder = ground
        .builder()
        .observe(Observer::new().violations(move |_| {
            hears.fetch_add(1, Ordering::SeqCst);
        }));
    if let Some(policy) = registry {
        builder = builder.policy(policy);
    }
    if let Some(policy) = by_name {
        builder = builder.override_policy(tool, policy);
    }
    let mut context = Context::new();
    if let Some(policy) = run {
        context = context.run(&Run::new().policy(policy));
    }
    let call = ToolCall::new("1", tool, arguments.to_string());
    let outcome = builder
        .build()
        .unwrap()
        .call(call)
        .context(context)
        .blocking();
    let said = format!("{tool}({arguments}) under {policy:?}: {}", ended(&outcome));
    let told = told.load(Ordering::SeqCst);
    match policy {
        Policy::Ignore => assert!(
            outcome.violation().is_none() && outcome.observed().is_empty() && told == 0,
            "{said}"
        ),
        Policy::Observe => {
            assert!(
                outcome.violation().is_none() && told == outcome.observed().len(),
                "{said}"
            );
            assert_eq!(outcome.observed()[0].origin, origin, "{said}");
        }
        Policy::Enforce | Policy::QuickEnforce => {
            let violation = outcome.violation().unwrap_or_else(|| panic!("{said}"));
            assert_eq!(
                (violation.policy, violation.origin),
                (policy, origin),
                "{said}"
            );
            assert_eq!(told, usize::from(policy == Policy::Enforce), "{said}");
        }
    }
}

/// P1
#[test]
fn no_condition_of_the_package_has_a_weaker_policy_of_its_own() {
    let ground = Ground::new();
    let registry = ground.registry();
    for (tool, arguments) in violating(&registry) {
        let outcome = crate::common::check(&registry, &tool, &arguments.to_string());
        assert!(outcome.observed().is_empty(), "{tool}({arguments})");
        assert_eq!(outcome.violation().unwrap().policy, Policy::Enforce);
    }
}

/// P2
#[test]
fn an_observer_that_panics_or_calls_back_changes_no_decision() {
    let ground = Ground::new();
    let plain = ground.registry();
    for (tool, arguments) in one_of_each(&plain) {
        let inner = plain.clone();
        let (name, text) = (tool.clone(), arguments.to_string());
        let again = move || {
            let _ = inner
                .call(ToolCall::new("2", name.clone(), text.clone()))
                .blocking();
            panic!("the handler panics");
        };
        for (policy, ends) in [(Policy::Enforce, true), (Policy::Observe, false)] {
            let again = again.clone();
            let registry = ground
                .builder()
                .policy(policy)
                .observe(Observer::new().violations(move |_| again()));
            let registry = registry.build().unwrap();
            let outcome = crate::common::call(&registry, &tool, &arguments);
            assert_eq!(
                outcome.status() == Status::Violation,
                ends,
                "{}",
                ended(&outcome)
            );
            assert_ne!(outcome.status(), Status::Panicked);
        }
    }
}
