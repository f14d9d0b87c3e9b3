//! Contradictions of each kind, each with a satisfiable neighbour.

use super::super::apart::are_met;
use super::super::constants::{Known, Value};
use super::*;
use crate::contract::expression::Comparison::{AtLeast, AtMost, Equal, Less, More, NotEqual};
use crate::contract::expression::Expression::{
    All, Among, And, Any, Arithmetic, Characters, Compare, EndsWith, Float, Integer, IsFinite,
    IsSome, Length, Named, Native, NoneOr, Not, Opaque, Or, Parameter, SomeAnd, StartsWith, Text,
    Variable,
};
use crate::contract::expression::Operation::Remainder;
use crate::contract::findings::judge::{broken, contradiction};
use crate::contract::type_kind::TypeKind;

const A: Expression = Parameter("a");
const B: Expression = Parameter("b");
const TEXT: Expression = Parameter("text");
const LIST: Expression = Parameter("list");
const MAYBE: Expression = Parameter("maybe");
const FLOAT: Expression = Parameter("float");
const X: Expression = Variable("x");
const WORDS: [Expression; 2] = [Text("one"), Text("two")];
const LIMIT: Expression = Named {
    text: "LIMIT",
    value: || None,
};
const IS_FAST: Expression = Native {
    text: "is_fast",
    parameter: "mode",
    holds: |_| None,
};
const IS_SLOW: Expression = Native {
    text: "is_slow",
    parameter: "mode",
    holds: |_| None,
};

fn found(list: &[&'static Expression]) -> bool {
    let list: Vec<Condition> = list.iter().map(|one| condition(one)).collect();
    impossible(facts(), &list, (1 << list.len()) - 1, 0)
}

#[track_caller]
fn apart(one: &'static Expression, other: &'static Expression, near: &'static Expression) {
    assert!(found(&[one, other]), "{one:?} and {other:?}");
    assert!(!found(&[one, near]), "{one:?} and {near:?}");
}

#[test]
fn ordinary_conditions_are_met_at_first_sight() {
    let met = |list: &[&'static Expression]| {
        let list: Vec<Condition> = list.iter().map(|one| condition(one)).collect();
        are_met(&facts(), &list)
    };
    let not_empty = &Not(&Compare(Equal, &Length(&TEXT), &Integer(0)));
    let some = &Compare(AtLeast, &A, &Integer(1));
    let between = &And(
        &Compare(AtLeast, &A, &Integer(1)),
        &Compare(AtMost, &A, &Integer(2)),
    );
    let none = &Compare(Less, &A, &Integer(0));
    let positive = &Compare(More, &FLOAT, &Float(0.0));
    let share = &And(
        &Compare(More, &FLOAT, &Float(0.0)),
        &Compare(AtLeast, &Float(1.0), &FLOAT),
    );
    let single = &Compare(More, &Parameter("single"), &Float(0.0));
    let unread = &And(
        &Opaque("is_ready()"),
        &Or(
            &Compare(Equal, &A, &Integer(1)),
            &Compare(Less, &A, &Integer(0)),
        ),
    );
    let absent = &NoneOr(&MAYBE, "x", &Compare(More, &X, &Integer(1)));
    assert!(met(&[
        not_empty,
        between,
        share,
        single,
        &Parameter("flag")
    ]));
    assert!(met(&[unread, &IsFinite(&FLOAT), absent, absent]));
    for unclear in [
        &[some, none][..],
        &[&Compare(More, &A, &Integer(3))],
        &[single, single],
        &[positive, &Compare(AtMost, &FLOAT, &Float(0.0))],
        &[absent, &IsSome(&MAYBE)],
        &[&Compare(Less, &A, &B)],
        &[not_empty, &Compare(Less, &Characters(&TEXT), &Integer(3))],
        &[&Parameter("flag"), &Not(&Parameter("flag"))],
    ] {
        assert!(!met(unclear), "{unclear:?}");
    }
}

#[test]
fn lengths() {
    apart(
        &Compare(AtMost, &Length(&TEXT), &Integer(3)),
        &Compare(More, &Characters(&TEXT), &Integer(3)),
        &Compare(More, &Characters(&TEXT), &Integer(2)),
    );
    apart(
        &Compare(More, &Length(&TEXT), &Integer(8)),
        &Compare(AtMost, &Characters(&TEXT), &Integer(2)),
        &Compare(AtMost, &Characters(&TEXT), &Integer(3)),
    );
    apart(
        &Any(&LIST, "x", &Compare(More, &X, &Integer(1))),
        &Compare(Equal, &Length(&LIST), &Integer(0)),
        &Compare(Equal, &Length(&LIST), &Integer(1)),
    );
}

#[test]
fn items() {
    apart(
        &And(
            &All(&LIST, "x", &Compare(More, &X, &Integer(1))),
            &Compare(More, &Length(&LIST), &Integer(0)),
        ),
        &All(&LIST, "x", &Compare(Less, &X, &Integer(2))),
        &All(&LIST, "x", &Compare(AtMost, &X, &Integer(2))),
    );
    apart(
        &All(&LIST, "x", &Compare(Less, &X, &Integer(2))),
        &Any(&LIST, "x", &Compare(AtLeast, &X, &Integer(2))),
        &Any(&LIST, "x", &Compare(AtLeast, &X, &Integer(1))),
    );
}

#[test]
fn optionals() {
    apart(&IsSome(&MAYBE), &Not(&IsSome(&MAYBE)), &IsSome(&MAYBE));
    apart(
        &SomeAnd(&MAYBE, "x", &Compare(More, &X, &Integer(0))),
        &NoneOr(&MAYBE, "x", &Compare(Less, &X, &Integer(1))),
        &NoneOr(&MAYBE, "x", &Compare(Less, &X, &Integer(2))),
    );
}

#[test]
fn sets_of_texts() {
    apart(
        &Among(&TEXT, &WORDS),
        &And(
            &Compare(NotEqual, &TEXT, &Text("one")),
            &Compare(NotEqual, &TEXT, &Text("two")),
        ),
        &Compare(NotEqual, &TEXT, &Text("one")),
    );
    apart(
        &Among(&TEXT, &WORDS),
        &Compare(More, &Length(&TEXT), &Integer(3)),
        &EndsWith(&TEXT, &Text("e")),
    );
    apart(
        &StartsWith(&TEXT, &Text("tw")),
        &StartsWith(&TEXT, &Text("o")),
        &StartsWith(&TEXT, &Text("twi")),
    );
}

#[test]
fn orders() {
    apart(
        &Compare(Less, &A, &B),
        &Compare(Less, &B, &A),
        &Compare(NotEqual, &A, &B),
    );
    apart(
        &Compare(Less, &FLOAT, &Parameter("other")),
        &Compare(Equal, &FLOAT, &Parameter("other")),
        &Compare(NotEqual, &FLOAT, &Float(1.0)),
    );
    apart(
        &And(&Compare(Less, &A, &B), &Compare(More, &A, &Integer(1))),
        &Compare(AtMost, &B, &Integer(2)),
        &Compare(AtMost, &B, &Integer(3)),
    );
}

#[test]
fn remainders() {
    const REST: Expression = Arithmetic(Remainder, &A, &Integer(2));
    apart(
        &Compare(Equal, &REST, &Integer(1)),
        &Compare(Less, &A, &Integer(-2)),
        &Compare(Less, &A, &Integer(2)),
    );
    apart(
        &Compare(Equal, &REST, &Integer(0)),
        &Compare(Equal, &A, &Integer(3)),
        &Compare(Equal, &A, &Integer(2)),
    );
}

#[test]
fn alternatives() {
    apart(
        &Or(
            &Compare(Less, &A, &Integer(-1)),
            &Compare(Less, &A, &Integer(0)),
        ),
        &Compare(Equal, &A, &Integer(0)),
        &Compare(Equal, &A, &Integer(-1)),
    );
    // Not NaN: `!(x > 1)` holds of that as well.
    apart(
        &Compare(More, &FLOAT, &Float(1.0)),
        &Compare(AtMost, &FLOAT, &Float(1.0)),
        &Not(&Compare(AtMost, &FLOAT, &Float(1.0))),
    );
    assert!(!found(&[
        &Not(&Compare(More, &FLOAT, &Float(1.0))),
        &Not(&Compare(AtMost, &FLOAT, &Float(1.0))),
    ]));
}

#[test]
fn what_is_known_only_later() {
    let known = [
        Known {
            text: "LIMIT",
            value: Value::Integer(2),
        },
        Known {
            text: "is_fast",
            value: Value::Values {
                holding: 0b001,
                failing: 0b110,
            },
        },
        Known {
            text: "is_slow",
            value: Value::Values {
                holding: 0b010,
                // It panicked when it was asked of the third.
                failing: 0b001,
            },
        },
    ];
    let judged = |known, list: &[&'static Expression]| {
        let list: Vec<Condition> = list.iter().map(|one| condition(one)).collect();
        let mut facts = AbstractState::new(known);
        facts.typed("a", TypeKind::Integer { low: -3, high: 3 });
        facts.typed("mode", TypeKind::Opaque);
        facts.few("mode", 3);
        impossible(facts, &list, (1 << list.len()) - 1, 0)
    };
    let bound: [&'static Expression; 2] =
        [&Compare(More, &A, &LIMIT), &Compare(Less, &A, &Integer(3))];
    assert!(judged(&known, &bound));
    assert!(!judged(&[], &bound), "nothing is known of `LIMIT`");
    assert!(judged(&known, &[&IS_FAST, &IS_SLOW]));
    assert!(!judged(&known, &[&Not(&IS_FAST), &IS_SLOW]));
    assert!(
        !judged(&known, &[&Not(&IS_FAST), &Not(&IS_SLOW)]),
        "the third may be"
    );
    assert!(!judged(&[], &[&IS_FAST, &IS_SLOW]));
}

#[test]
fn the_compiler_finds_them_and_names_no_more_than_needed() {
    const CONDITIONS: &[Condition] = &[
        plain("b > 0", &Compare(More, &B, &Integer(0))),
        plain("a > 1", &Compare(More, &A, &Integer(1))),
        plain("a < b", &Compare(Less, &A, &B)),
        plain("a != 0", &Compare(NotEqual, &A, &Integer(0))),
        plain("b < 2", &Compare(Less, &B, &Integer(2))),
        plain("a > 3", &Compare(More, &A, &Integer(3))),
    ];
    const SMALL: TypeKind = TypeKind::Integer { low: -3, high: 3 };
    const FACTS: AbstractState<'static> = {
        let mut facts = AbstractState::new(&[]);
        facts.typed("a", SMALL);
        facts.typed("b", SMALL);
        facts
    };
    const FOUND: Option<judge::Contradiction> = contradiction(&FACTS, CONDITIONS);
    let found = FOUND.unwrap();
    assert_eq!((found.later, found.set), (4, 0b1_0110));
    assert_eq!(
        found.message(CONDITIONS).text(),
        "no value can satisfy `a > 1`, `a < b` and `b < 2`; weaken one of them"
    );
    let (_, last) = CONDITIONS.split_at(5);
    let found = contradiction(&FACTS, last).unwrap();
    assert_eq!(
        found.message(last).text(),
        "`a > 3` holds for no value of `a`, whose type goes from -3 to 3; move the bound into that range"
    );
    let message = broken(
        &FACTS,
        (CONDITIONS, None),
        "default",
        "b",
        Value::Integer(3),
    )
    .unwrap();
    assert_eq!(
        message.text(),
        "the default of `b` breaks `b < 2`; change one of them"
    );
    assert!(
        broken(
            &FACTS,
            (CONDITIONS, None),
            "default",
            "b",
            Value::Integer(1)
        )
        .is_none()
    );
}

const fn plain(text: &'static str, expression: &'static Expression) -> Condition {
    Condition::new(ConditionKind::Pre, text, None, None, &["a"], (1, 1)).reading(expression)
}

/// The compiler stops a constant that takes it too long, so this would not compile.
#[test]
fn large_contracts_are_judged_only_so_far() {
    const NUMBERS: [Expression; 300] = {
        let mut list = [Integer(0); 300];
        let mut at = 0;
        while at < list.len() {
            list[at] = Integer(at as i128 % 7 - 3);
            at += 1;
        }
        list
    };
    const CONDITIONS: [Condition; 60] = [plain("a", &Among(&A, &NUMBERS)); 60];
    const FOUND: bool = {
        let mut facts = AbstractState::new(&[]);
        facts.typed("a", TypeKind::Integer { low: -3, high: 3 });
        impossible(facts, &CONDITIONS, u64::MAX >> 4, 0)
    };
    const { assert!(!FOUND) };
}

#[test]
fn more_conditions_than_bits_are_passed_over() {
    let never = condition(&Compare(More, &Integer(1), &Integer(2)));
    let always = condition(&Compare(Less, &Integer(1), &Integer(2)));
    let mut list = vec![always; 64];
    list.push(never);
    assert!(contradiction(&facts(), &list).is_none());
    list.swap(63, 64);
    assert_eq!(
        contradiction(&facts(), &list).map(|found| found.later),
        Some(63)
    );
}

#[test]
fn more_parameters_than_domains_are_passed_over() {
    let mut facts = AbstractState::new(&[]);
    for name in [
        "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", "1", "2", "3", "4", "text", "a",
    ] {
        facts.typed(name, TypeKind::Optional(&TypeKind::Bool));
    }
    let list = [condition(&And(&IsSome(&A), &Not(&IsSome(&A))))];
    assert!(!impossible(facts, &list, 1, 0));
}
