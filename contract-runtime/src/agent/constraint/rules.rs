//! A grammar: rules over tokens, without white space, which may stand between any two of them.

use super::regular::{Regular, several};

/// The rules by number; the first is where it starts.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) list: Vec<Rule>,
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) body: Body,
}

/// What a rule stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// One token, spelled in one way.
    Word(String),
    /// One token.
    Token(Token),
    /// What another rule stands for.
    Rule(usize),
    /// One after the other.
    Sequence(Vec<Body>),
    /// One of them; nothing at all where there are none.
    Either(Vec<Body>),
    /// Again and again.
    Repeat(Box<Body>, usize, Option<usize>),
}

/// A scalar: what all of these languages hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) all: Vec<Regular>,
}

impl Body {
    pub(super) fn word(text: impl Into<String>) -> Self {
        Self::Word(text.into())
    }

    pub(super) fn token(regular: Regular) -> Self {
        if regular.is_never() {
            return Self::never();
        }
        Self::Token(Token { all: vec![regular] })
    }

    pub(super) const fn empty() -> Self {
        Self::Sequence(Vec::new())
    }

    pub(super) const fn never() -> Self {
        Self::Either(Vec::new())
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self, Self::Either(options) if options.is_empty())
    }

    pub(super) fn sequence(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                part if part.is_never() => return Self::never(),
                Self::Sequence(parts) => all.extend(parts),
                part => all.push(part),
            }
        }
        several(all, Self::empty, Self::Sequence)
    }

    pub(super) fn either(options: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for option in options {
            match option {
                Self::Either(options) => all.extend(options),
                option if all.contains(&option) => {}
                option => all.push(option),
            }
        }
        several(all, Self::never, Self::Either)
    }

    pub(super) fn repeat(self, min: usize, max: Option<usize>) -> Self {
        match (min, max) {
            (_, Some(0)) => Self::empty(),
            (1, Some(1)) => self,
            (min, Some(max)) if min > max => Self::never(),
            (0, _) if self.is_never() => Self::empty(),
            _ if self.is_never() => self,
            _ => Self::Repeat(Box::new(self), min, max),
        }
    }

    pub(super) fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }

    /// Puts `change(rule)` for every mention of a rule.
    fn with_rules(self, change: &impl Fn(usize) -> Self) -> Self {
        match self {
            Self::Rule(rule) => change(rule),
            Self::Sequence(parts) => {
                Self::sequence(parts.into_iter().map(|part| part.with_rules(change)))
            }
            Self::Either(options) => {
                Self::either(options.into_iter().map(|one| one.with_rules(change)))
            }
            Self::Repeat(inner, min, max) => inner.with_rules(change).repeat(min, max),
            other => other,
        }
    }

    pub(super) fn mentions(&self, found: &mut Vec<usize>) {
        match self {
            Self::Rule(rule) => found.push(*rule),
            Self::Sequence(parts) | Self::Either(parts) => {
                for part in parts {
                    part.mentions(found);
                }
            }
            Self::Repeat(inner, ..) => inner.mentions(found),
            Self::Word(_) | Self::Token(_) => {}
        }
    }

    /// Whether some text fits, if those rules have some.
    fn productive(&self, known: &[bool]) -> bool {
        match self {
            Self::Word(_) | Self::Token(_) => true,
            Self::Rule(rule) => known.get(*rule).copied().unwrap_or_default(),
            Self::Sequence(parts) => parts.iter().all(|part| part.productive(known)),
            Self::Either(options) => options.iter().any(|one| one.productive(known)),
            Self::Repeat(inner, min, _) => *min == 0 || inner.productive(known),
        }
    }

    fn is_small(&self) -> bool {
        match self {
            Self::Word(_) | Self::Token(_) | Self::Rule(_) => true,
            Self::Either(options) => options.iter().all(|one| matches!(one, Self::Word(_))),
            Self::Sequence(_) | Self::Repeat(..) => false,
        }
    }
}

impl Rules {
    pub(super) fn reserve(&mut self, name: String) -> usize {
        self.list.push(Rule {
            name,
            body: Body::never(),
        });
        self.list.len() - 1
    }

    pub(super) fn set(&mut self, rule: usize, body: Body) {
        if let Some(rule) = self.list.get_mut(rule) {
            rule.body = body;
        }
    }

    pub(super) fn get(&self, rule: usize) -> Option<&Rule> {
        self.list.get(rule)
    }

    /// Leaves what can be reached and has an end; small rules stand where they are mentioned.
    pub(super) fn finish(mut self) -> Self {
        let mut productive = vec![false; self.list.len()];
        loop {
            let next: Vec<bool> = self
                .list
                .iter()
                .map(|rule| rule.body.productive(&productive))
                .collect();
            if next == productive {
                break;
            }
            productive = next;
        }
        let small: Vec<Option<Body>> = self
            .list
            .iter()
            .zip(&productive)
            .map(|(rule, productive)| match productive {
                false => Some(Body::never()),
                true if rule.body.is_small() => Some(rule.body.clone()),
                true => None,
            })
            .collect();
        // A small rule may mention another; a chain of them ends, for they have an end.
        let change = |rule: usize| {
            small
                .get(rule)
                .cloned()
                .flatten()
                .unwrap_or(Body::Rule(rule))
        };
        for _ in 0..4 {
            for rule in &mut self.list {
                let body = std::mem::replace(&mut rule.body, Body::never());
                rule.body = body.with_rules(&change);
            }
        }
        // The start is no mere name of another rule.
        if let Some(Body::Rule(first)) = self.list.first().map(|start| start.body.clone())
            && let Some(body) = self.list.get(first).map(|rule| rule.body.clone())
        {
            self.set(0, body);
        }
        self.reachable()
    }

    fn reachable(self) -> Self {
        let mut order = vec![0];
        let mut next = 0;
        while let Some(rule) = order.get(next).and_then(|rule| self.list.get(*rule)) {
            let mut found = Vec::new();
            rule.body.mentions(&mut found);
            for rule in found {
                if !order.contains(&rule) {
                    order.push(rule);
                }
            }
            next += 1;
        }
        let place = |rule: usize| {
            Body::Rule(
                order
                    .iter()
                    .position(|one| *one == rule)
                    .unwrap_or_default(),
            )
        };
        let list = order
            .iter()
            .filter_map(|rule| self.list.get(*rule).cloned());
        let list = list.map(|rule| Rule {
            name: rule.name,
            body: rule.body.with_rules(&place),
        });
        Self {
            list: list.collect(),
        }
    }
}
