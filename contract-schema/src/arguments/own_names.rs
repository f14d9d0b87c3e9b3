//! Gives the properties of a call that came under exported names their own.

use super::edit::write;
use super::node::Node;
use crate::{InputSchema, Renames, RuleId, Rules};

/// Rules that are applied to values, one for each pair of them; a text that needs more is left as it is.
const STEPS: usize = 1_000_000;

/// The arguments under the names of the schema, where some came under the names of an export.
///
/// A key is one of these only where the schema knows the property and not the key, and the property is not there itself: the
/// keys of a map are nobody's names.
#[cold]
pub fn own_names(text: &str, schema: &InputSchema) -> Option<String> {
    let mut node = Node::parse(text).ok()?;
    let mut undo = Undo {
        rules: schema.rules(),
        renames: schema.renames(),
        steps: STEPS,
        changed: false,
    };
    undo.value(vec![schema.root()], &mut node);
    undo.changed.then(|| write(&node, &mut []))
}

struct Undo<'s> {
    rules: &'s Rules,
    renames: &'s Renames,
    steps: usize,
    changed: bool,
}

impl Undo<'_> {
    /// A value to which these rules apply.
    fn value(&mut self, by: Vec<RuleId>, node: &mut Node) {
        if !matches!(node, Node::Array(_) | Node::Object(_)) {
            return;
        }
        let by = self.with_parts(by);
        self.steps = self.steps.saturating_sub(by.len());
        if self.steps == 0 {
            return;
        }
        match node {
            Node::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(self.of_item(&by, index), item);
                }
            }
            Node::Object(entries) => {
                // All of them before any is changed, so that a key that is given twice stays so.
                let own: Vec<Option<Box<str>>> = (0..entries.len())
                    .map(|index| self.own(&by, entries, index).map(Box::from))
                    .collect();
                for ((name, node), own) in entries.iter_mut().zip(own) {
                    if let Some(own) = own {
                        *name = own;
                        self.changed = true;
                    }
                    self.value(self.of_member(&by, name), node);
                }
            }
            _ => {}
        }
    }

    /// These rules and all that they apply to the same value.
    fn with_parts(&self, mut by: Vec<RuleId>) -> Vec<RuleId> {
        let mut next = 0;
        while let Some(id) = by.get(next).copied() {
            let rule = &self.rules[id];
            let parts = rule.combination.iter().flat_map(|parts| parts.parts());
            let object = rule.object.iter();
            let dependent = object.flat_map(|object| &object.dependent_schemas);
            for part in parts.chain(dependent.map(|(_, part)| *part)) {
                if !by.contains(&part) {
                    by.push(part);
                }
            }
            next += 1;
        }
        by
    }

    fn own(&self, by: &[RuleId], entries: &[(Box<str>, Node)], index: usize) -> Option<&str> {
        let own = self.renames.own(&entries[index].0)?;
        let mut objects = by.iter().filter_map(|id| self.rules[*id].object.as_deref());
        let is_known = objects.any(|object| object.property(own).is_some());
        let is_there = entries.iter().any(|(name, _)| **name == *own);
        (is_known && !is_there).then_some(own)
    }

    fn of_item(&self, by: &[RuleId], index: usize) -> Vec<RuleId> {
        let arrays = by.iter().filter_map(|id| self.rules[*id].array.as_deref());
        let of = |array: &crate::ArrayRule| {
            let at_place = array.prefix.get(index).copied().or(array.items);
            [at_place, array.contains].into_iter().flatten()
        };
        arrays.flat_map(of).collect()
    }

    fn of_member(&self, by: &[RuleId], name: &str) -> Vec<RuleId> {
        let mut found = Vec::new();
        for object in by.iter().filter_map(|id| self.rules[*id].object.as_deref()) {
            let before = found.len();
            found.extend(object.property(name));
            let patterns = object.patterns.iter();
            let patterns = patterns.filter(|(pattern, _)| pattern.is_match(name));
            found.extend(patterns.map(|(_, by)| *by));
            if found.len() == before {
                found.extend(object.additional);
            }
            found.extend(object.unevaluated);
        }
        found
    }
}
