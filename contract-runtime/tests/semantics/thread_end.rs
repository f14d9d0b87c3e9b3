//! Conditions and calls in the destructor of a thread-local value, where a panic ends the process.

use std::cell::RefCell;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use contract_runtime::observe::{Observer, set_process_observer};
use contract_runtime::prelude::*;
use contract_runtime::{ContractScope, Detection, Status, catch};

use crate::common::{Log, call};

/// Set in a process of its own, so that the process of the other tests does not end.
const CHILD: &str = "CONTRACT_TEST_THREAD_END";

#[pre(turns > 0, "the key must be turned")]
fn lock(turns: u32) -> u32 {
    turns
}

#[post(|angle| *angle == 0, "the key is back where it was")]
fn turned(angle: u32) -> u32 {
    angle
}

#[pre(endless(turns) > 0)]
fn endless(turns: u32) -> u32 {
    turns
}

/// Lock the door.
#[tool]
#[pre(turns > 0, "the key must be turned")]
fn lock_door(turns: u32) -> u32 {
    contract_assert!(turns < 10, "the key broke");
    let inner = ContractScope::current().wrap_fn(move || lock(turns.saturating_sub(1)));
    inner()
}

/// Lock the door later.
#[tool]
async fn lock_later() {
    tokio::task::yield_now().await;
}

/// Lock the door slowly.
#[tool(blocking)]
fn lock_slowly() {}

fn registry() -> Registry {
    let tools = Registry::builder().tool(lock_door).tool(lock_later);
    tools.tool(lock_slowly).build().unwrap()
}

/// Runs a closure in its destructor.
struct AtEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run();
        }
    }
}

thread_local! {
    static AT_END: RefCell<AtEnd> = const { RefCell::new(AtEnd(None)) };
}

/// Runs a closure in the destructor of a thread-local value that outlives those of this crate and of tokio.
fn at_thread_end(run: impl FnOnce(&Log) + Send + 'static) -> Vec<String> {
    let log = Log::default();
    let inner = log.clone();
    let thread = thread::spawn(move || {
        AT_END.with_borrow_mut(|at_end| at_end.0 = Some(Box::new(move || run(&inner))));
        assert_eq!((lock(1), turned(0)), (1, 0));
        let registry = registry();
        for (name, arguments) in [("lock_door", r#"{"turns":2}"#), ("lock_later", "")] {
            assert_eq!(call(&registry, name, arguments).status(), Status::Ok);
        }
    });
    thread.join().unwrap();
    log.take()
}

/// Runs a test in a process of its own, by its name.
fn in_a_child(name: &str, run: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return run();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("thread_end::{name}")])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn conditions_are_judged_while_a_thread_ends() {
    in_a_child("conditions_are_judged_while_a_thread_ends", || {
        let log = at_thread_end(|log| {
            assert_eq!((lock(2), turned(0)), (2, 0));
            contract_assert!(true);
            log.add("held");
            let violation = catch(|| lock(0)).unwrap_err();
            log.add(violation.message.unwrap());
            let violation = catch(|| turned(1)).unwrap_err();
            log.add(violation.message.unwrap());
            let violation = catch(|| endless(1)).unwrap_err();
            assert_eq!(violation.detection, Detection::NestedTooDeep);
        });
        let sentences = ["the key must be turned", "the key is back where it was"];
        assert_eq!(log, [&["held"], &sentences[..]].concat());
    });
}

#[test]
fn a_condition_that_fails_while_a_thread_ends_is_noted_and_the_code_goes_on() {
    let name = "a_condition_that_fails_while_a_thread_ends_is_noted_and_the_code_goes_on";
    in_a_child(name, || {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        set_process_observer(Observer::new().violations(move |violation| {
            heard.lock().unwrap().extend(violation.message.clone());
        }));
        let log = at_thread_end(|log| {
            let open = true;
            contract_assert!(!open, "the door is open");
            log.add("after the assertion");
            lock(0);
            log.add("after the precondition");
            turned(1);
            log.add("after the postcondition");
        });
        let went_on = ["assertion", "precondition", "postcondition"];
        assert_eq!(log, went_on.map(|kind| format!("after the {kind}")));
        let told = told.lock().unwrap();
        let expected = [
            "the door is open",
            "the key must be turned",
            "the key is back where it was",
        ];
        assert_eq!(*told, expected);
    });
}

#[test]
fn a_sync_tool_is_called_by_name_while_a_thread_ends() {
    in_a_child("a_sync_tool_is_called_by_name_while_a_thread_ends", || {
        let log = at_thread_end(|log| {
            let registry = registry();
            for turns in [0, 1, 2, 10] {
                let arguments = format!(r#"{{"turns":{turns}}}"#);
                let outcome = call(&registry, "lock_door", &arguments);
                log.add(outcome.status().name());
            }
            log.add(call(&registry, "unlock", "").status().name());
        });
        let ends = ["violation", "violation", "ok", "violation", "unknown_tool"];
        assert_eq!(log, ends);
    });
}

#[test]
fn a_call_that_would_wait_while_a_thread_ends_is_not_started() {
    let name = "a_call_that_would_wait_while_a_thread_ends_is_not_started";
    in_a_child(name, || {
        let log = at_thread_end(|log| {
            let registry = registry();
            for name in ["lock_later", "lock_slowly"] {
                log.add(call(&registry, name, "").error().unwrap().to_owned());
            }
        });
        let said = |name| {
            format!(
                "`{name}` was not started, because its thread is ending and cannot wait; call it before, or on another thread"
            )
        };
        assert_eq!(log, ["lock_later", "lock_slowly"].map(said));
    });
}
