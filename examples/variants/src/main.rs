//! What a contract means in builds that differ: `panic = "abort"`, and `--cfg contract_strip`.
//!
//! `.ci/nightly.d/variants.sh` runs it in each of them.

use std::process::Command;

use contract_runtime::Status;
use contract_runtime::prelude::*;

/// Divide one number by another.
#[tool]
#[pre(divisor != 0, "cannot divide by zero")]
fn divide(dividend: i64, divisor: i64) -> Option<i64> {
    dividend.checked_div(divisor)
}

/// Halve an even number, with the condition inside the body.
#[tool]
fn halve(number: i64) -> i64 {
    contract_assert!(number % 2 == 0, "{number} is odd");
    number / 2
}

/// Remove everything.
#[tool(confirm = "Remove everything?")]
fn remove_everything() {}

/// Pay once.
#[tool]
#[pre(history().count(pay) < 1, "it is paid once")]
fn pay() {}

const STRIPPED: bool = cfg!(contract_strip);
const ABORTS: bool = cfg!(panic = "abort");

fn main() -> Result<(), BuildError> {
    let registry = Registry::builder().tool(divide).tool(halve).build()?;
    let call = |tool, arguments| {
        registry
            .call(ToolCall::new("1", tool, arguments))
            .blocking()
    };

    if std::env::args().nth(1).as_deref() == Some("assert") {
        println!("{}", call("halve", r#"{"number":3}"#).status());
        return Ok(());
    }

    // The conditions of the tool that was called reach the registry as a value, in every build.
    let outcome = call("divide", r#"{"dividend":1,"divisor":0}"#);
    if STRIPPED {
        assert_eq!(outcome.output(), Some("null"));
    } else {
        assert_eq!(outcome.status(), Status::Violation);
    }

    // Where nothing is evaluated nobody would be asked, so there is no such registry.
    let asking = Registry::builder().tool(remove_everything).build();
    let asked = asking.map(|asking| {
        let call = ToolCall::new("1", "remove_everything", "");
        asking.call(call).blocking().status()
    });
    match (STRIPPED, asked) {
        (false, Ok(status)) => assert_eq!(status, Status::Asked),
        (true, Err(error)) => {
            let said = error.to_string();
            assert!(said.contains("would take the question away"), "{said}");
        }
        (_, asked) => panic!("{asked:?}"),
    }

    let limited = Registry::builder().tool(pay).build();
    match (STRIPPED, limited) {
        (false, Ok(_)) => {}
        (true, Err(error)) => {
            let said = error.to_string();
            assert!(said.contains("would take the condition away"), "{said}");
        }
        (_, limited) => panic!("{limited:?}"),
    }

    // A condition below the body needs unwinding; without it the process ends, and says why.
    let myself = std::env::current_exe().expect("the running program has a path");
    let child = Command::new(myself)
        .arg("assert")
        .output()
        .expect("the program starts again");
    let (said, complained) = (
        String::from_utf8_lossy(&child.stdout),
        String::from_utf8_lossy(&child.stderr),
    );
    if STRIPPED {
        assert_eq!(said.trim(), "ok");
    } else if ABORTS {
        assert!(!child.status.success());
        assert!(complained.contains("3 is odd"), "{complained}");
    } else {
        assert_eq!(said.trim(), "violation");
        assert!(
            !complained.contains("3 is odd"),
            "a call by name is silent: {complained}"
        );
    }
    println!("stripped: {STRIPPED}, aborts: {ABORTS}: as promised");
    Ok(())
}
