//! Parses format strings: plain text, and placeholders such as `{name:>8}`.

pub(crate) enum Piece {
    Text(String),
    Value(Placeholder),
}

/// `{name:format}`
pub(crate) struct Placeholder {
    /// A name, a position, or nothing.
    name: String,
    /// The index of the expression that it shows, unless it shows a name.
    pub(crate) position: Option<usize>,
    format: String,
}

impl Placeholder {
    /// What it shows: a name, or a position in digits.
    pub(crate) fn key(&self) -> String {
        self.position
            .map_or_else(|| self.name.clone(), |at| at.to_string())
    }

    /// The placeholder for `format_args!`. An expression is passed right after the text, so its position is left out.
    pub(crate) fn written(&self) -> String {
        let name = self.position.map_or(self.name.as_str(), |_| "");
        let colon = if self.format.is_empty() { "" } else { ":" };
        format!("{{{name}{colon}{}}}", self.format)
    }
}

/// Splits a format string into its pieces.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece>, &'static str> {
    let mut pieces = Vec::new();
    let (mut plain, mut rest, mut next) = (String::new(), text, 0);
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..];
        if brace.starts_with("{{") || brace.starts_with("}}") {
            plain.push_str(&brace[..1]);
            rest = &brace[2..];
            continue;
        }
        if brace.starts_with('}') {
            return Err("this message closes a `}` it never opened; write `}}` for a brace");
        }
        let Some(end) = brace.find('}') else {
            return Err("this message opens a `{` it never closes; write `{{` for a brace");
        };
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        let inside = brace[1..end].trim();
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        let name = name.trim();
        let position = if name.is_empty() {
            next += 1;
            Some(next - 1)
        } else {
            name.parse().ok()
        };
        pieces.push(Piece::Value(Placeholder {
            name: name.to_owned(),
            position,
            format: format.to_owned(),
        }));
        rest = &brace[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

/// The names in a format string, in order of first appearance, those in width and precision included.
pub(crate) fn placeholders(text: &str) -> Result<Vec<String>, &'static str> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    for piece in pieces(text)? {
        let Piece::Value(Placeholder { name, format, .. }) = piece else {
            continue;
        };
        add(&name);
        for counted in format.split('$').rev().skip(1) {
            let start = counted.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
            add(counted
                .get(start.map_or(0, |start| start + 1)..)
                .unwrap_or(counted));
        }
    }
    Ok(names)
}
