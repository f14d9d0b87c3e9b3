//! rmcp: `ToolRouter::call`, below its protocol, and the tools of its router.

use std::pin::pin;

use rmcp::handler::server::ServerHandler;
use rmcp::handler::server::common::schema_for_input;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ContentBlock, NumberOrString, Tool};
use rmcp::service::{RequestContext, serve_directly};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::meter::Meter;
use crate::tools::{self, FIND_PAGES, Order, Prices, Unit, for_500, json, once};
use crate::work::Work;

struct Server;

impl ServerHandler for Server {}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    order: Order,
}

#[derive(Deserialize, JsonSchema)]
struct Convert {
    length: i64,
    unit: Unit,
}

#[derive(Deserialize, JsonSchema)]
struct Total {
    prices: Prices,
}

/// Tools give text, as those of numbers have to; `Json` would give a result twice, as text and as a value.
#[tool_router]
impl Server {
    /// Add two numbers.
    #[tool]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        json(&a.wrapping_add(b))
    }

    /// Add two numbers, later.
    #[tool]
    async fn add_async(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        json(&a.wrapping_add(b))
    }

    /// Search for something.
    #[tool]
    fn search(&self, Parameters(Search { query, limit, tags }): Parameters<Search>) -> String {
        json(&tools::found(query, limit, tags))
    }

    /// Place an order.
    #[tool]
    fn place(&self, Parameters(Place { order }): Parameters<Place>) -> String {
        json(&tools::size(&order))
    }

    /// Convert a length.
    #[tool]
    fn convert(&self, Parameters(Convert { length, unit }): Parameters<Convert>) -> String {
        json(&tools::metres(length, &unit))
    }

    /// Add up prices.
    #[tool]
    fn total(&self, Parameters(Total { prices }): Parameters<Total>) -> String {
        json(&tools::sum(&prices))
    }
}

pub(super) fn run(meter: &Meter, work: Work) {
    if work == Work::List {
        return meter.list(list);
    }
    // Every call has its connection.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers");
    let (_client, transport) = tokio::io::duplex(64);
    let running = runtime.block_on(async { serve_directly(Server, transport, None) });
    let (router, server) = (Server::tool_router(), Server);
    meter.call(|| {
        let arguments = serde_json::from_str(work.arguments()).expect("the arguments are JSON");
        let parameters = CallToolRequestParams::new(work.name()).with_arguments(arguments);
        let request = RequestContext::new(NumberOrString::Number(1), running.peer().clone());
        match once(pin!(
            router.call(ToolCallContext::new(&server, parameters, request))
        )) {
            Ok(CallToolResponse::Complete(result)) => match result.content.into_iter().next() {
                Some(ContentBlock::Text(text)) => text.text,
                _ => String::new(),
            },
            _ => String::new(),
        }
    });
}

/// The arguments of one tool of a listing: the schema of a type is kept, and every tool has a type of its own.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is described, and never read")]
struct FindPages<const N: usize> {
    /// What the pages are about.
    query: String,
    /// How many pages are wanted at most.
    limit: Option<u32>,
    /// Words that each of the pages has.
    tags: Vec<String>,
}

fn find_pages(_: &Server, Parameters(Search { query, limit, tags }): Parameters<Search>) -> String {
    json(&tools::found(query, limit, tags))
}

fn add_route<const N: usize>(router: &mut ToolRouter<Server>) {
    let schema = schema_for_input::<FindPages<N>>().expect("the schema of an object");
    let tool = Tool::new(format!("find_pages_{N}"), FIND_PAGES, schema);
    router.add_route(ToolRoute::new(tool, find_pages));
}

fn list() -> (ToolRouter<Server>, String) {
    let mut router = ToolRouter::new();
    for_500!(add_route, &mut router);
    let text = json(&router.list_all());
    (router, text)
}
