//! How a verifier is asked, and what it answers.

use std::fs;
use std::path::PathBuf;

use contract_runtime::prelude::*;
use contract_runtime::{Status, ToolFunction};
use contract_verify::{Fault, Report, Verifier};
use serde_json::{Value, json};

use super::right;

/// Fail at one text that chance does not find.
#[tool(read_only)]
#[pre(text.len() < 40)]
#[post(|_| text.chars().rev().collect::<String>() != "esroh tcerroc")]
fn rare(text: &str) {
    let _ = text;
}

/// Break what is promised.
#[tool(read_only)]
#[pre(text.len() < 40 && number < 3_000_000_000)]
#[post(|_| number < 2_500_000_000 || !text.contains('"'))]
fn breaks(number: i64, text: &str) {
    let _ = (number, text);
}

fn one<F: ToolFunction<S>, S>(tool: F) -> Verifier {
    Verifier::new(Registry::builder().tool(tool).build().unwrap())
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn tools_that_no_caller_sees_are_verified_as_others_are() {
    let report = |builder: contract_runtime::Builder| {
        Verifier::new(builder.tool(breaks).build().unwrap()).run()
    };
    let hidden = Registry::builder().visible(|_, _| false);
    assert_eq!(report(hidden), report(Registry::builder()));
}

/// Otherwise `strict` would fail by chance.
#[test]
fn without_a_seed_the_inputs_are_the_same_each_time() {
    let report = || Verifier::new(right::registry()).strict(true).run();
    assert_eq!(report(), report());
    assert!(report().to_string().contains("the inputs come from seed 1"));
}

#[test]
fn the_same_seed_makes_the_same_report() {
    let report = |seed| Verifier::new(right::registry()).seed(seed).run();
    assert_eq!(report(5), report(5));
    assert_eq!(report(5).seed(), 5);
    let judged = |report: &Report| {
        report
            .tools()
            .iter()
            .map(|tool| tool.accepted)
            .collect::<Vec<_>>()
    };
    assert_ne!(judged(&report(5)), judged(&report(6)));
}

#[test]
fn one_tool_can_be_chosen_and_a_name_that_is_none_fails() {
    let report = Verifier::new(right::registry()).tool("divide").run();
    let tools: Vec<_> = report
        .tools()
        .iter()
        .map(|tool| tool.tool.as_str())
        .collect();
    assert_eq!(tools, ["divide"]);
    let report = Verifier::new(right::registry()).tool("devide").run();
    assert_eq!(report.problems().next().unwrap().fault, Fault::NoSuchTool);
    let empty = Registry::builder().build().unwrap();
    let report = Verifier::new(empty).run();
    assert_eq!(report.problems().next().unwrap().fault, Fault::NoTools);
}

#[tokio::test]
async fn it_can_be_asked_inside_an_async_runtime() {
    Verifier::new(right::registry())
        .tool("wait")
        .cases(20)
        .run()
        .assert();
}

#[test]
fn more_cases_are_more_inputs() {
    let judged = |cases| one(rare).cases(cases).run().tools()[0].judged;
    assert!(judged(2_000) > judged(0) + 300);
}

#[test]
fn what_failed_is_kept_and_tried_first() {
    for place in [
        folder("kept-in-a-folder"),
        folder("kept-in-a-file").join("all.json"),
    ] {
        one(rare).regressions(&place).run().assert();
        assert!(
            !place.exists(),
            "nothing failed, so there is nothing to keep"
        );
        // What somebody found, as it is kept.
        let file = if place.extension().is_some() {
            place.clone()
        } else {
            place.join("rare.json")
        };
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, r#"{"rare": [{"text": "correct horse"}]}"#).unwrap();
        let report = one(rare).regressions(&place).run();
        let problem = report
            .problems()
            .next()
            .unwrap_or_else(|| panic!("{report}"));
        assert_eq!(problem.input, Some(json!({"text": "correct horse"})));
        let report = one(breaks).regressions(&place).run();
        let input = report.problems().next().unwrap().input.clone().unwrap();
        let file = if place.extension().is_some() {
            place.clone()
        } else {
            place.join("breaks.json")
        };
        let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(kept["breaks"], json!([input]));
    }
}

#[test]
fn a_file_that_cannot_be_read_fails_loudly() {
    let file = folder("broken").join("all.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[1").unwrap();
    let report = one(rare).regressions(&file).run();
    let Some(Fault::Unreadable { why }) = report.problems().next().map(|problem| &problem.fault)
    else {
        panic!("{report}");
    };
    assert!(why.contains("all.json"), "{why}");
}

#[test]
fn a_place_that_cannot_be_written_is_told() {
    let file = folder("in-the-way");
    fs::write(&file, "").unwrap();
    let report = one(breaks).regressions(file.join("below")).run();
    assert!(report.to_string().contains("could not be kept"), "{report}");
}

#[tokio::test]
#[allow(clippy::unreadable_literal, reason = "it is as a report writes it")]
async fn the_line_of_a_report_is_rust_that_fails_the_same_way() {
    let registry = Registry::builder().tool(breaks).build().unwrap();
    let report = Verifier::new(registry.clone()).run();
    let text = report.to_string();
    // This is the line that is expected, as code, and as text.
    macro_rules! both {
        ($line:expr) => {
            ($line, stringify!($line))
        };
    }
    let (outcome, line) = both!(
        registry
            .call((
                "",
                "breaks",
                json!({"number": 2500000000_i64, "text": "\""})
            ))
            .await
    );
    assert_eq!(outcome.status(), Status::Violation);
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert!(plain(&text).ends_with(&plain(line)), "{text}\n{line}");
}

#[test]
fn a_report_is_data() {
    let report = one(breaks).seed(3).run();
    let data = serde_json::to_value(&report).unwrap();
    assert_eq!(data["seed"], 3);
    let problem = &data["tools"][0]["problems"][0];
    assert_eq!(problem["layer"], "promise");
    assert_eq!(problem["clause"], "breaks.post[1]");
    assert_eq!(problem["fault"]["kind"], "promise_broken");
    assert_eq!(
        problem["input"],
        json!({"number": 2_500_000_000_i64, "text": "\""})
    );
}

#[test]
#[should_panic(expected = "breaks: 1 problem")]
fn a_report_fails_the_test_that_asserts_it() {
    one(breaks).run().assert();
}

#[test]
fn a_number_and_a_text_that_must_meet_are_found_with_every_seed() {
    for seed in 0..12 {
        let report = one(breaks).seed(seed).run();
        assert_eq!(report.problems().count(), 1, "seed {seed}\n{report}");
    }
}
