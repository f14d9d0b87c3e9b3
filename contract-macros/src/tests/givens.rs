//! Parsing and checking of `#[given(..)]`.

use super::{contracted, refused};
use crate::given::can_fail;
use crate::model::{Absent, Given};

fn given(arguments: &str) -> Given {
    let source = format!("#[given({arguments})] fn f(id: &str, b: u8) {{}}");
    contracted(&source).givens.remove(0)
}

#[track_caller]
fn refused_given(arguments: &str, message: &str) {
    refused(
        &format!("#[given({arguments})] fn f(id: &str, #[cfg(x)] b: u8) {{}}"),
        &[message],
    );
}

#[test]
fn a_whole_given() {
    let given = given("mut order = find(id), else \"no {id}, {}\", b + 1, then order.close()?");
    assert!(given.mutable.is_some());
    assert_eq!(given.ident, "order");
    assert_eq!(given.value.to_string(), "find (id)");
    assert_eq!(given.text, "mut order = find(id)");
    assert_eq!(given.mentions, [0, 1]);
    let Some(Absent::Message(message)) = given.absent else {
        panic!("a message");
    };
    assert_eq!(message.literal.value(), "no {id}, {}");
    assert_eq!(message.args[0].to_string(), "b + 1");
    assert_eq!(
        given.then.map(|then| then.to_string()).as_deref(),
        Some("order . close () ?")
    );
}

#[test]
fn short_givens() {
    assert!(given("order = find(id)").absent.is_none());
    assert!(matches!(
        given("order = find(id), else").absent,
        Some(Absent::Error)
    ));
    let given = given("order = find(id), else, then done(),");
    assert!(matches!(given.absent, Some(Absent::Error)) && given.then.is_some());
}

#[test]
fn a_given_stands_among_the_conditions() {
    let function = contracted(
        "#[pre(id > 0)] #[given(a = x())] #[given(b = y(a))] #[post(|r| *r > b)] #[given(c = z())] fn f(id: u8) -> u8 {}",
    );
    let positions: Vec<usize> = function.givens.iter().map(|given| given.position).collect();
    assert_eq!(positions, [1, 1, 2]);
    // Behind the one parameter.
    assert_eq!(function.givens[1].mentions, [1]);
    assert_eq!(function.clauses[1].mentions_after, [2]);
}

#[test]
fn what_is_not_a_given() {
    let form = "a given has a name and a value; write `#[given(order = find(&order_id), else \"there is no order {order_id}\")]`";
    for arguments in ["", "5", "order", "order == find(id)", "find(id)"] {
        refused_given(arguments, form);
    }
    refused_given(
        "_ = lock()",
        "`_` drops the value at once; give it a name, such as `_guard`",
    );
    refused_given(
        "id = find(id)",
        "`id` is a parameter; give what is looked up another name",
    );
    refused_given(
        "order = find(id), policy = observe",
        "a given is looked up in every call and has no policy; remove it",
    );
    refused_given(
        "order = find(id), elze \"no\"",
        "unknown word `elze`; behind the value comes `else ..` or `then ..`",
    );
    refused_given("order = find(id), else, else", "`else` is given twice");
    refused_given(
        "order = find(id), then",
        "`then` needs an expression; write `then tx.commit()?`",
    );
    refused_given(
        "order = find(id), else \"{order}\"",
        "`{order}` names what is not there; name a parameter, or something given above",
    );
}

#[test]
fn names_differ_and_one_ends() {
    refused(
        "#[given(a = x())] #[given(a = y())] fn f() {}",
        &["`a` is given twice; choose another name"],
    );
    refused(
        "#[given(a = x(), then a.b())] #[given(c = y(), then c.d())] fn f() {}",
        &[
            "only one given can have a `then`, because it decides whether the call takes effect; run both in one",
        ],
    );
}

#[test]
fn a_sentence_may_show_words_that_hold_the_name() {
    let given = given("a = find(id), else \"not {}\", id.max()");
    assert!(matches!(given.absent, Some(Absent::Message(_))));
}

#[test]
fn a_question_belongs_to_a_condition() {
    let message =
        "a given asks nobody; write `ask` in a `#[pre]` below it, which can name what it gives";
    refused_given(
        "order = find(id), else \"no {id}\", ask = \"Sure?\"",
        message,
    );
    refused_given("order = find(id), ask = \"Sure?\"", message);
    let policy = "a given is looked up in every call and has no policy; remove it";
    refused_given(
        "order = find(id), else \"no {id}\", policy = observe",
        policy,
    );
}

#[test]
fn conditions_stand_below_what_they_name() {
    let message = "`order` is looked up below this condition; move its `#[given]` above it";
    refused(
        "#[pre(order > 0)] #[given(order = find(id))] fn f(id: u8) {}",
        &[message],
    );
    let fine = |source: &str| assert_eq!(contracted(source).givens.len(), 1, "{source}");
    fine("#[given(order = find(id))] #[pre(order > 0)] fn f(id: u8) {}");
    fine("#[post(|r| *r > order)] #[given(order = find(id))] fn f(id: u8) -> u8 {}");
    fine(
        "#[pre(ids.iter().all(|order| *order > 0))] #[given(order = find(ids))] fn f(ids: &[u8]) {}",
    );
    // The one above was not read, so nothing is known of their order.
    refused(
        "#[pre(id 1)] #[given(order = find(id))] #[pre(order > 0)] fn f(id: u8) {}",
        &["expected `,` and a message, or the end of the condition"],
    );
}

#[test]
fn a_question_mark_belongs_to_the_function_or_to_a_closure() {
    let fails = |arguments: &str| can_fail(&[given(arguments)]);
    assert!(fails("a = x()?"));
    assert!(fails("a = x(y()?)"));
    assert!(fails("a = x(), then a.commit()?"));
    assert!(!fails("a = x(), else"));
    assert!(!fails("a = list.map(|one| one.parse()?)"));
    assert!(fails("a = list.map(|one| one.parse()?)?"));
}
