//! Preconditions may weaken, postconditions may strengthen.

use super::{assert_changes, lines, subject};

#[test]
fn a_bound_is_judged_by_the_schema() {
    assert_changes(
        &subject!(
            #[pre(count <= 10)]
            fn subject(count: u8) {}
        ),
        &subject!(
            #[pre(count <= 20)]
            fn subject(count: u8) {}
        ),
        &[
            "+ input/count: before: at most 10; now: at most 20",
            "+ pre `count <= 10`: is not required any more",
            "+ pre `count <= 20`: is required now; the schema says all of it, and refuses nothing that it accepted",
        ],
        &[
            "- input/count: before: at most 20; now: at most 10",
            "- pre `count <= 10`: is required now; see the schema of the arguments",
            "+ pre `count <= 20`: is not required any more",
        ],
    );
}

#[test]
fn the_same_bound_in_other_words_is_no_new_demand() {
    let old = subject!(
        #[pre(count > 0 && count <= 10)]
        fn subject(count: u8) {}
    );
    let new = subject!(
        #[pre((1..=10).contains(&count))]
        fn subject(count: u8) {}
    );
    let split = subject!(
        #[pre(count >= 1)]
        #[pre(count < 11)]
        fn subject(count: u8) {}
    );
    for (one, other) in [(&old, &new), (&new, &split), (&split, &old)] {
        assert!(!one.diff(other).is_breaking() && !other.diff(one).is_breaking());
    }
}

#[test]
fn a_condition_that_is_only_told_cannot_be_compared() {
    assert_changes(
        &subject!(
            #[pre(a < b)]
            fn subject(a: u8, b: u8) {}
        ),
        &subject!(
            #[pre(a < b || a == 0)]
            fn subject(a: u8, b: u8) {}
        ),
        &[
            "- pre `a < b || a == 0`: is required now; cannot be proven compatible: the schema does not say all of it",
            "+ pre `a < b`: is not required any more",
        ],
        &[
            "- pre `a < b`: is required now; cannot be proven compatible: the schema does not say all of it",
            "+ pre `a < b || a == 0`: is not required any more",
        ],
    );
}

#[test]
fn a_condition_that_is_implied_is_not_proven_by_its_keywords() {
    let old = subject!(
        #[pre(name.len() <= 10)]
        fn subject(name: String) {}
    );
    let new = subject!(
        #[pre(name.len() <= 20)]
        fn subject(name: String) {}
    );
    assert!(new.diff(&old).is_breaking() && old.diff(&new).is_breaking());
}

#[test]
fn a_precondition_may_go_and_not_come() {
    assert_changes(
        &subject!(
            fn subject(a: u8, b: u8) {}
        ),
        &subject!(
            #[pre(a < b, "in order")]
            fn subject(a: u8, b: u8) {}
        ),
        &[
            "- pre `a < b`: is required now; cannot be proven compatible: the schema does not say all of it",
        ],
        &["+ pre `a < b`: is not required any more"],
    );
}

#[test]
fn a_postcondition_may_come_and_not_go() {
    assert_changes(
        &subject!(
            fn subject() -> u8 {
                1
            }
        ),
        &subject!(
            #[post(|one| *one == 1)]
            fn subject() -> u8 {
                1
            }
        ),
        &["+ post `|one| *one == 1`: is promised now"],
        &["- post `|one| *one == 1`: is not promised any more"],
    );
}

#[test]
fn the_order_of_conditions_is_no_change() {
    let old = subject!(
        #[pre(a < b)]
        #[pre(a != 3)]
        #[pre(b != 9)]
        fn subject(a: u8, b: u8) {}
    );
    let new = subject!(
        #[pre(b != 9)]
        #[pre(a < b)]
        #[pre(a != 3)]
        fn subject(a: u8, b: u8) {}
    );
    assert!(new.diff(&old).is_empty(), "{}", new.diff(&old));
}

#[test]
fn a_constant_of_another_value_is_another_condition() {
    // Both are told, so that neither schema nor text has changed.
    let old = {
        const SPAN: u8 = 10;
        subject!(
            #[pre(a <= SPAN || b <= 4)]
            fn subject(a: u8, b: u8) {}
        )
    };
    let new = {
        const SPAN: u8 = 20;
        subject!(
            #[pre(a <= SPAN || b <= 4)]
            fn subject(a: u8, b: u8) {}
        )
    };
    assert_eq!(old.tools[0].conditions[0].constants.len(), 2);
    let diff = new.diff(&old);
    assert!(diff.is_breaking());
    assert_eq!(
        lines(&diff)[0],
        "- pre `a <= SPAN || b <= 4`: before: with `10`, `4`; now: with `20`, `4`; cannot be proven compatible: the schema does not say all of it",
    );
}

#[test]
fn a_constant_of_another_value_is_judged_by_the_schema_that_says_it() {
    let old = {
        const MOST: u8 = 10;
        subject!(
            #[pre(count <= MOST)]
            fn subject(count: u8) {}
        )
    };
    let new = {
        const MOST: u8 = 20;
        subject!(
            #[pre(count <= MOST)]
            fn subject(count: u8) {}
        )
    };
    assert!(!new.diff(&old).is_breaking(), "{}", new.diff(&old));
    assert!(old.diff(&new).is_breaking());
}

#[test]
fn an_exact_condition_is_judged_by_its_own_parameters() {
    let old = subject!(
        #[pre(b > 2)]
        fn subject(a: u16, b: u8) {}
    );
    let new = subject!(
        #[pre(b >= 3)]
        fn subject(a: u8, b: u8) {}
    );
    assert_eq!(
        lines(&new.diff(&old)),
        [
            "- input/a: before: at most 65535; now: at most 255",
            "+ pre `b > 2`: is not required any more",
            "+ pre `b >= 3`: is required now; the schema says all of it, and refuses nothing that it accepted",
        ],
    );
}

#[test]
fn words_are_no_part_of_the_contract() {
    let old = subject!(
        #[pre(a < b, "in order")]
        fn subject(a: u8, b: u8) {}
    );
    let new = subject!(
        #[pre(a < b, "a comes first")]
        fn subject(a: u8, b: u8) {}
    );
    let diff = new.diff(&old);
    assert!(!diff.is_breaking());
    assert_eq!(lines(&diff)[0], "+ pre `a < b`: the message has changed");
}

#[test]
fn a_default_does_not_change_what_a_condition_means() {
    let old = subject!(
        #[pre(a < b)]
        fn subject(a: u8, b: u8) {}
    );
    let new = subject!(
        #[pre(a < b)]
        fn subject(a: u8, #[arg(default = 200)] b: u8) {}
    );
    assert!(!new.diff(&old).is_breaking(), "{}", new.diff(&old));
    assert!(old.diff(&new).is_breaking());
}

#[test]
fn a_demand_is_not_a_promise() {
    let old = subject!(
        #[pre(a < b)]
        fn subject(a: u8, b: u8) {}
    );
    let mut document = serde_json::to_value(&old).unwrap();
    document["tools"][0]["conditions"][0]["kind"] = serde_json::json!("post");
    let new = serde_json::from_value(document).unwrap();
    assert_changes(
        &old,
        &new,
        &[
            "+ pre `a < b`: is not required any more",
            "+ post `a < b`: is promised now",
        ],
        &[
            "- post `a < b`: is not promised any more",
            "- pre `a < b`: is required now; cannot be proven compatible: the schema does not say all of it",
        ],
    );
}

#[test]
fn a_policy_under_which_a_condition_begins_to_end_calls_is_a_new_demand() {
    assert_changes(
        &subject!(
            #[pre(a != b)]
            #[post(|sum| *sum > a)]
            fn subject(a: u8, b: u8) -> u8 {
                a + b
            }
        ),
        &subject!(
            #[pre(a != b, policy = observe)]
            #[post(|sum| *sum > a, policy = ignore)]
            fn subject(a: u8, b: u8) -> u8 {
                a + b
            }
        ),
        &[
            "- post `|sum| *sum > a`: is not promised any more",
            "+ pre `a != b`: its policy is `observe`, and was `enforce`",
            "+ pre `a != b`: is not required any more",
            "+ post `|sum| *sum > a`: its policy is `ignore`, and was `enforce`",
        ],
        &[
            "- pre `a != b`: is required now; cannot be proven compatible: the schema does not say all of it",
            "+ pre `a != b`: its policy is `enforce`, and was `observe`",
            "+ post `|sum| *sum > a`: its policy is `enforce`, and was `ignore`",
            "+ post `|sum| *sum > a`: is promised now",
        ],
    );
}
