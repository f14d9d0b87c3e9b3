//! Rewrites regular expressions so that they mean the same in every engine.
//!
//! The native engine is `regex-lite`: ASCII classes, no look-around, linear time. A published pattern is read by whatever a
//! peer or a provider has: ECMA-262 with and without the flag `u` (JSON Schema 2020-12, Core, section 6.4), RE2 (CEL, language
//! definition, "Regular expressions"), the `regex` crate, Python's `re`. Only what all of them read alike is let through, and
//! it is written anew: classes spelled out, groups without captures, no escape but those of syntax characters and of the
//! five ASCII control spaces.
//!
//! `$` is the end of the text in all but Python's `re`, where it may also stand before a final line break. JSON Schema and
//! CEL both rule that reading out, so a judge written with `re` is at fault, and the one place where that could refuse a
//! lawful value, a negated pattern over a text that ends in a line break, is left to it.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    AssertionKind, Ast, ClassAsciiKind, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem,
    GroupKind, Repetition, RepetitionKind, RepetitionRange,
};

/// RE2 refuses more repetitions than this, those of nested groups multiplied.
const MOST_REPETITIONS: u32 = 1000;

/// The pattern of exactly this text, for use inside a pattern; `None` where engines read some of it differently.
#[must_use]
pub fn literal(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if !matches!(letter, ' '..='~') {
            return None;
        }
        push(letter, SYNTAX, &mut out)?;
    }
    Some(out)
}

/// Rewrites a pattern in the syntax that all engines share, if that can express it.
///
/// It finds a match in exactly the texts in which `regex-lite` finds one.
#[must_use]
pub fn portable(pattern: &str) -> Option<String> {
    if pattern == ASCII {
        return Some(pattern.to_owned());
    }
    let ast = Parser::new().parse(pattern).ok()?;
    let mut writer = Writer { out: String::new() };
    writer.pattern(&ast, 1)?;
    Some(writer.out)
}

/// What a text of ASCII alone matches, in every engine: all of them know `\x` with two digits.
pub const ASCII: &str = r"^[\x00-\x7F]*$";

/// What ECMA-262 calls syntax characters; it refuses the escape of any other under `u`.
const SYNTAX: &str = r"^$\.*+?()[]{}|";

/// Of these, what means something inside a class.
const CLASS_SYNTAX: &str = r"^\[]";

/// Writes one letter, escaped where it is one of `syntax`.
fn push(letter: char, syntax: &str, out: &mut String) -> Option<()> {
    let control = match letter {
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        ' '..='~' => {
            if syntax.contains(letter) {
                out.push('\\');
            }
            out.push(letter);
            return Some(());
        }
        _ => return None,
    };
    out.extend(['\\', control]);
    Some(())
}

struct Writer {
    out: String,
}

impl Writer {
    /// `repeated`: how often the groups around this part repeat it at most.
    fn pattern(&mut self, ast: &Ast, repeated: u32) -> Option<()> {
        match ast {
            Ast::Empty(_) => Some(()),
            Ast::Literal(letter) => push(letter.c, SYNTAX, &mut self.out),
            Ast::Assertion(assertion) => self.anchor(&assertion.kind),
            Ast::ClassPerl(class) => {
                let mut set = Set::new();
                set.perl(class)?;
                set.write(&mut self.out)
            }
            Ast::ClassBracketed(class) => {
                let ClassSet::Item(item) = &class.kind else {
                    return None;
                };
                let mut set = Set::new();
                set.item(item).filter(|()| !class.negated)?;
                set.write(&mut self.out)
            }
            Ast::Repetition(repetition) => self.repetition(repetition, repeated),
            Ast::Group(group) => match &group.kind {
                GroupKind::NonCapturing(flags) if !flags.items.is_empty() => None,
                _ => self.group(&group.ast, repeated),
            },
            Ast::Alternation(branches) => {
                for (index, branch) in branches.asts.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.pattern(branch, repeated)?;
                }
                Some(())
            }
            Ast::Concat(parts) => parts
                .asts
                .iter()
                .try_for_each(|part| self.pattern(part, repeated)),
            Ast::Flags(_) | Ast::Dot(_) | Ast::ClassUnicode(_) => None,
        }
    }

    fn group(&mut self, inner: &Ast, repeated: u32) -> Option<()> {
        self.out.push_str("(?:");
        self.pattern(inner, repeated)?;
        self.out.push(')');
        Some(())
    }

    /// Without flags, the ends of a line are those of the text.
    fn anchor(&mut self, kind: &AssertionKind) -> Option<()> {
        self.out.push(match kind {
            AssertionKind::StartLine | AssertionKind::StartText => '^',
            AssertionKind::EndLine | AssertionKind::EndText => '$',
            _ => return None,
        });
        Some(())
    }

    /// A lazy repetition is written as a greedy one: there is a match with the one where there is one with the other.
    fn repetition(&mut self, repetition: &Repetition, repeated: u32) -> Option<()> {
        let (times, written) = match &repetition.op.kind {
            RepetitionKind::ZeroOrOne => (1, "?".to_owned()),
            RepetitionKind::ZeroOrMore => (1, "*".to_owned()),
            RepetitionKind::OneOrMore => (1, "+".to_owned()),
            RepetitionKind::Range(RepetitionRange::Exactly(n)) => (*n, format!("{{{n}}}")),
            RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (*n, format!("{{{n},}}")),
            RepetitionKind::Range(RepetitionRange::Bounded(n, m)) => (*m, format!("{{{n},{m}}}")),
        };
        let repeated = repeated
            .checked_mul(times.max(1))
            .filter(|all| *all <= MOST_REPETITIONS)?;
        match &*repetition.ast {
            // ECMA-262 has no repeated anchors.
            Ast::Assertion(_) => return None,
            // Nor `a**`.
            inner @ Ast::Repetition(_) => self.group(inner, repeated)?,
            inner => self.pattern(inner, repeated)?,
        }
        self.out.push_str(&written);
        Some(())
    }
}

/// A set of ASCII characters.
struct Set {
    holds: [bool; 128],
}

impl Set {
    const fn new() -> Self {
        Self {
            holds: [false; 128],
        }
    }

    fn add(&mut self, low: char, high: char) -> Option<()> {
        let members = self.holds.get_mut(low as usize..=high as usize)?;
        members.fill(true);
        Some(())
    }

    fn add_all(&mut self, is_member: impl Fn(&char) -> bool) {
        for (code, holds) in (0_u8..).zip(&mut self.holds) {
            *holds |= is_member(&char::from(code));
        }
    }

    fn perl(&mut self, class: &ClassPerl) -> Option<()> {
        if class.negated {
            return None;
        }
        match class.kind {
            ClassPerlKind::Digit => self.add_all(char::is_ascii_digit),
            ClassPerlKind::Space => self.add_all(|letter| matches!(letter, '\t'..='\r' | ' ')),
            ClassPerlKind::Word => self.add_all(is_word),
        }
        Some(())
    }

    fn item(&mut self, item: &ClassSetItem) -> Option<()> {
        match item {
            ClassSetItem::Literal(letter) => self.add(letter.c, letter.c),
            ClassSetItem::Range(range) => self.add(range.start.c, range.end.c),
            ClassSetItem::Perl(class) => self.perl(class),
            ClassSetItem::Ascii(class) if !class.negated => {
                self.add_all(ascii(&class.kind)?);
                Some(())
            }
            ClassSetItem::Union(union) => union.items.iter().try_for_each(|item| self.item(item)),
            _ => None,
        }
    }

    /// Each run of neighbours, and `-` at the end, where no engine reads it as a range.
    fn write(&self, out: &mut String) -> Option<()> {
        let mut runs = Vec::new();
        for (code, _) in (0_u8..).zip(&self.holds).filter(|(_, holds)| **holds) {
            match runs.last_mut() {
                Some((_, high)) if *high + 1 == code => *high = code,
                _ => runs.push((code, code)),
            }
        }
        let mut dash = false;
        for (low, high) in &mut runs {
            if *low == b'-' {
                (dash, *low) = (true, b'-' + 1);
            } else if *high == b'-' {
                (dash, *high) = (true, b'-' - 1);
            }
        }
        let last_run = dash.then_some((b'-', b'-'));
        let runs: Vec<(u8, u8)> = runs
            .into_iter()
            .filter(|(low, high)| low <= high)
            .chain(last_run)
            .collect();
        if let [(low, high)] = *runs
            && low == high
        {
            return push(char::from(low), SYNTAX, out);
        }
        out.push('[');
        for (low, high) in runs {
            push(char::from(low), CLASS_SYNTAX, out)?;
            if high - low > 1 && (low, high) != (b'-', b'-') {
                out.push('-');
            }
            if high > low {
                push(char::from(high), CLASS_SYNTAX, out)?;
            }
        }
        out.push(']');
        Some(())
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature of its kin, such as `char::is_ascii_digit`"
)]
fn is_word(letter: &char) -> bool {
    letter.is_ascii_alphanumeric() || *letter == '_'
}

/// The classes of POSIX (IEEE Std 1003.1, 9.3.5) without control characters other than spaces.
fn ascii(kind: &ClassAsciiKind) -> Option<fn(&char) -> bool> {
    Some(match kind {
        ClassAsciiKind::Alnum => char::is_ascii_alphanumeric,
        ClassAsciiKind::Alpha => char::is_ascii_alphabetic,
        ClassAsciiKind::Digit => char::is_ascii_digit,
        ClassAsciiKind::Graph => char::is_ascii_graphic,
        ClassAsciiKind::Lower => char::is_ascii_lowercase,
        ClassAsciiKind::Print => |letter| matches!(letter, ' '..='~'),
        ClassAsciiKind::Punct => char::is_ascii_punctuation,
        ClassAsciiKind::Upper => char::is_ascii_uppercase,
        ClassAsciiKind::Word => is_word,
        ClassAsciiKind::Xdigit => char::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
