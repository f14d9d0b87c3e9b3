use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

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

/// The arguments of a call as they were sent.
#[derive(Clone, Debug)]
pub(super) struct RawArguments(pub(super) String);

/// A message that cannot be taken, and whose it is, where that can be read.
#[derive(Debug)]
pub(super) struct Refused {
    id: Option<RequestId>,
    code: ErrorCode,
    why: String,
}

impl Refused {
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

    /// The answer that says so.
    pub(super) fn into_answer(self) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(ErrorData::new(self.code, self.why, None), self.id)
    }
}

/// What was taken from a message that somebody else will read.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) arguments: RawArguments,
    /// What is left of the message, where it is another.
    pub(super) message: Option<Vec<u8>>,
}

/// One message, its parts unread.
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

/// The parameters of `tools/call`, its arguments unread.
#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta", borrow, default)]
    meta: Option<&'a RawValue>,
}

/// A call as most clients write it, in one go.
#[derive(Debug, Deserialize)]
struct PlainCall<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Object<Call<'a>>,
}

/// A struct that is written as an object; serde would take an array of its fields too.
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

/// Unlike an `Option`, tells `null` from a key that is not there.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

const CALL: &str = "tools/call";
const LIST: &str = "tools/list";

/// A call with nothing to say against it. Whatever else there is, is read once more, part by part.
fn plain_call(text: &[u8]) -> Option<(RequestId, Call<'_>)> {
    let Object(PlainCall {
        jsonrpc,
        id,
        method,
        params: Object(call),
    }) = serde_json::from_slice(text).ok()?;
    let is_plain = jsonrpc == "2.0"
        && method == CALL
        && call.arguments.is_none_or(is_object)
        && call.meta.is_none_or(is_object);
    let id = serde_json::from_str(id.get()).ok()?;
    is_plain.then_some((id, call))
}

/// Reads a message that comes alone.
pub(super) fn read(text: &[u8]) -> Result<ClientJsonRpcMessage, Refused> {
    if let Some((id, call)) = plain_call(text) {
        return request(&id, call);
    }
    let envelope = envelope(text)?;
    let id = id(&envelope)?;
    if let (Some(id), Some(CALL)) = (&id, envelope.method.as_deref()) {
        return request(id, params(&envelope, Some(id))?);
    }
    cursor(&envelope, id.as_ref())?;
    serde_json::from_slice(text).map_err(|error| not_a_message(id, &error))
}

/// The arguments in a message that somebody else will read; whatever he would misread is refused.
///
/// Arguments that nobody else needs are taken out of his message, because he would read them several times.
pub(super) fn arguments(
    text: &[u8],
    needed: impl FnOnce(&str) -> bool,
) -> Result<Option<Taken>, Refused> {
    let call = if let Some((_, call)) = plain_call(text) {
        call
    } else {
        let envelope = envelope(text)?;
        let id = id(&envelope)?;
        if envelope.method.as_deref() != Some(CALL) {
            cursor(&envelope, id.as_ref())?;
            return Ok(None);
        }
        params(&envelope, id.as_ref())?
    };
    let Some(arguments) = call.arguments.map(RawValue::get) else {
        return Ok(None);
    };
    let message = if needed(&call.name) {
        None
    } else {
        without(text, arguments)
    };
    Ok(Some(Taken {
        arguments: RawArguments(arguments.to_owned()),
        message,
    }))
}

/// The text with an empty object where a part of it stands.
fn without(text: &[u8], part: &str) -> Option<Vec<u8>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let before = text.get(..start)?;
    let after = text.get(start.checked_add(part.len())?..)?;
    Some([before, b"{}", after].concat())
}

fn envelope(text: &[u8]) -> Result<Envelope<'_>, Refused> {
    let start = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if start == Some(&b'[') {
        let why = "messages come one by one; this revision has no batches";
        return Err(Refused::new(None, ErrorCode::INVALID_REQUEST, why));
    }
    let envelope: Envelope<'_> =
        serde_json::from_slice(text).map_err(|error| not_a_message(None, &error))?;
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        let why = "`jsonrpc` must be \"2.0\"";
        let id = id(&envelope).unwrap_or_default();
        return Err(Refused::new(id, ErrorCode::INVALID_REQUEST, why));
    }
    Ok(envelope)
}

fn id(envelope: &Envelope<'_>) -> Result<Option<RequestId>, Refused> {
    let Some(raw) = envelope.id else {
        return Ok(None);
    };
    match serde_json::from_str(raw.get()) {
        Ok(id) => Ok(Some(id)),
        // An answer without a readable id is nobody's: it is dropped where answers are.
        Err(_) if envelope.method.is_none() => Ok(None),
        Err(_) => {
            let why = "`id` must be a string or an integer of 64 bits";
            Err(Refused::new(None, ErrorCode::INVALID_REQUEST, why))
        }
    }
}

/// A cursor of another type would be passed over further on, and the first page would come again, for ever.
fn cursor(envelope: &Envelope<'_>, id: Option<&RequestId>) -> Result<(), Refused> {
    if let (Some(LIST), Some(params)) = (envelope.method.as_deref(), envelope.params)
        && serde_json::from_str::<Option<List<'_>>>(params.get()).is_err()
    {
        let why = "`params` must be an object, and its `cursor` a string, given once";
        return Err(Refused::new(id.cloned(), ErrorCode::INVALID_PARAMS, why));
    }
    Ok(())
}

fn not_a_message(id: Option<RequestId>, error: &serde_json::Error) -> Refused {
    match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => {
            let why = format!("not JSON, at column {}", error.column());
            Refused::new(id, ErrorCode::PARSE_ERROR, why)
        }
        Category::Data => {
            let why = "not a message of JSON-RPC 2.0";
            Refused::new(id, ErrorCode::INVALID_REQUEST, why)
        }
    }
}

const PARAMS: &str =
    "`params` must be an object with a `name`, and perhaps `arguments` and `_meta`, each once";

fn params<'a>(envelope: &Envelope<'a>, id: Option<&RequestId>) -> Result<Call<'a>, Refused> {
    let params = envelope.params.map_or("{}", RawValue::get);
    let Object(call): Object<Call<'a>> =
        serde_json::from_str(params).map_err(|_| bad_params(id, PARAMS))?;
    if !call.arguments.is_none_or(is_object) {
        return Err(bad_params(id, "`arguments` must be an object"));
    }
    if !call.meta.is_none_or(is_object) {
        return Err(bad_params(id, PARAMS));
    }
    Ok(call)
}

fn bad_params(id: Option<&RequestId>, why: &str) -> Refused {
    Refused::new(id.cloned(), ErrorCode::INVALID_PARAMS, why)
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// A call that is read here, and faster: its arguments stay as they are.
fn request(id: &RequestId, call: Call<'_>) -> Result<ClientJsonRpcMessage, Refused> {
    let request = CallToolRequest::new(CallToolRequestParams::new(call.name.into_owned()));
    let mut request = ClientRequest::CallToolRequest(request);
    if let Some(arguments) = call.arguments {
        let arguments = RawArguments(arguments.get().to_owned());
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
    fn arguments_are_taken_out_of_a_message_unless_somebody_else_needs_them() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":[1]},"_meta":{}}}"#,
            // Read part by part, because its `jsonrpc` stands at the end and its `id` is none.
            r#"{"method":"tools/call","params":{"arguments":{"a":[1]},"name":"t","_meta":{}},"jsonrpc":"2.0"}"#,
        ] {
            let taken = arguments(text.as_bytes(), |_| false).unwrap().unwrap();
            assert_eq!(taken.arguments.0, r#"{"a":[1]}"#);
            let left = String::from_utf8(taken.message.unwrap()).unwrap();
            assert_eq!(left, text.replace(r#"{"a":[1]}"#, "{}"));
            let kept = arguments(text.as_bytes(), |name| name == "t");
            let kept = kept.unwrap().unwrap();
            assert_eq!(kept.arguments.0, r#"{"a":[1]}"#);
            assert!(kept.message.is_none());
        }
    }

    #[test]
    fn an_array_is_no_object_of_the_same_fields() {
        for text in [
            r#"["2.0",1,"tools/call",{"name":"t"}]"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["t"]}"#,
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
            assert!(arguments(text.as_bytes(), |_| false).is_err(), "{text}");
        }
    }
}
