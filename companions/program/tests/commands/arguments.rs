use std::fs;

use serde_json::{Value, json};

use super::started::{Said, run_as, run_with_variant};

tests![
    each_word_is_read_by_the_schema,
    what_can_be_read_in_two_ways_is_refused_with_the_json_for_each,
    what_cannot_be_said_is_refused_with_the_form_that_is_wanted,
    options_of_the_command_may_stand_anywhere,
    odd_names_are_no_mistake,
    what_may_be_an_option_or_an_argument_is_refused,
    a_secret_is_not_repeated,
    they_come_from_a_file_or_standard_input,
    an_invalid_call_is_shown_its_form,
    each_condition_of_a_call_is_explained,
    a_lookup_is_explained_in_its_place,
    a_condition_that_panics_is_explained_once,
];

fn plan(words: &[&str]) -> Said {
    run_as("journeys", &[&["call", "plan"], words].concat())
}

fn each_word_is_read_by_the_schema() {
    for (words, expected) in [
        // A text is what stands there, whatever it looks like.
        (&["city=Oslo"][..], json!({"city": "Oslo"})),
        (&["--city", "Oslo"], json!({"city": "Oslo"})),
        (&["--city=Oslo=x, y"], json!({"city": "Oslo=x, y"})),
        (&["city=5"], json!({"city": "5"})),
        (&["city=null"], json!({"city": "null"})),
        (&["city={\"a\":1}"], json!({"city": "{\"a\":1}"})),
        (&["city="], json!({"city": ""})),
        (&["city=@/etc/passwd"], json!({"city": "@/etc/passwd"})),
        (&["city=a", "days=3"], json!({"city": "a", "days": 3})),
        (
            &["--city", "-", "--days", "3"],
            json!({"city": "-", "days": 3}),
        ),
        (&["city=a", "days=null"], json!({"city": "a"})),
        // Lists whose elements have no comma.
        (
            &["city=a", "prices=1,2.5,-3e2"],
            json!({"city": "a", "prices": [1.0, 2.5, -300.0]}),
        ),
        (
            &["city=a", "prices=1, 2"],
            json!({"city": "a", "prices": [1.0, 2.0]}),
        ),
        (
            &["city=a", "prices=[1,2]"],
            json!({"city": "a", "prices": [1.0, 2.0]}),
        ),
        (&["city=a", "prices=[]"], json!({"city": "a", "prices": []})),
        (
            &["city=a", "--prices", "1", "--prices", "-2"],
            json!({"city": "a", "prices": [1.0, -2.0]}),
        ),
        (
            &["city=a", "modes=train,ship"],
            json!({"city": "a", "modes": ["train", "ship"]}),
        ),
        // Lists of texts.
        (
            &["city=a", "tags=new"],
            json!({"city": "a", "tags": ["new"]}),
        ),
        (
            &["city=a", "tags=a,b", "tags=c"],
            json!({"city": "a", "tags": ["a,b", "c"]}),
        ),
        (
            &["city=a", r#"tags:=["a,b"]"#],
            json!({"city": "a", "tags": ["a,b"]}),
        ),
        (
            &["--urgent", "city=a"],
            json!({"city": "a", "urgent": true}),
        ),
        (&["city=a", "urgent=false"], json!({"city": "a"})),
        (
            &["city=a", "--start-at", "noon"],
            json!({"city": "a", "start_at": "noon"}),
        ),
        (
            &["city=a", r#"rooms={"floor":1,"guests":["x"]}"#],
            json!({"city": "a", "rooms": [{"floor": 1, "guests": ["x"]}]}),
        ),
        // Any JSON: what is no other JSON is a text.
        (
            &["city=a", "note=hello"],
            json!({"city": "a", "note": "hello"}),
        ),
        (&["city=a", "note:=5"], json!({"city": "a", "note": 5})),
        (&[r#"{"city":"a=b"}"#], json!({"city": "a=b"})),
    ] {
        let said = plan(words);
        assert_eq!((said.code, &*said.err), (0, ""), "{words:?}");
        assert_eq!(said.json(), expected, "{words:?}");
    }
}

fn what_can_be_read_in_two_ways_is_refused_with_the_json_for_each() {
    for (word, forms) in [
        ("tags=a,b", r#"`tags:='["a,b"]'` or `tags:='["a","b"]'`"#),
        (
            r#"tags=["a"]"#,
            r#"`tags:='["a"]'` or `tags:='["[\"a\"]"]'`"#,
        ),
        ("note=5", r#"`note:='"5"'` or `note:=5`"#),
        ("note=true", r#"`note:='"true"'` or `note:=true`"#),
    ] {
        let said = plan(&["city=a", word]);
        let expected = format!("error: `{word}` can be read in 2 ways; write {forms}\n");
        assert_eq!((said.code, &*said.err), (2, &*expected));
    }
}

fn what_cannot_be_said_is_refused_with_the_form_that_is_wanted() {
    const NAMELESS: &str = "a word without a name gives all arguments, so it must stand alone";
    const FORM: &str = "call plan city=TEXT [days=NUMBER] [modes=train|ship,...] [prices=NUMBER,...] [tags=TEXT ...] \
        [urgent=true|false] [rooms:=JSON] [start_at=TEXT] [pin:=JSON] [note:=JSON]";
    for (words, problem, form) in [
        (
            &["days=many"][..],
            "cannot read `days=many` by the schema",
            "days=NUMBER",
        ),
        (
            &["days=+5"],
            "cannot read `days=+5` by the schema",
            "days=NUMBER",
        ),
        (
            &["urgent=yes"],
            "cannot read `urgent=yes` by the schema",
            "urgent=true|false",
        ),
        (
            &["prices=1,x"],
            "cannot read `prices=1,x` by the schema",
            "prices=NUMBER,...",
        ),
        (
            &["rooms=first"],
            "cannot read `rooms=first` by the schema",
            "rooms:=JSON",
        ),
        (
            &["rooms:=[{"],
            "the value of `rooms:=` is not JSON: EOF while parsing an object at line 1 column 2",
            "rooms:=JSON",
        ),
        (&["city=a", "city=b"], "`city` is given 2 times", FORM),
        // A word without a name may be a part of a secret, where there are any.
        (&["city=a", "3"], NAMELESS, FORM),
        (&["--urgent", "false"], NAMELESS, FORM),
        (&["city"], "`city` has no value", "city=TEXT"),
        (
            &["city=a", "start-at"],
            "`start-at` has no value",
            "start_at=TEXT",
        ),
        (&[r#"{"city":"a"}"#, "days=3"], NAMELESS, FORM),
        (&["days=3", "@call.json"], NAMELESS, FORM),
        (&["-", "days=3"], NAMELESS, FORM),
    ] {
        let said = plan(words);
        let expected = format!("error: {problem}; write `{form}`\n");
        assert_eq!((said.code, &*said.err), (2, &*expected), "{words:?}");
    }
    for (words, problem) in [
        (
            &["--days", "--city", "a"][..],
            "a value is required for '--days <NUMBER>' but none was supplied\n\n",
        ),
        (&["town=a"], "unexpected argument '--town' found\n\n"),
        (
            &["--dayz", "3"],
            "unexpected argument '--dayz' found\n\n  tip: a similar argument exists: '--days'\n\n",
        ),
        (
            &["city=a", "-days", "3"],
            "unexpected argument '-d' found\n\n",
        ),
    ] {
        let said = plan(words);
        assert_eq!(said.code, 2, "{words:?}");
        assert!(
            said.err.starts_with(&format!("error: {problem}")),
            "{said:?}"
        );
    }
    let said = plan(&["--dayz", "3"]);
    assert!(said.err.contains(FORM), "{said:?}");
    let said = run_as("journeys", &["call", "divide", "dividend=1", "2"]);
    assert_eq!(
        said.err,
        format!("error: {NAMELESS}; write `call divide dividend=NUMBER divisor=NUMBER`\n")
    );
    let said = plan(&["days=many", "--json"]);
    assert_eq!(said.json_error()["error"]["kind"], "usage");
}

fn options_of_the_command_may_stand_anywhere() {
    let said = plan(&["--days", "3", "--json", "--city", "a", "--timeout", "5s"]);
    assert_eq!(said.json()["value"], json!({"city": "a", "days": 3}));
    // Behind many words too.
    let many: Vec<String> = (0..100).map(|price| format!("prices={price}")).collect();
    let words: Vec<&str> = many.iter().map(String::as_str).collect();
    let said = plan(&[&["city=a"], &words[..], &["--timeout", "5s", "--json"]].concat());
    let prices: Vec<_> = (0..100).map(f64::from).collect();
    assert_eq!(said.json()["value"]["prices"], json!(prices));
    // The order of the words is that of a list, in whatever form each is written.
    let said = plan(&[
        "city=a",
        "prices=1",
        "--prices",
        "2",
        "prices:=3",
        "--prices=4",
    ]);
    assert_eq!(said.json()["prices"], json!([1.0, 2.0, 3.0, 4.0]));
}

/// The names of arguments are those of a schema, whatever a command line can make of them.
fn odd_names_are_no_mistake() {
    let odd = |words: &[&str]| run_as("odd", &[&["call", "odd"], words].concat());
    let help = odd(&["--help"]);
    assert_eq!((help.code, &*help.err), (0, ""));
    assert!(help.out.contains("--a_b <NUMBER>"), "{help:?}");
    for (words, expected) in [
        (
            &["help=1", "a_b=2", "--a-b", "3"][..],
            json!({"help": 1, "a_b": 2, "a-b": 3}),
        ),
        (&["--", "--help", "1"], json!({"help": 1})),
        (
            &["--Options=1", "--\u{fc}", "2", "more=\"x\""],
            json!({"Options": 1, "\u{fc}": 2, "more": "\"x\""}),
        ),
        (
            &[r#"{"a b": 1, "": 2, "-x": 3}"#],
            json!({"a b": 1, "": 2, "-x": 3}),
        ),
    ] {
        let said = odd(&[&["--explain", "--json"], words].concat());
        assert_eq!(
            (said.code, &said.json()["arguments"]),
            (0, &expected),
            "{words:?}: {said:?}"
        );
    }
}

fn what_may_be_an_option_or_an_argument_is_refused() {
    let send = |words: &[&str]| run_as("letters", words);
    for (words, option, form) in [
        (&["--approve", "x"][..], "approve", "approve=TEXT"),
        (&["approve=y", "--approve=x"], "approve", "approve=TEXT"),
        (&["approve=y", "--check"], "check", "check=true|false"),
        (&["--out", "x"], "out", "out:=JSON"),
    ] {
        let said = send(&[&["call", "send"], words].concat());
        let expected = format!(
            "error: `--{option}` is an argument of `send` and an option of `call`, which belongs before `send`; write `{form}`\n"
        );
        assert_eq!((said.code, &*said.err), (2, &*expected), "{words:?}");
    }
    let said = send(&["call", "send", "--json"]);
    assert_eq!(said.json_error()["error"]["kind"], "usage");
    for (words, out) in [
        (&["approve=x"][..], "Some(\"x\") None None None\n"),
        (&["--", "--approve", "x"], "Some(\"x\") None None None\n"),
        (
            &["approve=x", "--", "--check"],
            "Some(\"x\") Some(true) None None\n",
        ),
        // Beside JSON it is the option, and an option that no argument is named like is one anywhere.
        (&[r#"{"approve":"x"}"#, "--check"], "ok: `send` would run\n"),
        (
            &["approve=x", "--timeout", "5s"],
            "Some(\"x\") None None None\n",
        ),
    ] {
        let said = send(&[&["call", "send"], words].concat());
        assert_eq!((said.code, &*said.out), (0, out), "{words:?}: {said:?}");
    }
    // Before the name of the tool it is the option.
    assert_eq!(
        send(&["call", "--check", "send", "check=true"]).out,
        "ok: `send` would run\n"
    );
    for words in [["--json", "call", "send"], ["call", "--json", "send"]] {
        assert_eq!(send(&words).json()["status"], "ok");
    }
}

fn a_secret_is_not_repeated() {
    let said = plan(&["city=a", "pin=5"]);
    assert_eq!(
        (said.code, &*said.err),
        (
            2,
            "error: `pin=..` can be read in 2 ways; write `pin:=..`\n"
        )
    );
}

fn they_come_from_a_file_or_standard_input() {
    let path = std::env::temp_dir().join(format!("arguments-{}.json", std::process::id()));
    fs::write(&path, r#"{"city": "Oslo"}"#).unwrap();
    let said = plan(&[&format!("@{}", path.display())]);
    fs::remove_file(&path).unwrap();
    assert_eq!(said.json(), json!({"city": "Oslo"}));
    let said = plan(&[&format!("@{}", path.display())]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.starts_with("error: cannot read"), "{said:?}");
    let said = run_with_variant("journeys", br#"{"city": "Oslo"}"#, &["call", "plan", "-"]);
    assert_eq!(said.json(), json!({"city": "Oslo"}));
}

fn an_invalid_call_is_shown_its_form() {
    let said = run_as("journeys", &["call", "divide", "1"]);
    assert_eq!(said.code, 3);
    assert!(
        said.err
            .ends_with("\nusage: call divide dividend=NUMBER divisor=NUMBER\n"),
        "{said:?}"
    );
    let said = run_as("journeys", &["call", "divide", "dividend=1"]);
    assert!(said.err.contains("\nusage: call divide"), "{said:?}");
}

fn each_condition_of_a_call_is_explained() {
    let said = run_as(
        "journeys",
        &["call", "divide", "dividend=1", "divisor=0", "--explain"],
    );
    assert_eq!(said.code, 5);
    assert_eq!(
        said.out,
        "\
arguments
    {\"dividend\":1,\"divisor\":0}
conditions
    does not hold: requires `divisor != 0.0`
        cannot divide by zero; `divide` requires `divisor != 0.0`, got divisor = 0.0
    after the call: promises `|quotient| quotient.is_finite()`
"
    );
    let said = plan(&["city=a", "days=0", "--explain", "--json"]);
    assert_eq!(said.code, 0);
    let verdicts = |said: &Said| -> Vec<Value> {
        let conditions = said.json()["conditions"].clone();
        conditions
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["verdict"].clone())
            .collect()
    };
    assert_eq!(verdicts(&said), ["holds", "does_not_hold"]);
    let said = plan(&["{", "--explain", "--json"]);
    assert_eq!(
        (said.code, verdicts(&said)),
        (3, vec!["not_reached".into(), "not_reached".into()])
    );
    let said = plan(&["city=a", "pin=x", "--explain"]);
    assert!(!said.out.contains('x'), "{said:?}");
}

fn a_lookup_is_explained_in_its_place() {
    let explained = |from: &str, to: &str| {
        let (from, to) = (format!("from={from}"), format!("to={to}"));
        run_as(
            "bank",
            &["call", "transfer", &from, &to, "cents=10", "--explain"],
        )
    };
    let conditions = |said: &Said| {
        let (_, conditions) = said.out.split_once("\nconditions\n").unwrap();
        conditions.to_owned()
    };
    let said = explained("ada", "eve");
    assert_eq!(
        conditions(&said),
        "\
\x20   holds: requires `cents > 0`
    found: looks up `balance = balance_of(&from)?`
    holds: requires `balance >= cents`
    found: looks up `_other = balance_of(&to)?`
    holds: requires `cents <= limit(&from)`, policy observe
    after the call: promises `|left| *left < 1_000`
ok: `transfer` would run
"
    );
    let nobody = explained("nobody", "eve");
    assert_eq!(nobody.code, 5, "{nobody:?}");
    assert_eq!(
        conditions(&nobody),
        "\
\x20   holds: requires `cents > 0`
    nothing there: looks up `balance = balance_of(&from)?`
        there is no account nobody; `transfer` looks up `balance = balance_of(&from)?`, got from = \"nobody\"
    not reached: requires `balance >= cents`
    not reached: looks up `_other = balance_of(&to)?`
    not reached: requires `cents <= limit(&from)`, policy observe
    after the call: promises `|left| *left < 1_000`
"
    );
    let offline = explained("ada", "offline");
    assert_eq!(offline.code, 6, "{offline:?}");
    assert_eq!(
        conditions(&offline),
        "\
\x20   holds: requires `cents > 0`
    found: looks up `balance = balance_of(&from)?`
    holds: requires `balance >= cents`
    failed: looks up `_other = balance_of(&to)?`
        the bank is closed
    not reached: requires `cents <= limit(&from)`, policy observe
    after the call: promises `|left| *left < 1_000`
"
    );
    let broken = explained("broken", "eve");
    assert_eq!(broken.code, 7, "{broken:?}");
    assert!(
        broken.out.contains("    panicked: looks up `balance"),
        "{broken:?}"
    );
    // A violation before it is not what it found.
    let said = explained("eve", "nobody");
    let lines = "    does not hold: requires `balance >= cents`\n        eve has 5 cents";
    assert!(said.out.contains(lines), "{said:?}");
    let json = run_as(
        "bank",
        &[
            "call",
            "transfer",
            "from=x",
            "to=y",
            "cents=1",
            "--explain",
            "--json",
        ],
    );
    assert_eq!(json.json()["conditions"][1]["verdict"], "nothing_there");
}

fn a_condition_that_panics_is_explained_once() {
    let words = ["call", "transfer", "from=eve", "to=ada", "cents=5"];
    let said = run_as("bank", &[&words[..], &["--explain"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .contains("does not hold: requires `cents <= limit(&from)`, policy observe"),
        "{said:?}"
    );
    assert_eq!(said.err.matches("eve has no limit").count(), 1, "{said:?}");
}
