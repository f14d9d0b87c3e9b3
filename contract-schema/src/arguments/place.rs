//! Places in arguments: the path of a walk, and the place of an error of a type.

use std::borrow::Cow;

use super::describe::clip;
use crate::lexer::Lexer;
use crate::reader::escape;

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

/// A place in the arguments, linked to the place above it, so that a step does not allocate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path<'a> {
    above: Option<&'a Path<'a>>,
    step: Step<'a>,
    /// How many arrays and objects the value stands in.
    depth: usize,
    secret: bool,
    /// The key is not in a schema. Below a secret it may be a part of the secret.
    invented: bool,
}

/// The longest key that is not cut in a pointer.
const LONGEST_KEY: usize = 120;

/// Returns a key as one step of a pointer.
fn step(key: &str) -> String {
    escape(&clip(key, LONGEST_KEY))
}

impl<'a> Path<'a> {
    /// The arguments themselves.
    pub(super) const ROOT: Path<'static> = Path {
        above: None,
        step: Step::Root,
        depth: 0,
        secret: false,
        invented: false,
    };

    pub(super) fn key(&'a self, key: &'a str) -> Self {
        self.below(Step::Key(key))
    }

    /// Returns the place of a member. `is_known` says that its key is in a schema.
    pub(super) fn member(&'a self, key: &'a str, is_known: bool, is_secret: bool) -> Self {
        Path {
            invented: !is_known,
            secret: self.secret || is_secret,
            ..self.key(key)
        }
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        self.below(Step::Index(index))
    }

    fn below(&'a self, step: Step<'a>) -> Self {
        Path {
            above: Some(self),
            step,
            depth: self.depth + 1,
            secret: self.secret,
            invented: false,
        }
    }

    /// Returns the place with its values hidden.
    pub(super) fn hidden(self, secret: bool) -> Self {
        Path {
            secret: self.secret || secret,
            ..self
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn is_root(&self) -> bool {
        self.above.is_none()
    }

    /// Returns whether it is the place of an argument.
    pub(super) fn is_argument(&self) -> bool {
        self.above.is_some_and(Path::is_root)
    }

    pub(super) fn is_secret(&self) -> bool {
        self.secret
    }

    /// Returns whether the key itself must not be shown.
    pub(super) fn is_hidden(&self) -> bool {
        self.invented && self.above.is_some_and(|above| above.secret)
    }

    /// Returns the place as a JSON pointer (RFC 6901). In a secret argument it ends above the first key that is not in a schema. Very
    /// long keys are cut.
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

/// The last key or value that begins before a position.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorPosition {
    /// From the value that was read, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// It is the key itself, and not what stands under it.
    pub is_key: bool,
}

enum Around<'t> {
    Array(usize),
    /// The key that was read last, once there is one, and whether the next string is a key.
    Object(Option<Cow<'t, str>>, bool),
}

/// The place of a position in JSON text: the line from 1, the column in bytes.
///
/// The text has been read up to there, so it is JSON up to there.
pub fn locate(text: &str, line: usize, column: usize) -> Option<ErrorPosition> {
    let before = text.split_inclusive('\n').take(line.checked_sub(1)?);
    let end = before.map(str::len).sum::<usize>() + column;
    let lexer = Lexer::new(text);
    let mut around = Vec::new();
    let mut is_key = false;
    let mut at = 0;
    while at < end {
        match (lexer.byte(at), around.last_mut()) {
            (b'"', inside) => {
                let string = lexer.string(at).ok()?;
                is_key = false;
                if let Some(Around::Object(key, next @ true)) = inside {
                    *key = Some(string.text().ok()?);
                    *next = false;
                    is_key = true;
                }
                at = string.end;
                continue;
            }
            (b'{', _) => around.push(Around::Object(None, true)),
            (b'[', _) => around.push(Around::Array(0)),
            (b'}' | b']', _) => {
                around.pop();
            }
            (b',', Some(Around::Array(index))) => *index += 1,
            (b',', Some(Around::Object(_, next))) => *next = true,
            (b':', _) => is_key = false,
            (0, _) => return None,
            _ => {}
        }
        at += 1;
    }
    let steps = around.iter().filter_map(|around| match around {
        Around::Array(index) => Some(index.to_string()),
        Around::Object(key, _) => key.as_deref().map(step),
    });
    Some(ErrorPosition {
        pointer: steps.fold(String::new(), |pointer, step| pointer + "/" + &step),
        is_key,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_the_last_key_or_value_that_begins_before_it() {
        let text = "{\"a/b\": [1, {\"~\":\n \"x,\\\"}\"}, [ ]], \"c\": {}}, \"after\": 1";
        let found = |at: &str| {
            let end = text.find(at).unwrap() + at.len();
            let line = text[..end].matches('\n').count() + 1;
            let column = end - text[..end].rfind('\n').map_or(0, |at| at + 1);
            let place = locate(text, line, column).unwrap();
            (place.pointer, place.is_key)
        };
        for (at, pointer, is_key) in [
            ("{", "", false),
            ("{\"a", "/a~1b", true),
            ("[1", "/a~1b/0", false),
            ("{\"~", "/a~1b/1/~0", true),
            ("x,", "/a~1b/1/~0", false),
            ("}\"}", "/a~1b/1", false),
            ("[ ]", "/a~1b/2", false),
            ("]]", "/a~1b", false),
            ("\"c\"", "/c", true),
            ("{}", "/c", false),
            ("{}}", "", false),
        ] {
            assert_eq!(found(at), (pointer.to_owned(), is_key), "{at}");
        }
        assert_eq!(locate(text, 0, 0), None);
        assert_eq!(locate(text, 9, 9), None);
    }
}
