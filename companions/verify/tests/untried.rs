//! What a test that passes says on standard error: each case is a process, because a harness keeps to itself what is printed.

use std::env;
use std::process::Command;

use contract_runtime::prelude::*;
use contract_verify::Verifier;

struct Menu(Vec<&'static str>);

#[tool]
impl Menu {
    /// Read a line of the menu.
    #[tool(read_only)]
    #[pre(line < self.0.len())]
    fn read(&self, line: usize) -> &str {
        self.0[line]
    }

    /// Order what is on a line of the menu.
    #[tool(name = "order_dish")]
    fn order(&self, line: usize) -> bool {
        line < self.0.len()
    }
}

/// Pay, and say what is left.
#[tool]
#[pre(cents > 0)]
#[post(|left| *left >= 0)]
#[post(|left| *left <= 100)]
fn pay(cents: u32) -> i64 {
    100 - i64::from(cents)
}

contract_verify::verify_all!(cases = 20);

mod decided {
    contract_verify::verify!(super::pay, run = false, cases = 20);
}

/// What a person sees of a test that passes.
fn seen(test: &str) -> String {
    seen_with(test, &[], "1")
}

fn seen_with(test: &str, options: &[&str], seed: &str) -> String {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads=1"])
        .args(options)
        .env("RUST_BACKTRACE", "0")
        .env("CONTRACT_VERIFY_SEED", seed)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("running 1 test"), "{said}");
    assert!(output.status.success(), "{said}");
    said.into_owned()
}

#[test]
fn a_test_that_passes_says_what_it_does_not_verify() {
    assert_eq!(Menu(vec!["soup"]).read(0), "soup");
    let text = seen("verify_all");
    for line in [
        "verify: the body of `pay` was not run (2 postconditions); it is not `read_only`: write \
         `#[verify(run, setup = ..)]` above it, if it may be run with values that are not the real ones, else `#[verify(run = false)]`\n",
        "verify: not tried: `read` and `order_dish` of `Menu` (",
        "because methods come with their state; write `verify_all!(registry!().with(state))`, or `verify_all!(registry!())` to \
         leave them out\n",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
    let text = seen("decided::verify_pay");
    assert!(!text.contains("verify: "), "it is decided: {text}");
}

#[test]
fn prints_its_seed() {
    let registry = Registry::builder().tool(pay).build().unwrap();
    let report = Verifier::new(registry).cases(1).seed(3).run();
    println!("the seed is {}", report.seed());
}

#[test]
fn a_nightly_job_takes_a_new_seed_each_time() {
    let seed = |set: &str| {
        let text = seen_with("prints_its_seed", &["--nocapture"], set);
        let (_, seed) = text.split_once("the seed is ").unwrap();
        seed.lines().next().unwrap().to_owned()
    };
    assert_eq!(seed("7"), "7");
    assert_ne!(seed("random"), seed("random"));
}
