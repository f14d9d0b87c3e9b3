//! Validates a value against its schema.

use std::collections::HashMap;
use std::sync::Arc;

use super::edit::{Coercion, address, coerced, normalise};
use super::escape::given;
use super::expected::describe;
use super::findings::{Found, Verdict};
use super::nearest::nearest;
use super::node::Node;
use super::path::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use crate::{InputSchema, Rule, RuleId, Rules, Types};

/// Steps of one walk. A megabyte of plain values needs about a million; alternatives inside alternatives
/// of a recursive type could otherwise need any number.
const STEPS: usize = 10_000_000;

/// Verdicts that are remembered; beyond them the steps are the limit.
const REMEMBERED: usize = 100_000;

/// Values that a problem lists.
const LISTED: usize = 50;

/// One walk over the arguments of one call.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own, asked in one place"
)]
pub(super) struct Walk<'s> {
    pub(super) schema: &'s InputSchema,
    pub(super) rules: &'s Rules,
    pub(super) coerce: bool,
    /// Whether null stands for an absent member where it could not stand for itself.
    pub(super) null_is_absent: bool,
    /// Whether an integer is handed on as a [`serde_json::Number`], which would round some.
    pub(super) as_values: bool,
    /// Whether strings are held against their formats, to explain a refusal.
    pub(super) formats: bool,
    steps: usize,
    /// How many quiet walks are under way inside each other.
    trials: usize,
    /// What values were read as, by their addresses: the JSON that a string spells, or else a list of the value alone.
    read: HashMap<(bool, usize), Option<Arc<Node>>>,
    /// Verdicts on arrays and objects that alternatives inside alternatives would ask for again and again.
    known: HashMap<(RuleId, usize), Verdict>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(schema: &'s InputSchema, coerce: bool) -> Self {
        Self {
            schema,
            rules: schema.rules(),
            coerce,
            null_is_absent: false,
            as_values: false,
            formats: false,
            steps: 0,
            trials: 0,
            read: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Everything that is to be said about the arguments.
    pub(super) fn arguments(&mut self, node: &Node) -> Found {
        let mut found = Found::new(true);
        self.judge(self.schema.root(), node, &Path::ROOT, &mut found);
        found
    }

    /// Whether the walk was given up before its end.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps >= STEPS
    }

    pub(super) fn ignores_unknown_keys(&self) -> bool {
        self.schema.ignores_unknown_keys()
    }

    pub(super) fn has_secrets(&self) -> bool {
        self.schema.secrets().next().is_some()
    }

    pub(super) fn is_secret(&self, path: &Path<'_>, name: &str) -> bool {
        path.is_root() && self.schema.is_secret(name)
    }

    /// Counts `steps` more; false when there are none left.
    pub(super) fn step(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps).min(STEPS);
        !self.is_exhausted()
    }

    /// Judges `node` by one rule.
    pub(super) fn judge(&mut self, id: RuleId, node: &Node, path: &Path<'_>, found: &mut Found) {
        if found.is_settled() {
            return;
        }
        if !self.step(1) {
            found.verdict = Verdict::Refused;
            return;
        }
        let rules = self.rules;
        let rule = &rules[id];
        let types = node.types();
        if !rule.types.has(types) {
            self.mistyped(id, node, path, found);
            return;
        }
        let integers = rule.types.has(Types::INTEGER) && !rule.types.has(Types::NUMBER);
        if integers && types.has(Types::INTEGER) {
            if self.as_values && node.is_rounded() {
                found.refuse(ProblemKind::Range, path, node, || {
                    "an integer from -2^63 to 2^64 - 1, as others are not handed on exactly".into()
                });
                return;
            }
            normalise(node, found);
        }
        if let Some(values) = &rule.values
            && !values.iter().any(|value| node.equals(value))
        {
            self.unlisted(id, node, path, found);
            return;
        }
        self.parts(id, rule, node, path, found);
        if rule.combination.is_some() {
            self.combination(id, node, path, found);
        }
        if let Some(object) = &rule.object
            && let Some(unevaluated) = object.unevaluated
        {
            self.unevaluated(id, unevaluated, node, path, found);
        }
    }

    fn parts(&mut self, id: RuleId, rule: &Rule, node: &Node, path: &Path<'_>, found: &mut Found) {
        match node {
            Node::Number(_) | Node::Literal(_) if rule.number.is_some() => {
                self.number(id, node, path, found);
            }
            Node::String(text) if rule.text.is_some() => self.text(id, node, text, path, found),
            Node::Array(items) => {
                if let Some(array) = &rule.array {
                    self.array(id, array, node, items, path, found);
                }
            }
            Node::Object(entries) => {
                if let Some(object) = &rule.object {
                    self.object(id, object, node, entries, path, found);
                }
            }
            _ => {}
        }
    }

    fn mistyped(&mut self, id: RuleId, node: &Node, path: &Path<'_>, found: &mut Found) {
        if let Some(read) = self.coerce.then(|| self.read_as(id, node)).flatten() {
            let before = (found.total, found.coercions.len());
            self.judge(id, &read, path, found);
            if found.total == before.0 {
                if found.loud {
                    // What was corrected inside comes after the value that it stands in.
                    let hidden = path.is_root() && self.has_secrets();
                    let path = path.hidden(hidden);
                    let coercion = Coercion::new(&path, node, &read);
                    found.coercions.insert(before.1, coercion);
                }
                found.edit(Verdict::Coerced, node, read);
            }
            return;
        }
        if path.is_root() && !matches!(node, Node::Object(_)) {
            // Not even one of its values is shown: a text may hold all the arguments, secrets included.
            found.problem(|| {
                let expected = match node {
                    Node::String(_) => "an object, not the text of one",
                    _ => "an object",
                };
                let (kind, list) = (ProblemKind::NotAnObject, matches!(node, Node::Array(_)));
                let got = given(node, !list);
                ArgumentProblem::new(path.pointer(), kind, expected, got)
            });
            return;
        }
        let rules = self.rules;
        match &rules[id].values {
            Some(_) => self.unlisted(id, node, path, found),
            None => found.refuse(ProblemKind::Type, path, node, || describe(rules, id)),
        }
    }

    /// The value of a wanted type that `node` was meant for: what its text spells, or a list of it alone.
    fn read_as(&mut self, id: RuleId, node: &Node) -> Option<Arc<Node>> {
        let rule = &self.rules[id];
        if let Node::String(text) = node {
            let wanted = rule.types;
            let scalar = coerced(text, wanted).map(Arc::new);
            let is_json = wanted.has(Types::NULL | Types::ARRAY | Types::OBJECT)
                && text.trim_start().starts_with(['n', '[', '{']);
            let json = || self.kept(node, false, text.len(), || Node::parse(text).ok());
            let read = scalar.or_else(|| is_json.then(json).flatten());
            if let Some(read) = read.filter(|read| wanted.has(read.types())) {
                return Some(read);
            }
        }
        let is_one = !matches!(node, Node::Null | Node::Array(_));
        let array = rule.array.as_ref().filter(|array| array.prefix.is_empty());
        let item = array
            .filter(|_| is_one && rule.types.has(Types::ARRAY))?
            .items?;
        // One correction at one place: the item is as it was given.
        let fits = self.verdict(item, node).is_valid();
        let list = || Some(Node::Array(Box::new([node.clone()])));
        fits.then(|| self.kept(node, true, 1, list)).flatten()
    }

    /// What a value is read as, made once for all rules. It is kept, because edits and verdicts know its parts by their addresses.
    fn kept(
        &mut self,
        node: &Node,
        is_list: bool,
        steps: usize,
        make: impl FnOnce() -> Option<Node>,
    ) -> Option<Arc<Node>> {
        let at = (is_list, address(node));
        if !self.read.contains_key(&at) {
            let read = self.step(steps).then(make).flatten().map(Arc::new);
            self.read.insert(at, read);
        }
        self.read.get(&at).cloned().flatten()
    }

    /// `node` is not one of the listed values.
    fn unlisted(&mut self, id: RuleId, node: &Node, path: &Path<'_>, found: &mut Found) {
        let rules = self.rules;
        let values = rules[id].values.as_deref().unwrap_or_default();
        let kind = if rules[id].types.has(node.types()) {
            ProblemKind::Value
        } else {
            ProblemKind::Type
        };
        found.refuse(kind, path, node, || describe(rules, id));
        if !path.is_secret() && found.loud {
            list_values(found, values.iter(), node);
        }
    }

    /// How well `node` fits, without a word about why.
    pub(super) fn verdict(&mut self, id: RuleId, node: &Node) -> Verdict {
        let key = (id, address(node));
        if let Some(verdict) = self.known.get(&key) {
            return *verdict;
        }
        self.trials += 1;
        let mut found = Found::new(false);
        self.judge(id, node, &Path::ROOT, &mut found);
        self.trials -= 1;
        // An address says something only about nodes that live as long as the walk; names, which do not, are scalars. A trial inside no other is asked for once, and its answer not worth the memory.
        let lasting = match node {
            Node::Array(items) => !items.is_empty(),
            Node::Object(entries) => !entries.is_empty(),
            _ => false,
        };
        if lasting && self.trials > 0 && !self.is_exhausted() && self.known.len() < REMEMBERED {
            self.known.insert(key, found.verdict);
        }
        found.verdict
    }
}

/// Adds the accepted values to the problem that was just found.
pub(super) fn list_values<'v>(
    found: &mut Found,
    values: impl Iterator<Item = &'v serde_json::Value> + Clone,
    node: &Node,
) {
    // Of the problems beyond those kept nothing is stored.
    if found.total != found.problems.len() {
        return;
    }
    let Some(problem) = found.problems.last_mut() else {
        return;
    };
    problem.allowed = values.clone().take(LISTED).cloned().collect();
    if let Node::String(text) = node {
        problem.nearest =
            nearest(text, values.filter_map(serde_json::Value::as_str)).map(str::to_owned);
    }
}
