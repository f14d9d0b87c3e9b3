//! A prompt beside a tool, on standard streams: what this library does not serve is served by a handler of the protocol's own.
//!
//! ```sh
//! cargo run -p contract-mcp --example prompts
//! ```

use std::error::Error;

use contract_mcp::Server;
use contract_mcp::rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    PaginatedRequestParams, Prompt, PromptMessage, Role, ServerCapabilities, ServerConfig,
};
use contract_mcp::rmcp::service::RequestContext;
use contract_mcp::rmcp::{ErrorData, RoleServer, ServerHandler};
use contract_runtime::prelude::*;

/// Count the lines of a text.
#[tool(read_only)]
fn count_lines(text: &str) -> usize {
    text.lines().count()
}

struct Prompts;

impl ServerHandler for Prompts {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_prompts().build())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let shorten = Prompt::new("shorten", Some("Make a text shorter"), None);
        Ok(ListPromptsResult::with_all_items(vec![shorten]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "shorten" {
            return Err(ErrorData::invalid_params("there is no such prompt", None));
        }
        let text = "Make the text shorter, and count its lines before and after.";
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::builder().tool(count_lines).build()?;
    Server::new(registry)
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .beside(Prompts)
        .stdio()
        .await?;
    Ok(())
}
