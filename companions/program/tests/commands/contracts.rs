use std::fs;

use serde_json::{Value, json};

use super::started::{run, run_as, run_with};

tests![
    tools_are_listed_in_every_form,
    a_contract_is_shown_in_four_forms,
    every_dialect_is_exported_under_every_name,
    what_a_dialect_cannot_say_is_an_error,
    a_tool_that_cannot_be_strict_is_exported_and_named,
    a_check_finds_what_is_superfluous,
    a_check_asks_for_the_dialects_that_it_is_told,
    a_manifest_is_what_its_schema_says,
    a_difference_is_told_and_a_breaking_one_exits_with_one,
    a_manifest_that_is_none_is_refused,
    contracts_are_proven_where_that_is_built_in,
    a_tool_that_asks_for_earlier_calls_says_that_it_is_refused_here,
];

fn tools_are_listed_in_every_form() {
    let said = run(&["list"]);
    let lines: Vec<Vec<&str>> = said
        .out
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(
        lines[0],
        [
            "divide",
            "read_only,idempotent",
            "Divide one number by another"
        ]
    );
    assert!(lines.iter().all(|cells| cells.len() == 3), "{lines:?}");
    let json = run(&["list", "--json"]).json();
    let names: Vec<_> = lines.iter().map(|cells| cells[0]).collect();
    let of_json: Vec<_> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(of_json, names);
    assert_eq!(
        run(&["list", "--names"]).out.lines().collect::<Vec<_>>(),
        names
    );
    assert_eq!(
        json[0]["hints"],
        json!({"read_only": true, "idempotent": true})
    );
}

fn a_contract_is_shown_in_four_forms() {
    let said = run(&["show", "divide"]);
    assert_eq!(said.code, 0);
    for form in [
        "\nenforced\n",
        "\nshown\n",
        "\nsent\n",
        "\ntested\n",
        "in the schema: `divisor != 0.0`",
    ] {
        assert!(said.out.contains(form), "{form}: {}", said.out);
    }
    let json = run(&["show", "divide", "--json"]).json();
    let condition = &json["conditions"][0];
    assert_eq!(condition["predicate"], "divisor != 0.0");
    assert_eq!(condition["policy"], "enforce");
    assert_eq!(condition["lowering"], "exact");
    assert_eq!(condition["rule"]["rule"], "double(args.divisor) != 0.0");
    assert_eq!(json["findings"], json!([]));
    assert_eq!(
        run(&["show", "fill", "--json"]).json()["conditions"][0]["policy"],
        "observe"
    );
    let json = run_as("superfluous", &["show", "doubly", "--json"]).json();
    assert_eq!(json["findings"][0]["subject"], "doubly.pre[1]");
    assert!(jsonschema::meta::is_valid(&json["input_schema"]));
}

/// The name, the name it stands for, where the schema of a tool is.
const DIALECTS: [(&str, &str, &str); 16] = [
    ("openai", "openai-chat", "/function/parameters"),
    ("openai-chat", "openai-chat", "/function/parameters"),
    (
        "openai-chat-strict",
        "openai-chat-strict",
        "/function/parameters",
    ),
    ("openai-responses", "openai-responses", "/parameters"),
    (
        "openai-responses-strict",
        "openai-responses-strict",
        "/parameters",
    ),
    ("anthropic", "anthropic", "/input_schema"),
    ("anthropic-strict", "anthropic-strict", "/input_schema"),
    ("gemini", "gemini-parameters", "/parameters"),
    ("gemini-parameters", "gemini-parameters", "/parameters"),
    (
        "gemini-json-schema",
        "gemini-json-schema",
        "/parametersJsonSchema",
    ),
    ("mcp", "mcp-2026-07-28", "/inputSchema"),
    ("mcp-2025-11-25", "mcp-2025-11-25", "/inputSchema"),
    ("mcp-2026-07-28", "mcp-2026-07-28", "/inputSchema"),
    ("json-schema", "neutral", "/parameters"),
    ("neutral", "neutral", "/parameters"),
    ("neutral", "neutral", "/parameters"),
];

fn every_dialect_is_exported_under_every_name() {
    for (name, meant, place) in DIALECTS {
        let said = run(&["schema", "--for", name]);
        assert_eq!((said.code, &*said.err), (0, ""), "{name}");
        assert_eq!(said.out, run(&["schema", "--for", meant]).out, "{name}");
        assert_eq!(
            said.out,
            run(&["schema", "--json", "--for", name]).out,
            "{name}"
        );
        let tools = said.json();
        let tools = tools.as_array().unwrap();
        assert_eq!(tools.len(), 12, "{name}");
        // For Gemini a tool without arguments has no schema; its first kind is of OpenAPI, which is judged elsewhere.
        for tool in tools {
            match tool.pointer(place) {
                Some(_) if meant == "gemini-parameters" => (),
                Some(schema) => assert!(jsonschema::meta::is_valid(schema), "{name}: {schema}"),
                None => assert!(meant.starts_with("gemini"), "{name}: {tool}"),
            }
        }
    }
    for name in ["openai", "openai-responses", "anthropic"] {
        let strict = run(&["schema", "--strict", "--for", name]);
        assert_eq!(strict.code, 0, "{strict:?}");
        assert!(strict.out.contains("\"strict\": true"), "{name}");
        assert_ne!(strict.out, run(&["schema", "--for", name]).out);
    }
}

fn what_a_dialect_cannot_say_is_an_error() {
    let words = ["schema", "--for", "gemini"];
    let said = run_as("untyped", &words);
    assert_eq!((said.code, &*said.out), (1, ""));
    assert!(
        said.err
            .starts_with("error: the tools cannot be exported to `gemini-parameters`:\n")
    );
    let said = run_as("untyped", &[&words[..], &["--json"]].concat());
    let error = &said.json_error()["error"];
    assert_eq!(error["kind"], "export");
    assert_eq!(error["problems"].as_array().unwrap().len(), 1);
}

fn a_tool_that_cannot_be_strict_is_exported_and_named() {
    let words = ["schema", "--for", "openai", "--strict"];
    let said = run_as("untyped", &words);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()[0]["function"]["strict"], false);
    assert!(said.err.starts_with("not strict: `"), "{}", said.err);
    let said = run_as(
        "untyped",
        &["check", "--json", "--for", "openai", "--strict"],
    );
    assert_eq!(said.code, 1);
    let exports = &said.json()["exports"];
    assert_eq!(exports[0]["ok"], true);
    assert_eq!(
        (&exports[1]["dialect"], &exports[1]["ok"]),
        (&json!("openai-chat-strict"), &json!(false))
    );
    assert_eq!(exports[1]["problems"].as_array().unwrap().len(), 1);
}

fn a_check_finds_what_is_superfluous() {
    assert_eq!(run(&["check"]).out, "ok: 12 tools\n");
    let json = run(&["check", "--json"]).json();
    assert_eq!((&json["ok"], &json["tools"]), (&json!(true), &json!(12)));
    let said = run_as("superfluous", &["check"]);
    assert_eq!((said.code, &*said.err), (0, ""));
    assert!(said.out.starts_with("superfluous: "), "{said:?}");
    assert!(said.out.ends_with("\nok: 1 tool\n"), "{said:?}");
    assert!(
        said.out
            .contains("doubly.pre[1]: `seconds < 3_600` already follows from `seconds < 60`")
    );
    // Notes fail where they are asked to.
    for (words, code) in [
        (&["check", "--json"][..], 0),
        (&["check", "--json", "--for", "mcp"], 0),
        (&["check", "--json", "--for", "openai", "--strict"], 1),
    ] {
        let said = run_as("superfluous", words);
        let (ok, finding) = (&said.json()["ok"], &said.json()["findings"][0]);
        assert_eq!((said.code, ok), (code, &json!(code == 0)), "{words:?}");
        assert_eq!(finding["kind"], "implied");
    }
}

fn a_check_asks_for_the_dialects_that_it_is_told() {
    let said = run_as("untyped", &["check"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out
            .contains("export: the tools cannot be exported to `gemini-parameters`"),
        "{said:?}"
    );
    assert!(!said.out.contains("strict`:"), "{said:?}");
    let said = run_as("untyped", &["check", "--for", "openai", "--for", "mcp"]);
    assert_eq!((said.code, &*said.out), (0, "ok: 1 tool\n"), "{said:?}");
    let said = run_as("untyped", &["check", "--for", "openai", "--strict"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out
            .contains("not strict: tools are exported to `openai-chat-strict` without `strict`:\n")
    );
    let json = run_as("untyped", &["check", "--json", "--strict"]).json();
    assert_eq!(json["ok"], false);
    let of = |json: &Value| json["exports"].as_array().unwrap().len();
    assert_eq!(of(&json), 11);
    assert_eq!(of(&run(&["check", "--json"]).json()), 8);
    assert_eq!(
        of(&run(&["check", "--json", "--for", "openai", "--for", "openai-chat"]).json()),
        1
    );
    assert_eq!(
        run_as("untyped", &["check", "--for", "gemini", "--strict"]).code,
        1
    );
}

fn a_manifest_is_what_its_schema_says() {
    let schema = include_str!("../../../../companions/manifest/src/manifest.schema.json");
    let judge = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    for more in [&[][..], &["--json"], &["--without-locations"]] {
        let said = run(&[&["manifest"], more].concat());
        assert_eq!((said.code, &*said.err), (0, ""));
        let manifest = said.json();
        let mistake = judge.iter_errors(&manifest).next();
        assert!(mistake.is_none(), "{mistake:?}");
        assert_eq!(manifest["tools"].as_array().unwrap().len(), 12);
        assert_eq!(
            manifest["tools"][0]["location"].is_null(),
            more.contains(&"--without-locations")
        );
    }
}

fn a_difference_is_told_and_a_breaking_one_exits_with_one() {
    let now = run(&["manifest"]).out;
    let file = std::env::temp_dir().join(format!("cli-diff-{}.json", std::process::id()));
    fs::write(&file, &now).unwrap();
    let said = run(&["diff", file.to_str().unwrap()]);
    fs::remove_file(&file).unwrap();
    assert_eq!(
        (said.code, &*said.out),
        (0, "the contracts have not changed\n")
    );
    // Whether places are in it is no difference.
    let frozen = run(&["manifest", "--without-locations"]).out;
    assert_eq!(run_with(frozen.as_bytes(), &["diff", "-"]).out, said.out);

    let mut more: Value = serde_json::from_str(&now).unwrap();
    let tools = more["tools"].as_array_mut().unwrap();
    let mut another = tools[0].clone();
    another["name"] = "zzz".into();
    tools.push(another);
    let said = run_with(more.to_string().as_bytes(), &["diff", "-"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out
            .starts_with("the contracts have changed: 1 breaking, 0 compatible\n"),
        "{said:?}"
    );
    let json = run_with(more.to_string().as_bytes(), &["diff", "-", "--json"]).json();
    assert_eq!(
        (&json["breaking"], &json["changes"][0]["tool"]),
        (&json!(true), &json!("zzz"))
    );

    let mut less: Value = serde_json::from_str(&now).unwrap();
    less["tools"].as_array_mut().unwrap().remove(0);
    let said = run_with(less.to_string().as_bytes(), &["diff", "-"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .starts_with("the contracts have changed: 0 breaking, 1 compatible\n"),
        "{said:?}"
    );
}

fn a_manifest_that_is_none_is_refused() {
    for input in [
        &b""[..],
        b"{}",
        b"[]",
        b"\xff",
        b"{\"version\":\"99.0\",\"rules\":1,\"tools\":[]}",
    ] {
        let said = run_with(input, &["diff", "-"]);
        assert_eq!((said.code, &*said.out), (2, ""), "{said:?}");
        let said = run_with(input, &["diff", "-", "--json"]);
        assert_eq!(said.json_error()["error"]["kind"], "input");
    }
}

fn contracts_are_proven_where_that_is_built_in() {
    let words = ["verify", "divide", "--cases", "40", "--seed", "1"];
    let said = run(&words);
    if !cfg!(feature = "verify") {
        assert_eq!(said.code, 2, "{said:?}");
        return;
    }
    // An overflow breaks the promise, and the report says how.
    let json = run(&[&words[..], &["--json"]].concat());
    assert_eq!(said.code, json.code);
    assert_eq!(json.json()["ok"], json.code == 0);
    assert_eq!(json.json()["seed"], 1);
    assert!(said.out.contains("divide"), "{said:?}");
    assert_eq!(run(&["verify", "dvide"]).code, 4);
    assert_eq!(run(&["verify", "nothing", "--cases", "few"]).code, 2);
    let said = run_as("wrong", &["verify", "--cases", "40"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.out
            .contains(r#"registry.call(("", "same", json!({"number": 0})))"#),
        "{said:?}"
    );
    let json = run_as("wrong", &["verify", "--cases", "40", "--json"]);
    assert_eq!((json.code, &json.json()["ok"]), (1, &json!(false)));
    // What nobody has let run is not passed over in silence.
    let words = ["verify", "fail", "--cases", "40"];
    let said = run(&words);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("accepted, body not run)")
            && said.out.contains("\nthe body of `fail` was not run; "),
        "{said:?}"
    );
    let strict = run(&[&words[..], &["--strict"]].concat());
    assert_eq!(strict.code, 1, "{strict:?}");
    assert!(strict.out.contains("1 tool: incomplete ("), "{strict:?}");
    let json = run(&[&words[..], &["--json"]].concat());
    assert_eq!(
        json.json()["skipped"],
        json!([{"kind": "body", "tool": "fail", "postconditions": 0, "decided": false}])
    );
}

fn a_tool_that_asks_for_earlier_calls_says_that_it_is_refused_here() {
    let told =
        "`return_order` asks for earlier calls, and `call` remembers none, so it is refused here";
    let shown = run_as("orders", &["show", "return_order"]);
    assert!(
        shown.out.contains(&format!("\nhistory\n    {told}")),
        "{}",
        shown.out
    );
    for more in [&[][..], &["--check"]] {
        let words = [&["call", "return_order", r#"{"id":"W1"}"#], more].concat();
        let refused = run_as("orders", &words);
        assert_eq!(refused.code, 5);
        assert!(
            refused.err.contains(&format!("history: {told}")),
            "{}",
            refused.err
        );
    }
    let other = run_as("orders", &["show", "find_order"]);
    assert!(!other.out.contains("\nhistory\n"), "{}", other.out);
}
