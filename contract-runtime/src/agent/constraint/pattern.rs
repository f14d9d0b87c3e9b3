//! The keyword `pattern` as a language over the spelling of JSON strings.
//!
//! It means what it means to the dispatcher (`regex-lite`): a match may stand anywhere, classes are ASCII, `.` is anything
//! but a line feed, and `^` and `$` are the ends of the text. Characters are spelled as themselves, and escaped where they must be.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    AssertionKind, Ast, ClassAsciiKind, ClassPerlKind, ClassSet, ClassSetBinaryOpKind,
    ClassSetItem, GroupKind, RepetitionKind, RepetitionRange,
};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::regular::Regular;

/// What stands between the quotes of the strings that match; `None` where that is not regular, or anchored within.
pub(super) fn pattern(pattern: &str) -> Option<Regular> {
    let ast = Parser::new().parse(pattern).ok()?;
    whole(&ast)
}

/// The pattern of a whole text.
fn whole(ast: &Ast) -> Option<Regular> {
    match ast {
        Ast::Alternation(branches) => {
            let branches: Option<Vec<_>> = branches.asts.iter().map(whole).collect();
            branches.map(Regular::either)
        }
        // The same anchors hold of a group that is all there is.
        Ast::Group(group) if plain(&group.kind) => whole(&group.ast),
        Ast::Concat(parts) => edges(&parts.asts),
        other => edges(std::slice::from_ref(other)),
    }
}

fn edges(mut parts: &[Ast]) -> Option<Regular> {
    let (mut starts, mut ends) = (false, false);
    while let [Ast::Assertion(first), rest @ ..] = parts
        && matches!(
            first.kind,
            AssertionKind::StartLine | AssertionKind::StartText
        )
    {
        (starts, parts) = (true, rest);
    }
    while let [rest @ .., Ast::Assertion(last)] = parts
        && matches!(last.kind, AssertionKind::EndLine | AssertionKind::EndText)
    {
        (ends, parts) = (true, rest);
    }
    let inner: Option<Vec<_>> = parts.iter().map(within).collect();
    let gap = |anchored| {
        if anchored {
            Regular::empty()
        } else {
            Regular::Char.repeat(0, None)
        }
    };
    let parts = std::iter::once(gap(starts))
        .chain(inner?)
        .chain([gap(ends)]);
    Some(Regular::sequence(parts))
}

fn plain(kind: &GroupKind) -> bool {
    !matches!(kind, GroupKind::NonCapturing(flags) if !flags.items.is_empty())
}

fn within(ast: &Ast) -> Option<Regular> {
    Some(match ast {
        Ast::Empty(_) => Regular::empty(),
        Ast::Literal(literal) => spelled(&set(literal.c, literal.c)),
        Ast::Dot(_) => {
            let mut all = set('\n', '\n');
            all.negate();
            spelled(&all)
        }
        Ast::ClassPerl(class) => spelled(&negated(perl(&class.kind), class.negated)),
        Ast::ClassBracketed(class) => spelled(&negated(members(&class.kind)?, class.negated)),
        Ast::Repetition(repetition) => {
            let inner = within(&repetition.ast)?;
            let count = |times: u32| usize::try_from(times).ok();
            match &repetition.op.kind {
                RepetitionKind::ZeroOrOne => inner.optional(),
                RepetitionKind::ZeroOrMore => inner.repeat(0, None),
                RepetitionKind::OneOrMore => inner.repeat(1, None),
                RepetitionKind::Range(RepetitionRange::Exactly(n)) => {
                    inner.repeat(count(*n)?, Some(count(*n)?))
                }
                RepetitionKind::Range(RepetitionRange::AtLeast(n)) => {
                    inner.repeat(count(*n)?, None)
                }
                RepetitionKind::Range(RepetitionRange::Bounded(n, m)) => {
                    inner.repeat(count(*n)?, Some(count(*m)?))
                }
            }
        }
        Ast::Group(group) if plain(&group.kind) => within(&group.ast)?,
        Ast::Alternation(branches) => {
            let branches: Option<Vec<_>> = branches.asts.iter().map(within).collect();
            Regular::either(branches?)
        }
        Ast::Concat(parts) => {
            let parts: Option<Vec<_>> = parts.asts.iter().map(within).collect();
            Regular::sequence(parts?)
        }
        _ => return None,
    })
}

fn set(low: char, high: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(low, high)])
}

fn sets(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(
        ranges
            .iter()
            .map(|(low, high)| ClassUnicodeRange::new(*low, *high)),
    )
}

fn negated(mut set: ClassUnicode, negated: bool) -> ClassUnicode {
    if negated {
        set.negate();
    }
    set
}

fn perl(kind: &ClassPerlKind) -> ClassUnicode {
    match kind {
        ClassPerlKind::Digit => set('0', '9'),
        ClassPerlKind::Space => sets(&[('\t', '\r'), (' ', ' ')]),
        ClassPerlKind::Word => sets(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
    }
}

fn members(class: &ClassSet) -> Option<ClassUnicode> {
    match class {
        ClassSet::Item(item) => member(item),
        ClassSet::BinaryOp(op) => {
            let (mut left, right) = (members(&op.lhs)?, members(&op.rhs)?);
            match op.kind {
                ClassSetBinaryOpKind::Intersection => left.intersect(&right),
                ClassSetBinaryOpKind::Difference => left.difference(&right),
                ClassSetBinaryOpKind::SymmetricDifference => left.symmetric_difference(&right),
            }
            Some(left)
        }
    }
}

fn member(item: &ClassSetItem) -> Option<ClassUnicode> {
    Some(match item {
        ClassSetItem::Empty(_) => ClassUnicode::empty(),
        ClassSetItem::Literal(literal) => set(literal.c, literal.c),
        ClassSetItem::Range(range) => set(range.start.c, range.end.c),
        ClassSetItem::Ascii(class) => negated(ascii(&class.kind), class.negated),
        ClassSetItem::Perl(class) => negated(perl(&class.kind), class.negated),
        ClassSetItem::Bracketed(class) => negated(members(&class.kind)?, class.negated),
        ClassSetItem::Union(union) => {
            let mut all = ClassUnicode::empty();
            for item in &union.items {
                all.union(&member(item)?);
            }
            all
        }
        ClassSetItem::Unicode(_) => return None,
    })
}

/// The classes of POSIX (IEEE Std 1003.1, 9.3.5).
fn ascii(kind: &ClassAsciiKind) -> ClassUnicode {
    let holds: fn(&char) -> bool = match kind {
        ClassAsciiKind::Alnum => char::is_ascii_alphanumeric,
        ClassAsciiKind::Alpha => char::is_ascii_alphabetic,
        ClassAsciiKind::Ascii => char::is_ascii,
        ClassAsciiKind::Blank => |letter| matches!(letter, ' ' | '\t'),
        ClassAsciiKind::Cntrl => char::is_ascii_control,
        ClassAsciiKind::Digit => char::is_ascii_digit,
        ClassAsciiKind::Graph => char::is_ascii_graphic,
        ClassAsciiKind::Lower => char::is_ascii_lowercase,
        ClassAsciiKind::Print => |letter| matches!(letter, ' '..='~'),
        ClassAsciiKind::Punct => char::is_ascii_punctuation,
        ClassAsciiKind::Space => |letter| matches!(letter, '\t'..='\r' | ' '),
        ClassAsciiKind::Upper => char::is_ascii_uppercase,
        ClassAsciiKind::Word => |letter| letter.is_ascii_alphanumeric() || *letter == '_',
        ClassAsciiKind::Xdigit => char::is_ascii_hexdigit,
    };
    let members = ('\0'..='\x7f').filter(holds);
    ClassUnicode::new(members.map(|letter| ClassUnicodeRange::new(letter, letter)))
}

/// How the characters of a set may stand in a JSON string.
fn spelled(set: &ClassUnicode) -> Regular {
    let escaped = sets(&[('\0', '\x1f'), ('"', '"'), ('\\', '\\')]);
    let mut bare = set.clone();
    bare.difference(&escaped);
    let mut other = set.clone();
    other.intersect(&escaped);
    let ranges: Vec<_> = bare
        .ranges()
        .iter()
        .map(|range| (range.start(), range.end()))
        .collect();
    let other = other
        .ranges()
        .iter()
        .flat_map(|range| range.start()..=range.end());
    Regular::either(std::iter::once(Regular::class(&ranges)).chain(other.map(escape)))
}

/// The escape of a character that cannot stand for itself (RFC 8259, section 7).
fn escape(letter: char) -> Regular {
    let short = match letter {
        '"' => '"',
        '\\' => '\\',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        other => return Regular::text(format!("\\u{:04x}", u32::from(other))),
    };
    Regular::text(format!("\\{short}"))
}
