//! Converts an outcome to the result of `tools/call`.

use std::borrow::Cow;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract_runtime::{Artifact, Effect, Outcome, OutputKind, Status, ToolResult};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, ResourceContents};
use serde_json::{Value, json};

use super::list::{Promise, RESULT};
use super::revision::Revision;
use crate::original::Original;

/// The key of the outcome in `_meta`: `docs.rs/contract-runtime`, in reverse.
const OUTCOME: &str = "rs.docs.contract-runtime/outcome";

/// The most bytes of artifacts in one result.
const ARTIFACT_BYTES: usize = 8 << 20;

/// Such a result has `isError`, because clients refuse one that lacks what its schema promises; a model must not repeat the call.
const NOT_AS_PROMISED: &str = "the call has succeeded, so do not repeat it; its result is too long or is not JSON, so it is given as text and not as its schema promises:";

/// Converts an outcome to the protocol's result.
///
/// Errors have no structured content, because clients validate it against the output schema even if `isError` is set.
pub(super) fn result(
    outcome: Outcome,
    original: Option<Original>,
    promise: Promise,
    revision: Revision,
    in_full: bool,
) -> CallToolResult {
    let meta = meta(&outcome, in_full);
    let mut answer = match outcome.error() {
        Some(error) => CallToolResult::error(vec![ContentBlock::text(error)]),
        None => success(outcome, original, promise, revision),
    };
    answer.meta = meta;
    answer
}

fn success(
    outcome: Outcome,
    original: Option<Original>,
    promise: Promise,
    revision: Revision,
) -> CallToolResult {
    let structured = match (promise, outcome.output_kind()) {
        (Promise::Structured { .. }, Some(OutputKind::Json))
        | (Promise::Structured { text: true, .. }, _) => outcome.value(),
        _ => None,
    };
    let structured = structured.map(|value| match promise {
        Promise::Structured { wrapped: true, .. } => json!({ RESULT: value }),
        _ => value,
    });
    let ToolResult {
        output, artifacts, ..
    } = outcome.into_result();
    let text = output.unwrap_or_default();
    if promise != Promise::Nothing && structured.is_none() {
        return CallToolResult::error(vec![
            ContentBlock::text(NOT_AS_PROMISED),
            ContentBlock::text(text),
        ]);
    }
    let original = original
        .filter(|_| revision.has_links())
        .and_then(|original| original.of(&text, &artifacts))
        .filter(|blocks| !blocks.is_empty() && size(blocks) <= ARTIFACT_BYTES);
    if let Some(blocks) = original {
        let mut answer = CallToolResult::success(blocks);
        answer.structured_content = structured;
        return answer;
    }
    let mut content = Vec::with_capacity(1 + artifacts.len());
    if !text.is_empty() {
        content.push(ContentBlock::text(text));
    }
    let mut left = ARTIFACT_BYTES;
    content.extend(
        artifacts
            .into_iter()
            .map(|one| block(one, &mut left, revision)),
    );
    let mut answer = CallToolResult::success(content);
    answer.structured_content = structured;
    answer
}

/// The bytes of images, files and texts in blocks, as they are sent.
fn size(blocks: &[ContentBlock]) -> usize {
    let sizes = blocks.iter().map(|block| match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text.len(),
            ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
            _ => 0,
        },
        _ => 0,
    });
    sizes.sum()
}

fn block(artifact: Artifact, left: &mut usize, revision: Revision) -> ContentBlock {
    match artifact {
        Artifact::Image { media_type, data } => match fits(left, data.len()) {
            Ok(()) => ContentBlock::image(STANDARD.encode(data), media_type),
            Err(said) => ContentBlock::text(format!("[an image of type {media_type}, {said}]")),
        },
        Artifact::File {
            name,
            media_type,
            data,
        } => match fits(left, data.len()) {
            // The protocol has a content type of its own for audio.
            Ok(()) if revision.has_audio() && media_type.starts_with("audio/") => {
                ContentBlock::audio(STANDARD.encode(data), media_type)
            }
            Ok(()) => ContentBlock::resource(
                ResourceContents::blob(STANDARD.encode(data), address(&name))
                    .with_mime_type(media_type),
            ),
            Err(said) => ContentBlock::text(format!("[the file {name}, {said}]")),
        },
        Artifact::Value { name, value } => {
            let text = value.to_string();
            match fits(left, text.len()) {
                Ok(()) => ContentBlock::resource(
                    ResourceContents::text(text, address(&name)).with_mime_type("application/json"),
                ),
                Err(said) => ContentBlock::text(format!("[the value {name}, {said}]")),
            }
        }
        _ => ContentBlock::text("[an artifact of a kind that the protocol cannot hold]"),
    }
}

fn fits(left: &mut usize, bytes: usize) -> Result<(), String> {
    match left.checked_sub(bytes) {
        Some(rest) => {
            *left = rest;
            Ok(())
        }
        None => Err(format!(
            "{bytes} bytes, left out: one result carries at most {ARTIFACT_BYTES}"
        )),
    }
}

/// A URI for something without an address: its name, percent-encoded (RFC 3986, section 2.1).
fn address(name: &str) -> String {
    let mut uri = String::from("attachment:///");
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => {
                use std::fmt::Write as _;
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// The details of an outcome for programs; `None` if there is nothing to add to the result.
///
/// Some clients hand `_meta` to the model, which has read the text. So only clients that ask for it get the whole, and only
/// they see the names of source files.
fn meta(outcome: &Outcome, in_full: bool) -> Option<MetaObject> {
    let is_plain = outcome.observed().is_empty() && outcome.coercions().is_empty();
    if outcome.is_ok() && (is_plain || !in_full) {
        return None;
    }
    if !in_full {
        let mut told = json!({"status": outcome.status(), "effect": outcome.effect()});
        if let Some(invalid) = outcome.invalid_arguments() {
            let pointers = invalid.problems().iter().map(|problem| &problem.pointer);
            told["pointers"] = pointers.cloned().collect();
        }
        return Some(under(told));
    }
    let mut told = json!(outcome);
    if let Some(told) = told.as_object_mut() {
        let elsewhere = ["id", "name", "output", "error", "approval_request"];
        told.retain(|member, _| !elsewhere.contains(&member.as_str()));
    }
    let violations = outcome.violation().is_some().then_some("/violation");
    let observed = (0..outcome.observed().len()).map(|at| format!("/observed/{at}"));
    for at in violations.map(str::to_owned).into_iter().chain(observed) {
        if let Some(Value::String(file)) = told.pointer_mut(&format!("{at}/location/file")) {
            *file = file_name(file).into_owned();
        }
    }
    Some(under(told))
}

/// The name of a source file, without the absolute path of the build machine, which may name a user's home folder.
fn file_name(file: &str) -> Cow<'_, str> {
    let path = Path::new(file);
    match path.file_name() {
        Some(name) if path.is_absolute() => name.to_string_lossy(),
        _ => file.into(),
    }
}

fn under(told: Value) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert(OUTCOME.to_owned(), told);
    meta
}

/// The result of a call that exceeds the limit on concurrent calls.
pub(super) fn overloaded(limit: usize) -> CallToolResult {
    let why = format!("{limit} calls are running, which is the limit; try again later");
    refused(&why, Status::Overloaded)
}

/// The result of a call that the server could not make.
pub(super) fn failed(why: &str) -> CallToolResult {
    refused(why, Status::Failed)
}

fn refused(why: &str, status: Status) -> CallToolResult {
    let mut answer = CallToolResult::error(vec![ContentBlock::text(why)]);
    answer.meta = Some(under(
        json!({"status": status.name(), "effect": Effect::None.name()}),
    ));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_does_not_name_the_home_folder_of_the_build_machine() {
        let library = std::env::temp_dir().join("registry/kit-1.0.0/src/lib.rs");
        assert_eq!(file_name(&library.to_string_lossy()), "lib.rs");
        assert_eq!(file_name("src/tools.rs"), "src/tools.rs");
        assert_eq!(file_name(""), "");
    }
}
