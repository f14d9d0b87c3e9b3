//! The policy table: what is evaluated, who is told, what runs, how the call ends.

use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{ConditionKind, PolicyOrigin, Status, catch};

use crate::common::{Count, Log, call};

/// A body with one condition of each kind; the one named by `at` does not hold.
macro_rules! probe {
    ($module:ident $(, $policy:ident)?) => {
        mod $module {
            use super::*;

            /// Probe.
            #[tool]
            #[pre(log.judge("pre", at != "pre") $(, policy = $policy)?)]
            #[post(|seven| log.judge("post", *seven == 7 && at != "post") $(, policy = $policy)?)]
            pub(super) fn probe(at: &str, #[context] log: &Log) -> u32 {
                log.add("body");
                contract_assert!(log.judge("assert", at != "assert") $(, policy = $policy)?);
                log.add("end");
                7
            }

            /// Probe, across an await.
            #[tool]
            #[pre(log.judge("pre", at != "pre") $(, policy = $policy)?)]
            #[post(|seven| log.judge("post", *seven == 7 && at != "post") $(, policy = $policy)?)]
            pub(super) async fn probe_async(at: &str, #[context] log: &Log) -> u32 {
                log.add("body");
                tokio::task::yield_now().await;
                contract_assert!(log.judge("assert", at != "assert") $(, policy = $policy)?);
                log.add("end");
                7
            }
        }
    };
}

probe!(unset);
probe!(ignored, ignore);
probe!(observed, observe);
probe!(enforced, enforce);
probe!(quick, quick_enforce);

/// The rows of the table for one condition that does not hold.
struct Row {
    events: &'static [&'static str],
    told: usize,
    observed: usize,
    ended: bool,
}

fn row(policy: Policy, at: &str) -> Row {
    const ALL: &[&str] = &["pre", "body", "assert", "end", "post"];
    let until: &[&str] = match at {
        "pre" => &ALL[..1],
        "assert" => &ALL[..3],
        _ => ALL,
    };
    match policy {
        Policy::Ignore => Row {
            events: &["body", "end"],
            told: 0,
            observed: 0,
            ended: false,
        },
        Policy::Observe => Row {
            events: ALL,
            told: 1,
            observed: 1,
            ended: false,
        },
        Policy::Enforce => Row {
            events: until,
            told: 1,
            observed: 0,
            ended: true,
        },
        Policy::QuickEnforce => Row {
            events: until,
            told: 0,
            observed: 0,
            ended: true,
        },
    }
}

const POLICIES: [Policy; 4] = [
    Policy::Ignore,
    Policy::Observe,
    Policy::Enforce,
    Policy::QuickEnforce,
];
const KINDS: [(&str, ConditionKind); 3] = [
    ("pre", ConditionKind::Pre),
    ("post", ConditionKind::Post),
    ("assert", ConditionKind::Assert),
];

fn holds_the_table(builder: Builder, policy: Policy, name: &str, origin: PolicyOrigin) {
    let (log, told) = (Log::default(), Count::default());
    let heard = told.clone();
    let registry = builder
        .context(log.clone())
        .observe(Observer::new().violations(move |_| {
            heard.up();
        }))
        .build()
        .unwrap();
    for (at, kind) in KINDS {
        let before = registry.statistics().conditions;
        let outcome = call(&registry, name, &format!(r#"{{"at":"{at}"}}"#));
        let row = row(policy, at);
        let case = format!("{policy} {at} {name}");
        assert_eq!(log.take(), row.events, "{case}");
        assert_eq!(told.take(), row.told, "{case}");
        assert_eq!(outcome.observed().len(), row.observed, "{case}");
        let violation = outcome.violation().or(outcome.observed().first());
        if row.ended {
            assert_eq!(outcome.status(), Status::Violation, "{case}");
            assert_eq!(outcome.output(), None, "{case}");
        } else {
            assert_eq!(outcome.output(), Some("7"), "{case}");
        }
        if let Some(violation) = violation {
            assert_eq!(violation.kind, kind, "{case}");
            assert_eq!(violation.policy, policy, "{case}");
            assert_eq!(violation.origin, origin, "{case}");
        }
        let after = registry.statistics().conditions;
        let judged = row
            .events
            .iter()
            .filter(|event| ["pre", "assert", "post"].contains(event))
            .count() as u64;
        assert_eq!(after.evaluated - before.evaluated, judged, "{case}");
        let violated = u64::from(policy != Policy::Ignore);
        assert_eq!(after.violated - before.violated, violated, "{case}");
        let skipped = if policy == Policy::Ignore { 3 } else { 0 };
        assert_eq!(after.skipped - before.skipped, skipped, "{case}");
    }
    // Where everything holds nobody is told and the call succeeds.
    let outcome = call(&registry, name, r#"{"at":"nowhere"}"#);
    assert_eq!(outcome.output(), Some("7"));
    assert_eq!((told.take(), outcome.observed().len()), (0, 0));
}

use contract_runtime::Builder;

#[test]
fn the_policy_table_holds_for_the_policy_of_a_registry() {
    for policy in POLICIES {
        let tools = || Registry::builder().policy(policy);
        let origin = PolicyOrigin::Registry;
        holds_the_table(tools().tool(unset::probe), policy, "probe", origin);
        holds_the_table(
            tools().tool(unset::probe_async),
            policy,
            "probe_async",
            origin,
        );
    }
}

#[test]
fn the_policy_table_holds_for_the_policy_of_each_condition() {
    let origin = PolicyOrigin::Condition;
    let tools = || Registry::builder().policy(Policy::Enforce);
    let one = tools().tool(ignored::probe);
    holds_the_table(one, Policy::Ignore, "probe", origin);
    let one = tools().tool(observed::probe);
    holds_the_table(one, Policy::Observe, "probe", origin);
    let one = tools().tool(enforced::probe).policy(Policy::Observe);
    holds_the_table(one, Policy::Enforce, "probe", origin);
    let one = tools().tool(quick::probe);
    holds_the_table(one, Policy::QuickEnforce, "probe", origin);
    let one = tools().tool(ignored::probe_async);
    holds_the_table(one, Policy::Ignore, "probe_async", origin);
    let one = tools().tool(observed::probe_async);
    holds_the_table(one, Policy::Observe, "probe_async", origin);
    let one = tools().tool(enforced::probe_async).policy(Policy::Observe);
    holds_the_table(one, Policy::Enforce, "probe_async", origin);
    let one = tools().tool(quick::probe_async);
    holds_the_table(one, Policy::QuickEnforce, "probe_async", origin);
}

#[test]
fn the_policy_table_holds_for_an_operator_who_overrules_the_author() {
    let origin = PolicyOrigin::Override;
    for policy in POLICIES {
        let overruled = Registry::builder()
            .tool(quick::probe)
            .override_policy("probe", policy);
        holds_the_table(overruled, policy, "probe", origin);
    }
}

#[test]
fn the_policy_table_holds_for_a_direct_call_of_a_tool() {
    type Probe = fn(&str, &Log) -> u32;
    let probes: [(Probe, Policy); 4] = [
        (ignored::probe, Policy::Ignore),
        (observed::probe, Policy::Observe),
        (enforced::probe, Policy::Enforce),
        (quick::probe, Policy::QuickEnforce),
    ];
    for (probe, policy) in probes {
        for (at, kind) in KINDS {
            let log = Log::default();
            let row = row(policy, at);
            let result = catch(|| probe(at, &log));
            assert_eq!(log.take(), row.events, "{policy} {at}");
            match (row.ended, result) {
                (false, result) => assert_eq!(result, Ok(7), "{policy} {at}"),
                (true, Err(violation)) => assert_eq!(violation.kind, kind, "{policy} {at}"),
                (true, Ok(_)) => panic!("{policy} {at} did not end the call"),
            }
        }
    }
}

#[test]
fn only_the_three_numbers_of_a_run_move_with_its_calls() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(unset::probe)
        .context(log)
        .build()
        .unwrap();
    let run = contract_runtime::Run::new();
    let other = contract_runtime::Run::new();
    for at in ["pre", "post", "assert", "nowhere"] {
        let call = ToolCall::new("1", "probe", format!(r#"{{"at":"{at}"}}"#));
        let _ = registry
            .call(call)
            .context(Context::new().run(&run))
            .blocking();
    }
    let counts = run.counts();
    assert_eq!(
        (counts.evaluated, counts.violated, counts.skipped),
        (1 + 3 + 2 + 3, 3, 0)
    );
    assert_eq!(registry.statistics().conditions, counts);
    assert_eq!(other.counts().evaluated, 0);
}

#[test]
fn a_run_and_its_registry_are_both_told_of_a_violation() {
    let (of_registry, of_run) = (Count::default(), Count::default());
    let (registry_heard, run_heard) = (of_registry.clone(), of_run.clone());
    let registry = Registry::builder()
        .tool(unset::probe)
        .context(Log::default())
        .observe(Observer::new().violations(move |_| {
            registry_heard.up();
        }))
        .build()
        .unwrap();
    let run = contract_runtime::Run::new().observe(Observer::new().violations(move |_| {
        run_heard.up();
    }));
    let call = || ToolCall::new("1", "probe", r#"{"at":"pre"}"#);
    let _ = registry
        .call(call())
        .context(Context::new().run(&run))
        .blocking();
    assert_eq!((of_registry.take(), of_run.take()), (1, 1));
    let _ = registry.call(call()).blocking();
    assert_eq!((of_registry.take(), of_run.take()), (1, 0));
}

/// Go under four policies at once.
#[tool]
#[pre(count > 1, "first", policy = ignore)]
#[pre(count > 2, "second", policy = quick_enforce)]
#[pre(count > 3, "third", policy = observe)]
#[pre(count > 4, "fourth")]
fn go_under_four(count: u32) -> u32 {
    count
}

#[tokio::test]
async fn a_check_of_all_judges_every_precondition_whatever_the_policies_say() {
    let registry = Registry::builder().tool(go_under_four).build().unwrap();
    for (count, broken) in [(0, 4), (2, 3), (3, 2), (4, 1), (5, 0)] {
        let call = ToolCall::new("1", "go_under_four", format!(r#"{{"count":{count}}}"#));
        let all = registry.check(call).every_condition().await;
        assert_eq!(
            (all.is_ok(), all.observed().len()),
            (true, broken),
            "{all:?}"
        );
    }
    let call = ToolCall::new("1", "go_under_four", r#"{"count":-1}"#);
    let unread = registry.check(call).every_condition().await;
    assert_eq!(unread.status(), Status::InvalidArguments);
}
