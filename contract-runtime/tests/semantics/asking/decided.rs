//! Who decided, as the outcome of a call says it.

use std::sync::{Arc, Mutex};

use contract_runtime::approval::{Approval, Decision};
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::{Run, Status, prelude::*};

/// Pay a bill.
#[tool(confirm = "Pay {cents} cents?")]
#[pre(cents <= 100, "more needs approval", ask = "Pay more than 100 cents?")]
fn pay(cents: u32) {}

fn builder() -> contract_runtime::Builder {
    Registry::builder().tool(pay)
}

const CALL: (&str, &str, &str) = ("1", "pay", r#"{"cents":500}"#);

fn said(outcome: &Outcome) -> Vec<(Option<&str>, bool)> {
    let decisions = outcome.decisions().iter();
    let said = decisions.map(|one| {
        let approved = matches!(one.decision, Decision::Approved(_));
        (one.by.as_deref(), approved)
    });
    said.collect()
}

#[tokio::test]
async fn an_outcome_says_who_approved_or_denied() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let observer = Observer::new().events(move |event| {
        if let CheckEvent::Answered { by, .. } = event {
            heard.lock().unwrap().push(by.map(str::to_owned));
        }
    });
    let approve = async |_| Decision::Approved(Approval::SameArguments).by("ada");
    let registry = builder()
        .approver(approve)
        .observe(observer)
        .build()
        .unwrap();
    let run = Run::new();
    let call = || registry.call(CALL).context(Context::new().run(&run));
    let outcome = call().await;
    assert_eq!(outcome.status(), Status::Ok);
    assert_eq!(said(&outcome), [(Some("ada"), true)]);
    assert_eq!(*told.lock().unwrap(), [Some("ada".to_owned())]);
    // The run remembers it, and nobody decides again.
    assert_eq!(said(&call().await), []);

    let deny = async |_| Decision::Denied("it is too much".to_owned()).by("bob");
    let registry = builder().approver(deny).build().unwrap();
    let outcome = registry.call(CALL).await;
    assert_eq!(
        (outcome.status(), said(&outcome)),
        (Status::Denied, vec![(Some("bob"), false)])
    );
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["decisions"][0]["by"], "bob");
    assert_eq!(json["decisions"][0]["decision"]["denied"], "it is too much");
    let masked = serde_json::to_string(&outcome.masked()).unwrap();
    assert!(
        masked.contains("bob") && !masked.contains("too much"),
        "{masked}"
    );

    let registry = builder()
        .approver(async |_| Decision::Unanswered)
        .build()
        .unwrap();
    let outcome = registry.call(CALL).await;
    assert_eq!(
        (outcome.status(), said(&outcome)),
        (Status::Asked, vec![(None, false)])
    );
}

#[tokio::test]
async fn an_answer_that_is_brought_says_it_too() {
    let registry = builder().build().unwrap();
    let asked = registry.call(CALL).await;
    assert_eq!(said(&asked), []);
    let request = asked.approval_request().unwrap();
    let text = serde_json::to_string(&request.approve().by("ada")).unwrap();
    let answer = serde_json::from_str(&text).unwrap();
    let outcome = registry
        .call(CALL)
        .context(Context::new().answer(answer))
        .await;
    assert_eq!(
        (outcome.status(), said(&outcome)),
        (Status::Ok, vec![(Some("ada"), true)])
    );
}
