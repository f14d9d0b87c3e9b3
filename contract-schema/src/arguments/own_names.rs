//! Renames the properties of a call from exported names to those of the schema.

use super::correct::{Edit, write};
use super::object::Member;
use super::place::Path;
use super::walk::{Judged, Token, Walk};
use crate::json_text::string;
use crate::{InputSchema, Renames, RuleId, Rules};

/// The most applications of rules to values. A text that needs more is left as it is.
const STEPS: usize = 1_000_000;

/// Returns the arguments with the names of the schema, if some have the names of an export.
///
/// A key is one of these only where the schema knows the property and not the key, and the property is not there itself: the
/// keys of a map are nobody's names.
#[cold]
pub fn own_names(text: &str, schema: &InputSchema) -> Option<String> {
    let rules = schema.rules();
    let mut undo = Undo {
        walk: Walk::quiet(text, rules),
        rules,
        renames: schema.renames(),
        steps: STEPS,
        edits: Vec::new(),
    };
    let at = undo.walk.lexer.behind_space(0);
    let end = undo.value(vec![schema.root()], at, &Path::ROOT).ok()?;
    let Undo { walk, edits, .. } = undo;
    let is_whole = walk.lexer.ends(end);
    (is_whole && !edits.is_empty()).then(|| write(text, edits))
}

struct Undo<'s, 't> {
    walk: Walk<'s, 't>,
    rules: &'s Rules,
    renames: &'s Renames,
    steps: usize,
    edits: Vec<Edit>,
}

impl<'s> Undo<'s, '_> {
    /// A value to which these rules apply.
    fn value(&mut self, by: Vec<RuleId>, at: usize, path: &Path<'_>) -> Judged {
        let end = self.walk.anything(at, path)?;
        let (token, _) = self.walk.token(at)?;
        if !matches!(token, Token::Array | Token::Object) {
            return Ok(end);
        }
        let by = self.with_parts(by);
        self.steps = self.steps.saturating_sub(by.len());
        if self.steps == 0 {
            return Ok(end);
        }
        if let Token::Array = token {
            let (items, _) = self.walk.items(at, path)?;
            for (index, item) in items.into_iter().enumerate() {
                self.value(self.of_item(&by, index), item, &path.index(index))?;
            }
            return Ok(end);
        }
        let (members, _) = self.walk.members(at, path)?;
        for member in &members {
            let own = self.own(&by, &members, &member.name);
            if let Some(own) = own {
                let mut quoted = String::new();
                string(&mut quoted, own);
                let key = self.walk.lexer.string(member.key)?;
                self.edits.push(Edit {
                    span: member.key..key.end,
                    to: Some(quoted),
                });
            }
            let name = own.unwrap_or(&member.name);
            self.value(self.of_member(&by, name), member.value, &path.key(name))?;
        }
        Ok(end)
    }

    /// These rules and all that they apply to the same value.
    fn with_parts(&self, mut by: Vec<RuleId>) -> Vec<RuleId> {
        let mut next = 0;
        while let Some(id) = by.get(next).copied() {
            for part in self.rules[id].applied() {
                if !by.contains(&part) {
                    by.push(part);
                }
            }
            next += 1;
        }
        by
    }

    fn own(&self, by: &[RuleId], members: &[Member<'_>], name: &str) -> Option<&'s str> {
        let own = self.renames.own(name)?;
        let mut objects = by.iter().filter_map(|id| self.rules[*id].object.as_deref());
        let is_known = objects.any(|object| object.property(own).is_some());
        let is_there = members.iter().any(|member| member.name == own);
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
