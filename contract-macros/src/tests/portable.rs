//! The portable form of predicates, printed as a tree on one line.

use super::{contracted, tokens};
use crate::model::{Contracted, Operator, Portable};
use crate::portable;

const PARAMS: &str = "count: u32, small: i8, ratio: f64, flag: bool, name: &str, tags: Vec<String>, numbers: &[u64], \
    note: Option<String>, limit: Option<u32>, r#type: String, mode: Mode, sure: Option<bool>, pause: Option<Mode>";

fn function() -> Contracted {
    contracted(&format!("#[pre(flag)] fn f({PARAMS}) {{}}"))
}

fn read(predicate: &str) -> Portable {
    let expr = syn::parse2(tokens(predicate)).expect("a test's own predicate");
    // Only what the model gives is portable, and the arguments of any function look the same.
    portable::read(&expr, &function().function.params)
}

fn text(portable: &Portable) -> String {
    let list = |parts: &[Portable]| parts.iter().map(text).collect::<Vec<_>>().join(", ");
    match portable {
        Portable::Bool(value) => value.to_string(),
        Portable::Integer(value) => value.to_string(),
        Portable::Float(value) => format!("{value:?}"),
        Portable::Text(value) => format!("{value:?}"),
        Portable::Named {
            text,
            primitive: Some(kind),
            ..
        } => format!("{text}: {kind}"),
        Portable::Named { text, .. } => text.clone(),
        Portable::Pattern { text, .. } => format!("Pattern({text})"),
        Portable::Parameter(index) => function().function.params[*index].name.clone(),
        Portable::Variable(name) => format!("${name}"),
        Portable::Node(operator, parts) => match (operator, &parts[..]) {
            (Operator::Plain(by) | Operator::Compare(by) | Operator::Arithmetic(by), parts) => {
                format!("{by}({})", list(parts))
            }
            (Operator::InList, [of, parts @ ..]) => {
                format!("Among({}, [{}])", text(of), list(parts))
            }
            (Operator::Quantified(name, variable), [of, body]) => {
                format!("{name}({}, ${variable}, {})", text(of), text(body))
            }
            _ => panic!("too few parts"),
        },
        Portable::Native { text, .. } => format!("Native({text})"),
        Portable::Either(_, both) => format!("Either({})", list(&both[..])),
        Portable::Converted(converted) => format!("Converted({})", text(&converted.of)),
        Portable::Opaque(opaque) => format!("Opaque({})", opaque.text),
    }
}

#[track_caller]
fn reads(cases: &[(&str, &str)]) {
    for (predicate, expected) in cases {
        assert_eq!(text(&read(predicate)), *expected, "of `{predicate}`");
    }
}

#[test]
fn comparisons_and_connectives() {
    reads(&[
        ("count > 0", "More(count, 0)"),
        (
            "0 < count && count <= 9",
            "And(Less(0, count), AtMost(count, 9))",
        ),
        ("!(flag || count == 1)", "Not(Or(flag, Equal(count, 1)))"),
        ("!flag || count != 1", "Or(Not(flag), NotEqual(count, 1))"),
        ("flag == true", "Equal(flag, true)"),
        ("(count > 1) == flag", "Equal(More(count, 1), flag)"),
        ("*&&count >= 0x1f_u32", "AtLeast(count, 31)"),
        (
            "small > -5 && -small < 5i8",
            "And(More(small, -5), Less(Negative(small), 5))",
        ),
        (
            "ratio < 1e3 && ratio > -0.5f64 && ratio < 2f64",
            "And(And(Less(ratio, 1000.0), More(ratio, -0.5)), Less(ratio, 2.0))",
        ),
        ("ratio < 0.1f32", "Less(ratio, 0.10000000149011612)"),
        ("count % 2 == 0", "Equal(Remainder(count, 2), 0)"),
        ("count.is_multiple_of(2)", "Equal(Remainder(count, 2), 0)"),
        ("count.is_multiple_of(0)", "Opaque(count.is_multiple_of(0))"),
        (
            "count * 2 + 1 - small < 24 * 60",
            "Less(Subtract(Add(Multiply(count, 2), 1), small), Multiply(24, 60))",
        ),
        ("small == b'a'", "Equal(small, 97)"),
        ("r#type == \"x\"", "Equal(type, \"x\")"),
        (
            "name != 'x'.to_string()",
            "NotEqual(name, Opaque('x'.to_string()))",
        ),
        ("{ count > 0 }", "More(count, 0)"),
        (
            "if flag { count > 0 } else { count == 0 }",
            "Or(And(flag, More(count, 0)), And(Not(flag), Equal(count, 0)))",
        ),
    ]);
}

#[test]
fn ranges_and_lists_of_values() {
    reads(&[
        (
            "(1..=9).contains(&count)",
            "And(AtLeast(count, 1), AtMost(count, 9))",
        ),
        (
            "(0.0..1.0).contains(&ratio)",
            "And(AtLeast(ratio, 0.0), Less(ratio, 1.0))",
        ),
        ("(..LIMIT).contains(&count)", "Less(count, LIMIT: u32)"),
        ("(1..).contains(&(count + 1))", "AtLeast(Add(count, 1), 1)"),
        ("[1, MAX].contains(&count)", "Among(count, [1, MAX: u32])"),
        (
            "[\"a\", \"b\"].contains(&name)",
            "Among(name, [\"a\", \"b\"])",
        ),
        ("ALLOWED.contains(&name)", "Contains(ALLOWED, name)"),
        (
            "matches!(count, 1..=9 | 20)",
            "Or(And(AtLeast(count, 1), AtMost(count, 9)), Equal(count, 20))",
        ),
        (
            "matches!(name, \"a\" | \"b\")",
            "Among(name, [\"a\", \"b\"])",
        ),
        ("matches!(small, -1)", "Equal(small, -1)"),
        (
            "matches!(limit, None | Some(1..))",
            "Or(Not(IsSome(limit)), SomeAnd(limit, $value, AtLeast($value, 1)))",
        ),
        ("matches!(note.as_deref(), Some(_))", "IsSome(note)"),
        ("matches!(count, x if x > 1)", "Opaque(x > 1)"),
        ("matches!(count, other)", "Opaque(matches!(count, other))"),
    ]);
}

#[test]
fn texts_and_lists() {
    reads(&[
        ("!name.is_empty()", "Not(Equal(Length(name), 0))"),
        (
            "name.len() <= MAX && name.as_bytes().len() < 9",
            "And(AtMost(Length(name), MAX: usize), Less(Length(name), 9))",
        ),
        (
            "name.chars().count() < MAX",
            "Less(Characters(name), MAX: usize)",
        ),
        ("numbers.iter().count() == 3", "Equal(Length(numbers), 3)"),
        (
            "name.starts_with('a') || name.ends_with(SUFFIX)",
            "Or(StartsWith(name, \"a\"), EndsWith(name, SUFFIX))",
        ),
        (
            "tags.contains(&\"x\".to_owned()) || tags.contains(&String::from(\"y\"))",
            "Or(Contains(tags, \"x\"), Contains(tags, \"y\"))",
        ),
        (
            "tags.iter().all(|tag| !tag.is_empty() && tag.len() < MAX)",
            "All(tags, $tag, And(Not(Equal(Length($tag), 0)), Less(Length($tag), MAX: usize)))",
        ),
        (
            "numbers.iter().any(|&n| { n > FLOOR })",
            "Any(numbers, $n, More($n, FLOOR: u64))",
        ),
        (
            "numbers.iter().all(|n: &u64| *n == count)",
            "All(numbers, $n, Equal($n, count))",
        ),
        (
            "numbers.iter().all(|count| *count > 1)",
            "All(numbers, $count, More($count, 1))",
        ),
        (
            "matches_pattern(&name, r\"^a+$\")",
            "Matches(name, Pattern(r\"^a+$\"))",
        ),
        (
            "contract_runtime::matches_pattern(name, PATTERN)",
            "Matches(name, Pattern(PATTERN))",
        ),
        (
            "name.chars().all(|c| c == 'a')",
            "Opaque(name.chars().all(|c| c == 'a'))",
        ),
        ("numbers.iter().all(positive)", "Opaque(positive)"),
        (
            "name.contains(char::is_whitespace)",
            "Contains(name, Opaque(char::is_whitespace))",
        ),
    ]);
}

#[test]
fn optionals() {
    reads(&[
        (
            "note.is_some() && limit.is_none()",
            "And(IsSome(note), Not(IsSome(limit)))",
        ),
        (
            "note != None && None == limit",
            "And(IsSome(note), Not(IsSome(limit)))",
        ),
        (
            "limit == Some(5)",
            "SomeAnd(limit, $value, Equal($value, 5))",
        ),
        (
            "note.as_deref() != Some(\"x\")",
            "Not(SomeAnd(note, $value, Equal($value, \"x\")))",
        ),
        (
            "limit.is_some_and(|n| n < MAX)",
            "SomeAnd(limit, $n, Less($n, MAX: u32))",
        ),
        (
            "note.as_deref().is_none_or(|note| note.len() > 1)",
            "NoneOr(note, $note, More(Length($note), 1))",
        ),
        (
            "limit.map_or(true, |n| n > 1) && limit.map_or(false, |n| n > 1)",
            "And(NoneOr(limit, $n, More($n, 1)), SomeAnd(limit, $n, More($n, 1)))",
        ),
        (
            "limit.map(|n| n > 1).unwrap_or(true)",
            "NoneOr(limit, $n, More($n, 1))",
        ),
        ("sure.unwrap_or(false)", "SomeAnd(sure, $value, $value)"),
        (
            "limit.unwrap_or(7) <= 9",
            "Or(And(Not(IsSome(limit)), AtMost(7, 9)), SomeAnd(limit, $value, AtMost($value, 9)))",
        ),
        ("limit < Some(5)", "Opaque(limit < Some(5))"),
        (
            "limit.map(|n| n * 2).unwrap_or(0) < 9",
            "Less(Opaque(limit.map(|n| n * 2).unwrap_or(0)), 9)",
        ),
    ]);
}

#[test]
fn floats_that_are_no_numbers() {
    reads(&[
        (
            "ratio.is_finite() && !ratio.is_nan()",
            "And(IsFinite(ratio), Not(NotEqual(ratio, ratio)))",
        ),
        (
            "ratio < f64::MAX && ratio > -std::f64::consts::PI",
            "And(Less(ratio, f64::MAX: f64), More(ratio, Negative(std::f64::consts::PI)))",
        ),
    ]);
}

#[test]
fn a_constant_has_the_type_of_the_other_side_where_that_is_spelled() {
    reads(&[
        ("count < MAX", "Less(count, MAX: u32)"),
        ("MAX > count + OFFSET", "More(MAX, Add(count, OFFSET: u32))"),
        ("count % STEP == 0", "Equal(Remainder(count, STEP: u32), 0)"),
        (
            "count * SECOND <= HOUR",
            "AtMost(Multiply(count, SECOND), HOUR)",
        ),
        ("small < &MAX", "Less(small, MAX: i8)"),
        ("count < *LAZY", "Less(count, *LAZY)"),
        ("count < limits::MAX", "Less(count, limits::MAX: u32)"),
        (
            "count < const { 5 * 3 }",
            "Less(count, const { 5 * 3 }: u32)",
        ),
        ("name == NAME", "Equal(name, NAME)"),
        ("count < Self::MAX", "Less(count, Self::MAX: u32)"),
        (
            "note.is_some_and(|n| n < MAX)",
            "SomeAnd(note, $n, Less($n, MAX))",
        ),
    ]);
}

#[test]
fn what_may_change_or_fail_or_hides_its_names_is_opaque() {
    reads(&[
        ("count < limit()", "Less(count, Opaque(limit()))"),
        ("count as f64 > 0.5", "More(Opaque(count as f64), 0.5)"),
        ("i64::from(other) < 3", "Less(Opaque(i64::from(other)), 3)"),
        ("count / 2 > 1", "More(Opaque(count / 2), 1)"),
        ("numbers[0] > 1", "More(Opaque(numbers[0]), 1)"),
        ("size.width > 1", "More(Opaque(size.width), 1)"),
        ("count & 1 == 1", "Equal(Opaque(count & 1), 1)"),
        ("flag & (count > 1)", "Opaque(flag & (count > 1))"),
        ("name.trim() == name", "Equal(Opaque(name.trim()), name)"),
        ("self.open", "Opaque(self.open)"),
        ("count == other", "Equal(count, Opaque(other))"),
        (
            "[#[cfg(unix)] 1, 2].contains(&count)",
            "Opaque([#[cfg(unix)] 1, 2].contains(&count))",
        ),
        (
            "340282366920938463463374607431768211455 > count",
            "More(Opaque(340282366920938463463374607431768211455), count)",
        ),
        (
            "count == 1 && { let x = 1; x == 1 }",
            "And(Equal(count, 1), Opaque({ let x = 1; x == 1 }))",
        ),
    ]);
}

#[test]
fn one_parameter_of_few_values_is_asked_of_rust() {
    reads(&[
        (
            "matches!(mode, Mode::Fast | Mode::Slow)",
            "Native(matches!(mode, Mode::Fast | Mode::Slow))",
        ),
        (
            "mode.is_fast() || count > 1",
            "Or(Native(mode.is_fast()), More(count, 1))",
        ),
        (
            "mode == Mode::KG",
            "Either(Equal(mode, Mode::KG), Native(mode == Mode::KG))",
        ),
        (
            "pause != Some(Mode::Off)",
            "Native(pause != Some(Mode::Off))",
        ),
        ("pause.is_some()", "IsSome(pause)"),
        ("flag & true", "Native(flag & true)"),
        ("allowed(&mode)", "Native(allowed(&mode))"),
        (
            "FAST.contains(&mode)",
            "Either(Contains(FAST, mode), Native(FAST.contains(&mode)))",
        ),
        // The day it is asked, the state it reads and the other parameter are not the parameter's own.
        ("mode == today()", "Equal(mode, Opaque(today()))"),
        (
            "FAST.lock().contains(&mode)",
            "Contains(Opaque(FAST.lock()), mode)",
        ),
        ("mode.allows(count)", "Opaque(mode.allows(count))"),
        ("mode.width > 3", "More(Opaque(mode.width), 3)"),
    ]);
}

#[test]
fn conversions_that_lose_nothing_and_magnitudes() {
    reads(&[
        (
            "tags.len() <= count as usize",
            "AtMost(Length(tags), Converted(count))",
        ),
        (
            "tags.len() as u64 <= 5",
            "AtMost(Converted(Length(tags)), 5)",
        ),
        ("u64::from(count) > 5", "More(Converted(count), 5)"),
        ("count as i64 > 5", "More(Converted(count), 5)"),
        ("small as i64 > 5", "More(Converted(small), 5)"),
        // Only the compiler knows what these are.
        ("count as Wide > 5", "More(Converted(count), 5)"),
        ("count as _ > 5", "More(Opaque(count as _), 5)"),
        (
            "Wide::from(count) > 5",
            "More(Opaque(Wide::from(count)), 5)",
        ),
        // These change some value.
        ("small as usize > 5", "More(Opaque(small as usize), 5)"),
        ("count as u16 > 5", "More(Opaque(count as u16), 5)"),
        ("count as i32 > 5", "More(Opaque(count as i32), 5)"),
        (
            "tags.len() as u32 > 5",
            "More(Opaque(tags.len() as u32), 5)",
        ),
        ("ratio as i64 > 5", "More(Opaque(ratio as i64), 5)"),
        ("ratio.abs() <= 1.5", "AtMost(Absolute(ratio), 1.5)"),
        ("ratio.abs() > 1.5", "More(Absolute(ratio), 1.5)"),
        (
            "small.unsigned_abs() < 5",
            "Less(UnsignedAbsolute(small), 5)",
        ),
        ("small.abs() < 5", "Less(Absolute(small), 5)"),
        ("name.is_ascii()", "IsAscii(name)"),
        (
            "!name.trim().is_empty()",
            "Not(Or(Equal(Length(name), 0), Opaque(name.trim().is_empty())))",
        ),
    ]);
}
