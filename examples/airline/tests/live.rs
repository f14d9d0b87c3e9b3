//! A model in the loop, here with scripted replies.

use airline::live::{Contracts, Lived, converse};
use airline::recording::{Task, read_tasks};
use airline::{Airline, Edition, data};
use contract_agent::{Message, Scripted};

fn airline() -> Airline {
    let data = data::read(&data::sample(), Edition::Second).unwrap();
    Airline::open(&data, Edition::Second).unwrap()
}

fn task(number: u64) -> Task {
    let (_, tasks) = read_tasks(&data::text(&data::sample().join("tasks.json")).unwrap()).unwrap();
    tasks
        .into_iter()
        .find(|task| task.number == number)
        .unwrap()
}

/// The task expects no cancellation, but the model tries one.
#[tokio::test]
async fn a_refused_call_leaves_a_task_solved() {
    let cancel = ("cancel_reservation", r#"{"reservation_id": "SAMPA1"}"#);
    let lived = async |contracts| {
        let model = Scripted::new().calls("", [cancel]).text("Done, or not.");
        let user = Scripted::new().text("Cancel SAMPA1.").text("###STOP###");
        let models = (model.clone(), user);
        let lived = converse(
            &airline(),
            &task(3),
            "Follow the policy.",
            models,
            contracts,
        )
        .await
        .unwrap();
        (lived, model.requests().pop().unwrap())
    };
    let (enforced, read) = lived(Contracts::Enforced).await;
    assert_eq!(
        enforced,
        Lived {
            solved: true,
            broken: 1
        }
    );
    let refusal = |message: &Message| matches!(message, Message::Tool { text, .. } if text.contains("it cannot be cancelled"));
    assert!(read.iter().any(refusal));
    let (observed, read) = lived(Contracts::Observed).await;
    assert_eq!(
        observed,
        Lived {
            solved: false,
            broken: 2
        }
    );
    assert!(!read.iter().any(refusal));
}

/// Before a write the user is asked, and decides.
#[tokio::test]
async fn the_user_is_asked_before_a_write() {
    let lived = async |answer: &str| {
        let model = Scripted::new()
            .calls(
                "",
                [("cancel_reservation", r#"{"reservation_id": "SAMPC1"}"#)],
            )
            .calls(
                "",
                [("get_reservation_details", r#"{"reservation_id": "SAMPC1"}"#)],
            )
            .calls(
                "",
                [(
                    "send_certificate",
                    r#"{"user_id": "cleo_park_3", "amount": 50}"#,
                )],
            )
            .text("Done.");
        let user = Scripted::new()
            .text("Cancel SAMPC1, and pay for the delay.")
            .text(answer)
            .text("###STOP###");
        let models = (model, user.clone());
        let lived = converse(&airline(), &task(2), "", models, Contracts::Enforced)
            .await
            .unwrap();
        let heard = user.requests().remove(1).pop();
        assert!(
            matches!(heard, Some(Message::User { text }) if text.contains(r#"Cancel "SAMPC1", SMP002 on 2024-05-15 in economy, and refund $120?"#))
        );
        lived
    };
    assert_eq!(
        lived("Yes.").await,
        Lived {
            solved: true,
            broken: 0
        }
    );
    assert_eq!(
        lived("No, wait.").await,
        Lived {
            solved: false,
            broken: 1
        }
    );
}
