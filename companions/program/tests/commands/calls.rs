use std::fs;

use serde_json::{Value, json};

use super::started::{run, run_as};

tests![
    every_outcome_has_its_exit_code,
    every_outcome_is_said_in_json_too,
    a_check_runs_nothing,
    what_is_observed_and_coerced_is_said_beside_the_result,
    a_policy_is_for_conditions_whose_author_chose_none,
    what_a_body_says_goes_to_standard_error,
    artifacts_are_named_and_written,
    a_taken_name_is_not_overwritten,
    an_output_ends_with_one_line_end,
    it_runs_inside_a_runtime_as_well,
];

/// The documented table: words after `call`, exit code, status.
const ENDS: [(&[&str], i32, &str); 9] = [
    (&["divide", r#"{"dividend":1,"divisor":2}"#], 0, "ok"),
    (&["divide", r#"{"dividend":1}"#], 3, "invalid_arguments"),
    (&["dvide"], 4, "unknown_tool"),
    (&["divide", r#"{"dividend":1,"divisor":0}"#], 5, "violation"),
    (&["fail", r#"{"why":"because"}"#], 6, "failed"),
    (&["fall"], 7, "panicked"),
    (
        &["wait", r#"{"milliseconds":600000}"#, "--timeout", "20ms"],
        8,
        "timed_out",
    ),
    (&["hold", "--timeout", "20ms"], 8, "timed_out"),
    (&["stick", "--timeout", "0s"], 8, "timed_out"),
];

fn call<'w>(words: &[&'w str], more: &[&'w str]) -> Vec<&'w str> {
    [&["call"], words, more].concat()
}

fn every_outcome_has_its_exit_code() {
    for (words, code, status) in ENDS {
        let said = run(&call(words, &[]));
        assert_eq!(said.code, code, "{said:?}");
        if code == 0 {
            assert_eq!((&*said.out, &*said.err), ("0.5\n", ""));
        } else {
            assert_eq!(said.out, "");
            assert!(said.err.contains(&format!("{status}: ")), "{said:?}");
        }
    }
    let said = run_as("overloaded", &["call", "nothing"]);
    assert_eq!(said.code, 10, "{said:?}");
    assert!(said.err.starts_with("overloaded: "), "{said:?}");
}

fn every_outcome_is_said_in_json_too() {
    for (words, code, status) in ENDS {
        let said = run(&call(words, &["--json"]));
        assert_eq!(said.code, code, "{said:?}");
        let json = said.json();
        assert_eq!(json["status"], status);
        assert_eq!(json["exit_code"], code);
        assert_eq!(json["name"], words[0]);
        assert_eq!(json["error"].is_string(), code != 0);
        assert_eq!(json["violation"].is_object(), code == 5);
        assert_eq!(json["problems"].is_array(), code == 3);
    }
    let json = run(&["--json", "call", "divide", r#"{"dividend":1,"divisor":0}"#]).json();
    assert_eq!(json["violation"]["contract"], "divide.pre[0]");
    assert_eq!(json["violation"]["values"], json!({"divisor": 0.0}));
    let json = run(&["call", "--json", "divide", r#"{"dividend":1}"#]).json();
    assert_eq!(json["problems"][0]["pointer"], "/divisor");
    assert_eq!(
        run_as("overloaded", &["call", "nothing", "--json"]).json()["exit_code"],
        10
    );
}

fn a_check_runs_nothing() {
    let said = run(&["call", "--check", "fall"]);
    assert_eq!(
        (said.code, &*said.out, &*said.err),
        (0, "ok: `fall` would run\n", "")
    );
    assert_eq!(run(&["call", "--check", "stick"]).code, 0);
    let words = ["call", "divide", r#"{"dividend":1,"divisor":0}"#, "--check"];
    assert_eq!(run(&words).code, 5);
    assert_eq!(
        run(&[&words[..], &["--json"]].concat()).json()["status"],
        "violation"
    );
    assert_eq!(
        run(&[&words[..], &["--policy", "observe"]].concat()).code,
        0
    );
}

fn what_is_observed_and_coerced_is_said_beside_the_result() {
    let said = run(&["call", "fill", r#"{"seats":20}"#]);
    assert_eq!((said.code, &*said.out), (0, "20\n"));
    assert!(
        said.err.starts_with("observed: that is a lot; "),
        "{said:?}"
    );
    let said = run(&["call", "repeat", r#"{"times":"3"}"#]);
    assert_eq!((said.code, &*said.out), (0, "aaa\n"));
    assert_eq!(said.err, "coerced: `/times` from \"3\" to 3\n");
    let json = run(&["call", "fill", r#"{"seats":20}"#, "--json"]).json();
    assert_eq!(json["observed"][0]["contract"], "fill.pre[0]");
    let json = run(&["call", "repeat", r#"{"times":"3"}"#, "--json"]).json();
    assert_eq!(
        json["coercions"],
        json!([{"pointer": "/times", "from": "3", "to": 3, "secret": false}])
    );
}

fn a_policy_is_for_conditions_whose_author_chose_none() {
    let arguments = r#"{"dividend":1,"divisor":0}"#;
    for (policy, code) in [
        ("ignore", 6),
        ("observe", 6),
        ("enforce", 5),
        ("quick_enforce", 5),
    ] {
        let said = run(&["call", "divide", arguments, "--policy", policy]);
        assert_eq!(said.code, code, "{policy}: {said:?}");
        let said = run(&["call", "fill", r#"{"seats":20}"#, "--policy", policy]);
        assert_eq!(said.code, 0, "{policy}: {said:?}");
    }
}

fn artifacts_are_named_and_written() {
    let said = run(&["call", "draw"]);
    assert_eq!(said.out, "three things\n");
    assert_eq!(
        said.err,
        "artifact 1: image, image/png, 4 bytes; `--out FOLDER` writes it\n\
         artifact 2: file `../../table.csv`, text/csv, 4 bytes; `--out FOLDER` writes it\n\
         artifact 3: value `sum`, 3\n"
    );
    let json = run(&["call", "draw", "--json"]).json();
    assert_eq!(json["artifacts"][0]["base64"], "iVBORw==");
    assert_eq!(
        json["artifacts"][2],
        json!({"type": "value", "name": "sum", "value": 3})
    );

    let folder = Folder::new("written");
    let out = folder.0.join("made");
    let said = run(&["call", "draw", "--out", out.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(names(&folder), ["made"]);
    assert_eq!(fs::read(out.join("image-1.png")).unwrap(), b"\x89PNG");
    assert_eq!(fs::read(out.join("table.csv")).unwrap(), b"a,b\n");
    assert_eq!(fs::read(out.join("sum.json")).unwrap(), b"3\n");
    assert!(said.err.contains("written to "), "{said:?}");
}

fn a_taken_name_is_not_overwritten() {
    let folder = Folder::new("taken");
    let path = folder.0.to_str().unwrap();
    fs::write(folder.0.join("table.csv"), "mine").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.0.join("elsewhere"), folder.0.join("sum.json")).unwrap();
    #[cfg(not(unix))]
    fs::write(folder.0.join("sum.json"), "mine").unwrap();
    let json = run(&["call", "draw", "--out", path, "--json"]).json();
    let paths: Vec<&str> = (0..3)
        .filter_map(|n| json["artifacts"][n]["path"].as_str())
        .collect();
    assert!(
        paths[1].ends_with("table-2.csv") && paths[2].ends_with("sum-2.json"),
        "{paths:?}"
    );
    assert_eq!(fs::read(folder.0.join("table.csv")).unwrap(), b"mine");
    assert!(!folder.0.join("elsewhere").exists());

    let file = folder.0.join("table.csv");
    let said = run(&["call", "draw", "--out", file.to_str().unwrap(), "--json"]);
    let [json, error] = [&said.out, &said.err].map(|text| {
        let data: Value = serde_json::from_str(text).unwrap();
        data
    });
    assert_eq!(
        (said.code, &error["error"]["kind"]),
        (1, &Value::from("io"))
    );
    // What came of the call is not lost.
    assert_eq!(json["exit_code"], 1);
    assert_eq!(json["artifacts"][0]["base64"], "iVBORw==");
    let said = run(&["call", "draw", "--out", file.to_str().unwrap()]);
    assert_eq!((said.code, said.out.is_empty()), (1, false), "{said:?}");
    assert!(said.err.contains("error: cannot write"), "{said:?}");
}

fn an_output_ends_with_one_line_end() {
    assert_eq!(run(&["call", "nothing"]).out, "");
    assert_eq!(
        run(&["call", "flood", r#"{"lines":2}"#]).out,
        "a line of text\na line of text\n"
    );
}

fn it_runs_inside_a_runtime_as_well() {
    for variant in ["threads", "one", "task"] {
        let said = run_as(variant, &["call", "wait", r#"{"milliseconds":1}"#]);
        assert_eq!(
            (said.code, &*said.out),
            (0, "waited\n"),
            "{variant}: {said:?}"
        );
        assert_eq!(run_as(variant, &["call", "fall"]).code, 7, "{variant}");
        assert_eq!(run_as(variant, &["list"]).code, 0, "{variant}");
        assert_eq!(run_as(variant, &["serve"]).code, 0, "{variant}");
    }
}

/// A folder of a test's own, which goes with it.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cli-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn what_a_body_says_goes_to_standard_error() {
    let said = run(&["call", "fall"]);
    let mut lines = said.err.lines();
    // Nothing in it moves a cursor.
    assert_eq!(lines.next(), Some(r"warning: about to fall\u{1b}[2J"));
    // No message looks like what the program itself says.
    assert_eq!(lines.next(), Some("  failed: not yet"));
    assert!(lines.any(|line| line.starts_with("panicked: ")), "{said:?}");
}
