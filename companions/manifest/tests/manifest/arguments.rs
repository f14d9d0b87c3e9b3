//! Arguments may be more, results less.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{assert_changes, lines, subject};

#[test]
fn a_parameter_may_come_if_it_may_be_left_out() {
    assert_changes(
        &subject!(
            fn subject(a: u8) {}
        ),
        &subject!(
            fn subject(a: u8, b: Option<u8>, #[arg(default = 3)] c: u8) {}
        ),
        &[
            "+ input/b: is new, and may be left out",
            "+ input/c: is new, and may be left out",
        ],
        &[
            "- input/b: is gone; a call that gives it is refused",
            "- input/c: is gone; a call that gives it is refused",
        ],
    );
    assert_eq!(
        lines(
            &subject!(
                fn subject(a: u8, b: u8) {}
            )
            .diff(&subject!(
                fn subject(a: u8) {}
            ))
        ),
        ["- input/b: is new, and must be given"],
    );
}

#[test]
fn a_parameter_may_become_optional() {
    assert_changes(
        &subject!(
            fn subject(a: u8) {}
        ),
        &subject!(
            fn subject(#[arg(default = 3)] a: u8) {}
        ),
        &[
            "+ input/a: before: must be given; now: may be left out",
            "+ input/a: accepts the same; its text has changed",
        ],
        &[
            "- input/a: before: may be left out; now: must be given",
            "+ input/a: accepts the same; its text has changed",
        ],
    );
}

#[test]
fn a_default_must_stay() {
    assert_changes(
        &subject!(
            fn subject(#[arg(default = 3)] a: u8) {}
        ),
        &subject!(
            fn subject(#[arg(default = 4)] a: u8) {}
        ),
        &[
            "- input/a: before: `3` when it is left out; now: `4` when it is left out",
            "+ input/a: accepts the same; its text has changed",
        ],
        &[
            "- input/a: before: `4` when it is left out; now: `3` when it is left out",
            "+ input/a: accepts the same; its text has changed",
        ],
    );
    let none = subject!(
        fn subject(a: Option<u8>) {}
    );
    let three = subject!(
        fn subject(#[arg(default = Some(3))] a: Option<u8>) {}
    );
    assert!(three.diff(&none).is_breaking() && none.diff(&three).is_breaking());
}

#[test]
fn a_default_inside_a_type_must_stay() {
    let old = {
        #[derive(Deserialize, JsonSchema)]
        struct Page {
            #[serde(default)]
            _size: u8,
        }
        subject!(
            fn subject(page: Page) {}
        )
    };
    let new = {
        fn ten() -> u8 {
            10
        }
        #[derive(Deserialize, JsonSchema)]
        struct Page {
            #[serde(default = "ten")]
            _size: u8,
        }
        subject!(
            fn subject(page: Page) {}
        )
    };
    assert_eq!(
        lines(&new.diff(&old)),
        ["- input/page/_size: before: `0` when it is left out; now: `10` when it is left out"],
    );
}

#[test]
fn a_type_may_widen() {
    assert_changes(
        &subject!(
            fn subject(a: u8) {}
        ),
        &subject!(
            fn subject(a: Option<i16>) {}
        ),
        &[
            "+ input/a: before: must be given; now: may be left out",
            "+ input/a: before: never `null`; now: may be `null`",
        ],
        &[
            "- input/a: before: may be left out; now: must be given",
            "- input/a: before: may be `null`; now: never `null`",
        ],
    );
}

#[test]
fn another_name_is_another_parameter() {
    assert_eq!(
        lines(
            &subject!(
                fn subject(to: u8) {}
            )
            .diff(&subject!(
                fn subject(till: u8) {}
            ))
        ),
        [
            "- input/till: is gone; a call that gives it is refused",
            "- input/to: is new, and must be given",
        ],
    );
}

#[test]
fn words_are_no_change_of_a_parameter() {
    let old = subject!(
        fn subject(
            /// Kilometres.
            a: u8,
        ) {
        }
    );
    let new = subject!(
        fn subject(
            /// A distance in kilometres.
            a: u8,
        ) {
        }
    );
    assert_eq!(
        lines(&new.diff(&old)),
        ["+ input/a: accepts the same; its text has changed"]
    );
}

#[test]
fn an_enum_may_grow_as_an_argument_and_shrink_as_a_result() {
    let old = {
        #[derive(Deserialize, Serialize, JsonSchema)]
        enum Unit {
            Metre,
        }
        subject!(
            fn subject(unit: Unit) -> Unit {
                unit
            }
        )
    };
    let new = {
        #[derive(Deserialize, Serialize, JsonSchema)]
        enum Unit {
            Metre,
            Foot,
        }
        subject!(
            fn subject(unit: Unit) -> Unit {
                unit
            }
        )
    };
    assert_changes(
        &old,
        &new,
        &[
            "- output: before: never `\"Foot\"`; now: may be `\"Foot\"`",
            "+ input/unit: before: never `\"Foot\"`; now: may be `\"Foot\"`",
        ],
        &[
            "- input/unit: before: may be `\"Foot\"`; now: never `\"Foot\"`",
            "+ output: before: may be `\"Foot\"`; now: never `\"Foot\"`",
        ],
    );
}

#[test]
fn a_result_may_say_more_of_itself() {
    assert_changes(
        &subject!(
            fn subject() -> Option<f64> {
                None
            }
        ),
        &subject!(
            fn subject() -> u8 {
                1
            }
        ),
        &["+ output: before: may be `null`; now: never `null`"],
        &["- output: before: never `null`; now: may be `null`"],
    );
    assert_changes(
        &subject!(
            fn subject() {}
        ),
        &subject!(
            fn subject() -> u8 {
                1
            }
        ),
        &["+ output: the result is described now"],
        &["- output: the result is not described any more"],
    );
}
