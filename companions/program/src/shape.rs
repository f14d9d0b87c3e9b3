//! What a schema says of the values that a word of the command line can stand for.

use serde_json::{Map, Value, json};

/// A kind of JSON value; integers are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Boolean,
    Null,
    List,
    Object,
}

const KINDS: [Kind; 6] = [
    Kind::Text,
    Kind::Number,
    Kind::Boolean,
    Kind::Null,
    Kind::List,
    Kind::Object,
];

/// How deep references and unions are followed, and samples are built; a type may contain itself.
const DEPTH: usize = 16;

static ANY: Value = Value::Bool(true);

/// The kinds of the values of a schema, and what they consist of.
#[derive(Clone, Debug)]
pub(super) struct Shape<'s> {
    root: &'s Value,
    kinds: Vec<Kind>,
    /// All texts, where the schema lists them.
    texts: Option<Vec<&'s str>>,
    /// The schemas of the items of a list.
    items: Vec<&'s Value>,
}

impl<'s> Shape<'s> {
    /// Reads a schema; its references are those of `root`.
    pub(super) fn new(schema: &'s Value, root: &'s Value) -> Self {
        Self::at(schema, root, 0)
    }

    fn any(root: &'s Value) -> Self {
        Self {
            root,
            kinds: KINDS.to_vec(),
            texts: None,
            items: vec![&ANY],
        }
    }

    fn at(schema: &'s Value, root: &'s Value, depth: usize) -> Self {
        if depth > DEPTH {
            return Self::any(root);
        }
        let mut parts = Vec::new();
        let at = |schema| Self::at(schema, root, depth + 1);
        if !schema["type"].is_null() {
            parts.push(Self::typed(schema, root));
        }
        if let Some(target) = reference(schema, root) {
            parts.push(at(target));
        }
        parts.extend(list(&schema["allOf"]).iter().map(at));
        for key in ["anyOf", "oneOf"] {
            parts.extend(list(&schema[key]).iter().map(at).reduce(Self::or));
        }
        let constant = schema.get("const").into_iter();
        let listed: Vec<_> = list(&schema["enum"]).iter().chain(constant).collect();
        if !listed.is_empty() {
            parts.push(Self::listed(&listed, root));
        }
        parts
            .into_iter()
            .reduce(Self::and)
            .unwrap_or_else(|| Self::any(root))
    }

    fn typed(schema: &'s Value, root: &'s Value) -> Self {
        let named = &schema["type"];
        let one = named.as_str().into_iter();
        let several = list(named).iter().filter_map(Value::as_str);
        let mut kinds: Vec<_> = one.chain(several).filter_map(kind).collect();
        kinds.dedup();
        let items = schema.get("items").into_iter();
        let items: Vec<_> = items.chain(list(&schema["prefixItems"])).collect();
        Self {
            root,
            kinds,
            texts: None,
            items: if items.is_empty() { vec![&ANY] } else { items },
        }
    }

    fn listed(values: &[&'s Value], root: &'s Value) -> Self {
        let has = |kind: &Kind| values.iter().any(|value| kind_of(value) == *kind);
        Self {
            kinds: KINDS.into_iter().filter(has).collect(),
            texts: Some(values.iter().filter_map(|value| value.as_str()).collect()),
            ..Self::any(root)
        }
    }

    /// What both allow.
    fn and(mut self, other: Self) -> Self {
        self.kinds.retain(|kind| other.has(*kind));
        self.texts = match (self.texts, other.texts) {
            (Some(own), Some(others)) => {
                Some(own.into_iter().filter(|one| others.contains(one)).collect())
            }
            (own, others) => own.or(others),
        };
        if self.items == [&ANY] {
            self.items = other.items;
        }
        self
    }

    /// What one of them allows.
    fn or(mut self, other: Self) -> Self {
        self.texts = match (self.has(Kind::Text), other.has(Kind::Text)) {
            (true, true) => self.texts.zip(other.texts).map(|(mut own, others)| {
                own.extend(others);
                own
            }),
            (true, false) => self.texts,
            (false, _) => other.texts,
        };
        self.items = match (
            self.kinds.contains(&Kind::List),
            other.kinds.contains(&Kind::List),
        ) {
            (true, true) => [self.items, other.items].concat(),
            (true, false) => self.items,
            (false, _) => other.items,
        };
        let more = other.kinds.into_iter();
        let more: Vec<_> = more.filter(|kind| !self.kinds.contains(kind)).collect();
        self.kinds.extend(more);
        self
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The only kind besides `null`.
    pub(super) fn only(&self) -> Option<Kind> {
        let mut kinds = self.kinds.iter().filter(|kind| **kind != Kind::Null);
        let first = kinds.next().copied();
        first.filter(|_| kinds.next().is_none())
    }

    /// Whether a text can be one of its values.
    pub(super) fn allows(&self, text: &str) -> bool {
        self.has(Kind::Text) && self.texts.as_ref().is_none_or(|all| all.contains(&text))
    }

    /// The items of its lists.
    pub(super) fn item(&self) -> Self {
        let items = self.items.iter().map(|item| Self::new(item, self.root));
        items
            .reduce(Self::or)
            .unwrap_or_else(|| Self::any(self.root))
    }

    /// Whether all its values are written without a comma, so that several can be separated by it.
    pub(super) fn is_separable(&self) -> bool {
        let is_simple = !self.has(Kind::List) && !self.has(Kind::Object);
        let mut texts = self.texts.iter().flatten();
        let has_free_text = self.has(Kind::Text) && self.texts.is_none();
        is_simple && !has_free_text && !texts.any(|text| text.contains(','))
    }

    /// What stands for a value in the form of a call, if it can be given without JSON.
    pub(super) fn placeholder(&self) -> Option<String> {
        match self.only()? {
            Kind::Text => Some(match &self.texts {
                Some(texts) if texts.len() <= 8 => texts.join("|"),
                _ => "TEXT".to_owned(),
            }),
            Kind::Number => Some("NUMBER".to_owned()),
            Kind::Boolean => Some("true|false".to_owned()),
            Kind::List => {
                let item = self.item();
                let one = item.placeholder().filter(|_| !item.has(Kind::List))?;
                let more = if item.is_separable() { ",..." } else { " ..." };
                Some(format!("{one}{more}"))
            }
            Kind::Object | Kind::Null => None,
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn reference<'s>(schema: &Value, root: &'s Value) -> Option<&'s Value> {
    root.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "string" => Kind::Text,
        "number" | "integer" => Kind::Number,
        "boolean" => Kind::Boolean,
        "null" => Kind::Null,
        "array" => Kind::List,
        "object" => Kind::Object,
        _ => return None,
    })
}

const fn kind_of(value: &Value) -> Kind {
    match value {
        Value::String(_) => Kind::Text,
        Value::Number(_) => Kind::Number,
        Value::Bool(_) => Kind::Boolean,
        Value::Null => Kind::Null,
        Value::Array(_) => Kind::List,
        Value::Object(_) => Kind::Object,
    }
}

/// A value that shows the form of a schema, with what it requires.
pub(super) fn sample(schema: &Value, root: &Value) -> Value {
    sample_at(schema, root, 0)
}

fn sample_at(schema: &Value, root: &Value, depth: usize) -> Value {
    let given = [
        schema["examples"].get(0),
        schema.get("const"),
        schema["enum"].get(0),
    ];
    if let Some(value) = given.into_iter().flatten().next() {
        return value.clone();
    }
    if depth > DEPTH / 4 {
        return Value::Null;
    }
    let at = |schema: &Value| sample_at(schema, root, depth + 1);
    let inner = [&schema["oneOf"], &schema["anyOf"], &schema["allOf"]];
    let inner = inner.into_iter().find_map(|all| all.get(0));
    if let Some(inner) = reference(schema, root).or(inner) {
        return at(inner);
    }
    match Shape::new(schema, root).only() {
        Some(Kind::Text) => json!("text"),
        Some(Kind::Boolean) => json!(true),
        Some(Kind::Number) => json!(0),
        Some(Kind::List) => {
            let items = [
                list(&schema["prefixItems"]),
                std::slice::from_ref(&schema["items"]),
            ];
            json!([at(items.concat().first().unwrap_or(&ANY))])
        }
        Some(Kind::Object) => {
            let required = list(&schema["required"]).iter().filter_map(Value::as_str);
            let member = |name: &str| (name.to_owned(), at(&schema["properties"][name]));
            required.map(member).collect::<Map<_, _>>().into()
        }
        Some(Kind::Null) | None => Value::Null,
    }
}
