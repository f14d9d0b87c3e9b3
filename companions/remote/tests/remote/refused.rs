//! Who is not let in, and what is said and not said about it.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::store::EmbeddedStore;
use contract_remote::{Backend, Executor, Reconnect, Rejections, RemoteError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::plain::{Doorway, exchange, header, parts, status};
use crate::tools::{Tested, registry};

const LATE: Duration = Duration::from_secs(30);

#[allow(clippy::too_many_lines, reason = "one table")]
#[tokio::test]
async fn one_change_to_the_request_of_an_executor_turns_it_away() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend).await?;
    let (host, path, right) = (&door.host, &door.path, &door.token);
    let (other, other_token) = door.backend.task().await?;
    let good = door.lines();
    let answer = exchange(host, &good).await?;
    assert_eq!(status(&answer), 101, "{answer}");

    let set = |place: usize, line: &str| {
        let mut lines = good.clone();
        line.clone_into(&mut lines[place]);
        lines
    };
    let add = |line: &str| [good.clone(), vec![line.to_owned()]].concat();
    let without = |place: usize| {
        let mut lines = good.clone();
        lines.remove(place);
        lines
    };
    let request = |line: &str| set(0, &format!("{line} HTTP/1.1"));
    let (_, theirs) = parts(other.address());
    let upper = path.replace("/executor/", "").to_uppercase();
    let token = |token: &str| set(6, &format!("Authorization: {token}"));
    let cases: Vec<(&str, Vec<String>, u16)> = vec![
        ("no token", without(6), 401),
        ("an empty token", token("Bearer "), 401),
        ("no scheme", token(right), 401),
        ("another scheme", token(&format!("Basic {right}")), 401),
        ("shorter", token(&format!("Bearer {}", &right[1..])), 401),
        ("longer", token(&format!("Bearer {right}0")), 401),
        (
            "in capitals",
            token(&format!("Bearer {}", right.to_uppercase())),
            401,
        ),
        ("with a space", token(&format!("Bearer  {right}")), 401),
        (
            "of another task",
            token(&format!("Bearer {}", other_token.reveal())),
            401,
        ),
        ("for another task", request(&format!("GET {theirs}")), 401),
        (
            "two of them",
            add(&format!("Authorization: Bearer {right}")),
            401,
        ),
        ("not UTF-8", token("Bearer \u{fffd}"), 401),
        (
            "no such task",
            request("GET /executor/00000000-0000-4000-8000-000000000000"),
            401,
        ),
        (
            "a task in capitals",
            request(&format!("GET /executor/{upper}")),
            401,
        ),
        (
            "a task in braces",
            request(&format!(
                "GET {}",
                path.replace("executor/", "executor/{") + "}"
            )),
            401,
        ),
        ("more of a path", request(&format!("GET {path}/")), 401),
        (
            "a path around it",
            request(&format!("GET /executor/..{path}")),
            401,
        ),
        ("another path", request("GET /"), 404),
        (
            "another spelling",
            request(&format!("GET /%65xecutor{}", &path[9..])),
            404,
        ),
        (
            "a token in the address",
            request(&format!("GET {path}?token={right}")),
            400,
        ),
        ("an empty query", request(&format!("GET {path}?")), 400),
        (
            "a target with a host",
            request(&format!("GET http://127.0.0.1{path}")),
            400,
        ),
        ("POST", request(&format!("POST {path}")), 405),
        ("CONNECT", request("CONNECT 127.0.0.1:1"), 405),
        ("HTTP/1.0", set(0, &format!("GET {path} HTTP/1.0")), 505),
        ("an Origin", add("Origin: http://127.0.0.1"), 403),
        ("no Origin in particular", add("Origin: null"), 403),
        ("no upgrade", without(3), 426),
        ("another upgrade", set(3, "Upgrade: h2c"), 426),
        ("no connection", without(2), 426),
        ("an older version", set(4, "Sec-WebSocket-Version: 8"), 426),
        ("no key", without(5), 400),
        ("a short key", set(5, "Sec-WebSocket-Key: c2hvcnQ="), 400),
        ("two keys", add(&good[5]), 400),
        ("a body", add("Content-Length: 5"), 400),
        ("a body in pieces", add("Transfer-Encoding: chunked"), 400),
        ("no header at all", vec!["GET".to_owned()], 400),
        (
            "a header of 20 KiB",
            add(&format!("X: {}", "x".repeat(20 << 10))),
            431,
        ),
        (
            "200 headers",
            [good.clone(), vec!["X: y".to_owned(); 200]].concat(),
            431,
        ),
    ];
    for (what, lines, expected) in &cases {
        let answer = exchange(host, lines).await?;
        assert_eq!(status(&answer), *expected, "{what}: {answer}");
        for secret in [&**right, other_token.reveal()] {
            assert!(!answer.contains(secret), "{what}: {answer}");
        }
        match *expected {
            401 => assert_eq!(
                header(&answer, "www-authenticate"),
                Some("Bearer"),
                "{what}"
            ),
            405 => assert_eq!(header(&answer, "allow"), Some("GET"), "{what}"),
            _ => {}
        }
        let upgraded = header(&answer, "sec-websocket-accept");
        assert_eq!(upgraded, None, "{what}: {answer}");
    }
    let unknown = exchange(host, &cases[12].1).await?;
    let wrong = exchange(host, &cases[4].1).await?;
    let dated = |answer: &str| {
        let lines = answer.lines().filter(|line| !line.starts_with("date"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        dated(&unknown),
        dated(&wrong),
        "whether there is a task is not said"
    );
    let answer = exchange(host, &good).await?;
    assert_eq!(status(&answer), 101, "after all of it: {answer}");

    let Rejections {
        token,
        origin,
        malformed,
        ..
    } = door.backend.state().rejections;
    assert_eq!((token, origin), (19, 2));
    assert!(malformed >= 18, "{malformed}");
    assert_eq!(door.backend.state().accepted, 2);
    Ok(())
}

#[tokio::test]
async fn the_scheme_is_a_word_without_case_and_the_host_is_anything() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend).await?;
    let mut spelt = door.lines();
    spelt[1] = "Host: anything.example:1".to_owned();
    spelt[2] = "Connection: keep-alive, uPGRADE".to_owned();
    spelt[6] = format!("aUTHORIZATION: bEARER {}", door.token);
    let answer = exchange(&door.host, &spelt).await?;
    assert_eq!(status(&answer), 101, "{answer}");
    Ok(())
}

#[tokio::test]
async fn an_origin_is_let_in_where_that_is_asked_for() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.origins(["https://tools.example"]);
    let door = Doorway::of(backend).await?;
    let good = door.lines();
    for (origins, expected) in [
        (vec!["https://tools.example"], 101),
        (vec!["https://tools.example.evil.example"], 403),
        (vec!["http://tools.example"], 403),
        (vec!["https://tools.example", "https://evil.example"], 403),
        (vec![], 101),
    ] {
        let headers = origins.iter().map(|origin| format!("Origin: {origin}"));
        let lines: Vec<_> = good.iter().cloned().chain(headers).collect();
        let answer = exchange(&door.host, &lines).await?;
        assert_eq!(status(&answer), expected, "{origins:?}: {answer}");
    }
    Ok(())
}

#[tokio::test]
async fn nothing_that_is_offered_is_taken() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend).await?;
    let offers = [
        "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits".to_owned(),
        "Sec-WebSocket-Protocol: chat".to_owned(),
    ];
    let lines = [door.lines(), offers.to_vec()].concat();
    let answer = exchange(&door.host, &lines).await?;
    assert_eq!(status(&answer), 101, "{answer}");
    assert_eq!(header(&answer, "sec-websocket-extensions"), None);
    assert_eq!(header(&answer, "sec-websocket-protocol"), None);
    Ok(())
}

#[tokio::test]
async fn an_executor_that_is_back_before_its_task_is_asked_to_come_again() -> Tested {
    let store: Arc<EmbeddedStore> = Arc::new(EmbeddedStore::in_memory()?);
    let manifest = registry(&Arc::default())?.manifest();
    let backend = || Backend::new(manifest.clone()).store(store.clone());
    let before = Doorway::of(backend()).await?;
    let lines = before.lines();
    let id = before.task.id();
    drop(before);

    let after = Doorway::of(backend()).await?;
    let answer = exchange(&after.host, &lines).await?;
    assert_eq!(status(&answer), 503, "{answer}");
    assert_eq!(header(&answer, "retry-after"), Some("1"));
    assert_eq!(after.backend.state().rejections.closed, 1);
    let mut wrong = lines.clone();
    wrong[6].push('0');
    assert_eq!(status(&exchange(&after.host, &wrong).await?), 401);
    assert!(after.backend.reopen(id).await?.is_some());
    let answer = exchange(&after.host, &lines).await?;
    assert_eq!(status(&answer), 101, "{answer}");
    // One that is forgotten is over for good.
    after.backend.forget(id).await?;
    assert_eq!(status(&exchange(&after.host, &lines).await?), 401);
    Ok(())
}

/// A proxy answers for a backend that is away, so only a refusal of the task or of the program is final.
#[tokio::test]
async fn an_executor_tries_again_after_the_answer_of_a_proxy() -> Tested {
    let answers = [
        (401, true),
        (403, true),
        (302, false),
        (404, false),
        (408, false),
        (421, false),
        (503, false),
    ];
    for (status, is_final) in answers {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let host = listener.local_addr()?;
        let proxy = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 4096];
                let _ = stream.read(&mut head).await;
                let answer =
                    format!("HTTP/1.1 {status} Away\r\nlocation: /\r\ncontent-length: 0\r\n\r\n");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        let reconnect = Reconnect::default()
            .attempts(1)
            .first(Duration::from_millis(1));
        let executor = Executor::new(registry(&Arc::default())?).reconnect(reconnect);
        let address = format!("ws://{host}/executor/00000000-0000-4000-8000-000000000000");
        let ended = timeout(LATE, executor.connect(&address, "token").ended()).await?;
        match ended {
            Err(RemoteError::Connect { .. }) => assert!(is_final, "{status}"),
            Err(RemoteError::Lost { attempts: 1, .. }) => assert!(!is_final, "{status}"),
            other => panic!("{status}: {other:?}"),
        }
        proxy.abort();
    }
    Ok(())
}
