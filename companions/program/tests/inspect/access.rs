use crate::served::Served;

tests![
    nothing_is_answered_without_the_token,
    other_names_and_other_pages_are_refused,
    each_program_has_a_token_of_its_own,
    the_page_needs_nothing_from_elsewhere,
    the_page_shows_lookups_before_a_call,
    every_answer_is_for_this_page_alone,
    requests_that_no_page_makes_are_refused,
];

const PATHS: [&str; 7] = [
    "/",
    "/api/tools",
    "/api/explain?name=echo",
    "/api/check",
    "/api/call",
    "/api/events",
    "/mcp",
];

fn nothing_is_answered_without_the_token() {
    let served = Served::start();
    let host = format!("Host: {}", served.host);
    let with = |path: &str, headers: &[&str]| {
        let mut all = vec![host.clone()];
        all.extend(headers.iter().map(|&header| header.to_owned()));
        served.raw(&format!("GET {path}"), &all, "").status
    };
    let token = &served.token;
    let other = token.replace(['0', '1', '2', '3'], "4");
    for path in PATHS {
        assert_eq!(with(path, &[]), 403, "{path}");
        assert_eq!(with(path, &["Authorization: Bearer "]), 403);
        assert_eq!(with(path, &[&format!("Authorization: {token}")]), 403);
        let longer = format!("Authorization: Bearer {token}0");
        assert_eq!(with(path, &[&longer]), 403);
        let shorter = format!("Authorization: Bearer {}", &token[1..]);
        assert_eq!(with(path, &[&shorter]), 403);
        // The header counts, where there is one.
        let wrong = format!("Authorization: Bearer x{other}");
        assert_eq!(with(&format!("/?token={token}"), &[&wrong]), 403);
    }
    assert_eq!(with(&format!("/?token={other}x"), &[]), 403);
    assert_eq!(with(&format!("/?x=1&token={token}"), &[]), 200);
    // The scheme is a word without case (RFC 9110, "HTTP Semantics", section 11.1, 2022).
    let spelt = format!("Authorization: bEARER {token}");
    assert_eq!(with("/api/tools", &[&spelt]), 200);
    assert_eq!(served.get("/").status, 200);
}

fn other_names_and_other_pages_are_refused() {
    let served = Served::start();
    let (host, port) = (&served.host, served.host.split_once(':').unwrap().1);
    let ask = |headers: &[String]| {
        let line = format!("GET /?token={}", served.token);
        served.raw(&line, headers, "").status
    };
    assert_eq!(ask(&[format!("Host: {host}")]), 200);
    assert_eq!(ask(&[format!("Host: localhost:{port}")]), 200);
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""] {
        assert_eq!(ask(&[format!("Host: {host}")]), 421, "{host}");
    }
    assert_eq!(ask(&[format!("Host: evil.example:{port}")]), 421);
    assert_eq!(ask(&[]), 421);
    let twice = [format!("Host: {host}"), "Host: evil.example".to_owned()];
    assert_ne!(ask(&twice), 200);
    let from = |origin: &str| ask(&[format!("Host: {host}"), format!("Origin: {origin}")]);
    assert_eq!(from(&format!("http://{host}")), 200);
    for origin in ["http://evil.example", "null", "https://127.0.0.1", ""] {
        assert_eq!(from(origin), 403, "{origin}");
    }
    assert_eq!(from(&format!("https://{host}")), 403);
    assert_eq!(from(&format!("http://{host}.evil.example")), 403);
}

fn each_program_has_a_token_of_its_own() {
    let (one, other) = (Served::start(), Served::start());
    assert_ne!(one.token, other.token);
    for token in [&one.token, &other.token] {
        assert_eq!(token.len(), 32);
        assert!(token.bytes().all(|digit| digit.is_ascii_hexdigit()));
    }
}

fn the_page_needs_nothing_from_elsewhere() {
    let served = Served::start();
    let (page, again) = (served.get("/"), served.get("/"));
    for left in [
        "{nonce}",
        "{style}",
        "{script}",
        "<link rel=\"stylesheet",
        "src=\"",
        "@import",
    ] {
        assert!(!page.body.contains(left), "{left}");
    }
    let outside = page.body.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'nonce-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let nonce = policy
        .split("'nonce-")
        .nth(1)
        .unwrap()
        .split('\'')
        .next()
        .unwrap();
    assert_eq!(page.body.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
    assert_ne!(Some(policy), again.header("content-security-policy"));
    assert!(!page.body.contains("innerHTML") && !page.body.contains("eval("));
    assert!(!page.body.contains(&served.token));
}

fn the_page_shows_lookups_before_a_call() {
    let served = Served::start();
    let page = served.get("/").body;
    for part in ["given: 'looks up'", "const BEFORE = ['pre', 'given'];"] {
        assert!(page.contains(part), "{part}");
    }
}

fn every_answer_is_for_this_page_alone() {
    let served = Served::start();
    for path in PATHS.into_iter().chain(["/nowhere"]) {
        if path == "/api/events" {
            continue;
        }
        let answer = served.get(path);
        for (name, value) in [
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    assert_eq!(served.get("/nowhere").status, 404);
}

fn requests_that_no_page_makes_are_refused() {
    let served = Served::start();
    let host = format!("Host: {}", served.host);
    let line = format!("POST /api/call?token={}", served.token);
    let post = |kind: &str, body: &str| {
        let headers = [host.clone(), format!("Content-Type: {kind}")];
        served.raw(&line, &headers, body).status
    };
    let call = r#"{"name":"echo","arguments":"{\"number\":5}"}"#;
    assert_eq!(post("application/json", call), 200);
    // What a form of another page can send.
    assert_eq!(post("text/plain", call), 415);
    assert_eq!(post("application/x-www-form-urlencoded", call), 415);
    assert_eq!(post("application/json", "{"), 400);
    assert_eq!(post("application/json", r#"{"name":5}"#), 422);
    assert_eq!(served.get("/api/call").status, 405);
    assert_eq!(served.get("/api/explain?name=nothing").status, 404);
}
