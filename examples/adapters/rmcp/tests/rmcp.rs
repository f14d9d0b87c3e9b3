//! A server with a tool of its own, and a client whose model follows a script.

use adapter_rmcp::routes;
use contract_runtime::Registry;
use contract_runtime::approval::Decision;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleClient, RunningService};
use rmcp::{ClientHandler, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use scripted::{Heard, Person, Reply, Scene};
use serde_json::json;

struct Reception {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Reception {
    fn new(registry: &Registry) -> Self {
        let contracted = routes(registry).unwrap();
        Self {
            tool_router: Self::tool_router() + contracted,
        }
    }

    #[tool(description = "Say when the desk is open")]
    async fn hours(&self) -> String {
        "8 to 20".to_owned()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Reception {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// A client with somebody in front of it.
struct Host(Person);

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("host", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        Ok(match self.0.decide(&message) {
            Decision::Approved(_) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(json!({"approve": true}))
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        })
    }
}

async fn connected<H: ClientHandler>(
    registry: &Registry,
    host: H,
) -> RunningService<RoleClient, H> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let reception = Reception::new(registry);
    tokio::spawn(async move {
        reception
            .serve(theirs)
            .await?
            .waiting()
            .await
            .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    });
    host.serve(ours).await.unwrap()
}

async fn call<H: ClientHandler>(
    client: &RunningService<RoleClient, H>,
    name: &'static str,
    arguments: &str,
) -> (String, bool) {
    let arguments = serde_json::from_str(arguments).unwrap();
    let call = CallToolRequestParams::new(name).with_arguments(arguments);
    let result = client.call_tool(call).await.unwrap();
    let text = result.content[0].as_text().unwrap().text.clone();
    (text, result.is_error == Some(true))
}

async fn talk(scene: Scene) -> Heard {
    let client = connected(&scene.registry, Host(scene.person)).await;
    let mut results = Vec::new();
    for reply in scene.replies {
        match reply {
            Reply::Call(name, arguments) => results.push(call(&client, name, arguments).await.0),
            Reply::Text(text) => {
                return Heard {
                    results,
                    answer: text.to_owned(),
                };
            }
        }
    }
    unreachable!("the script ends with an answer")
}

// Arguments that are not JSON cannot be sent.
scripted::promises!(talk; corrects, misspelt, asks, denied);

#[tokio::test]
async fn the_tools_of_the_server_stay_and_a_violation_is_an_error_of_the_tool() {
    let registry = adapter_tools::desk(&std::sync::Arc::default()).unwrap();
    let client = connected(&registry, ()).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["book_room", "hours", "price_breakfast", "refund"]);
    assert!(
        tools[0]
            .description
            .as_ref()
            .unwrap()
            .contains("`end > start`")
    );
    assert_eq!(
        call(&client, "hours", "{}").await,
        ("8 to 20".to_owned(), false)
    );
    let (text, is_error) = call(&client, "book_room", r#"{"start": 2, "end": 1}"#).await;
    assert_eq!(
        (text.as_str(), is_error),
        ("the end (1) must come after the start (2)", true)
    );
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_call_is_denied() {
    let ledger = std::sync::Arc::default();
    let client = connected(&adapter_tools::desk(&ledger).unwrap(), ()).await;
    let (text, is_error) = call(&client, "refund", r#"{"guest": "ada", "cents": 25000}"#).await;
    let why = "not started, because it was denied: nobody at the client could be asked";
    assert_eq!((text.as_str(), is_error), (why, true));
    assert_eq!(ledger.lines(), [""; 0]);
}
