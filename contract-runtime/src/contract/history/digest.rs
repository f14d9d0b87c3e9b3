//! Digests of arguments: all that a history keeps of them.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use contract_schema::json_text;
use serde_json::Value;
use serde_json::value::RawValue;

/// The arguments of a call, as far as they can be asked for: one number for each, made of its name and value.
///
/// The hash function has a random key for each run, so that arguments with equal numbers cannot be chosen on purpose.
#[derive(Debug)]
pub(super) struct Digest {
    pub(super) pairs: Box<[u64]>,
    /// The names among them that no parameter of the schema has, as [`name`] makes numbers of them.
    pub(super) further: Vec<u64>,
}

/// The most arguments of a call that are kept.
const MOST: usize = 64;

/// The arguments of a call as they were sent, and what its tool says about them.
pub(crate) trait CallArguments {
    /// The arguments as JSON; blank text stands for no arguments.
    fn text(&self) -> &str;

    /// Calls this with the name of each parameter, and with its default.
    fn each_parameter(&self, visit: &mut dyn FnMut(&str, Option<&Value>));
}

/// Returns `None` for more arguments than are kept.
pub(super) fn digest(key: &RandomState, arguments: &dyn CallArguments) -> Option<Digest> {
    let mut sent = sent(arguments.text())?;
    let mut pairs = Vec::with_capacity(sent.len());
    arguments.each_parameter(&mut |name, default| {
        let value = match (sent.remove(name), default) {
            (Some(sent), _) => pair(key, name, sent.get()),
            (None, Some(default)) => pair(key, name, &default.to_string()),
            (None, None) => pair(key, name, "null"),
        };
        pairs.push(value);
    });
    pairs.extend(
        sent.iter()
            .map(|(name, value)| pair(key, name, value.get())),
    );
    let further = sent.keys().map(|given| name(key, given)).collect();
    (pairs.len() <= MOST).then(|| Digest {
        pairs: pairs.into(),
        further,
    })
}

/// The arguments that were sent, without those that are null, which is as good as left out. Returns `None` for too many.
fn sent(text: &str) -> Option<BTreeMap<String, Box<RawValue>>> {
    let trimmed = text.trim_ascii();
    if trimmed.is_empty() || trimmed == "null" {
        return Some(BTreeMap::new());
    }
    let mut sent: BTreeMap<String, Box<RawValue>> = serde_json::from_str(trimmed).ok()?;
    let kept = sent.len() <= MOST;
    sent.retain(|_, value| value.get() != "null");
    kept.then_some(sent)
}

/// The numbers of all arguments, in an order that does not depend on theirs; nothing for more than are kept.
pub(crate) fn sorted_digest(key: &RandomState, arguments: &dyn CallArguments) -> Option<Vec<u64>> {
    let mut pairs = digest(key, arguments)?.pairs.into_vec();
    pairs.sort_unstable();
    Some(pairs)
}

/// The number of a name.
pub(super) fn name(key: &RandomState, name: &str) -> u64 {
    key.hash_one(name)
}

/// The number of an argument with this name and this value, as JSON text.
pub(super) fn pair(key: &RandomState, name: &str, value: &str) -> u64 {
    match json_text::canonical(value) {
        Some(value) => key.hash_one((name, value)),
        None => key.hash_one((name, value)),
    }
}
