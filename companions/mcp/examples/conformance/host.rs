//! What stands beside the tools: prompts, resources and completions.

#![allow(
    deprecated,
    reason = "the protocol gives up some requests in time; its suite makes them"
)]

use contract_mcp::rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, UnsubscribeRequestParams,
};
use contract_mcp::rmcp::service::RequestContext;
use contract_mcp::rmcp::{RoleServer, ServerHandler};
use serde_json::json;

/// [`PNG`](super::PNG) in base64.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAACAAHdjbAAAAAASUVORK5CYII=";

pub(crate) struct Host;

/// The result that asks the user of the client for something.
fn ask_for_context() -> Result<GetPromptResponse, ErrorData> {
    let asked = json!({"user_context": {"method": "elicitation/create", "params": {
        "mode": "form",
        "message": "What context should the prompt use?",
        "requestedSchema": {
            "type": "object",
            "properties": {"context": {"type": "string"}},
            "required": ["context"],
        },
    }}});
    let asked = serde_json::from_value(asked);
    let asked = asked.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(asked), None).into())
}

type Asked = RequestContext<RoleServer>;

impl ServerHandler for Host {
    fn get_info(&self) -> ServerConfig {
        let offered = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions();
        ServerConfig::new(offered.build())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Asked,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |name: &str, arguments: &[&str]| {
            let arguments = arguments
                .iter()
                .map(|name| PromptArgument::new(*name).with_required(true));
            Prompt::new(
                name,
                Some("A prompt of the suite"),
                Some(arguments.collect()),
            )
        };
        Ok(ListPromptsResult::with_all_items(vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
            prompt("test_input_required_result_prompt", &[]),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Asked,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).map(|value| json!(value));
        let argument = |name: &str| {
            let value = argument(name);
            value
                .and_then(|value| value.as_str().map(str::to_owned))
                .unwrap_or_default()
        };
        let text = |text: &str| PromptMessage::new_text(Role::User, text);
        if request.name == "test_input_required_result_prompt" && request.input_responses.is_none()
        {
            return ask_for_context();
        }
        let messages = match &*request.name {
            "test_input_required_result_prompt" => vec![text("With the context that was given.")],
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => vec![text(&format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))],
            "test_prompt_with_embedded_resource" => {
                let uri = argument("resourceUri");
                let contents =
                    ResourceContents::text("Embedded resource content for testing.", uri);
                let contents = contents.with_mime_type("text/plain");
                let block = contract_mcp::rmcp::model::ContentBlock::resource(contents);
                vec![
                    PromptMessage::new(Role::User, block),
                    text("Please process the embedded resource above."),
                ]
            }
            "test_prompt_with_image" => {
                let block = contract_mcp::rmcp::model::ContentBlock::image(PICTURE, "image/png");
                vec![
                    PromptMessage::new(Role::User, block),
                    text("Please analyze the image above."),
                ]
            }
            _ => return Err(ErrorData::invalid_params("there is no such prompt", None)),
        };
        Ok(GetPromptResult::new(messages).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Asked,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new("test://static-text", "text").with_mime_type("text/plain"),
            Resource::new("test://static-binary", "binary").with_mime_type("image/png"),
            Resource::new("test://watched-resource", "watched").with_mime_type("text/plain"),
        ]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Asked,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        let template = template.with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Asked,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (&*uri, id) {
            (_, Some(id)) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                ResourceContents::text(data.to_string(), &*uri).with_mime_type("application/json")
            }
            ("test://static-text" | "test://watched-resource", None) => {
                let text = "This is the content of the static text resource.";
                ResourceContents::text(text, &*uri).with_mime_type("text/plain")
            }
            ("test://static-binary", None) => {
                ResourceContents::blob(PICTURE, &*uri).with_mime_type("image/png")
            }
            _ => {
                let data = Some(json!({"uri": uri}));
                return Err(ErrorData::resource_not_found(
                    "there is no such resource",
                    data,
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: Asked,
    ) -> Result<CompleteResult, ErrorData> {
        let known = ["testing", "test value"].map(str::to_owned);
        let begun = |one: &String| one.starts_with(&request.argument.value);
        let values = known.into_iter().filter(begun).collect();
        let completion = CompletionInfo::new(values);
        Ok(CompleteResult::new(
            completion.map_err(|why| ErrorData::internal_error(why, None))?,
        ))
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Asked) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Asked) -> Result<(), ErrorData> {
        Ok(())
    }
}
