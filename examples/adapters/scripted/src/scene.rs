//! The script, the person and what the model reads.

use std::sync::{Arc, Mutex, PoisonError};

use adapter_tools::{Ledger, desk};
use contract_runtime::Registry;
use contract_runtime::approval::{Approval, ApprovalRequest, Decision};

/// One reply of the model.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    /// It calls a tool, with its arguments as text.
    Call(&'static str, &'static str),
    /// It answers.
    Text(&'static str),
}

/// Somebody who decides, and remembers what was asked.
#[derive(Clone, Debug)]
pub struct Person {
    decision: Decision,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Person {
    fn new(decision: Decision) -> Self {
        Self {
            decision,
            asked: Arc::default(),
        }
    }

    /// Decides on a question.
    #[must_use]
    pub fn decide(&self, question: &str) -> Decision {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(question.to_owned());
        self.decision.clone()
    }

    /// Decides on a request.
    #[must_use]
    pub fn approve(&self, request: &ApprovalRequest) -> Decision {
        self.decide(&request.to_string())
    }

    fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

/// What an adapter is given.
pub struct Scene {
    /// The tools.
    pub registry: Registry,
    /// What the model says, in order.
    pub replies: Vec<Reply>,
    /// Who is asked.
    pub person: Person,
}

/// What became of it.
pub struct Heard {
    /// What the model read of each call, in order.
    pub results: Vec<String>,
    /// Its answer.
    pub answer: String,
}

/// Plays one scene, and returns what the model read, what the person was asked and what was paid.
async fn play<F: Future<Output = Heard>>(
    talk: impl FnOnce(Scene) -> F,
    calls: &[Reply],
    decision: Decision,
) -> (Vec<String>, Vec<String>, Vec<String>) {
    let ledger = Arc::new(Ledger::default());
    let person = Person::new(decision);
    let heard = talk(Scene {
        registry: desk(&ledger).expect("the contracts are right"),
        replies: [calls, &[Reply::Text("Done.")]].concat(),
        person: person.clone(),
    });
    let heard = heard.await;
    assert_eq!(heard.answer, "Done.");
    (heard.results, person.asked(), ledger.lines())
}

const YES: Decision = Decision::Approved(Approval::Once);

/// A violation is a result whose sentence says what to change, and the next call succeeds.
///
/// # Panics
///
/// If it is not so, as all of these.
pub async fn corrects<F: Future<Output = Heard>>(talk: impl FnOnce(Scene) -> F) {
    let calls = [
        Reply::Call("book_room", r#"{"start": 600, "end": 540}"#),
        Reply::Call("book_room", r#"{"start": 540, "end": 600}"#),
    ];
    let (read, asked, _) = play(talk, &calls, YES).await;
    let wrong = "the end (540) must come after the start (600)";
    assert_eq!(read, [wrong, "60"]);
    assert!(asked.is_empty(), "{asked:?}");
}

/// Arguments of the wrong type are refused with what is accepted, and one that breaks a condition of a field with its message.
///
/// # Panics
///
/// If it is not so.
pub async fn misspelt<F: Future<Output = Heard>>(talk: impl FnOnce(Scene) -> F) {
    let calls = [
        Reply::Call(
            "price_breakfast",
            r#"{"breakfast": {"menu": "french", "guests": 2}}"#,
        ),
        Reply::Call(
            "price_breakfast",
            r#"{"breakfast": {"menu": "english", "guests": 20}}"#,
        ),
        Reply::Call(
            "price_breakfast",
            r#"{"breakfast": {"menu": "english", "guests": 2}}"#,
        ),
    ];
    let (read, ..) = play(talk, &calls, YES).await;
    assert_eq!(
        read,
        [
            "`/breakfast/menu`: expected one of \"continental\", \"english\", got the string \"french\"",
            "the kitchen serves 12 guests at a time, got breakfast = {\"menu\":\"english\",\"guests\":20}",
            "2800",
        ]
    );
}

/// A question reaches the person once, and the approved call is made once.
///
/// # Panics
///
/// If it is not so.
pub async fn asks<F: Future<Output = Heard>>(talk: impl FnOnce(Scene) -> F) {
    let calls = [
        Reply::Call("refund", r#"{"guest": "ada", "cents": 500}"#),
        Reply::Call("refund", r#"{"guest": "ada", "cents": 25000}"#),
    ];
    let (read, asked, paid) = play(talk, &calls, YES).await;
    assert_eq!(
        read,
        ["refunded 500 cents to ada", "refunded 25000 cents to ada"]
    );
    assert_eq!(asked, ["Refund 25000 cents to \"ada\"?"]);
    assert_eq!(paid, ["500 cents to ada", "25000 cents to ada"]);
}

/// A denied call does nothing, and the model reads why.
///
/// # Panics
///
/// If it is not so.
pub async fn denied<F: Future<Output = Heard>>(talk: impl FnOnce(Scene) -> F) {
    let calls = [Reply::Call("refund", r#"{"guest": "ada", "cents": 25000}"#)];
    let no = Decision::Denied("the user said no".to_owned());
    let (read, asked, paid) = play(talk, &calls, no).await;
    let why = "not started, because it was denied: the user said no";
    assert_eq!(read, [why]);
    assert_eq!(asked, ["Refund 25000 cents to \"ada\"?"]);
    assert!(paid.is_empty(), "{paid:?}");
}

/// Arguments that are not JSON are refused like any others, and the conversation goes on.
///
/// # Panics
///
/// If it is not so.
pub async fn not_json<F: Future<Output = Heard>>(talk: impl FnOnce(Scene) -> F) {
    let calls = [
        Reply::Call("book_room", r#"{"start": 540, "#),
        Reply::Call("book_room", r#"{"start": 540, "end": 600}"#),
    ];
    let (read, ..) = play(talk, &calls, YES).await;
    assert!(read[0].contains("JSON"), "{read:?}");
    assert_eq!(read[1..], ["60"]);
}
