//! Parses and validates incoming JSON-RPC messages.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode,
    GetExtensions as _, GetMeta as _, RequestId, RequestMetaObject, ServerJsonRpcMessage,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::revision::Revision;

/// The arguments of a call as they were sent.
#[derive(Clone, Debug)]
pub(super) struct RawArguments(pub(super) Arc<str>);

/// Why a message is rejected, with its id if that can be read.
#[derive(Debug)]
pub(super) struct Rejection {
    id: Option<RequestId>,
    code: ErrorCode,
    why: String,
}

impl Rejection {
    fn new(id: Option<RequestId>, code: ErrorCode, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { id, code, why }
    }

    pub(super) fn too_long(limit: usize) -> Self {
        let why = format!("a message has at most {limit} bytes");
        Self::new(None, ErrorCode::INVALID_REQUEST, why)
    }

    pub(super) fn in_use(id: &RequestId) -> Self {
        // Without an id: an answer under this one belongs to the request that has it.
        let why = format!("the id {id} belongs to a request that is still running; use another");
        Self::new(None, ErrorCode::INVALID_REQUEST, why)
    }

    /// Renders the error response for a client of this revision; `None` before the handshake.
    pub(super) fn into_answer(self, revision: Option<Revision>) -> Vec<u8> {
        let is_of_nobody = self.id.is_none();
        let error = ErrorData::new(self.code, self.why, None);
        let mut answer = json!(ServerJsonRpcMessage::error(error, self.id));
        if is_of_nobody && !revision.is_none_or(Revision::has_errors_without_id) {
            answer["id"] = Value::Null;
        }
        answer.to_string().into_bytes()
    }
}

/// The arguments of a call, taken out of a message that rmcp parses.
#[derive(Debug)]
pub(super) struct ExtractedArguments {
    pub(super) arguments: RawArguments,
    /// The message without them, if it was changed.
    pub(super) message: Option<Vec<u8>>,
}

/// One message, with its parts unparsed.
#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

/// The parameters of `tools/call`, with the arguments unparsed.
#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta", borrow, default)]
    meta: Option<&'a RawValue>,
    /// What the client answers to questions of an earlier, equal call.
    #[serde(rename = "inputResponses", borrow, default)]
    responses: Option<&'a RawValue>,
    #[serde(rename = "requestState", borrow, default)]
    state: Option<Cow<'a, str>>,
}

/// A struct that must be a JSON object; serde would accept an array of its fields, too.
#[derive(Debug)]
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }
        from.deserialize_map(Members(PhantomData))
    }
}

/// The parameters of `tools/list`.
#[derive(Debug, Deserialize)]
struct List<'a> {
    #[serde(rename = "cursor", borrow, default)]
    _cursor: Option<Cow<'a, str>>,
}

/// Unlike an `Option`, distinguishes `null` from a missing key.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

const CALL: &str = "tools/call";
const LIST: &str = "tools/list";

/// Parses a message.
pub(super) fn read(text: &[u8]) -> Result<ClientJsonRpcMessage, Rejection> {
    let envelope = envelope(text)?;
    let id = id(&envelope)?;
    if let (Some(id), Some(CALL)) = (&id, envelope.method.as_deref()) {
        return request(id, params(&envelope, Some(id))?);
    }
    cursor(&envelope, id.as_ref())?;
    serde_json::from_slice(text).map_err(|error| not_a_message(id, &error))
}

/// Extracts the arguments of a call from a message that rmcp parses, and rejects what rmcp would misread.
///
/// Arguments that rmcp does not need are removed from its message, because it would parse them several times.
pub(super) fn extract_arguments(
    text: &[u8],
    needed: impl FnOnce(&str) -> bool,
) -> Result<Option<ExtractedArguments>, Rejection> {
    let envelope = envelope(text)?;
    let id = id(&envelope)?;
    if envelope.method.as_deref() != Some(CALL) {
        cursor(&envelope, id.as_ref())?;
        if envelope.method.is_none() {
            // rmcp would answer it in no form of the protocol, if it is not a response.
            serde_json::from_slice::<ClientJsonRpcMessage>(text)
                .map_err(|error| not_a_message(id, &error))?;
        }
        return Ok(None);
    }
    let call = params(&envelope, id.as_ref())?;
    let Some(arguments) = call.arguments.map(RawValue::get) else {
        return Ok(None);
    };
    let message = if needed(&call.name) {
        None
    } else {
        without(text, arguments)
    };
    Ok(Some(ExtractedArguments {
        arguments: RawArguments(arguments.into()),
        message,
    }))
}

/// Replaces a part of the text by an empty object.
fn without(text: &[u8], part: &str) -> Option<Vec<u8>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let before = text.get(..start)?;
    let after = text.get(start.checked_add(part.len())?..)?;
    Some([before, b"{}", after].concat())
}

fn envelope(text: &[u8]) -> Result<Envelope<'_>, Rejection> {
    if text.trim_ascii_start().starts_with(b"[") {
        let why = "JSON-RPC batches are not supported; send each message on its own";
        return Err(Rejection::new(None, ErrorCode::INVALID_REQUEST, why));
    }
    let envelope: Envelope<'_> =
        serde_json::from_slice(text).map_err(|error| not_a_message(None, &error))?;
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        let why = "`jsonrpc` must be \"2.0\"";
        let id = id(&envelope).unwrap_or_default();
        return Err(Rejection::new(id, ErrorCode::INVALID_REQUEST, why));
    }
    Ok(envelope)
}

fn id(envelope: &Envelope<'_>) -> Result<Option<RequestId>, Rejection> {
    let Some(raw) = envelope.id else {
        return Ok(None);
    };
    match serde_json::from_str(raw.get()) {
        Ok(id) => Ok(Some(id)),
        // A response without a readable id belongs to no request; responses are dropped later.
        Err(_) if envelope.method.is_none() => Ok(None),
        Err(_) => {
            let why = "`id` must be a string or an integer of 64 bits";
            Err(Rejection::new(None, ErrorCode::INVALID_REQUEST, why))
        }
    }
}

/// rmcp ignores a cursor of another type, so the client would get the first page again and again.
fn cursor(envelope: &Envelope<'_>, id: Option<&RequestId>) -> Result<(), Rejection> {
    if let (Some(LIST), Some(params)) = (envelope.method.as_deref(), envelope.params)
        && serde_json::from_str::<Option<List<'_>>>(params.get()).is_err()
    {
        let why = "`params` must be an object, and its `cursor` a string, given once";
        return Err(Rejection::new(id.cloned(), ErrorCode::INVALID_PARAMS, why));
    }
    Ok(())
}

fn not_a_message(id: Option<RequestId>, error: &serde_json::Error) -> Rejection {
    match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => {
            let why = format!("not JSON, at column {}", error.column());
            Rejection::new(id, ErrorCode::PARSE_ERROR, why)
        }
        Category::Data => {
            let why = "not a message of JSON-RPC 2.0";
            Rejection::new(id, ErrorCode::INVALID_REQUEST, why)
        }
    }
}

const PARAMS: &str = "`params` must be an object with a `name`, and perhaps `arguments`, `_meta` and what answers a question, each once";

fn params<'a>(envelope: &Envelope<'a>, id: Option<&RequestId>) -> Result<Call<'a>, Rejection> {
    let params = envelope.params.map_or("{}", RawValue::get);
    let Object(call): Object<Call<'a>> =
        serde_json::from_str(params).map_err(|_| bad_params(id, PARAMS))?;
    if !call.arguments.is_none_or(is_object) {
        return Err(bad_params(id, "`arguments` must be an object"));
    }
    if !call.meta.is_none_or(is_object) || !call.responses.is_none_or(is_object) {
        return Err(bad_params(id, PARAMS));
    }
    Ok(call)
}

fn bad_params(id: Option<&RequestId>, why: &str) -> Rejection {
    Rejection::new(id.cloned(), ErrorCode::INVALID_PARAMS, why)
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// Builds the request of a call without parsing its arguments.
fn request(id: &RequestId, call: Call<'_>) -> Result<ClientJsonRpcMessage, Rejection> {
    let mut params = CallToolRequestParams::new(call.name.into_owned());
    if let Some(responses) = call.responses {
        let responses = serde_json::from_str(responses.get());
        params.input_responses = Some(responses.map_err(|_| bad_params(Some(id), PARAMS))?);
    }
    params.request_state = call.state.map(Cow::into_owned);
    let mut request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    if let Some(arguments) = call.arguments {
        let arguments = RawArguments(arguments.get().into());
        request.extensions_mut().insert(arguments);
    }
    if let Some(meta) = call.meta {
        let meta: RequestMetaObject =
            serde_json::from_str(meta.get()).map_err(|_| bad_params(Some(id), PARAMS))?;
        *request.get_meta_mut() = meta;
    }
    Ok(ClientJsonRpcMessage::request(request, id.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_taken_out_of_a_message_unless_rmcp_needs_them() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":[1]},"_meta":{}}}"#,
            // Read part by part, because its `jsonrpc` is at the end and it has no `id`.
            r#"{"method":"tools/call","params":{"arguments":{"a":[1]},"name":"t","_meta":{}},"jsonrpc":"2.0"}"#,
        ] {
            let extracted = extract_arguments(text.as_bytes(), |_| false)
                .unwrap()
                .unwrap();
            assert_eq!(&*extracted.arguments.0, r#"{"a":[1]}"#);
            let left = String::from_utf8(extracted.message.unwrap()).unwrap();
            assert_eq!(left, text.replace(r#"{"a":[1]}"#, "{}"));
            let kept = extract_arguments(text.as_bytes(), |name| name == "t");
            let kept = kept.unwrap().unwrap();
            assert_eq!(&*kept.arguments.0, r#"{"a":[1]}"#);
            assert!(kept.message.is_none());
        }
    }

    #[test]
    fn an_array_is_not_an_object_of_the_same_fields() {
        for text in [
            r#"["2.0",1,"tools/call",{"name":"t"}]"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["t"]}"#,
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
            assert!(
                extract_arguments(text.as_bytes(), |_| false).is_err(),
                "{text}"
            );
        }
    }
}
