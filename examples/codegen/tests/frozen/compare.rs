use serde_json::Value;

/// Who sends what a schema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// What was sent before must still be taken: nothing more is required.
    Client,
    /// What was read before must still be there: whatever was always there still is.
    Service,
}

/// What somebody who relies on the old form would miss in the new one.
pub(crate) fn losses(old: &Value, new: &Value, side: Side) -> Vec<String> {
    let mut lost = Vec::new();
    let judge = Judge { old, new, side };
    judge.compare(old, new, "", &mut lost);
    lost
}

struct Judge<'s> {
    old: &'s Value,
    new: &'s Value,
    side: Side,
}

impl Judge<'_> {
    fn compare(&self, old: &Value, new: &Value, at: &str, lost: &mut Vec<String>) {
        let (old, new) = (resolved(old, self.old), resolved(new, self.new));
        // The words of a schema promise nothing.
        for keyword in ["type", "const", "format", "maximum", "minimum"] {
            if old[keyword] != new[keyword] {
                lost.push(format!(
                    "{at}: `{keyword}` was {}, is {}",
                    old[keyword], new[keyword]
                ));
            }
        }
        for value in items(&old["enum"]) {
            if !items(&new["enum"]).contains(value) {
                lost.push(format!("{at}: the value {value} is gone"));
            }
        }
        if let Some(fields) = old["properties"].as_object() {
            for (name, field) in fields {
                match new["properties"].get(name) {
                    Some(now) => self.compare(field, now, &format!("{at}/{name}"), lost),
                    None => lost.push(format!("{at}: the field `{name}` is gone")),
                }
            }
        }
        let (had, has) = (items(&old["required"]), items(&new["required"]));
        let (before, after, words) = match self.side {
            Side::Service => (had, has, "is no longer always there"),
            Side::Client => (has, had, "must be sent now"),
        };
        for name in before.iter().filter(|name| !after.contains(name)) {
            lost.push(format!("{at}: {name} {words}"));
        }
        if !old["items"].is_null() {
            self.compare(&old["items"], &new["items"], &format!("{at}/[]"), lost);
        }
        for keyword in ["oneOf", "anyOf"] {
            for variant in items(&old[keyword]) {
                let tag = name(variant, self.old);
                let mut now = items(&new[keyword]).iter();
                match now.find(|one| name(one, self.new) == tag) {
                    Some(now) => self.compare(variant, now, &format!("{at}/{tag}"), lost),
                    None => lost.push(format!("{at}: {tag} is gone")),
                }
            }
        }
    }
}

/// What tells one variant from the others.
fn name(variant: &Value, root: &Value) -> String {
    let variant = resolved(variant, root);
    let tag = &variant["properties"]["type"]["const"];
    [tag, &variant["const"], &variant["enum"], &variant["type"]]
        .into_iter()
        .find(|one| !one.is_null())
        .map(Value::to_string)
        .unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let reference = schema["$ref"].as_str().and_then(|to| to.strip_prefix('#'));
    reference.map_or(schema, |to| root.pointer(to).unwrap_or(&Value::Null))
}
