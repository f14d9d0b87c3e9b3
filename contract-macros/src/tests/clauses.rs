//! Parsing and checking of `#[pre(..)]` and `#[post(..)]`.

use super::{clause, contracted, refused, refused_clause, tool};
use crate::model::{ClauseKind, Policy};

#[test]
fn a_whole_precondition() {
    let clause = clause("pre(a > 0 && b.len() > 1, \"{b} is short, {a:?}\", policy = observe)");
    assert_eq!(clause.kind, ClauseKind::Pre);
    assert_eq!(clause.predicate.to_string(), "a > 0 && b . len () > 1");
    assert_eq!(clause.text, "a > 0 && b.len() > 1");
    assert_eq!(clause.policy.map(|set| set.value), Some(Policy::Observe));
    let message = clause.message.expect("a message");
    assert_eq!(
        (message.literal.value().as_str(), message.placeholders),
        ("{b} is short, {a:?}", vec!["b".into(), "a".into()])
    );
    assert_eq!(
        (clause.mentions, clause.mentions_after),
        (vec![0, 1], vec![0, 1])
    );
    assert!(clause.result.is_none() && clause.olds.is_empty());
}

#[test]
fn a_whole_postcondition() {
    let clause = clause("post(|out: &i64| *out > old(a) && old(b.len()) > 0, \"{out} of {a}\")");
    assert_eq!(clause.kind, ClauseKind::Post);
    assert_eq!(
        clause.predicate.to_string(),
        "* out > __contract_old_0 && __contract_old_1 > 0"
    );
    assert_eq!(
        clause.result.map(|result| result.to_string()).as_deref(),
        Some("out : & i64")
    );
    assert_eq!(clause.olds[1].tokens.to_string(), "b . len ()");
    assert_eq!(clause.olds[1].mentions, [1]);
    assert_eq!(
        (clause.mentions, clause.mentions_after),
        (vec![0, 1], vec![0])
    );
    assert_eq!(
        clause.text.replace(' ', ""),
        "|out:&i64|*out>old(a)&&old(b.len())>0"
    );
}

#[test]
fn the_error_side() {
    let clause = clause("post(err |e| e.is_fatal())");
    assert_eq!(
        (clause.kind, clause.predicate.to_string().as_str()),
        (ClauseKind::PostErr, "e . is_fatal ()")
    );
    assert_eq!(clause.text.replace(' ', ""), "err|e|e.is_fatal()");
}

#[test]
fn other_closures() {
    assert_eq!(
        clause("post(|&x| x > 0)")
            .result
            .map(|x| x.to_string())
            .as_deref(),
        Some("& x")
    );
    assert_eq!(clause("post(move |_| a > 0)").mentions_after, [0]);
    assert_eq!(
        clause("post(|x| -> bool { *x > 0 })").predicate.to_string(),
        "{ * x > 0 }"
    );
    assert_eq!(clause("post(|x| { let y = *x; y > a })").mentions, [0]);
}

#[test]
fn olds_are_numbered_through_the_function() {
    let function =
        contracted("#[post(|_| old(a) > 0)] #[post(|_| matches!(old(a), 1..))] fn f(a: i64) {}");
    let idents: Vec<_> = function
        .clauses
        .iter()
        .map(|clause| clause.olds[0].ident.to_string())
        .collect();
    assert_eq!(idents, ["__contract_old_0", "__contract_old_1"]);
    assert_eq!(
        function.clauses[1].predicate.to_string(),
        "matches ! (__contract_old_1 , 1 ..)"
    );
}

#[test]
fn what_is_a_mention() {
    for (predicate, expected) in [
        ("x.a > b.len()", &[1][..]),
        ("a.x > 0", &[0]),
        ("a::x() || x::a(b)", &[1]),
        ("(0..a).contains(&1)", &[0]),
        ("(0..=a).contains(&1)", &[0]),
        ("matches!(a, 1)", &[0]),
        ("S { a: 1 }.ok(b)", &[1]),
        ("a!(1) == b.len()", &[1]),
        ("a != 0", &[0]),
        ("c.eq(&format!(\"{b}\"))", &[1]),
        ("a > 0 || c.eq(\"{b}\")", &[0]),
        ("[a, 2][b.len()] > 0", &[0, 1]),
    ] {
        assert_eq!(
            clause(&format!("pre({predicate})")).mentions,
            expected,
            "{predicate}"
        );
    }
    assert!(
        clause("post(|a| *a > 0)").mentions.is_empty(),
        "shadowed by the result"
    );
    let function = contracted("#[pre(self.open && a)] fn f(&mut self, a: bool) {}");
    assert_eq!(
        (
            function.clauses[0].mentions_self,
            &function.clauses[0].mentions
        ),
        (true, &vec![0])
    );
    let function = contracted("#[pre(y > r#type)] fn f((x, y): (u8, u8), r#type: u8) {}");
    assert_eq!(function.clauses[0].mentions, [0, 1]);
    let function = contracted("#[post(|_| old(self.count) > 0)] fn f(&mut self) {}");
    assert!(!function.clauses[0].mentions_self, "not after the body");
}

#[test]
fn the_predicate_comes_first() {
    refused_clause(
        "pre()",
        "a precondition needs a condition over the parameters; write `#[pre(..)]`",
    );
    refused_clause(
        "pre",
        "a precondition needs a condition over the parameters; write `#[pre(..)]`",
    );
    refused_clause(
        "post",
        "a postcondition needs a condition over the result; write `#[post(|result| ..)]`",
    );
    refused_clause(
        "pre = 1",
        "a precondition needs a condition over the parameters; write `#[pre(..)]`",
    );
    refused_clause(
        "pre(\"no\", a > 0)",
        "the condition comes first, then the message; write `#[pre(a > 0, \"..\")]`",
    );
    refused_clause(
        "pre(\"no\")",
        "a precondition needs a condition over the parameters; write `#[pre(.., \"..\")]`",
    );
    refused_clause(
        "pre(policy = observe, a > 0)",
        "a precondition needs a condition over the parameters; write `#[pre(.., policy = ..)]`",
    );
    refused_clause(
        "pre(a > 0, b.is_empty())",
        "a message is a string literal; write `\"..\"`, or join two conditions with `&&`, or write a second `#[pre(..)]`",
    );
    refused_clause(
        "pre(a > 0, polcy = observe)",
        "unknown argument `polcy`; did you mean `policy`?",
    );
    refused_clause(
        "pre(a > 0, policy = observe, policy = ignore)",
        "`policy` is given twice",
    );
    refused_clause(
        "pre(a > 0 \"x\")",
        "expected `,` and a message, or the end of the condition",
    );
}

#[test]
fn conditions_compare_and_never_wait() {
    let assigns = "`=` assigns; write `==` to compare";
    refused_clause("pre(a = 0)", assigns);
    refused_clause("pre(a > 0 && (a = 1))", assigns);
    refused_clause("post(|r| *r = 0)", assigns);
    refused_clause(
        "pre(a += 1)",
        "a condition must not change anything; compare values instead",
    );
    refused_clause(
        "pre(check(a).await)",
        "a condition cannot await; await the value above it, such as `#[given(order = find(&order_id).await)]`, and name it here",
    );
    refused_clause(
        "post(|r| check(r).await)",
        "a condition cannot await; await the value in the body and check it there with `contract_assert!`",
    );
}

#[test]
fn words_of_other_languages() {
    let advice = |word, sign| format!("`{word}` does not join conditions in Rust; write `{sign}`");
    refused_clause("pre(a > 0 and a < 5)", &advice("and", "&&"));
    refused_clause("pre(a > 0 or b.is_empty())", &advice("or", "||"));
    refused_clause(
        "pre(not b.is_empty())",
        "`not` is not an operator in Rust; write `!`",
    );
    refused_clause(
        "pre(a in 1..9)",
        "`in` belongs to a `for`; for a range write `(1..=9).contains(&number)`, for a list `[\"a\", \"b\"].contains(&word)`",
    );
    let chained = "comparison operators cannot be chained; compare twice and join both with `&&`";
    refused_clause("pre(0 < a < 5)", chained);
    refused_clause("pre(a > 0 & a < 5)", chained);
}

#[test]
fn a_message_stands_before_the_keys() {
    let message = "the message comes right after the condition, before any key; write `#[pre(.., \"..\", policy = ..)]`";
    refused_clause("pre(a > 0, policy = observe, \"positive\")", message);
    refused_clause(
        "pre(a > 0, shown = never, \"positive\", id = \"a\")",
        message,
    );
    tool(
        "/// D\n #[tool] #[pre(a > 0, \"{}\", \"low\", ask = \"Is {} fine?\", \"it\")] fn f(a: u8) {}",
    );
}

#[test]
fn braces_take_names() {
    let message = |text| {
        format!(
            "`{{{text}}}` is an expression, and braces take a name; write `{{}}`, and `{text}` after the message"
        )
    };
    refused_clause("pre(a > 0, \"{a + 1}\")", &message("a + 1"));
    refused_clause("pre(a > 0, \"{b.len()}\")", &message("b.len()"));
}

#[test]
fn a_condition_is_stated_once() {
    let twice = "`a > 0` is stated twice; remove one, or change it";
    refused(
        "#[pre(a > 0)] #[pre(b)] #[pre(a > 0, \"x\")] fn f(a: u8, b: bool) {}",
        &[twice],
    );
    refused(
        "/// D\n #[tool] #[pre(a > 0)] #[pre(a > 0)] fn f(a: u8) {}",
        &[twice],
    );
    // What a lock guards may have changed while it was waited for.
    contracted("#[pre(free())] #[given(lock = lock())] #[pre(free())] fn f() {}");
}

#[test]
fn what_is_hidden_demands_nothing() {
    refused(
        "/// D\n #[tool] #[pre(a > 0, shown = never, requires = \"a\")] fn f(a: u8) {}",
        &["nobody is shown this sentence, because of `shown = never`; remove one of the two"],
    );
}

#[test]
fn postconditions_are_closures_of_one_value() {
    let needs = "a postcondition needs a name for the result; write";
    refused_clause(
        "post(result > 0.0)",
        &format!("{needs} `#[post(|result| *result > 0.0)]`"),
    );
    refused_clause(
        "post(total.abs() > a)",
        &format!("{needs} `#[post(|total| total.abs() > a)]`"),
    );
    refused_clause("post(a > 0)", &format!("{needs} `#[post(|result| a > 0)]`"));
    refused_clause(
        "post(a > 1000000000000 && a < 2000000000000 && a % 2 == 0)",
        &format!("{needs} `#[post(|result| ..)]`"),
    );
    let one = "a postcondition takes one value, the result; write";
    refused_clause("post(|| true)", &format!("{one} `#[post(|result| ..)]`"));
    refused_clause(
        "post(|a, b| true)",
        &format!("{one} `#[post(|result| ..)]`"),
    );
    refused_clause(
        "post(err || true)",
        &format!("{one} `#[post(err |error| ..)]`"),
    );
    refused_clause(
        "pre(|x| x > 0)",
        "a precondition is a plain condition over the parameters; write `#[pre(x > 0)]`",
    );
    refused_clause(
        "post(async |r| true)",
        "a condition cannot be async; write a plain closure",
    );
}

#[test]
fn old_belongs_to_postconditions() {
    refused_clause(
        "pre(old(a) > 0)",
        "`old(..)` belongs to a postcondition; before the function runs, write the value itself",
    );
    refused_clause(
        "post(|_| old(old(a)) > 0)",
        "`old(..)` inside `old(..)` has no further effect; leave out the inner one",
    );
    refused_clause(
        "post(|_| old() > 0)",
        "`old(..)` needs the expression whose earlier value is meant; write `old(items.len())`",
    );
    refused_clause(
        "post(|_| old(a, b) > 0)",
        "`old(..)` takes one expression; write one `old(..)` for each value",
    );
    refused_clause(
        "post(|r| old(r.len()) > 0)",
        "`old(..)` is evaluated before the function runs, when there is no `r` yet",
    );
    assert_eq!(clause("pre(x.old(a) && y::old(a))").mentions, [0]);
}

#[test]
fn messages_name_parameters() {
    refused_clause(
        "pre(a > 0, \"\")",
        "an empty message says nothing; say what went wrong, or leave it out",
    );
    refused_clause(
        "pre(a > 0, \"{}\")",
        "`{}` has nothing to show; name a parameter in the braces, or write a value after the message",
    );
    refused_clause(
        "pre(a > 0, \"{0:?}\")",
        "`{0}` has nothing to show; name a parameter in the braces, or write a value after the message",
    );
    refused_clause(
        "pre(a > 0, \"{c}\")",
        "`{c}` names no parameter; a message here can show `a` and `b`",
    );
    refused_clause(
        "post(|r| *r > 0, \"{c}\")",
        "`{c}` names no parameter; a message here can show `a`, `b` and `r`",
    );
    refused_clause(
        "pre(a > 0, \"{a\")",
        "this message opens a `{` it never closes; write `{{` for a brace",
    );
    refused_clause(
        "pre(a > 0, \"a}\")",
        "this message closes a `}` it never opened; write `}}` for a brace",
    );
    refused(
        "#[pre(self.a, \"{c}\")] fn f(&self) {}",
        &["`{c}` names no parameter; write `{{` and `}}` for braces"],
    );
    refused(
        "/// D\n #[tool] #[pre(!key.is_empty(), \"bad {key}\")] fn f(#[arg(secret)] key: String) {}",
        &["`key` is secret, and this message would show it; leave it out"],
    );
    let message = clause("pre(a > 0, \"{{a}} {b:>a$} {a:.2}\")")
        .message
        .expect("a message");
    assert_eq!(message.placeholders, ["b", "a"]);
}

#[test]
fn unfinished_conditions() {
    refused_clause("pre(a == )", "expected an expression after this");
    refused_clause(
        "pre(a > 0, policy = )",
        "`policy` needs a value; write `policy = ..`",
    );
}

#[test]
fn a_condition_is_not_the_same_for_every_call() {
    let constant = "this condition is the same for every call; refer to a parameter or to state, or write `const { assert!(..) }` in the body";
    for predicate in [
        "true",
        "LIMIT > 3",
        "cfg!(unix) && true",
        "Some(5) == b::A || u8::MAX > 3",
        "matches!(LIMIT, 1 | 2)",
    ] {
        refused(
            &format!("#[post(|r| {predicate})] fn f(a: bool, b: u8) -> bool {{ a }}"),
            &[constant],
        );
        refused(
            &format!("#[pre({predicate})] fn f(a: bool, b: u8) {{}}"),
            &[constant],
        );
    }
    for predicate in [
        "a",
        "self.open()",
        "ready()",
        "OPEN.load(Relaxed)",
        "b::a() || u8::MAX > 3",
        "misspelt > 0",
        "return 5",
        "matches!(misspelt, 1)",
        "check!(a)",
        "format!(\"{a}\").is_empty()",
        "(x > 0)",
    ] {
        contracted(&format!(
            "#[pre({predicate})] fn f(&self, a: bool, (x, _): (u8, u8)) {{}}"
        ));
    }
    for predicate in ["|_| true", "|result| LIMIT > 3"] {
        refused(
            &format!("#[post({predicate})] fn f(a: bool) {{}}"),
            &[constant],
        );
    }
    for predicate in [
        "|()| ready()",
        "|_| a",
        "|r| r.ok()",
        "|_| now() == old(now())",
        "|r| format!(\"{r}\") == \"\"",
        "err |e| e.ok()",
    ] {
        contracted(&format!("#[post({predicate})] fn f(a: bool) {{}}"));
    }
}

#[test]
fn a_name_that_a_condition_binds_itself_is_no_parameter() {
    for own in [
        "b.chars().all(|a| a > 'b')",
        "b.chars().all(|a: char| a > 'b' && a < 'z')",
        "b.chars().fold(0, |(a), _| a + 1) > 0",
        "b.chars().any(move |a| { a > 'b' })",
        "b.find(|a| a == 'x').is_some_and(|a| a > 1 || a == 0)",
        "b.chars().map(|x| (|a| a == x)(x)).any(|a| a)",
        "{ let a = b.len(); a > 1 }",
        "{ let Some(a) = b.find('x') else { return false }; a > 1 }",
        "if let Some(a) = b.find('x') { a > 1 } else { false }",
        "if let Some(a) = b.find('x') && a > 1 { a < 4 } else { true }",
        "match b.find('x') { Some(a) if a > 1 => a < 4, Some(a) => { a == 0 } None => true }",
        "matches!(b.find('x'), Some(a) if a > 1)",
        "b.lines().all(|a| format!(\"{a}\").is_empty())",
    ] {
        assert_eq!(clause(&format!("pre({own})")).mentions, [1], "{own}");
    }
    for both in [
        "b.chars().all(|a| a > 'b') && a > 0",
        "b.chars().all(|x| x > 'b' || a > 0)",
        "b.len() > 1 || a | 2 == 3",
        "(a | b.len() as i64 | a) > 0",
        "{ let a = a + 1; b.len() > a }",
        "{ let x = a; b.len() > x }",
        "if let Some(a) = b.find('x') { a > 1 } else { a > 0 }",
        "if let Some(x) = b.find('x') && a > 1 { x > 1 } else { true }",
        "match a { a => b.len() > a }",
        "match b.len() { 0 => a > 0, a => a > 1 }",
        "matches!(a, a if a > b.len())",
        "b.lines().all(|x| format!(\"{a}{x}\").is_empty())",
        "b.chars().fold(a, |a, _| a + 1) > 0",
        "b.chars().map(|a| a).count() > a",
        "f(|a| a > 1, a, &b)",
    ] {
        assert_eq!(clause(&format!("pre({both})")).mentions, [0, 1], "{both}");
    }
}
