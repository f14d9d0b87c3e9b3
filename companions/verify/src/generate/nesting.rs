//! Generates deeply nested values, by replacing an inner object with an outer one.

use serde_json::Value;

use super::rng::Rng;

/// No longer than this, as JSON.
const LONGEST: usize = 16_384;

/// Puts an object in the place of one inside of it, a few times. Where both are of one type, the types still admit it.
pub(super) fn deepen(input: &mut Value, rng: &mut Rng) {
    for _ in 0..=rng.below(4) {
        let mut pairs = Vec::new();
        find(input, "", &mut Vec::new(), &mut pairs);
        let Some((outer, inner)) = rng.pick(&pairs) else {
            return;
        };
        let Some(whole) = input.pointer(outer).cloned() else {
            return;
        };
        if let Some(part) = input.pointer_mut(inner) {
            *part = whole;
        }
        if input.to_string().len() > LONGEST {
            return;
        }
    }
}

/// The pointers of all pairs of objects, the second inside the first; the arguments themselves are not one.
fn find(value: &Value, path: &str, above: &mut Vec<String>, pairs: &mut Vec<(String, String)>) {
    let is_object = value.is_object() && !path.is_empty();
    if is_object {
        pairs.extend(above.iter().map(|outer| (outer.clone(), path.to_owned())));
        above.push(path.to_owned());
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                find(member, &format!("{path}/{name}"), above, pairs);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate().take(8) {
                find(item, &format!("{path}/{place}"), above, pairs);
            }
        }
        _ => {}
    }
    if is_object {
        above.pop();
    }
}
