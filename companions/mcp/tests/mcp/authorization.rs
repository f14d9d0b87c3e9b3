//! Who may send requests: tokens, challenges, metadata, and whose session is whose.

use contract_mcp::{Principal, Refusal, ResourceMetadata, ServeError};
use contract_runtime::{Context, Run, prelude::*};
use serde_json::json;

use super::hooks::{User, who};
use super::web::{Answer, Server, call};

/// Say for whom the server works.
#[tool(read_only)]
fn tenant(#[context] tenant: Option<&u64>) -> u64 {
    tenant.copied().unwrap_or_default()
}

async fn check(token: Option<String>) -> Result<Principal, Refusal> {
    let token = token.ok_or(Refusal::NoToken)?;
    // As one that asks somebody.
    tokio::task::yield_now().await;
    match &*token {
        "of-ada" | "renewed-of-ada" => {
            let user = User("ada".to_owned());
            Ok(Principal::new("ada").context(Context::new().with(user).with(1_u64)))
        }
        "of-bob" => Ok(Principal::new("bob").context(Context::new().with(User("bob".to_owned())))),
        "of-carl" => Err(Refusal::InsufficientScope {
            scope: "tools:call tools:list".to_owned(),
        }),
        "of-dora" => Err(Refusal::Forbidden {
            reason: "dora has left".to_owned(),
        }),
        "of-eve" => Err(Refusal::Unavailable {
            reason: "the login is down".to_owned(),
        }),
        _ => Err(Refusal::InvalidToken {
            reason: "the token \"has\" expired\r\nSet-Cookie: a=b".to_owned(),
        }),
    }
}

fn protected() -> contract_mcp::Server {
    let registry = Registry::builder()
        .tool(who)
        .tool(tenant)
        .context_per_call::<User>()
        .build()
        .unwrap();
    let metadata = ResourceMetadata::new("https://tools.example/mcp", ["https://login.example"]);
    contract_mcp::Server::new(registry)
        .resource_metadata(
            metadata
                .scopes(["tools:call"])
                .with("resource_name", "Tools"),
        )
        .authorize(|credentials| check(credentials.bearer().map(str::to_owned)))
}

async fn ask(server: &Server, tool: &str, token: &str) -> Answer {
    let token = match token {
        "" => String::new(),
        token => format!("Authorization: Bearer {token}\r\n"),
    };
    server
        .july("tools/call", json!({"name": tool}), &token)
        .await
}

#[tokio::test]
async fn a_refusal_says_where_to_get_access() {
    let server = Server::start(protected());
    let metadata =
        "resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource/mcp\"";
    let expected = [
        ("", 401, format!("Bearer {metadata}")),
        (
            "old",
            401,
            format!(
                "Bearer error=\"invalid_token\", error_description=\"the token has expiredSet-Cookie: a=b\", {metadata}"
            ),
        ),
        (
            "of-carl",
            403,
            format!(
                "Bearer error=\"insufficient_scope\", scope=\"tools:call tools:list\", {metadata}"
            ),
        ),
        ("of-dora", 403, String::new()),
        ("of-eve", 503, String::new()),
    ];
    for (token, status, challenge) in expected {
        let answer = ask(&server, "who", token).await;
        assert_eq!(answer.status, status, "{token} {}", answer.head);
        assert_eq!(
            answer.header("www-authenticate").unwrap_or_default(),
            challenge
        );
        assert_eq!(answer.header("set-cookie"), None, "{}", answer.head);
    }
    // Without metadata there is nothing to name.
    let registry = Registry::builder().build().unwrap();
    let server = contract_mcp::Server::new(registry).authorize(|_| async { Err(Refusal::NoToken) });
    let server = Server::start(server);
    let answer = ask(&server, "who", "").await;
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
}

#[tokio::test]
async fn the_metadata_are_for_everybody() {
    let server = Server::start(protected().allow_host("tools.example"));
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let get = format!(
            "GET {path} HTTP/1.1\r\nHost: tools.example\r\nOrigin: https://inspector.example\r\nConnection: close\r\n\r\n"
        );
        // Under another host there is nothing, as everywhere.
        let other = get.replace("Host: tools.example", "Host: evil.example");
        assert_eq!(server.raw(other.as_bytes()).await.status, 403);
        let answer = server.raw(get.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.head);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(
            answer.json(),
            json!({
                "resource": "https://tools.example/mcp",
                "authorization_servers": ["https://login.example"],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["tools:call"],
                "resource_name": "Tools",
            })
        );
    }
    let other = "GET /.well-known/oauth-protected-resource/other HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(server.raw(other.as_bytes()).await.status, 404);
    let wrong =
        protected().resource_metadata(ResourceMetadata::new("/mcp", ["https://login.example"]));
    let error = wrong.into_service().unwrap_err();
    assert!(
        matches!(&error, ServeError::Resource { url } if url == "/mcp"),
        "{error}"
    );
}

#[tokio::test]
async fn the_context_of_a_principal_is_that_of_its_calls() {
    let server = Server::start(protected());
    let answer = ask(&server, "who", "of-ada").await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "ada");
    assert_eq!(
        ask(&server, "who", "of-bob").await.json()["result"]["content"][0]["text"],
        "bob"
    );
    // What the server gives each call goes before it, and what it does not give comes from there.
    let server = Server::start(protected().context(|asked| {
        let user = asked.principal().map_or("nobody", Principal::id);
        Context::new().with(User(format!("{user}, says the server")))
    }));
    let answer = ask(&server, "who", "of-ada").await.json();
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "ada, says the server"
    );
    let answer = ask(&server, "tenant", "of-ada").await.json();
    assert_eq!(answer["result"]["structuredContent"], 1);
}

#[tokio::test]
async fn a_principal_can_have_a_run() {
    let run = Run::new();
    let runs = run.clone();
    let server =
        protected().run_of(move |asked| (asked.principal()?.id() == "ada").then(|| runs.clone()));
    let server = Server::start(server);
    ask(&server, "nothing", "of-bob").await;
    assert_eq!(run.counts(), Run::new().counts());
    let answer = ask(&server, "who", "of-ada").await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_session_is_that_of_the_principal_that_began_it() {
    let server = Server::start(protected());
    let of = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let refused = server
        .raw(server.post("", &begin.to_string()).as_bytes())
        .await;
    assert_eq!(refused.status, 401);
    let answer = server
        .raw(server.post(&of("of-ada"), &begin.to_string()).as_bytes())
        .await;
    let session = answer.header("mcp-session-id").unwrap();
    let post = async |token: &str| {
        let headers = format!("Mcp-Session-Id: {session}\r\n{}", of(token));
        let text = server.post(&headers, &call(1, "who").to_string());
        server.raw(text.as_bytes()).await
    };
    let answer = post("of-ada").await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "ada");
    // A new token of the same principal goes on with it.
    assert_eq!(post("renewed-of-ada").await.status, 200);
    // For anybody else it does not exist, whatever they try.
    assert_eq!(post("of-bob").await.status, 404);
    for method in ["GET", "DELETE"] {
        let text = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: text/event-stream\r\n\
             Mcp-Session-Id: {session}\r\n{}\r\n",
            server.address,
            of("of-bob")
        );
        assert_eq!(server.raw(text.as_bytes()).await.status, 404, "{method}");
    }
    assert_eq!(post("of-ada").await.status, 200);
    assert_eq!(post("").await.status, 401);
}

#[tokio::test]
async fn pages_of_an_allowed_origin_can_read_the_answers() {
    let server = Server::start(protected().allow_origin("https://app.example"));
    let preflight = |origin: &str| {
        format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nOrigin: {origin}\r\n\
             Access-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: authorization,content-type,mcp-protocol-version\r\n\r\n",
            server.address
        )
    };
    // A browser sends no token with it.
    let answer = server
        .raw(preflight("https://app.example").as_bytes())
        .await;
    assert_eq!(answer.status, 204, "{}", answer.head);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    assert_eq!(
        answer.header("access-control-allow-headers"),
        Some("authorization,content-type,mcp-protocol-version")
    );
    let methods = answer.header("access-control-allow-methods").unwrap();
    assert!(methods.contains("DELETE"), "{methods}");
    let refused = server
        .raw(preflight("https://evil.example").as_bytes())
        .await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.header("access-control-allow-origin"), None);
    // The answers themselves, refusals among them, because their challenge says how to go on.
    for (token, status) in [("of-ada", 200), ("", 401)] {
        let headers = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let headers = format!("{headers}Origin: https://app.example\r\n");
        let answer = server
            .july("tools/call", json!({"name": "who"}), &headers)
            .await;
        assert_eq!(answer.status, status);
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("https://app.example")
        );
        let exposed = answer.header("access-control-expose-headers").unwrap();
        assert!(exposed.contains("mcp-session-id") && exposed.contains("www-authenticate"));
    }
    // Who is not a page needs none of it.
    let answer = ask(&server, "who", "of-ada").await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn a_check_that_panics_refuses_and_the_server_goes_on() {
    let server = protected().authorize(|credentials| {
        let token = credentials.bearer().map(str::to_owned);
        assert_ne!(token.as_deref(), Some("early"), "a secret of the check");
        async move {
            tokio::task::yield_now().await;
            assert_ne!(token.as_deref(), Some("late"), "a secret of the check");
            check(token).await
        }
    });
    let server = Server::start(server);
    for token in ["early", "late"] {
        let answer = ask(&server, "who", token).await;
        assert_eq!(answer.status, 500, "{}", answer.head);
        assert!(
            answer.body.contains("a fault of the server"),
            "{}",
            answer.body
        );
        assert!(!answer.body.contains("secret"), "{}", answer.body);
    }
    assert_eq!(ask(&server, "who", "of-ada").await.status, 200);
}
