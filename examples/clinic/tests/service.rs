//! The service over HTTP: its audit, limits, tokens, approvals and end.

mod common;

use std::time::Duration;

use common::Service;
use contract_agent::{ContractAgent, Message, Recovery, Scripted, ToolCallingAgent};
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

fn approval() -> Value {
    json!({"action": "accept", "content": {"decision": "approve"}})
}

/// The state of a result that asks.
fn state(answer: &Value) -> String {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    result["requestState"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_takes_effect_has_its_row_in_the_same_transaction() {
    let service = Service::start().await;
    service.with_bill().await;
    let pool = service.clinic.pool().clone();
    let without_audit = sqlx::query("ALTER TABLE audit RENAME TO kept");
    without_audit.execute(&pool).await.unwrap();
    let refused = service
        .call("rosa", "refund", json!({"bill": 1, "cents": 500}))
        .await;
    assert!(refused.contains("audit"), "{refused}");
    let with_audit = sqlx::query("ALTER TABLE kept RENAME TO audit");
    with_audit.execute(&pool).await.unwrap();
    let bills = service
        .call("rosa", "list_bills", json!({"patient": 1}))
        .await;
    assert_eq!(bills, r#"[{"id":1,"cents":30000,"paid":30000}]"#);

    let rows = service.audit().await;
    for (row, tool, arguments) in [
        (
            &rows[0],
            "register_patient",
            json!({"name": "Ada Byron", "born": "1815-12-10"}),
        ),
        (
            &rows[1],
            "issue_bill",
            json!({"patient": 1, "cents": 30_000}),
        ),
        (
            &rows[2],
            "take_payment",
            json!({"bill": 1, "cents": 30_000}),
        ),
    ] {
        assert_eq!(
            [&*row[0], &row[1], &row[3], &row[4]],
            ["rosa", tool, "ok", "complete"]
        );
        assert_eq!(serde_json::from_str::<Value>(&row[2]).unwrap(), arguments);
    }
    let others: Vec<_> = rows[3..]
        .iter()
        .map(|row| (&*row[1], &*row[3], &*row[4]))
        .collect();
    assert!(others.contains(&("list_bills", "ok", "none")), "{others:?}");
}

#[tokio::test]
async fn every_other_call_has_a_row_without_secrets() {
    let service = Service::start().await;
    service.with_bill().await;
    let read = json!({"patient": 1});
    service.result("rosa", "read_record", read, json!({})).await;
    service
        .call("rosa", "refund", json!({"bill": 1, "cents": 40_000}))
        .await;
    service
        .call(
            "lind",
            "prescribe",
            json!({"patient": 1, "drug": "penicillin", "days": 7}),
        )
        .await;
    let misspelt = json!({"name": "Ben", "born": "x", "phone": "555-17", "fone": "555-18"});
    service.call("rosa", "register_patient", misspelt).await;
    service
        .result("rosa", "drop_tables", json!({"all": "555-19"}), json!({}))
        .await;
    let denied = async {
        let id = service.open(1).await.remove(0);
        service
            .answer("lind", &id, "decision=deny&reason=too+much")
            .await
    };
    let refund = service.call("rosa", "refund", json!({"bill": 1, "cents": 20_000}));
    let (refund, _) = tokio::join!(refund, denied);
    assert_eq!(refund, "not started, because it was denied: lind: too much");

    let rows = service.audit().await;
    assert!(
        rows.iter().flatten().all(|text| !text.contains("555")),
        "{rows:?}"
    );
    let row = |outcome: &str, tool: &str| {
        let row = rows.iter().find(|row| row[3] == outcome && row[1] == tool);
        row.unwrap_or_else(|| panic!("{rows:?}"))
    };
    assert_eq!(row("unknown_tool", "read_record")[0], "rosa");
    assert!(row("violation", "refund")[2].contains(r#""cents":40000"#));
    assert_eq!(row("violation", "prescribe")[0], "lind");
    assert_eq!(row("invalid_arguments", "register_patient")[4], "none");
    assert_eq!(row("unknown_tool", "drop_tables")[2], "\"***\"");
    assert_eq!(row("denied", "refund")[4], "none");
    assert!(
        rows.iter()
            .any(|row| row[0] == "lind" && row[3] == "denied"),
        "{rows:?}"
    );
    assert_eq!(rows.len(), 3 + 6 + 1, "{rows:?}");
}

#[tokio::test]
async fn a_user_may_make_so_many_calls_and_a_call_that_asks_is_one() {
    let service = Service::with_limit(3).await;
    let ben = json!({"name": "Ben", "born": "1990-01-01", "phone": "", "allergies": ""});
    service.call("rosa", "register_patient", ben).await;
    let prescribe = json!({"patient": 1, "drug": "Insulin", "days": 30});
    service.call("lind", "prescribe", prescribe).await;
    let stop = json!({"prescription": 1});
    let asked = service
        .result("lind", "stop_prescription", stop.clone(), json!({}))
        .await;
    let more = json!({"requestState": state(&asked), "inputResponses": {"approval": approval()}});
    let stopped = service
        .result("lind", "stop_prescription", stop, more)
        .await;
    assert_eq!(stopped["result"]["isError"], false, "{stopped}");
    let find = || json!({"name": "Ben"});
    assert!(
        service
            .call("lind", "find_patients", find())
            .await
            .contains("Ben")
    );

    let refused = service.call("lind", "find_patients", find()).await;
    let wait = refused
        .split_once("too many calls; try again in ")
        .unwrap()
        .1;
    let wait: u64 = wait.split(' ').next().unwrap().parse().unwrap();
    assert!((1..=20).contains(&wait), "{refused}");
    assert!(
        service
            .call("rosa", "find_patients", find())
            .await
            .contains("Ben")
    );
    let rows = service.audit().await;
    let refused = rows.iter().filter(|row| row[3] == "refused");
    let refused: Vec<_> = refused.map(|row| [&*row[0], &row[1], &row[4]]).collect();
    assert_eq!(refused, [["lind", "find_patients", "none"]]);
}

#[tokio::test]
async fn each_role_has_its_tools() {
    let service = Service::start().await;
    let (rosa, lind) = (service.client("rosa").await, service.client("lind").await);
    let has = |tools: &Registry, name: &str| tools.tool(name).is_some();
    for (tool, for_reception, for_doctors) in [
        ("find_patients", true, true),
        ("refund", true, false),
        ("prescribe", false, true),
    ] {
        assert_eq!(has(&rosa, tool), for_reception, "{tool}");
        assert_eq!(has(&lind, tool), for_doctors, "{tool}");
    }
    assert_eq!((rosa.tools().len(), lind.tools().len()), (9, 7));
}

#[tokio::test]
async fn a_token_is_needed_and_a_question_belongs_to_its_user() {
    let service = Service::start().await;
    service.with_bill().await;
    let find = || json!({"name": "Ada"});
    for token in [None, Some("of-mallory"), Some("lind")] {
        let response = service
            .post(token, "find_patients", find(), json!({}))
            .await;
        assert_eq!(response.status().as_u16(), 401);
    }
    let prescribe = || json!({"patient": 1, "drug": "Insulin", "days": 90});
    let asked = service
        .result("lind", "prescribe", prescribe(), json!({}))
        .await;
    let message = &asked["result"]["inputRequests"]["approval"]["params"]["message"];
    let question = "Prescribe \"Insulin\" to Ada Byron for 90 days?\n";
    assert!(message.as_str().unwrap().starts_with(question), "{asked}");
    let more = json!({"requestState": state(&asked), "inputResponses": {"approval": approval()}});
    let other = service
        .result("okafor", "prescribe", prescribe(), more.clone())
        .await;
    assert_ne!(state(&other), state(&asked));
    let answered = service.result("lind", "prescribe", prescribe(), more).await;
    assert_eq!(answered["result"]["structuredContent"], 1, "{answered}");
}

#[tokio::test]
async fn a_doctor_decides_on_the_page_what_the_reception_asks() {
    let service = Service::start().await;
    service.with_bill().await;
    let refund = service.call("rosa", "refund", json!({"bill": 1, "cents": 20_000}));
    let deciding = async {
        let id = service.open(1).await.remove(0);
        assert!(
            service
                .page("lind")
                .await
                .contains("rosa, refund: Pay 20000 of 30000 cents back?")
        );
        let bill = json!({"patient": 1, "cents": 100});
        let other = service.call("ravi", "issue_bill", bill).await;
        assert_eq!(other, "2", "no transaction is open meanwhile");
        let approve = "decision=approve&reason=";
        for user in ["rosa", "ravi"] {
            assert_eq!(service.answer(user, &id, approve).await, 403, "{user}");
        }
        assert_eq!(service.answer("mallory", &id, approve).await, 401);
        let evil = service.http.post(format!("{}/approvals/{id}", service.url));
        let evil = evil
            .basic_auth("lind", Some("of-lind"))
            .header("Origin", "http://evil.example");
        assert_eq!(
            evil.body(approve).send().await.unwrap().status().as_u16(),
            403
        );
        assert_eq!(service.answer("lind", &id, approve).await, 303);
        assert_eq!(
            service.answer("lind", &id, approve).await,
            404,
            "an answer is used once"
        );
    };
    let (refund, ()) = tokio::join!(refund, deciding);
    assert_eq!(refund, "10000");
    service.open(0).await;
    let rows = service.audit().await;
    let of_refund = rows.iter().filter(|row| row[1] == "refund");
    let mut of_refund: Vec<_> = of_refund.map(|row| (&*row[0], &*row[3])).collect();
    of_refund.sort_unstable();
    assert_eq!(of_refund, [("lind", "approved"), ("rosa", "ok")]);
}

#[tokio::test]
async fn the_page_shows_texts_as_texts_and_forgets_who_gave_up() {
    let service = Service::start().await;
    let name = "<script>alert(1)</script>";
    let eve = json!({"name": name, "born": "1990-01-01", "phone": "", "allergies": ""});
    service.call("rosa", "register_patient", eve).await;
    let book = json!({"patient": 1, "doctor": "lind", "day": "2026-12-01", "hour": 9});
    assert_eq!(service.call("rosa", "book_appointment", book).await, "1");
    let cancel = service.call("ravi", "cancel_appointment", json!({"appointment": 1}));
    let looking = async {
        service.open(1).await;
        service.page("okafor").await
    };
    let shown = service.http.get(format!("{}/approvals", service.url));
    let shown = shown.basic_auth("lind", Some("of-lind")).send().await;
    assert_eq!(shown.unwrap().headers()["x-frame-options"], "DENY");
    let page = tokio::select! {
        done = cancel => panic!("{done}"),
        page = looking => page,
    };
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt; on 2026-12-01 at 9?"),
        "{page}"
    );
    assert!(!page.contains("<script>"), "{page}");
    service.open(0).await;
}

#[tokio::test]
async fn a_doctor_is_asked_by_their_own_client() {
    let service = Service::start().await;
    service.with_bill().await;
    let prescribe = json!({"patient": 1, "drug": "Insulin", "days": 60});
    let call = async |tool: &str, arguments: Value, answer: Value| {
        let asked = service
            .result("lind", tool, arguments.clone(), json!({}))
            .await;
        let more = json!({"requestState": state(&asked), "inputResponses": {"approval": answer}});
        let answer = service.result("lind", tool, arguments, more).await;
        let text = answer["result"]["content"][0]["text"].as_str();
        text.unwrap_or_default().to_owned()
    };
    let prescribed = call("prescribe", prescribe, approval()).await;
    assert_eq!(prescribed, "1");
    let stop = || json!({"prescription": 1});
    let no = json!({"action": "decline", "content": {"reason": "it is needed"}});
    let denied = call("stop_prescription", stop(), no).await;
    assert_eq!(denied, "not started, because it was denied: it is needed");
    let stopped = call("stop_prescription", stop(), approval()).await;
    assert_eq!(stopped, "");
    let outcomes = service.audit().await;
    let outcomes: Vec<_> = outcomes[3..]
        .iter()
        .map(|row| (&*row[1], &*row[3]))
        .collect();
    for row in [
        ("prescribe", "asked"),
        ("prescribe", "ok"),
        ("stop_prescription", "denied"),
        ("stop_prescription", "approved"),
        ("stop_prescription", "ok"),
    ] {
        assert!(outcomes.contains(&row), "{outcomes:?}");
    }
}

#[tokio::test]
async fn the_end_waits_for_a_call_that_is_running() {
    let service = Service::start().await;
    service.with_bill().await;
    let lock = service
        .clinic
        .pool()
        .begin_with("BEGIN IMMEDIATE")
        .await
        .unwrap();
    let ending = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        service.stop.cancel();
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!service.served.is_finished(), "the call is running");
        lock.rollback().await.unwrap();
    };
    let refund = service.call("rosa", "refund", json!({"bill": 1, "cents": 500}));
    let (refund, ()) = tokio::join!(refund, ending);
    assert_eq!(refund, "29500");
    assert_eq!(service.audit().await.len(), 4);
}

#[tokio::test]
async fn an_agent_uses_the_tools() {
    let service = Service::start().await;
    service.with_bill().await;
    let model = Scripted::new()
        .calls("I look for her.", [("find_patients", r#"{"name":"Ada"}"#)])
        .calls(
            "I prescribe.",
            [("prescribe", r#"{"patient":1,"drug":"Penicillin","days":7}"#)],
        )
        .calls(
            "Then another.",
            [(
                "prescribe",
                r#"{"patient":1,"drug":"Doxycycline","days":7}"#,
            )],
        )
        .text("Prescribed.");
    let agent = ToolCallingAgent::new(model.clone(), service.client("okafor").await);
    let agent = ContractAgent::builder(agent)
        .recovery(Recovery::retry(2))
        .build();
    let result = agent
        .run("Prescribe Ada something against bronchitis.")
        .await;
    assert_eq!(result.answer.as_deref(), Some("Prescribed."), "{result:?}");
    let requests = model.requests();
    let Some(Message::Tool { text, .. }) = requests[2].last() else {
        panic!("{requests:?}")
    };
    assert!(
        text.contains("the patient must not be given Penicillin"),
        "{text}"
    );
    let record = service
        .call("okafor", "read_record", json!({"patient": 1}))
        .await;
    assert_eq!(
        record,
        r#"{"name":"Ada Byron","allergies":"Penicillin","prescriptions":[[1,"Doxycycline"]]}"#
    );
}

/// Two calls race for one hour of a doctor.
async fn one_hour_is_booked_once(service: &Service) {
    service.with_bill().await;
    let book = |hour: u8| {
        let book = json!({"patient": 1, "doctor": "lind", "day": "2026-12-01", "hour": hour});
        service.call("rosa", "book_appointment", book)
    };
    for hour in 9..17 {
        let (one, other) = tokio::join!(book(hour), book(hour));
        let number = (hour - 8).to_string();
        let booked = [&one, &other].into_iter().filter(|text| **text == number);
        assert_eq!(booked.count(), 1, "{one}, {other}");
    }
    let free = json!({"doctor": "lind", "day": "2026-12-01"});
    assert_eq!(service.call("lind", "free_hours", free).await, "[]");
}

#[tokio::test]
async fn of_two_calls_for_one_hour_one_is_refused() {
    one_hour_is_booked_once(&Service::start().await).await;
}

#[tokio::test]
#[ignore = "needs an empty Postgres database in DATABASE_URL"]
async fn the_same_code_serves_postgres() {
    let url = std::env::var("DATABASE_URL").unwrap();
    let service = Service::on(&url, TempDir::new().unwrap(), 1_000).await;
    one_hour_is_booked_once(&service).await;
    let refund = json!({"bill": 1, "cents": 500});
    assert_eq!(service.call("rosa", "refund", refund).await, "29500");
    assert_eq!(service.audit().await.len(), 3 + 16 + 2);
}
