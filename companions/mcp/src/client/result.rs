//! Converts the result of an imported tool.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract_runtime::{Artifact, Content, Validator};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use crate::original;

/// The most artifacts of one result.
const PARTS: usize = 1_000;

/// Converts the result of an imported tool; the error is the text for the model.
pub(super) fn content(
    result: CallToolResult,
    schema: Option<&Validator>,
) -> Result<Content, String> {
    let original = original::is_wanted().then(|| result.content.clone());
    let mut texts: Vec<String> = Vec::new();
    let mut artifacts = Vec::new();
    for block in result.content {
        match part(block)? {
            Part::Text(text) => texts.push(text),
            Part::Artifact(_) if artifacts.len() >= PARTS => {
                return Err(format!("the result has more than {PARTS} parts"));
            }
            Part::Artifact(artifact) => artifacts.push(artifact),
        }
    }
    let wordless = texts.is_empty();
    let text = texts.join("\n");
    if result.is_error == Some(true) {
        return Err(if text.is_empty() {
            "the tool failed without saying why".to_owned()
        } else {
            text
        });
    }
    let content = match (result.structured_content, schema) {
        (Some(value), Some(schema)) => {
            schema.check(&value.to_string()).map_err(|wrong| {
                format!("the result is not what the server's output schema promises: {wrong}")
            })?;
            to_content(value)
        }
        (None, Some(_)) => {
            let why =
                "the result lacks the structured content that the server's output schema promises";
            return Err(why.to_owned());
        }
        (Some(value), None) if text.is_empty() => to_content(value),
        (Some(value), None) if !says(&text, &value) => {
            Content::text(text).with(Artifact::value("structuredContent", value))
        }
        (None, None) if wordless => Content::default(),
        (_, None) => Content::text(text),
    };
    let content = artifacts.into_iter().fold(content, Content::with);
    if let Some(original) = original {
        original::keep(&content, original);
    }
    Ok(content)
}

/// A string as it is, everything else as JSON, like the result of a function.
fn to_content(value: Value) -> Content {
    match value {
        Value::String(text) => Content::text(text),
        other => Content::json(&other),
    }
}

/// Whether a text is this value as JSON, which servers repeat for older clients.
fn says(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value)
}

enum Part {
    Text(String),
    Artifact(Artifact),
}

fn part(block: ContentBlock) -> Result<Part, String> {
    let artifact = match block {
        ContentBlock::Text(text) => return Ok(Part::Text(text.text)),
        ContentBlock::Image(image) => Artifact::image(image.mime_type, bytes(&image.data)?),
        ContentBlock::Audio(audio) => Artifact::file("audio", audio.mime_type, bytes(&audio.data)?),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents {
                uri,
                mime_type,
                text,
                ..
            } => {
                let media_type = mime_type.unwrap_or_else(|| "text/plain".to_owned());
                Artifact::file(file_name(&uri), media_type, text)
            }
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                Artifact::file(file_name(&uri), media_type, bytes(&blob)?)
            }
            other => Artifact::value("resource", to_json(&other)),
        },
        ContentBlock::ResourceLink(link) => Artifact::value("resource_link", to_json(&link)),
        other => Artifact::value("content", to_json(&other)),
    };
    Ok(Part::Artifact(artifact))
}

fn to_json(part: &impl serde::Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_else(|_| json!(null))
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| {
        format!("the server sent a part of the result that is not base64: {error}")
    })
}

/// The last segment of a URI: a name to show, without a folder.
fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit(['/', '\\', ':']).find(|part| !part.is_empty());
    name.filter(|name| !matches!(*name, "." | ".."))
        .unwrap_or("resource")
        .chars()
        .take(255)
        .collect()
}
