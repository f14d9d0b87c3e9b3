//! Contradictions of each kind, each with a satisfiable neighbour.

use super::*;
use crate::contract::expression::Comparison::{AtLeast, AtMost, Equal, Less, More, NotEqual};
use crate::contract::expression::Expression::{
    All, Among, And, Any, Arithmetic, Characters, Compare, EndsWith, Float, Integer, IsSome,
    Length, Named, Native, NoneOr, Not, Or, Parameter, SomeAnd, StartsWith, Text, Variable,
};
use crate::contract::expression::Operation::Remainder;
use crate::contract::findings::judge::{Judged, broken, contradiction};
use crate::contract::findings::{Known, Value};
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
    solver(conditions(list)).contradiction().is_some()
}

#[track_caller]
fn apart(one: &'static Expression, other: &'static Expression, near: &'static Expression) {
    assert!(found(&[one, other]), "{one:?} and {other:?}");
    assert!(!found(&[one, near]), "{one:?} and {near:?}");
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
        let mut solver = Solver::new(conditions(list), known);
        solver.typed("a", TypeKind::Integer { low: -3, high: 3 });
        solver.typed("mode", TypeKind::Opaque);
        solver.few("mode", 3);
        solver.contradiction().is_some()
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

const SMALL: TypeKind = TypeKind::Integer { low: -3, high: 3 };

const fn plain(text: &'static str, expression: &'static Expression) -> Condition {
    Condition::new(ConditionKind::Pre, text, None, None, &["a"], (1, 1)).reading(expression)
}

#[test]
fn a_registry_finds_them_and_names_no_more_than_needed() {
    const CONDITIONS: &[Condition] = &[
        plain("b > 0", &Compare(More, &B, &Integer(0))),
        plain("a > 1", &Compare(More, &A, &Integer(1))),
        plain("a < b", &Compare(Less, &A, &B)),
        plain("a != 0", &Compare(NotEqual, &A, &Integer(0))),
        plain("b < 2", &Compare(Less, &B, &Integer(2))),
        plain("a > 3", &Compare(More, &A, &Integer(3))),
    ];
    let of = |conditions| {
        let mut solver = Solver::new(conditions, &[]);
        solver.typed("a", SMALL);
        solver.typed("b", SMALL);
        solver.contradiction().unwrap()
    };
    let found = of(CONDITIONS.split_at(5).0);
    assert_eq!(found, 0b1_0110);
    assert_eq!(
        contradiction(CONDITIONS, found).text(),
        "no value can satisfy `a > 1`, `a < b` and `b < 2`; weaken one of them"
    );
    let (_, last) = CONDITIONS.split_at(5);
    assert_eq!(
        contradiction(last, of(last)).text(),
        "no value of its type can satisfy `a > 3`; weaken it"
    );
}

#[test]
fn the_compiler_finds_what_one_parameter_contradicts() {
    const CONDITIONS: &[Condition] = &[
        plain("a > -3", &Compare(More, &A, &Integer(-3))),
        plain("a > 1", &Compare(More, &A, &Integer(1))),
        plain("a < b", &Compare(Less, &A, &B)),
        plain("a < 2", &Compare(Less, &A, &Integer(2))),
        plain("a > 3", &Compare(More, &A, &Integer(3))),
    ];
    const JUDGED: Judged = judge(CONDITIONS, &[("a", SMALL), ("b", SMALL)]);
    let found = JUDGED.found();
    assert_eq!(found, 0b1010);
    assert_eq!(
        contradiction(CONDITIONS, found).text(),
        "no value can satisfy `a > 1` and `a < 2`; weaken one of them"
    );
    let (_, end) = CONDITIONS.split_at(4);
    let found = judge(end, &[("a", SMALL)]).found();
    assert_eq!(
        contradiction(end, found).text(),
        "no value of its type can satisfy `a > 3`; weaken it"
    );
    let stated = (CONDITIONS, None);
    let message = broken(stated, ("a", SMALL), Value::Integer(1)).unwrap();
    assert_eq!(
        message.text(),
        "the default of `a` breaks `a > 1`; change one of them"
    );
    assert!(broken(stated, ("b", SMALL), Value::Integer(3)).is_none());
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
    const CONDITION: Condition = plain("a", &Among(&A, &NUMBERS));
    const CONDITIONS: &[Condition] = &[CONDITION; 60];
    const FOUND: u64 = judge(CONDITIONS, &[("a", SMALL)]).found();
    assert_eq!(FOUND, 0);
}

#[test]
fn more_conditions_than_bits_are_passed_over() {
    let never: &Expression = &Compare(Less, &A, &Integer(-3));
    let always: &Expression = &Compare(AtLeast, &A, &Integer(-3));
    let mut list = vec![always; 64];
    list.push(never);
    assert!(!found(&list) && judged(&list).is_none());
    list.swap(63, 64);
    assert!(found(&list));
    assert_eq!(judged(&list), Some(1 << 63));
}

#[test]
fn items_of_several_quantifiers_are_not_one() {
    const ONE: Expression = Any(&LIST, "x", &Compare(Equal, &X, &Integer(1)));
    const TWO: Expression = Any(&LIST, "x", &Compare(Equal, &X, &Integer(2)));
    assert!(!found(&[&ONE, &TWO]));
    assert!(!found(&[&Or(&And(&ONE, &TWO), &Not(&ONE))]));
    assert!(found(&[&And(
        &All(&LIST, "x", &Compare(Equal, &X, &Integer(1))),
        &TWO
    )]));
}
