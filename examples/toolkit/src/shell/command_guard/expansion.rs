//! A word of a command as bash would see it, as far as that is known without running anything.

use std::collections::BTreeMap;
use std::rc::Rc;

use tree_sitter::Node;

use super::parser::raw;

/// Stands in a word for the home folder. Like the others a control character, which passes through the parser as a part of
/// the word; [`without_signs`] takes them out of what is given.
pub(super) const HOME: char = '\u{1}';

/// Stands for what only running the script would tell.
pub(super) const UNKNOWN: char = '\u{2}';

/// Stands where an expansion without quotes ends one word and begins another.
const SPLIT: char = '\u{3}';

/// Stand around and between the values of which a word has any one: braces without quotes, or what a loop goes through.
const OPEN: char = '\u{4}';
const OR: char = '\u{5}';
const CLOSE: char = '\u{6}';

/// What is given, with nothing in it that means something to us.
pub(super) fn without_signs(text: &str) -> String {
    text.replace([HOME, UNKNOWN, SPLIT, OPEN, OR, CLOSE], "?")
}

/// Longer values are not known, because a value can be doubled again and again. What is precious has a short name.
const LONGEST: usize = 256;

/// Longer words, and words of more parts, keep their braces, which could multiply too.
const LONGEST_BRACES: usize = 4_096;
const MOST_BRACES: usize = 64;

/// What the script has set so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables(BTreeMap<String, Rc<str>>);

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: &str) {
        if value.len() > LONGEST {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    fn get(&self, name: &str, quoted: bool) -> String {
        let value = match (self.0.get(name), name) {
            (Some(value), _) => value,
            (None, "HOME") => return HOME.to_string(),
            (None, "IFS") => " ",
            (None, _) => return UNKNOWN.to_string(),
        };
        if quoted {
            value.to_owned()
        } else {
            value.replace(char::is_whitespace, &SPLIT.to_string())
        }
    }
}

/// Reads words of one script.
pub(super) struct Words<'s> {
    pub(super) source: &'s str,
    pub(super) variables: &'s Variables,
}

impl<'s> Words<'s> {
    /// The words that one piece of a command becomes.
    pub(super) fn all(&self, node: Node<'_>) -> Vec<String> {
        let text = self.text(node);
        if !text.contains([SPLIT, OPEN]) {
            return vec![text];
        }
        let words = text.split(SPLIT).filter(|word| !word.is_empty());
        words.flat_map(one_of_each).collect()
    }

    /// Several words as the value of one variable, which has any one of them.
    pub(super) fn any<'t>(&self, nodes: impl Iterator<Item = Node<'t>>) -> String {
        let words: Vec<_> = nodes.flat_map(|node| self.all(node)).collect();
        match words.as_slice() {
            [word] => word.clone(),
            words => format!("{OPEN}{}{CLOSE}", words.join(&OR.to_string())),
        }
    }

    /// Without quotes and escapes, and with what is known of its expansions.
    pub(super) fn text(&self, node: Node<'_>) -> String {
        let raw = raw(self.source, node);
        match node.kind() {
            "concatenation" => {
                let text = self.children(node, 0, str::to_owned, false);
                if raw.contains('{') {
                    braces(&text)
                } else {
                    text
                }
            }
            "translated_string" => self.children(node, 1, |_| String::new(), true),
            "string" => self.children(node, 1, unescaped_in_quotes, true),
            "raw_string" => raw.trim_matches('\'').to_owned(),
            "ansi_c_string" => ansi_c(raw),
            "word" => match raw.strip_prefix('~') {
                Some(user) => {
                    let rest = user
                        .find('/')
                        .and_then(|at| user.get(at..))
                        .unwrap_or_default();
                    format!("{HOME}{}", unescaped(rest))
                }
                None => unescaped(raw),
            },
            "simple_expansion" | "expansion" => self.expansion(node, false),
            "command_substitution" | "process_substitution" | "arithmetic_expansion" => {
                UNKNOWN.to_string()
            }
            _ => unescaped(raw),
        }
    }

    /// Joins what the children say; what stands between them is text too.
    fn children(
        &self,
        node: Node<'_>,
        quote: usize,
        plain: fn(&str) -> String,
        quoted: bool,
    ) -> String {
        let end = node.end_byte().saturating_sub(quote);
        let mut at = (node.start_byte() + quote).min(end);
        let mut text = String::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if quoted && child.kind() == "string_content" {
                continue;
            }
            if child.start_byte() > at {
                text += &plain(self.slice(at, child.start_byte()));
            }
            text += &if quoted && matches!(child.kind(), "simple_expansion" | "expansion") {
                self.expansion(child, true)
            } else {
                self.text(child)
            };
            at = child.end_byte().max(at);
        }
        if end > at {
            text += &plain(self.slice(at, end));
        }
        text
    }

    fn expansion(&self, node: Node<'_>, quoted: bool) -> String {
        let mut cursor = node.walk();
        let mut names = node.named_children(&mut cursor);
        match (names.next(), names.next()) {
            (Some(name), None) if name.kind() == "variable_name" => {
                self.variables.get(raw(self.source, name), quoted)
            }
            _ => UNKNOWN.to_string(),
        }
    }

    fn slice(&self, start: usize, end: usize) -> &'s str {
        self.source.get(start..end).unwrap_or_default()
    }
}

fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next().filter(|next| *next != '\n')),
            _ => text.push(character),
        }
    }
    text
}

/// Between double quotes, a backslash escapes only these (POSIX.1-2024, 2.2.3).
fn unescaped_in_quotes(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('\n')) => {
                characters.next();
            }
            ('\\', Some('$' | '`' | '"' | '\\')) => text.extend(characters.next()),
            _ => text.push(character),
        }
    }
    text
}

/// `$'\x2f'` (Bash Reference Manual, 3.1.2.4).
fn ansi_c(raw: &str) -> String {
    let inner = raw.strip_prefix("$'").unwrap_or(raw);
    let inner = inner.strip_suffix('\'').unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let Some(escape) = rest.next() else { break };
        let (radix, most) = match escape {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 2),
            'n' => {
                text.push('\n');
                continue;
            }
            't' => {
                text.push('\t');
                continue;
            }
            other => {
                text.push(other);
                continue;
            }
        };
        let digits: String = rest
            .clone()
            .take(most)
            .take_while(|digit| digit.is_digit(radix))
            .collect();
        for _ in digits.chars() {
            rest.next();
        }
        let digits = if radix == 8 {
            format!("{escape}{digits}")
        } else {
            digits
        };
        text.extend(
            u32::from_str_radix(&digits, radix)
                .ok()
                .and_then(char::from_u32),
        );
    }
    text
}

/// `/{bin,usr}` is `/bin` and `/usr`. Quotes are forgotten here: a name that holds braces and is precious is rare.
fn braces(text: &str) -> String {
    text.replace('{', &OPEN.to_string())
        .replace(',', &OR.to_string())
        .replace('}', &CLOSE.to_string())
}

/// Every word that a word with alternatives may be.
fn one_of_each(word: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![word.to_owned()];
    while let Some(word) = open.pop() {
        match (alternatives(&word), done.len() + open.len() < MOST_BRACES) {
            (Some(words), true) => open.extend(words.into_iter().rev()),
            _ => done.push(plain(&word)),
        }
    }
    done
}

fn plain(word: &str) -> String {
    word.replace(OPEN, "{").replace(OR, ",").replace(CLOSE, "}")
}

/// The first alternative, replaced by each of its parts.
fn alternatives(word: &str) -> Option<Vec<String>> {
    let begin = word.find(OPEN).filter(|_| word.len() <= LONGEST_BRACES)?;
    let mut depth = 0_usize;
    let mut parts = vec![begin + 1];
    let mut end = None;
    for (at, character) in word.char_indices().skip_while(|(at, _)| *at < begin) {
        match character {
            OPEN => depth += 1,
            OR if depth == 1 => parts.push(at + 1),
            CLOSE if depth == 1 => {
                end = Some(at);
                break;
            }
            CLOSE => depth -= 1,
            _ => {}
        }
    }
    let end = end?;
    parts.push(end + 1);
    if !(3..=MOST_BRACES).contains(&parts.len()) {
        return None;
    }
    let (before, after) = (word.get(..begin)?, word.get(end + 1..)?);
    let words = parts.windows(2).filter_map(|pair| match pair {
        [from, to] => Some(format!("{before}{}{after}", word.get(*from..*to - 1)?)),
        _ => None,
    });
    Some(words.collect())
}
