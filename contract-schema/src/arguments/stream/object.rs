//! Objects of a text.

use super::keys::Keys;
use super::{Admitted, DEEPEST, Stop, Validator, within};
use crate::ObjectRule;

impl<'s> Validator<'s, '_> {
    pub(super) fn object(
        &mut self,
        rule: Option<&'s ObjectRule>,
        at: usize,
        depth: usize,
    ) -> Admitted {
        let by_bits = rule.map(|rule| rule.required_bits.ok_or(Stop::Undecided));
        let required = by_bits.transpose()?.unwrap_or(0);
        if depth == DEEPEST {
            return Err(Stop::Undecided);
        }
        let mut at = self.lexer.behind_space(at + 1);
        let (mut count, mut seen, mut next) = (0_usize, 0_u64, 0);
        let mut others = None;
        if self.lexer.byte(at) != b'}' {
            loop {
                if self.lexer.byte(at) != b'"' {
                    return Err(Stop::Undecided);
                }
                // Most callers keep the order of the schema.
                let expected = rule.and_then(|rule| rule.properties.get(next));
                let (property, name) = match expected {
                    Some((name, _)) if self.lexer.is_key(at + 1, name) => {
                        at += name.len() + 2;
                        (Some(next), name.as_str())
                    }
                    _ => {
                        let key = self.lexer.string(at)?;
                        if key.is_escaped {
                            return Err(Stop::Undecided);
                        }
                        at = key.end;
                        let named = rule.filter(|rule| !rule.properties.is_empty());
                        let property = named.and_then(|rule| rule.position(key.raw));
                        if property.is_none() {
                            others.get_or_insert(Keys::NONE).add(key.raw)?;
                        }
                        (property, key.raw)
                    }
                };
                if let Some(property) = property {
                    let bit = 1_u64 << property;
                    if seen & bit != 0 {
                        return Err(Stop::Undecided);
                    }
                    seen |= bit;
                    next = property + 1;
                }
                at = self.lexer.behind_space(self.lexer.behind(at, b':')?);
                at = self.member(rule, property, name, at, depth + 1)?;
                count += 1;
                at = self.lexer.behind_space(at);
                match self.lexer.byte(at) {
                    b',' => at = self.lexer.behind_space(at + 1),
                    b'}' => break,
                    _ => return Err(Stop::Undecided),
                }
            }
        }
        if let Some(rule) = rule {
            self.step(count.saturating_mul(rule.required.len()))?;
            if seen & required != required || !within(count, rule.min, rule.max) {
                return Err(Stop::Refused);
            }
        }
        Ok(at + 1)
    }

    /// The value of one member, by everything that the rule says of it.
    fn member(
        &mut self,
        rule: Option<&'s ObjectRule>,
        property: Option<usize>,
        name: &str,
        at: usize,
        depth: usize,
    ) -> Admitted {
        let Some(rule) = rule else {
            return self.anything(at, depth);
        };
        let named = property.and_then(|property| rule.properties.get(property));
        if let Some((_, by)) = named
            && rule.patterns.is_empty()
        {
            return self.value(*by, at, depth);
        }
        let mut end = None;
        if let Some((_, by)) = named {
            end = Some(self.value(*by, at, depth)?);
        }
        for (pattern, by) in &rule.patterns {
            if pattern.is_match(name) {
                end = Some(self.value(*by, at, depth)?);
            }
        }
        match (end, rule.additional) {
            (Some(end), _) => Ok(end),
            (None, Some(by)) => self.value(by, at, depth),
            (None, None) => self.anything(at, depth),
        }
    }
}
