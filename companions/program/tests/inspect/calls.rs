use std::io::BufRead as _;

use serde_json::{Value, json};

use crate::served::Served;

tests![
    the_tools_come_with_their_contracts,
    a_call_gives_everything_that_came_of_it,
    a_check_judges_every_precondition_and_tells_nobody,
    no_digit_is_lost,
    breaking_off_cancels,
    a_call_that_asks_goes_on_with_one_answer,
    what_is_explained,
];

fn the_tools_come_with_their_contracts() {
    let all = Served::start().get("/api/tools").json();
    let names: Vec<_> = all["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(
        names,
        ["bytes", "echo", "log_in", "many", "pay", "repeat", "wait"]
    );
    let echo = &all["tools"][1];
    assert_eq!(echo["input"]["properties"]["number"]["maximum"], u64::MAX);
    assert_eq!(echo["hints"]["read_only"], true);
    assert_eq!(echo["conditions"][0]["lowering"], "exact");
    assert_eq!(echo["conditions"][0]["rule"], "int(args.number) > 2");
    assert_eq!(echo["conditions"][0]["policy"], "enforce");
    assert_eq!(echo["conditions"][1]["rule"], serde_json::Value::Null);
    assert_eq!(echo["conditions"][1]["lowering"], "described");
    assert_eq!(echo["conditions"][2]["id"], "echo.post[2]");
    assert_eq!(all["tools"][2]["secrets"][0], "password");
}

fn a_call_gives_everything_that_came_of_it() {
    let served = Served::start();
    let broken = served.call("echo", r#"{"number":4}"#);
    assert_eq!(broken["status"], "violation");
    assert_eq!(broken["violation"]["contract"], "echo.pre[1]");
    assert_eq!(broken["violation"]["values"]["number"], 4);
    let kept = served.call("echo", r#"{"number":3}"#);
    assert_eq!(kept["violation"]["contract"], "echo.post[2]");
    let wrong = served.call("echo", r#"{"number":-1,"nummer":2}"#);
    assert_eq!(wrong["status"], "invalid_arguments");
    assert_eq!(wrong["problems"][0]["pointer"], "/number");
    assert_eq!(wrong["problems"][1]["kind"], "unknown");
    let bytes = served.call("bytes", "");
    assert_eq!(bytes["artifacts"][0]["base64"], "AP8=");
    assert_eq!(served.call("nothing", "{}")["status"], "unknown_tool");
    assert_eq!(served.call("echo", "{")["status"], "invalid_arguments");
}

fn a_check_judges_every_precondition_and_tells_nobody() {
    let mut served = Served::start();
    for (number, broken) in [(4, "echo.pre[1]"), (1, "echo.pre[0]")] {
        let checked = served.check("echo", &format!(r#"{{"number":{number}}}"#));
        assert_eq!(
            checked["judged"],
            serde_json::json!(["echo.pre[0]", "echo.pre[1]"])
        );
        assert_eq!(checked["observed"][0]["contract"], broken);
        assert_eq!(checked["observed"].as_array().map(Vec::len), Some(1));
    }
    let unread = served.check("echo", r#"{"number":"four"}"#);
    assert_eq!(unread["judged"], serde_json::json!([]));
    let fine = served.check("echo", r#"{"number":5}"#);
    assert_eq!((&fine["status"], &fine["text"]), (&"ok".into(), &"".into()));
    // A check of what never ends does not run it.
    assert_eq!(served.check("wait", "")["status"], "ok");
    served.call("echo", r#"{"number":1}"#);
    assert_eq!(served.said(), "observer: echo.pre[0]");
}

fn no_digit_is_lost() {
    let served = Served::start();
    let outcome = served.call("echo", r#"{"number":18446744073709551615}"#);
    assert_eq!(outcome["text"], "18446744073709551615");
}

fn breaking_off_cancels() {
    let mut served = Served::start();
    let mut following = served.follow(0);
    let body = r#"{"name":"wait","arguments":""}"#;
    let stream = served.send(&format!(
        "POST /api/call?token={} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        served.token,
        served.host,
        body.len()
    ));
    assert_eq!(served.said(), "waiting");
    drop(stream);
    assert_eq!(served.said(), "stopped");
    let ended = following.until_ended().pop().unwrap();
    assert_eq!(ended["status"], "cancelled");
    assert!(served.errors.buffer().lines().next().is_none());
}

fn a_call_that_asks_goes_on_with_one_answer() {
    let served = Served::start();
    let arguments = r#"{"user":"ada","cents":500}"#;
    let answered = |arguments: &str, answer: &Value| {
        let call = json!({"name": "pay", "arguments": arguments, "answer": answer});
        served.post("/api/call", &call)
    };
    let asked = served.call("pay", arguments);
    assert_eq!(asked["status"], "asked");
    let request = &asked["request"];
    assert_eq!(request["questions"][0]["text"], "Pay 500 cents to \"ada\"?");
    assert_eq!(request["arguments"], json!({"user": "ada", "cents": 500}));
    let yes = json!({"request": request["id"], "decision": {"approved": "once"}});
    assert_eq!(answered(arguments, &yes)["text"], "500 to ada");
    assert_eq!(answered(arguments, &yes)["status"], "asked");

    let asked = served.call("pay", arguments);
    let yes =
        json!({"request": asked["request"]["id"], "decision": {"approved": "same_conditions"}});
    assert_eq!(
        answered(r#"{"user":"eve","cents":500}"#, &yes)["status"],
        "asked"
    );
    assert_eq!(answered(arguments, &yes)["text"], "500 to ada");

    let asked = served.call("pay", arguments);
    let no = json!({"request": asked["request"]["id"], "decision": {"denied": "too much"}});
    let denied = answered(arguments, &no);
    assert_eq!(
        denied["error"],
        "not started, because it was denied: too much (for the rest of the run)"
    );
    let tools = served.get("/api/tools").json();
    assert_eq!(tools["tools"][4]["approval"], "sometimes");
    assert_eq!(tools["tools"][4]["conditions"][0]["asks"], true);
}

fn what_is_explained() {
    let text = Served::start().get("/api/explain?name=echo").body;
    for part in ["enforced", "shown", "sent", "tested"] {
        assert!(text.contains(part), "{text}");
    }
}
