//! A handler of the official SDK beside the tools, asked by a client of the official SDK.

use std::sync::Arc;

use contract_mcp::rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    PaginatedRequestParams, Prompt, PromptMessage, Role, ServerCapabilities, ServerConfig,
};
use contract_mcp::rmcp::service::{NotificationContext, RequestContext};
use contract_mcp::rmcp::{RoleServer, ServerHandler};
use contract_runtime::prelude::*;
use serde_json::json;
use tokio::sync::watch;

use super::line::{Client, SHORT, july};
use super::tools::{Seen, point, within};
use super::web::Server;

#[derive(Clone, Default)]
struct Prompts {
    begun: Arc<tokio::sync::Notify>,
    hanging: watch::Sender<usize>,
}

impl Prompts {
    /// Waits until so many of its requests hang.
    async fn hang(&self, expected: usize) {
        let mut hanging = self.hanging.subscribe();
        within(hanging.wait_for(|hanging| *hanging == expected))
            .await
            .unwrap();
    }
}

/// A request that is never answered.
struct Hanging(watch::Sender<usize>);

impl Hanging {
    fn new(hanging: &watch::Sender<usize>) -> Self {
        hanging.send_modify(|hanging| *hanging += 1);
        Self(hanging.clone())
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        self.0.send_modify(|hanging| *hanging -= 1);
    }
}

impl ServerHandler for Prompts {
    fn get_info(&self) -> ServerConfig {
        let offered = ServerCapabilities::builder()
            .enable_prompts()
            .enable_tools();
        ServerConfig::new(offered.build()).with_instructions("Ask for a review.")
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {
        self.begun.notify_one();
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let review = Prompt::new("review", Some("Review a change"), None);
        Ok(ListPromptsResult::with_all_items(vec![review]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        assert_ne!(request.name, "panics", "a secret of the handler");
        if request.name == "hangs" {
            let _hanging = Hanging::new(&self.hanging);
            std::future::pending::<()>().await;
        }
        if request.name != "review" {
            return Err(ErrorData::invalid_params("there is no such prompt", None));
        }
        let message = PromptMessage::new_text(Role::User, "Review this.");
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

fn server() -> contract_mcp::Server {
    contract_mcp::Server::new(Registry::builder().tool(point).build().unwrap())
}

#[tokio::test]
async fn prompts_of_the_host_stand_beside_the_tools() {
    let prompts = Prompts::default();
    let begun = prompts.begun.clone();
    let (ours, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(server().beside(prompts).streams(read, write));
    let client = contract_mcp::rmcp::serve_client((), tokio::io::split(ours));
    let client = within(client).await.unwrap();
    within(begun.notified()).await;
    let info = client.peer_info().unwrap();
    assert_eq!(info.instructions.as_deref(), Some("Ask for a review."));
    let capabilities = &info.capabilities;
    assert!(capabilities.prompts.is_some() && capabilities.resources.is_none());
    let listed = within(client.list_all_prompts()).await.unwrap();
    assert_eq!(listed[0].name, "review");
    let prompt = within(client.get_prompt(GetPromptRequestParams::new("review"))).await;
    assert_eq!(prompt.unwrap().messages.len(), 1);
    assert!(
        within(client.get_prompt(GetPromptRequestParams::new("other")))
            .await
            .is_err()
    );
    // Its tools are those of the registry, and nobody answers for resources.
    let tools = within(client.list_all_tools()).await.unwrap();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].name, "point");
    assert!(within(client.list_all_resources()).await.is_err());
}

#[tokio::test]
async fn the_instructions_of_the_server_go_before_those_of_the_handler() {
    let server = server()
        .instructions("Points only.")
        .beside(Prompts::default());
    let mut client = Client::of(server, 1 << 16, Seen::default());
    let begun = client.begin().await;
    assert_eq!(begun["result"]["instructions"], "Points only.");
}

#[tokio::test]
async fn both_revisions_reach_the_handler_and_without_one_there_is_no_such_method() {
    let mut client = Client::of(
        server().beside(Prompts::default()),
        1 << 16,
        Seen::default(),
    );
    client
        .say(july(1, "prompts/list", json!({})).to_string())
        .await;
    let answer = client.hear().await;
    assert_eq!(answer["result"]["prompts"][0]["name"], "review", "{answer}");
    let mut client = Client::of(server(), 1 << 16, Seen::default());
    let begun = client.begin().await;
    assert_eq!(begun["result"]["capabilities"].get("prompts"), None);
    client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#)
        .await;
    assert_eq!(client.hear().await["error"]["code"], -32601);
}

/// Ask the client whether it is there.
#[tool]
async fn ask_back(
    #[context] client: Option<&contract_mcp::rmcp::service::Peer<RoleServer>>,
) -> Result<String, String> {
    use contract_mcp::rmcp::model::{ClientResult, PingRequest, ServerRequest};
    let client = client.ok_or("no client")?;
    let ping = ServerRequest::PingRequest(PingRequest::default());
    match client.send_request(ping).await {
        Ok(ClientResult::EmptyResult(_)) => Ok("it is there".to_owned()),
        other => Err(format!("{other:?}")),
    }
}

#[tokio::test]
async fn a_tool_can_ask_its_client_itself() {
    let registry = Registry::builder().tool(ask_back).build().unwrap();
    let server = contract_mcp::Server::new(registry)
        .context(|asked| Context::new().with(asked.client().clone()));
    let (ours, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(server.streams(read, write));
    let client = contract_mcp::rmcp::serve_client((), tokio::io::split(ours));
    let client = within(client).await.unwrap();
    let params = contract_mcp::rmcp::model::CallToolRequestParams::new("ask_back");
    let result = within(client.call_tool(params)).await.unwrap();
    let text = result.content[0].as_text().map(|text| text.text.as_str());
    assert_eq!(text, Some("it is there"));
}

#[tokio::test]
async fn a_handler_that_panics_is_answered_and_the_server_goes_on() {
    let is_internal = |answer: &serde_json::Value| {
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(!answer.to_string().contains("secret"), "{answer}");
    };
    let ask =
        json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "panics"}});
    let mut client = Client::of(
        server().beside(Prompts::default()),
        1 << 16,
        Seen::default(),
    );
    client.begin().await;
    client.say(ask.to_string()).await;
    is_internal(&client.hear().await);
    client.lives().await;

    let web = Server::start(server().beside(Prompts::default()));
    let session = web.session().await.ok().unwrap();
    is_internal(&web.november(&session, &ask).await.json());
    let answer = web.july("prompts/get", json!({"name": "panics"}), "").await;
    is_internal(&answer.json());
    web.lives().await;
}

fn hangs(id: u32) -> serde_json::Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "prompts/get", "params": {"name": "hangs"}})
}

#[tokio::test]
async fn a_request_that_is_given_up_ends_in_the_handler_too() {
    let prompts = Prompts::default();
    let server = server().grace(SHORT).beside(prompts.clone());
    let mut client = Client::of(server.clone(), 1 << 16, Seen::default());
    client.begin().await;
    client.say(hangs(1).to_string()).await;
    prompts.hang(1).await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.say(cancelled.to_string()).await;
    prompts.hang(0).await;
    client.lives().await;

    // The client disconnects.
    client.say(hangs(2).to_string()).await;
    prompts.hang(1).await;
    client.close().await;
    prompts.hang(0).await;
    within(client.serving).await.unwrap().unwrap();

    // Over HTTP its session ends.
    let web = Arc::new(Server::start(server));
    let session = web.session().await.ok().unwrap();
    let asking = {
        let (web, session) = (Arc::clone(&web), session.clone());
        tokio::spawn(async move { web.november(&session, &hangs(3)).await.status })
    };
    prompts.hang(1).await;
    let end = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n\r\n",
        web.address
    );
    web.raw(end.as_bytes()).await;
    prompts.hang(0).await;
    within(asking).await.unwrap();
}

#[tokio::test]
async fn a_flood_of_requests_to_the_handler_is_refused_and_leaves_room_for_calls() {
    let prompts = Prompts::default();
    let server = server().calls(2).beside(prompts.clone());
    let mut client = Client::of(server, 1 << 16, Seen::default());
    client.begin().await;
    for id in 1..=2 {
        client.say(hangs(id).to_string()).await;
    }
    prompts.hang(2).await;
    client.say(hangs(3).to_string()).await;
    let refused = client.hear().await;
    let why = "2 requests are running, which is the limit; try again later";
    assert_eq!(refused["error"]["message"], why, "{refused}");
    client.call(4, "point", json!({})).await;
    assert_eq!(client.hear().await["result"]["isError"], false);
}

#[tokio::test]
async fn wrong_parameters_of_a_served_method_are_not_an_unknown_method() {
    let mut client = Client::of(
        server().beside(Prompts::default()),
        1 << 16,
        Seen::default(),
    );
    client.begin().await;
    for (method, code) in [("prompts/get", -32602), ("resources/read", -32601)] {
        client
            .say(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}).to_string())
            .await;
        let answer = client.hear().await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
}
