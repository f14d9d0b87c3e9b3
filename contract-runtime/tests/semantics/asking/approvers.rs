//! Who answers, and that nothing is held meanwhile.

use std::future::Future as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::prelude::*;
use contract_runtime::{Run, Status};

use super::{Shop, buy, refund, request, shop};

#[tokio::test]
async fn who_is_asked_three_times_about_something_new_is_not_asked_again() {
    let state = Shop::new();
    let asked = Arc::new(AtomicU32::new(0));
    let registry = Registry::builder()
        .with(Arc::clone(&state))
        .without(["refund_inside"])
        .approver({
            let (state, asked) = (Arc::clone(&state), Arc::clone(&asked));
            move |_| {
                state.price.fetch_add(1, Ordering::Relaxed);
                asked.fetch_add(1, Ordering::Relaxed);
                async { Decision::Approved(Approval::Once) }
            }
        })
        .build()
        .unwrap();
    let outcome = registry.call(buy("lamp")).await;
    assert_eq!(outcome.status(), Status::Denied, "{:?}", outcome.error());
    assert_eq!(asked.load(Ordering::Relaxed), 3);
    assert_eq!(registry.statistics().calls(), 1);
    assert_eq!(state.sold(), [""; 0]);
}

#[tokio::test]
async fn a_fallback_decides_where_there_is_no_other_approver() {
    let state = Shop::new();
    let denied = async |_: ApprovalRequest| Decision::Denied("by the first".to_owned());
    let fallback =
        || Context::new().fallback_approver(async |_| Decision::Approved(Approval::Once));
    let registry = shop(&state);
    let call = |context| registry.call(refund("ada", 20_000)).context(context);
    assert!(call(fallback()).await.is_ok());
    for context in [
        fallback().approver(denied),
        fallback().run(&Run::new().approver(denied)),
    ] {
        assert_eq!(call(context).await.status(), Status::Denied);
    }
    let strict = Registry::builder().with(Arc::clone(&state));
    let strict = strict.without(["refund_inside"]).approver(denied);
    let strict = strict.build().unwrap();
    let outcome = strict.call(refund("ada", 20_000)).context(fallback()).await;
    assert_eq!(outcome.status(), Status::Denied);
}

#[tokio::test]
async fn what_has_no_answer_is_asked_again_and_denied_the_third_time() {
    let registry = shop(&Shop::new());
    let run = Run::new().approver(async |_| Decision::Unanswered);
    let mut status = Vec::new();
    for _ in 0..4 {
        let context = Context::new().run(&run);
        let outcome = registry.call(refund("ada", 20_000)).context(context).await;
        status.push(outcome.status());
    }
    let (asked, denied) = (Status::Asked, Status::Denied);
    assert_eq!(status, [asked, asked, denied, denied]);
    let context = Context::new().run(&run);
    let other = registry.call(refund("bob", 20_000)).context(context).await;
    let answer = request(&other).approve();
    let context = Context::new().run(&run).answer(answer);
    let other = registry.call(refund("bob", 20_000)).context(context).await;
    assert!(other.is_ok(), "the question is still open: {other:?}");
}

#[tokio::test]
async fn one_caller_answers_no_question_of_another_and_pushes_none_out() {
    let registry = shop(&Shop::new());
    let of = |caller: &str, cents| {
        let context = Context::new().identified_as(caller);
        registry.call(refund("ada", cents)).context(context)
    };
    let to_ada = request(&of("ada", 20_000).await);
    for cents in 0..1_100 {
        let _ = of("mallory", 20_000 + cents).await;
    }
    let answered = |caller: Option<&str>| {
        let context = Context::new().answer(to_ada.approve());
        let context = match caller {
            Some(caller) => context.identified_as(caller),
            None => context,
        };
        registry.call(refund("ada", 20_000)).context(context)
    };
    assert_eq!(answered(Some("mallory")).await.status(), Status::Asked);
    assert_eq!(answered(None).await.status(), Status::Asked);
    assert!(answered(Some("ada")).await.is_ok());

    let run = Run::new().approver(async |_| Decision::Approved(Approval::SameConditions));
    let remembered = |caller: &str| {
        let context = Context::new().run(&run).identified_as(caller);
        registry.call(refund("ada", 20_000)).context(context)
    };
    assert!(remembered("ada").await.is_ok());
    let run = Run::new().within(&Context::new().run(&run));
    let run = run.approver(async |_| Decision::Denied("not you".to_owned()));
    let context = |caller: &str| Context::new().run(&run).identified_as(caller);
    let call = || refund("ada", 20_000);
    assert!(registry.call(call()).context(context("ada")).await.is_ok());
    let denied = registry.call(call()).context(context("mallory")).await;
    assert_eq!(denied.status(), Status::Denied);
}

#[tokio::test]
async fn what_is_observed_before_a_question_is_told_and_counted_once() {
    /// Send a letter.
    #[tool(confirm = "Send {letters} letters?")]
    #[pre(letters < 10, "few letters are sent at once", policy = observe)]
    fn send(letters: u32) {}
    let told = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&told);
    let registry = Registry::builder()
        .tool(send)
        .approver(async |_| Decision::Approved(Approval::Once))
        .observe(Observer::new().violations(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        }))
        .build()
        .unwrap();
    let outcome = registry
        .call(ToolCall::new("1", "send", r#"{"letters":20}"#))
        .await;
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(outcome.observed().len(), 1);
    assert_eq!(told.load(Ordering::Relaxed), 1);
    assert_eq!(registry.statistics().conditions.violated, 1);
}

#[tokio::test]
async fn the_nearest_approver_is_asked() {
    let named = |name: &'static str| move |_| async move { Decision::Denied(name.to_owned()) };
    let registry = Registry::builder()
        .with(Shop::new())
        .without(["refund_inside"])
        .approver(named("registry"))
        .build()
        .unwrap();
    let run = Run::new().approver(named("run"));
    let error = async |context| {
        let outcome = registry.call(refund("ada", 20_000)).context(context).await;
        outcome.error().unwrap().to_owned()
    };
    assert!(error(Context::new()).await.ends_with("registry"));
    let denied = error(Context::new().run(&run)).await;
    assert!(
        denied.ends_with("run (for the rest of the run)"),
        "{denied}"
    );
    let context = Context::new().run(&Run::new()).approver(named("call"));
    assert!(error(context).await.contains(": call ("));
    let inside = Run::new().within(&Context::new().run(&run));
    assert!(error(Context::new().run(&inside)).await.contains(": run ("));
}

#[tokio::test]
async fn an_approver_may_panic_or_never_answer() {
    let registry = shop(&Shop::new());
    let at_once =
        Context::new().approver(|_| -> std::future::Ready<Decision> { panic!("at once") });
    let later = Context::new().approver(async |_| -> Decision { panic!("later") });
    for context in [at_once, later] {
        let outcome = registry.call(refund("ada", 20_000)).context(context).await;
        assert_eq!(outcome.status(), Status::Denied);
    }
    let never = || Context::new().approver(|_| std::future::pending::<Decision>());
    let context = never().timeout(Duration::from_millis(20));
    let outcome = registry.call(refund("ada", 20_000)).context(context).await;
    assert_eq!(outcome.status(), Status::TimedOut);
    let token = CancellationToken::new();
    token.cancel();
    let outcome = registry
        .call(refund("ada", 20_000))
        .context(never().cancellation(token))
        .await;
    assert_eq!(outcome.status(), Status::Cancelled);
    let mut waiting = Box::pin(registry.call(refund("ada", 20_000)).context(never()));
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waiting.as_mut().poll(&mut task).is_pending());
    drop(waiting);
    let statistics = registry.statistics();
    assert_eq!(statistics.ended(Status::Cancelled), 2);
    assert_eq!(statistics.calls(), 5);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_held_while_a_person_thinks() {
    let state = Shop::new();
    let registry = Registry::builder()
        .with(Arc::clone(&state))
        .without(["refund_inside"])
        .max_calls(1)
        .build()
        .unwrap();
    let locked = Arc::clone(&state);
    let other = registry.clone();
    let thinking = move |_| {
        let (locked, other) = (Arc::clone(&locked), other.clone());
        async move {
            // Longer than the timeout of the tool.
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            drop(
                locked
                    .locked
                    .try_lock()
                    .expect("the guard of the given is released"),
            );
            let batch = other.call_all([refund("bob", 1)]).await;
            assert!(batch[0].is_ok(), "neither the gate nor the permit is held");
            Decision::Approved(Approval::Once)
        }
    };
    let context = Context::new().approver(thinking);
    let sell = ToolCall::new("1", "sell", "");
    let outcomes = registry.call_all([sell]).context(context).await;
    assert!(outcomes[0].is_ok(), "{:?}", outcomes[0].error());
    assert_eq!(state.sold(), ["1 to bob", "sold"]);
}

#[tokio::test]
async fn a_call_that_a_tool_makes_waits_for_nobody() {
    let state = Shop::new();
    let inner = Arc::new(Mutex::new(None::<Registry>));
    let registry = |approver: Option<fn(ApprovalRequest) -> std::future::Ready<Decision>>| {
        let builder = Registry::builder()
            .with(Arc::clone(&state))
            .context_arc(Arc::clone(&inner));
        let builder = match approver {
            Some(approver) => builder.approver(approver),
            None => builder,
        };
        let registry = builder.build().unwrap();
        *inner.lock().unwrap() = Some(registry.clone());
        registry
    };
    let call = || ToolCall::new("1", "refund_inside", "");
    let outcome = registry(None).call(call()).await;
    assert!(
        outcome.output().unwrap().starts_with("denied: "),
        "{outcome:?}"
    );
    let at_once = registry(Some(|_| {
        std::future::ready(Decision::Approved(Approval::Once))
    }));
    assert_eq!(at_once.call(call()).await.output(), Some("ok: "));
    let context = Context::new().run(&Run::new().approver(|_| std::future::pending::<Decision>()));
    let outcome = registry(None).call(call()).context(context).await;
    assert!(
        outcome.output().unwrap().contains("cannot wait"),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_call_that_a_tool_makes_is_a_call_of_its_caller() {
    let inner = Arc::new(Mutex::new(None::<Registry>));
    let builder = Registry::builder().with(Shop::new());
    let registry = builder.context_arc(Arc::clone(&inner)).build().unwrap();
    *inner.lock().unwrap() = Some(registry.clone());
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let run = Run::new().approver(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Decision::Approved(Approval::SameConditions))
    });
    for (caller, times) in [("ada", 1), ("ada", 1), ("mallory", 2)] {
        let context = Context::new().run(&run).identified_as(caller);
        let call = ToolCall::new("1", "refund_inside", "");
        let outcome = registry.call(call).context(context).await;
        assert_eq!(outcome.output(), Some("ok: "));
        assert_eq!(asked.load(Ordering::Relaxed), times, "{caller}");
    }
}

#[tokio::test]
async fn a_batch_goes_on_reading_and_writes_nothing_behind_an_open_question() {
    /// Count the things.
    #[tool(read_only)]
    fn count() -> u32 {
        3
    }
    let state = Shop::new();
    let registry = Registry::builder()
        .with(Arc::clone(&state))
        .without(["refund_inside"])
        .tool(count)
        .build()
        .unwrap();
    let calls = || {
        let read = ToolCall::new("2", "count", "");
        [
            refund("bob", 1),
            refund("ada", 20_000),
            read,
            refund("bob", 2),
        ]
    };
    let statuses = async |context: Context| {
        let outcomes = registry.call_all(calls()).context(context).await;
        outcomes.iter().map(Outcome::status).collect::<Vec<_>>()
    };
    let open = [Status::Ok, Status::Asked, Status::Ok, Status::Cancelled];
    assert_eq!(statuses(Context::new()).await, open);
    assert_eq!(state.sold(), ["1 to bob"]);
    let denied = Context::new().approver(async |_| Decision::Denied("no".to_owned()));
    let over = [Status::Ok, Status::Denied, Status::Ok, Status::Ok];
    assert_eq!(statuses(denied).await, over);
}

#[tokio::test]
async fn who_watches_a_run_hears_of_questions_and_of_what_came_of_them() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let run = Run::new().observe(Observer::new().events({
        let heard = Arc::clone(&heard);
        move |watched| {
            let text = match watched {
                CheckEvent::Asked(request) => format!("asked {}", request.call_id),
                CheckEvent::Answered { decision, .. } => format!("{decision:?}"),
                _ => return,
            };
            heard.lock().unwrap().push(text);
        }
    }));
    let registry = shop(&Shop::new());
    let context = || Context::new().run(&run);
    let denied = context().approver(async |_| Decision::Denied("no".to_owned()));
    let _ = registry.call(refund("ada", 20_000)).context(denied).await;
    let late = context()
        .approver(|_| std::future::pending::<Decision>())
        .timeout(Duration::from_millis(10));
    let _ = registry.call(refund("eve", 20_000)).context(late).await;
    let _ = registry
        .call(refund("eve", 20_000))
        .context(context())
        .await;
    let expected = ["asked 7", r#"Some(Denied("no"))"#, "asked 7", "None"];
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[tokio::test]
async fn who_could_not_answer_has_not_denied() {
    let registry = shop(&Shop::new());
    let run = Run::new();
    let context = || Context::new().run(&run);
    let panics = context().approver(async |_| -> Decision { panic!("no window") });
    let outcome = registry.call(refund("ada", 20_000)).context(panics).await;
    assert_eq!(outcome.status(), Status::Denied);
    let outcome = registry
        .call(refund("ada", 20_000))
        .context(context())
        .await;
    assert_eq!(outcome.status(), Status::Asked);
}

#[tokio::test]
async fn a_write_that_was_approved_stands_alone_in_its_batch() {
    use std::sync::atomic::AtomicBool;

    /// Write for a while.
    #[tool(confirm = "Write?")]
    async fn write(#[context] busy: &AtomicBool) {
        busy.store(true, Ordering::Relaxed);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        busy.store(false, Ordering::Relaxed);
    }

    /// Say whether something is being written.
    #[tool(read_only)]
    fn read(#[context] busy: &AtomicBool) -> bool {
        busy.load(Ordering::Relaxed)
    }

    let builder = Registry::builder().tool(write).tool(read);
    let registry = builder.context(AtomicBool::new(false)).build().unwrap();
    let approved = || async { Decision::Approved(Approval::Once) };
    let context = Context::new().approver(move |_| approved());
    let (written, read) = tokio::join!(
        biased;
        registry.call_all([ToolCall::new("1", "write", "")]).context(context),
        registry.call_all([ToolCall::new("2", "read", "")]),
    );
    assert!(written[0].is_ok());
    assert_eq!(read[0].output(), Some("false"));
}
