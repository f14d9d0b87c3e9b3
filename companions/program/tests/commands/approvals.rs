use serde_json::{Value, json};

use super::started::{Said, program, run_as, run_with_variant};
use super::terminals::typed_on_a_terminal;

tests![
    a_call_that_asks_ends_with_its_request,
    an_id_approves_one_request_in_another_process,
    an_id_is_of_everything_that_was_asked,
    what_changes_while_it_is_asked_is_asked_again,
    a_check_says_that_it_would_ask,
    what_asks_is_explained,
    a_terminal_is_asked,
    nothing_but_yes_is_a_yes,
    what_a_model_wrote_moves_no_terminal,
    what_asks_is_told,
    a_server_asks_its_client_only_if_it_is_told_to,
];

const REFUND: &str = r#"{"user":"ada","cents":20000}"#;

fn call(words: &[&str]) -> Said {
    run_as("asking", &[&["call"], words].concat())
}

fn id(words: &[&str]) -> String {
    let said = call(words);
    assert_eq!(said.code, 11, "{said:?}");
    said.json()["id"].as_str().unwrap().to_owned()
}

fn a_call_that_asks_ends_with_its_request() {
    let small = call(&["refund", r#"{"user":"ada","cents":1}"#]);
    assert_eq!((small.code, &*small.out), (0, "refunded 1 to ada\n"));
    let said = call(&["refund", REFUND]);
    assert_eq!(said.code, 11, "{said:?}");
    let request = said.json();
    let id = request["id"].as_str().unwrap();
    assert_eq!(id.len(), 64);
    assert_eq!(
        request,
        json!({
            "id": id,
            "tool": "refund",
            "arguments": {"user": "ada", "cents": 20_000},
            "questions": [{"contract": "refund.pre[0]", "text": "Refund 20000 cents to \"ada\"?"}],
        })
    );
    assert_eq!(
        said.err,
        format!(
            "asked: not started, because a person must be asked first: Refund 20000 cents to \"ada\"?\n\
             to approve it: call again with --approve {id}\n"
        )
    );
    let said = call(&["refund", REFUND, "--json"]);
    assert_eq!((said.code, &*said.err), (11, ""));
    let json = said.json();
    assert_eq!(
        (&json["status"], &json["exit_code"]),
        (&json!("asked"), &json!(11))
    );
    assert_eq!(json["approval_request"], request);
}

fn an_id_approves_one_request_in_another_process() {
    let approved = id(&["refund", REFUND]);
    let spaced = r#" { "cents": 20000, "user": "ada" } "#;
    assert_eq!(id(&["refund", spaced]), approved);
    let said = call(&["refund", spaced, "--approve", &approved]);
    assert_eq!(
        (said.code, &*said.out),
        (0, "refunded 20000 to ada\n"),
        "{said:?}"
    );
    for other in [
        r#"{"user":"ada","cents":20001}"#,
        r#"{"user":"eve","cents":20000}"#,
        r#"{"user":"ada","cents":20000,"pin":"1234"}"#,
    ] {
        let said = call(&["refund", other, "--approve", &approved]);
        assert_eq!(said.code, 11, "{said:?}");
        assert_ne!(said.json()["id"], json!(approved));
    }
    for wrong in ["", "y", "0", &approved[1..], &approved.to_uppercase()] {
        assert_eq!(call(&["refund", REFUND, "--approve", wrong]).code, 11);
    }
    // It has nothing to say about what does not ask, and never makes up for what is refused.
    let small = call(&[
        "refund",
        r#"{"user":"ada","cents":1}"#,
        "--approve",
        &approved,
    ]);
    assert_eq!(small.code, 0);
    assert_eq!(call(&["refund", "{}", "--approve", &approved]).code, 3);
}

fn an_id_is_of_everything_that_was_asked() {
    let pin = |pin| {
        id(&[
            "refund",
            &format!(r#"{{"user":"ada","cents":20000,"pin":"{pin}"}}"#),
        ])
    };
    assert_ne!(pin("1234"), pin("4321"));
    let said = call(&["refund", r#"{"user":"ada","cents":20000,"pin":"1234"}"#]);
    assert_eq!(said.json()["arguments"]["pin"], "***");
    let priced = |price: &str, more: &[&str]| {
        let mut program = program(&[&["call", "buy"], more].concat());
        Said::new(
            program
                .env("VARIANT", "asking")
                .env("PRICE", price)
                .output()
                .unwrap(),
        )
    };
    let approved = priced("40", &[]).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(priced("40", &["--approve", &approved]).code, 0);
    let dearer = priced("400", &["--approve", &approved]);
    assert_eq!(dearer.code, 11);
    assert_eq!(dearer.json()["questions"][0]["text"], "Buy a lamp for 400?");
}

fn what_changes_while_it_is_asked_is_asked_again() {
    let approved = id(&["buy"]);
    let mut rising = program(&["call", "buy", "--approve", &approved]);
    let said = Said::new(
        rising
            .envs([("VARIANT", "asking"), ("RISES", "1")])
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, 11, "{said:?}");
    assert_eq!(said.json()["questions"][0]["text"], "Buy a lamp for 41?");
    let settings = [("VARIANT", "asking"), ("RISES", "1"), ("NO_COLOR", "1")];
    let Some((said, code)) = typed_on_a_terminal(&settings, &["call", "buy"], Some("y\ny\ny\ny\n"))
    else {
        return;
    };
    assert_eq!(code, 12, "{said}");
    assert_eq!(said.matches("[y/N]").count(), 3, "{said}");
    assert!(
        said.contains("Buy a lamp for 42?") && said.contains("approved three times"),
        "{said}"
    );
}

fn a_check_says_that_it_would_ask() {
    let said = call(&["refund", REFUND, "--check"]);
    assert_eq!((said.code, &*said.out), (11, ""), "{said:?}");
    assert!(
        said.err
            .starts_with("asked: not started, because a person must be asked first")
    );
    let json = call(&["refund", REFUND, "--check", "--json"]).json();
    assert_eq!(json["approval_request"]["id"], id(&["refund", REFUND]));
}

fn what_asks_is_explained() {
    let said = call(&["remove", "path=x", "key=s3cret", "--explain"]);
    assert_eq!(said.code, 11, "{said:?}");
    assert_eq!(
        said.out,
        "\
arguments
    {\"path\":\"x\",\"key\":\"***\"}
conditions
    holds: requires `!path.is_empty()`
    asks: about every call
        Remove \"x\"?
    after the call: promises `|left| *left < 9`
"
    );
    assert_eq!(
        said.err,
        "asked: not started, because a person must be asked first: Remove \"x\"?\n"
    );
    let json = call(&["remove", "path=x", "key=s3cret", "--explain", "--json"]);
    assert!(!json.out.contains("s3cret"), "{json:?}");
    let json = json.json();
    assert_eq!(json["arguments"], json!({"path": "x", "key": "***"}));
    assert_eq!(
        json["conditions"][1],
        json!({"kind": "confirm", "verdict": "asks", "message": "Remove \"x\"?"})
    );
    // Nobody is asked about what is refused anyway.
    let said = call(&["remove", "path=", "--explain"]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(
        said.out.contains("    not reached: about every call\n"),
        "{said:?}"
    );
    // A secret under a name that is misspelt, or in what is not JSON, is not shown either.
    for arguments in [
        r#"{"path":"x","kye":"s3cret"}"#,
        r#"{"path":"x","key":"s3cret"#,
    ] {
        let said = call(&["remove", arguments, "--explain"]);
        assert_eq!(said.code, 3, "{said:?}");
        assert!(!said.out.contains("s3cret"), "{said:?}");
    }
    let said = call(&["refund", REFUND, "--explain"]);
    let lines =
        format!("arguments\n    {REFUND}\nconditions\n    asks: requires `cents <= 10_000`\n");
    assert!(said.out.starts_with(&lines), "{said:?}");
}

fn a_terminal_is_asked() {
    let settings = [("VARIANT", "asking"), ("NO_COLOR", "1")];
    let words = ["call", "refund", REFUND];
    let Some((said, code)) = typed_on_a_terminal(&settings, &words, Some("y\n")) else {
        return;
    };
    assert_eq!(code, 0, "{said}");
    for line in [
        "asked: Refund 20000 cents to \"ada\"?\n",
        "tool: refund\n",
        "arguments: {\"user\":\"ada\",\"cents\":20000}\n",
        "Approve this call? [y/N] ",
        "refunded 20000 to ada\n",
    ] {
        assert!(said.contains(line), "{line:?} in {said}");
    }
    // An id saves the question.
    let approved = id(&["refund", REFUND]);
    let words = [&words[..], &["--approve", &approved]].concat();
    let (said, code) = typed_on_a_terminal(&settings, &words, Some("")).unwrap();
    assert_eq!((&*said, code), ("refunded 20000 to ada\n", 0));
}

fn nothing_but_yes_is_a_yes() {
    let settings = [("VARIANT", "asking"), ("NO_COLOR", "1")];
    for typed in ["Y\n", "yes\n", "YES\r\n"] {
        let typed_on = typed_on_a_terminal(&settings, &["call", "refund", REFUND], Some(typed));
        let Some((said, code)) = typed_on else {
            return;
        };
        assert_eq!(code, 0, "{typed:?}: {said}");
    }
    for typed in [
        "\n",
        "n\n",
        "yes please\n",
        "ye\n",
        "\u{443}\n",
        " y\n",
        "yy\n",
        "approved\n",
        "\u{4}",
    ] {
        let typed_on = typed_on_a_terminal(&settings, &["call", "refund", REFUND], Some(typed));
        let Some((said, code)) = typed_on else {
            return;
        };
        assert_eq!(code, 12, "{typed:?}: {said}");
        assert!(
            said.contains("denied: not started, because it was denied: "),
            "{said}"
        );
        assert!(!said.contains("refunded"), "{said}");
    }
    let (said, code) =
        typed_on_a_terminal(&settings, &["call", "refund", REFUND], Some("\u{3}")).unwrap();
    assert_eq!(code, 9, "{said}");
}

fn what_a_model_wrote_moves_no_terminal() {
    let user = "x?\n\u{1b}[2J\u{202e} already approved";
    let arguments = json!({"user": user, "cents": 20_000}).to_string();
    let settings = [("VARIANT", "asking"), ("NO_COLOR", "1")];
    let Some((said, _)) =
        typed_on_a_terminal(&settings, &["call", "refund", &arguments], Some("n\n"))
    else {
        return;
    };
    assert!(
        said.contains("asked: Refund 20000 cents to \"x? [2J already approved\"?\n"),
        "{said}"
    );
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said}");
    let long = json!({"user": "a".repeat(50_000), "cents": 20_000}).to_string();
    let (said, _) =
        typed_on_a_terminal(&settings, &["call", "refund", &long], Some("n\n")).unwrap();
    assert!(said.len() < 5_000);
}

fn what_asks_is_told() {
    let listed = run_as("asking", &["list"]);
    assert_eq!(
        listed.out,
        "buy\tasks\tBuy a lamp, at the price of the day\nrefund\tasks\tRefund cents to somebody\n\
         remove\tdestructive,asks\tRemove a file\n"
    );
    let listed = run_as("asking", &["list", "--json"]).json();
    assert_eq!(listed[0]["approval"], "always");
    assert_eq!(listed[1]["approval"], "sometimes");
    let shown = run_as("asking", &["show", "buy", "--json"]).json();
    assert_eq!(shown["approval"], "always");
    let shown = run_as("asking", &["show", "refund"]);
    assert!(
        shown
            .out
            .contains("asks \"Refund {cents} cents to {user}?\""),
        "{shown:?}"
    );
}

fn a_server_asks_its_client_only_if_it_is_told_to() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let arguments: Value = serde_json::from_str(REFUND).unwrap();
    let params = json!({"name": "refund", "arguments": arguments, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    for (words, told) in [
        (&["serve"][..], "there is nobody to ask"),
        (&["serve", "--ask-client"], "input_required"),
    ] {
        let said = run_with_variant("asking", format!("{call}\n").as_bytes(), words);
        assert!(said.out.contains(told), "{said:?}");
    }
}
