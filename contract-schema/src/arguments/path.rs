//! The walker's current path, without an allocation per step.

use super::escape;

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

/// A place in the arguments, linked to the one above it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path<'a> {
    above: Option<&'a Path<'a>>,
    step: Step<'a>,
    secret: bool,
    /// The key is one the model made up: below a secret it may be part of it.
    invented: bool,
}

/// The longest key that is repeated whole in a pointer.
const LONGEST_KEY: usize = 120;

/// A key as one step of a pointer.
pub(super) fn step(key: &str) -> String {
    let short = escape::clip(key, LONGEST_KEY);
    short.replace('~', "~0").replace('/', "~1")
}

impl<'a> Path<'a> {
    /// The arguments themselves.
    pub(super) const ROOT: Path<'static> = Path {
        above: None,
        step: Step::Root,
        secret: false,
        invented: false,
    };

    pub(super) fn key(&'a self, key: &'a str) -> Self {
        let step = Step::Key(key);
        Path {
            above: Some(self),
            step,
            secret: self.secret,
            invented: false,
        }
    }

    /// The place under a key that stands in no schema.
    pub(super) fn invented(&'a self, key: &'a str) -> Self {
        Path {
            invented: true,
            ..self.key(key)
        }
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        let step = Step::Index(index);
        Path {
            above: Some(self),
            step,
            secret: self.secret,
            invented: false,
        }
    }

    /// The same place, where values must not be shown.
    pub(super) fn hidden(self, secret: bool) -> Self {
        Path {
            secret: self.secret || secret,
            ..self
        }
    }

    pub(super) fn is_root(&self) -> bool {
        self.above.is_none()
    }

    pub(super) fn is_secret(&self) -> bool {
        self.secret
    }

    /// Whether this very key must not be shown.
    pub(super) fn is_hidden(&self) -> bool {
        self.invented && self.above.is_some_and(|above| above.secret)
    }

    /// The place as a JSON pointer (RFC 6901). In a secret argument it ends above the first key that
    /// stands in no schema, and very long keys are cut.
    pub(super) fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut here = Some(self);
        while let Some(path) = here {
            match path.step {
                Step::Root => {}
                Step::Key(_) if path.is_hidden() => steps.clear(),
                Step::Key(key) => steps.push(step(key)),
                Step::Index(index) => steps.push(index.to_string()),
            }
            here = path.above;
        }
        steps
            .iter()
            .rev()
            .fold(String::new(), |pointer, step| pointer + "/" + step)
    }
}
