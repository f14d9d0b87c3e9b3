//! Servers that are reached over HTTP.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use contract_mcp::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use contract_mcp::{self, BoundServer, HttpClient, ImportError, Server};
use contract_runtime::approval::{Approval, Decision};
use contract_runtime::{Context, Status, prelude::*};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::addresses::page;
use crate::fake::{call, within};

/// Who asks, by the header that says so.
struct User(String);

/// Divide one number by another.
#[tool(read_only)]
#[pre(divisor != 0, "cannot divide by zero")]
fn divide(dividend: i64, divisor: i64) -> i64 {
    dividend.wrapping_div(divisor)
}

/// Say who is asking.
#[tool(read_only)]
fn who(#[context] user: &User) -> String {
    user.0.clone()
}

/// Wait for ever.
#[tool]
async fn wait() -> u8 {
    std::future::pending().await
}

struct Served {
    url: String,
    stop: CancellationToken,
    serving: tokio::task::JoinHandle<Result<(), contract_mcp::ServeError>>,
}

fn served() -> Served {
    let registry = Registry::builder()
        .tool(divide)
        .tool(who)
        .tool(wait)
        .context_per_call::<User>()
        .build()
        .unwrap();
    let listening: BoundServer = Server::new(registry)
        .context(|asked| {
            let user = asked.header("authorization").unwrap_or("nobody");
            Context::new().with(User(user.to_owned()))
        })
        .bind("127.0.0.1:0")
        .unwrap();
    Served {
        url: format!("http://{}/mcp", listening.address()),
        stop: listening.stop(),
        serving: tokio::spawn(listening.serve()),
    }
}

#[tokio::test]
async fn tools_of_a_url_are_imported_and_have_conditions_added() {
    let served = served();
    let imported = within(contract_mcp::import(contract_mcp::http(&served.url)))
        .await
        .unwrap();
    assert_eq!(
        imported.names().collect::<Vec<_>>(),
        ["divide", "wait", "who"]
    );
    assert!(imported.skipped().is_empty());
    let imported = imported
        .edit("divide", |tool| {
            tool.pre("the dividend is even", |arguments| {
                arguments["dividend"]
                    .as_i64()
                    .is_some_and(|dividend| dividend % 2 == 0)
            })
        })
        .unwrap();
    let registry = Registry::builder()
        .with(imported)
        .prefix("far_")
        .build()
        .unwrap();
    let outcome = call(&registry, "far_divide", r#"{"dividend":8,"divisor":2}"#).await;
    assert_eq!(outcome.value(), Some(json!(4)));
    // Refused here, by the condition that was added here.
    let outcome = call(&registry, "far_divide", r#"{"dividend":7,"divisor":1}"#).await;
    assert_eq!(outcome.violation().unwrap().contract, "divide.pre[0]");
    let outcome = call(
        &registry,
        "far_divide",
        r#"{"dividend":8,"divisor":1,"x":0}"#,
    )
    .await;
    assert_eq!(outcome.status(), Status::InvalidArguments);
    // Refused there, by what its author demands.
    let outcome = call(&registry, "far_divide", r#"{"dividend":8,"divisor":0}"#).await;
    assert!(!outcome.is_ok());
    assert!(outcome.error().unwrap().contains("divisor"), "{outcome:?}");
}

#[tokio::test]
async fn a_token_goes_along_with_every_call() {
    let served = served();
    let config = StreamableHttpClientTransportConfig::with_uri(served.url.as_str());
    let transport = HttpClient::from_config(config.auth_header("open-sesame"));
    let imported = within(contract_mcp::import(transport)).await.unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    for _ in 0..2 {
        let outcome = call(&registry, "who", "").await;
        assert_eq!(outcome.output(), Some("Bearer open-sesame"));
    }
    let imported = within(contract_mcp::import(contract_mcp::http(&served.url)))
        .await
        .unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    assert_eq!(call(&registry, "who", "").await.output(), Some("nobody"));
}

#[tokio::test]
async fn a_server_that_has_gone_fails_the_call() {
    let served = served();
    let imported = within(contract_mcp::import(contract_mcp::http(&served.url)))
        .await
        .unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    served.stop.cancel();
    within(served.serving).await.unwrap().unwrap();
    let outcome = call(&registry, "who", "").await;
    assert_eq!(outcome.status(), Status::Failed, "{outcome:?}");
}

#[tokio::test]
async fn calls_side_by_side_end_in_time() {
    let served = served();
    let short = contract_mcp::Importer::new().call_timeout(std::time::Duration::from_millis(200));
    let imported = within(short.import(contract_mcp::http(&served.url)))
        .await
        .unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    let (one, other) = tokio::join!(call(&registry, "wait", ""), call(&registry, "wait", ""));
    assert_eq!([one.status(), other.status()], [Status::TimedOut; 2]);
}

#[tokio::test]
async fn a_token_does_not_follow_to_another_origin() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&seen);
    let other = page(move |headers| {
        heard.lock().unwrap().push(headers.clone());
        StatusCode::OK.into_response()
    })
    .await;
    let first = page(move |_| {
        let location = [("location", format!("http://{other}/mcp"))];
        (StatusCode::TEMPORARY_REDIRECT, location).into_response()
    })
    .await;
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{first}/mcp"));
    let transport = HttpClient::from_config(config.auth_header("open-sesame"));
    let error = within(contract_mcp::import(transport))
        .await
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(error, ImportError::HttpStatus { status: 307, .. }),
        "{error}"
    );
    assert!(seen.lock().unwrap().is_empty());
}

/// A server that knows sessions alone, made by the protocol's own library.
mod november {
    use std::borrow::Cow;

    use contract_mcp::rmcp::ErrorData;
    use contract_mcp::rmcp::handler::server::ServerHandler;
    use contract_mcp::rmcp::model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    };
    use contract_mcp::rmcp::service::{RequestContext, RoleServer};
    use serde_json::json;

    #[derive(Clone)]
    pub(super) struct Hello;

    impl ServerHandler for Hello {
        fn get_info(&self) -> ServerConfig {
            ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        }

        fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
            Cow::Borrowed(&[ProtocolVersion::V_2025_11_25])
        }

        async fn list_tools(
            &self,
            _: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<ListToolsResult, ErrorData> {
            let tool: Tool = serde_json::from_value(json!({
                "name": "greet",
                "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
            }))
            .expect("a tool");
            Ok(ListToolsResult::with_all_items(vec![tool]))
        }

        async fn call_tool(
            &self,
            request: CallToolRequestParams,
            _: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            let arguments = request.arguments.unwrap_or_default();
            let name = arguments.get("name").and_then(|name| name.as_str());
            let text = format!("hello {}", name.unwrap_or("you"));
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
        }
    }
}

#[tokio::test]
async fn a_server_of_the_older_revision_is_imported_over_its_session() {
    use contract_mcp::rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
    use contract_mcp::rmcp::transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService,
    };
    let service = StreamableHttpService::new(
        || Ok(november::Hello),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let imported = within(contract_mcp::import(contract_mcp::http(&format!(
        "http://{address}/mcp"
    ))))
    .await
    .unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    let outcome = call(&registry, "greet", r#"{"name":"Ada"}"#).await;
    assert_eq!(outcome.output(), Some("hello Ada"), "{outcome:?}");
}

/// Pay a bill.
#[tool(confirm = "Pay {cents} cents?")]
fn pay(cents: u32) -> u32 {
    cents
}

#[tokio::test]
async fn what_a_server_of_this_crate_asks_can_be_answered() {
    let registry = Registry::builder().tool(pay).build().unwrap();
    let server = Server::new(registry).ask_client(std::time::Duration::from_secs(60));
    let listening = server.bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listening.address());
    let stop = listening.stop();
    let serving = tokio::spawn(listening.serve());
    let asking = contract_mcp::Importer::new().elicitation();
    let imported = within(asking.import(contract_mcp::http(&url)))
        .await
        .unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    let denied = "not started, because it was denied: the user said no";
    for (decision, error) in [
        (Decision::Approved(Approval::Once), None),
        (Decision::Denied("too much".to_owned()), Some(denied)),
    ] {
        let seen = Arc::new(Mutex::new(String::new()));
        let noted = Arc::clone(&seen);
        let context = Context::new().approver(move |request| {
            *noted.lock().unwrap() = request.to_string();
            std::future::ready(decision.clone())
        });
        let call = registry.call(("1", "pay", r#"{"cents":500}"#));
        let outcome = within(call.context(context)).await;
        assert_eq!(outcome.error(), error, "{outcome:?}");
        let seen = seen.lock().unwrap();
        assert!(seen.contains("Pay 500 cents?"), "{seen}");
    }
    stop.cancel();
    serving.await.unwrap().unwrap();
}
