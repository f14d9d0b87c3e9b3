//! Tools that ask their client for something themselves, as only clients up to revision 2025-11-25 can be asked.

#![allow(
    deprecated,
    reason = "the protocol gives up sampling in time; its suite asks for it"
)]

use contract_mcp::rmcp::RoleServer;
use contract_mcp::rmcp::model::{
    ClientResult, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, Role,
    SamplingMessage, SamplingMessageContentBlock, ServerRequest,
};
use contract_mcp::rmcp::service::Peer;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

/// The client of a call.
pub(crate) struct Client(pub(crate) Peer<RoleServer>);

impl Client {
    async fn elicit(&self, message: &str, schema: Value) -> Result<String, String> {
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let params: ElicitRequestParams =
            serde_json::from_value(params).map_err(|error| error.to_string())?;
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let given = self.0.send_request(request).await;
        let ClientResult::ElicitResult(given) = given.map_err(|error| error.to_string())? else {
            return Err("the client answered something else".to_owned());
        };
        let content = given.content.unwrap_or_default();
        Ok(format!("action={:?}, content={content}", given.action))
    }
}

/// Ask the client's model.
#[tool]
async fn test_sampling(prompt: String, #[context] client: &Client) -> Result<String, String> {
    let content = SamplingMessageContentBlock::text(prompt);
    let message = SamplingMessage::new(Role::User, content);
    let params = CreateMessageRequestParams::new(vec![message], 100);
    let answer = client.0.create_message(params).await;
    let answer = answer.map_err(|error| error.to_string())?;
    Ok(format!("LLM response: {}", json!(answer.message)))
}

/// Ask the user.
#[tool]
async fn test_elicitation(message: String, #[context] client: &Client) -> Result<String, String> {
    let schema = json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    });
    let answer = client.elicit(&message, schema).await?;
    Ok(format!("User response: {answer}"))
}

/// Ask the user, with defaults.
#[tool]
async fn test_elicitation_sep1034_defaults(#[context] client: &Client) -> Result<String, String> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
        "required": [],
    });
    let answer = client.elicit("Please review the defaults", schema).await?;
    Ok(format!("Elicitation completed: {answer}"))
}

/// Ask the user to choose.
#[tool]
async fn test_elicitation_sep1330_enums(#[context] client: &Client) -> Result<String, String> {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
        "required": [],
    });
    let answer = client.elicit("Please choose", schema).await?;
    Ok(format!("Elicitation completed: {answer}"))
}
