//! Calls that are given up while something is looked up for them, before their body.

use std::time::Duration;

use contract_runtime::Status;
use contract_runtime::prelude::*;

use crate::common::Log;

async fn price(item: &str) -> u32 {
    if item == "gold" {
        std::future::pending::<()>().await;
    }
    7
}

/// Buy something.
#[tool]
#[given(price = price(&item).await)]
#[pre(price < 10)]
async fn buy(item: String, #[context] log: &Log) -> u32 {
    log.add("bought");
    if item == "silver" {
        std::future::pending::<()>().await;
    }
    price
}

fn registry(log: &Log) -> Registry {
    let builder = Registry::builder().tool(buy).context(log.clone());
    builder.build().unwrap()
}

fn call(item: &str) -> ToolCall {
    ToolCall::new("1", "buy", format!(r#"{{"item":"{item}"}}"#))
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_during_a_lookup_says_that_its_body_did_not_begin() {
    let log = Log::default();
    let registry = registry(&log);
    for (item, doubt) in [
        ("gold", "its body did not begin"),
        (
            "silver",
            "it may have taken effect, so check before you repeat it",
        ),
    ] {
        let in_time = Context::new().timeout(Duration::from_millis(13));
        let outcome = registry.call(call(item)).context(in_time).await;
        assert_eq!(outcome.status(), Status::TimedOut);
        let said = format!("`buy` did not end within 13 ms; {doubt}");
        assert_eq!(outcome.error(), Some(&*said));

        let token = CancellationToken::new();
        let context = Context::new().cancellation(token.clone());
        let stop = async {
            tokio::task::yield_now().await;
            token.cancel();
        };
        let (outcome, ()) = tokio::join!(registry.call(call(item)).context(context), stop);
        assert_eq!(outcome.status(), Status::Cancelled);
        let said = format!("the call was cancelled; {doubt}");
        assert_eq!(outcome.error(), Some(&*said));
    }
    assert_eq!(log.take(), ["bought", "bought"]);
}
