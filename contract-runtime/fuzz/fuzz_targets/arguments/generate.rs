//! Arguments that are nearly right: values along the schema, each sometimes replaced by another.

use contract_runtime::ToolInfo;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use serde_json::Value;

/// Texts that a number, a string or a whole value may be, at the edges of what types hold.
const ODD: &[&str] = &[
    "null",
    "true",
    "0",
    "-0",
    "-1",
    "5.0",
    "5.5",
    "1e2",
    "1e400",
    "-1e-400",
    "127",
    "128",
    "-129",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1e18",
    "1e19",
    "3.5e38",
    "1e39",
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    "\"\"",
    "\"a\"",
    "\"ab\"",
    "\"\\u00e9\"",
    "\"e\u{301}\"",
    "\"\u{1f600}\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud800\"",
    "\"metre\"",
    "\"Dot\"",
    "\"5\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "[1,true]",
    "[1,2,3]",
    "{\"\":0}",
    "{\"a\":1,\"a\":2}",
    "",
    " ",
];

/// A JSON text for the tool, as far as the bytes reach.
pub(crate) fn arguments(tool: ToolInfo<'_>, source: &mut Unstructured<'_>) -> String {
    let mut text = String::new();
    let whole = tool.input_schema();
    let _ = value(whole, whole, source, 0, &mut text);
    text
}

fn value(
    whole: &Value,
    schema: &Value,
    source: &mut Unstructured<'_>,
    depth: u8,
    text: &mut String,
) -> Result<()> {
    if depth > 6 || source.ratio(1, 16)? {
        text.push_str(source.choose(ODD)?);
        return Ok(());
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = whole.pointer(target.trim_start_matches('#'));
        return value(
            whole,
            target.unwrap_or(&Value::Null),
            source,
            depth + 1,
            text,
        );
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array)
            && !choices.is_empty()
        {
            return value(whole, source.choose(choices)?, source, depth + 1, text);
        }
    }
    for key in ["const", "default"] {
        if let Some(constant) = schema.get(key) {
            text.push_str(&constant.to_string());
            return Ok(());
        }
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && !values.is_empty()
    {
        text.push_str(&source.choose(values)?.to_string());
        return Ok(());
    }
    match kind(schema, source)? {
        "object" => object(whole, schema, source, depth, text),
        "array" => array(whole, schema, source, depth, text),
        "string" => {
            let letters: String = source.arbitrary::<&str>()?.chars().take(3).collect();
            text.push_str(&Value::from(letters).to_string());
            Ok(())
        }
        "integer" => {
            text.push_str(&source.int_in_range(-3_i16..=300)?.to_string());
            Ok(())
        }
        "number" => {
            text.push_str(&Value::from(source.arbitrary::<f64>()?).to_string());
            Ok(())
        }
        "boolean" => {
            text.push_str(if source.arbitrary()? { "true" } else { "false" });
            Ok(())
        }
        _ => {
            text.push_str(source.choose(ODD)?);
            Ok(())
        }
    }
}

fn kind<'s>(schema: &'s Value, source: &mut Unstructured<'_>) -> Result<&'s str> {
    Ok(match schema.get("type") {
        Some(Value::String(one)) => one,
        Some(Value::Array(several)) if !several.is_empty() => {
            source.choose(several)?.as_str().unwrap_or_default()
        }
        _ => "",
    })
}

fn object(
    whole: &Value,
    schema: &Value,
    source: &mut Unstructured<'_>,
    depth: u8,
    text: &mut String,
) -> Result<()> {
    text.push('{');
    let mut first = true;
    let mut member = |name: &str, text: &mut String| {
        if !std::mem::take(&mut first) {
            text.push(',');
        }
        text.push_str(&Value::from(name).to_string());
        text.push(':');
    };
    for (name, schema) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let times = if source.ratio(1, 24)? {
            source.int_in_range(0_u8..=2)?
        } else {
            1
        };
        for _ in 0..times {
            member(name, text);
            value(whole, schema, source, depth + 1, text)?;
        }
    }
    if let Some(other) = schema
        .get("additionalProperties")
        .filter(|other| other.is_object())
    {
        for _ in 0..source.int_in_range(0_u8..=2)? {
            member(source.choose(&["a", "b", "\u{e9}"])?, text);
            value(whole, other, source, depth + 1, text)?;
        }
    } else if source.ratio(1, 24)? {
        member("stranger", text);
        text.push('0');
    }
    text.push('}');
    Ok(())
}

fn array(
    whole: &Value,
    schema: &Value,
    source: &mut Unstructured<'_>,
    depth: u8,
    text: &mut String,
) -> Result<()> {
    let prefix = schema.get("prefixItems").and_then(Value::as_array);
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let length = match source.int_in_range(0_u8..=12)? {
        odd @ 0..=2 => u64::from(odd),
        _ => least,
    };
    text.push('[');
    for index in 0..usize::try_from(length).unwrap_or(0).min(8) {
        if index > 0 {
            text.push(',');
        }
        let item = prefix
            .and_then(|items| items.get(index))
            .or_else(|| schema.get("items"));
        value(whole, item.unwrap_or(&Value::Null), source, depth + 1, text)?;
    }
    text.push(']');
    Ok(())
}
