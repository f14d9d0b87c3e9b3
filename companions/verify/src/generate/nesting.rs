//! Generates deeply nested values, by replacing an inner object with an outer one.

use serde_json::Value;

use super::rng::Rng;
use crate::json::walk;

/// No longer than this, as JSON.
const LONGEST: usize = 16_384;

/// The most objects that are looked at, because each is compared with each.
const OBJECTS: usize = 200;

/// Puts an object in the place of one inside of it, a few times. Where both are of one type, the types still admit it.
pub(super) fn deepen(input: &mut Value, rng: &mut Rng) {
    for _ in 0..=rng.below(4) {
        let mut objects = Vec::new();
        walk(input, "", &mut |at, part| {
            if part.is_object() && !at.is_empty() && objects.len() < OBJECTS {
                objects.push(at.to_owned());
            }
        });
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for outer in &objects {
            let is_within = |inner: &&String| {
                let rest = inner.strip_prefix(outer.as_str());
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let within = objects.iter().filter(is_within);
            pairs.extend(within.map(|inner| (outer.as_str(), inner.as_str())));
        }
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
