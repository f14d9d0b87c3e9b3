//! Locates the value that a type failed to decode, by the position in its error.

use super::path::step;

/// The last key or value that begins before a position.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorPosition {
    /// From the value that was read, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// It is the key itself, and not what stands under it.
    pub is_key: bool,
}

enum Around {
    Array(usize),
    /// The key that was read last, once there is one, and whether the next string is a key.
    Object(Option<String>, bool),
}

/// The place of a position in JSON text: the line from 1, the column in bytes.
///
/// The text has been read up to there, so it is JSON up to there.
pub fn locate(text: &str, line: usize, column: usize) -> Option<ErrorPosition> {
    let before = text.split_inclusive('\n').take(line.checked_sub(1)?);
    let end = before.map(str::len).sum::<usize>() + column;
    let bytes = text.as_bytes();
    let mut around = Vec::new();
    let mut is_key = false;
    let mut at = 0;
    while at < end {
        match (bytes.get(at)?, around.last_mut()) {
            (b'"', inside) => {
                let length = string(bytes.get(at..)?)?;
                is_key = false;
                if let Some(Around::Object(key, next @ true)) = inside {
                    *key = Some(serde_json::from_str(text.get(at..at + length)?).ok()?);
                    *next = false;
                    is_key = true;
                }
                at += length;
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

/// How long the string is that begins here, its quotes included.
fn string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
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
