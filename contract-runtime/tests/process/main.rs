//! What is set for the whole process, in a process of its own and in one test, because tests run side by side.

#[path = "../common/mod.rs"]
mod common;

use common::{Count, Log, call};
use contract_manifest::__private::own_registry;
use contract_manifest::{Manifest, ToManifest as _};
use contract_runtime::observe::{CheckEvent, Observer, set_process_observer};
use contract_runtime::prelude::*;
use contract_runtime::{PolicyOrigin, Run, catch, process_policy, set_process_policy};

/// Nobody but the operator says anything.
#[tool]
#[pre(log.judge("pre", false))]
fn plain(#[context] log: &Log) {
    log.add("body");
}

/// The tool has a policy.
#[tool(policy = quick_enforce)]
#[pre(log.judge("pre", false))]
fn of_tool(#[context] log: &Log) {
    log.add("body");
}

/// The condition has a policy.
#[tool]
#[pre(log.judge("pre", false), policy = observe)]
fn of_condition(#[context] log: &Log) {
    log.add("body");
}

/// Both have one.
#[tool(policy = ignore)]
#[pre(log.judge("pre", false), policy = enforce)]
fn of_both(#[context] log: &Log) {
    log.add("body");
}

/// Nobody says anything, and the schema could.
#[tool]
#[pre(count <= 5)]
fn bounded(count: u8) -> u8 {
    count
}

/// What is published follows the process where nobody stronger says anything; what is frozen never does.
fn published(process: Policy, frozen: &Manifest) {
    let registry = Registry::builder().tool(bounded).build().unwrap();
    let most =
        registry.tool("bounded").unwrap().input_schema()["properties"]["count"]["maximum"].clone();
    assert_eq!(
        most,
        if process.ends_the_call() { 5 } else { 255 },
        "{process}"
    );
    assert_eq!(
        own_registry("contract-runtime").manifest(),
        *frozen,
        "{process}"
    );
}

#[pre(log.judge("pre", false))]
fn helper(log: &Log) {
    log.add("body");
}

fn asserts(log: &Log) {
    contract_assert!(log.judge("assert", false));
    log.add("body");
}

const SETTINGS: [Option<Policy>; 5] = [
    None,
    Some(Policy::Ignore),
    Some(Policy::Observe),
    Some(Policy::Enforce),
    Some(Policy::QuickEnforce),
];

/// The tools with what their authors set: condition, tool.
const TOOLS: [(&str, Option<Policy>, Option<Policy>); 4] = [
    ("plain", None, None),
    ("of_tool", None, Some(Policy::QuickEnforce)),
    ("of_condition", Some(Policy::Observe), None),
    ("of_both", Some(Policy::Enforce), Some(Policy::Ignore)),
];

fn strongest(
    settings: &[(Option<Policy>, PolicyOrigin)],
    process: Policy,
) -> (Policy, PolicyOrigin) {
    settings
        .iter()
        .find_map(|(policy, origin)| Some(((*policy)?, *origin)))
        .unwrap_or((process, PolicyOrigin::Process))
}

fn precedence(process: Policy, of_registry: Option<Policy>, overruled: Option<Policy>) {
    let log = Log::default();
    let mut builder = Registry::builder()
        .tool(plain)
        .tool(of_tool)
        .tool(of_condition)
        .tool(of_both)
        .context(log.clone());
    if let Some(policy) = of_registry {
        builder = builder.policy(policy);
    }
    if let Some(policy) = overruled {
        for (name, ..) in TOOLS {
            builder = builder.override_policy(name, policy);
        }
    }
    let registry = builder.build().unwrap();
    for (name, of_condition, of_tool) in TOOLS {
        for of_run in SETTINGS {
            let mut run = Run::new();
            if let Some(policy) = of_run {
                run = run.policy(policy);
            }
            let context = Context::new().run(&run);
            let outcome = registry
                .call(ToolCall::new("1", name, ""))
                .context(context)
                .blocking();
            let (policy, origin) = strongest(
                &[
                    (overruled, PolicyOrigin::Override),
                    (of_condition, PolicyOrigin::Condition),
                    (of_tool, PolicyOrigin::Tool),
                    (of_run, PolicyOrigin::Run),
                    (of_registry, PolicyOrigin::Registry),
                ],
                process,
            );
            let case = format!("{name}, {of_run:?}, {of_registry:?}, {overruled:?}, {process}");
            let evaluated = policy != Policy::Ignore;
            let events = log.take();
            assert_eq!(events.contains(&"pre".to_owned()), evaluated, "{case}");
            assert_eq!(
                events.contains(&"body".to_owned()),
                !policy.ends_the_call(),
                "{case}"
            );
            let violation = outcome.violation().or(outcome.observed().first());
            assert_eq!(
                violation.map(|violation| (violation.policy, violation.origin)),
                evaluated.then_some((policy, origin)),
                "{case}"
            );
        }
    }
}

/// Without a scope an assertion and a contracted function use the process default.
fn without_a_scope(policy: Policy) {
    let log = Log::default();
    for run in [helper as fn(&Log), asserts] {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&log))).is_err();
        assert_eq!(ended, policy.ends_the_call(), "{policy}");
        let evaluated = usize::from(policy != Policy::Ignore);
        let body = usize::from(!policy.ends_the_call());
        assert_eq!(log.take().len(), evaluated + body, "{policy}");
        let caught = catch(|| run(&log));
        assert_eq!(caught.is_err(), policy.ends_the_call(), "{policy}");
        if let Err(violation) = caught {
            assert_eq!(violation.origin, PolicyOrigin::Process);
        }
        log.take();
    }
}

/// A call keeps the policy it was given at entry.
fn resolved_at_entry() {
    #[contract_runtime::pre(log.judge("late", false))]
    fn late(log: &Log) {
        log.add("late body");
    }
    /// Change the process policy in the middle.
    #[tool]
    #[post(|()| log.judge("post", false))]
    fn changes_it(#[context] log: &Log) {
        set_process_policy(Policy::Enforce);
        late(log);
        contract_assert!(log.judge("assert", false));
        log.add("body");
    }
    let log = Log::default();
    let registry = Registry::builder()
        .tool(changes_it)
        .context(log.clone())
        .build()
        .unwrap();
    set_process_policy(Policy::Observe);
    let outcome = call(&registry, "changes_it", "");
    assert_eq!(
        log.take(),
        ["late", "late body", "assert", "body", "post"],
        "{:?}",
        outcome.error()
    );
    assert_eq!(outcome.observed().len(), 3);
}

fn observer_of_the_process() {
    let (told, own) = (Count::default(), Count::default());
    let heard = told.clone();
    let watched = Count::default();
    let (checked, calls) = (watched.clone(), Log::default());
    let ended = calls.clone();
    let observer = Observer::new().violations(move |_| {
        heard.up();
    });
    set_process_observer(observer.clone());
    set_process_policy(Policy::Observe);
    let log = Log::default();
    helper(&log);
    asserts(&log);
    assert_eq!(told.take(), 2, "outside any scope");
    let _ = catch(|| helper(&log));
    assert_eq!(told.take(), 1, "in a scope without an observer");
    let builder = || Registry::builder().tool(plain).context(Log::default());
    let _ = call(&builder().build().unwrap(), "plain", "");
    assert_eq!(told.take(), 1, "in a registry without an observer");
    let heard = own.clone();
    let registry = builder()
        .observe(Observer::new().violations(move |_| {
            heard.up();
        }))
        .build()
        .unwrap();
    let _ = call(&registry, "plain", "");
    assert_eq!((told.take(), own.take()), (1, 1), "in a registry with one");
    set_process_observer(
        observer
            .events(move |event| {
                if matches!(event, CheckEvent::Check(_)) {
                    checked.up();
                }
            })
            .call_ended(move |observed, _, _| ended.add(&*observed.call.name)),
    );
    helper(&log);
    asserts(&log);
    assert_eq!((told.take(), watched.take()), (2, 2), "direct calls");
    let _ = call(&registry, "plain", "");
    assert_eq!((told.take(), watched.take()), (1, 1), "a call by name");
    assert_eq!(calls.take(), ["plain"]);
    assert_eq!(process_policy(), Policy::Observe);
    set_process_policy(Policy::Enforce);
    set_process_observer(Observer::new());
    assert_eq!(process_policy(), Policy::Enforce);
    assert!(catch(|| helper(&log)).is_err());
    assert_eq!((told.take(), watched.take()), (0, 0));
}

#[test]
fn condition_is_stronger_than_tool_than_run_than_registry_than_process() {
    assert_eq!(process_policy(), Policy::Enforce);
    std::panic::set_hook(Box::new(|_| {}));
    let frozen = own_registry("contract-runtime").manifest();
    for process in SETTINGS.into_iter().flatten() {
        set_process_policy(process);
        published(process, &frozen);
        for of_registry in SETTINGS {
            for overruled in SETTINGS {
                precedence(process, of_registry, overruled);
            }
        }
        without_a_scope(process);
    }
    let _ = std::panic::take_hook();
    resolved_at_entry();
    observer_of_the_process();
    set_process_policy(Policy::Enforce);
}
