//! A tool on the executor that says too much.

use std::time::Duration;

use contract_runtime::prelude::*;
use tokio::time::timeout;

use crate::tools::{Tested, house};

/// More than one message of the protocol holds.
const LONG: usize = 9 << 20;

/// Talk.
#[tool]
fn talk(#[context] log: &Log, #[context] progress: &Progress) -> u8 {
    log.info("x".repeat(LONG));
    progress.report(f64::NAN, None, "nowhere");
    progress.report(1.0, Some(f64::INFINITY), "y".repeat(LONG));
    log.info("after");
    3
}

#[tokio::test]
async fn a_message_that_is_too_long_is_cut_and_ends_no_connection() -> Tested {
    let house = house(Registry::builder().tool(talk).build()?).await?;
    let (heard, mut said) = tokio::sync::mpsc::unbounded_channel();
    let told = heard.clone();
    let context = Context::new()
        .log(move |record| drop(heard.send(record.message.clone())))
        .progress(Progress::new(move |report| {
            drop(told.send(format!(
                "{} {:?} {}",
                report.done, report.total, report.message
            )));
        }));
    let registry = house.session.registry();
    let call = registry
        .call(ToolCall::new("1", "talk", ""))
        .context(context);
    let outcome = timeout(Duration::from_secs(30), call).await?;
    assert_eq!(outcome.output(), Some("3"), "{outcome:?}");
    let lengths = |text: String| {
        (
            text.chars().take(12).collect::<String>(),
            text.chars().count(),
        )
    };
    let heard: Vec<_> = std::iter::from_fn(|| said.try_recv().ok())
        .map(lengths)
        .collect();
    let expected = [
        ("xxxxxxxxxxxx", 1_000),
        ("1 None yyyyy", 1_007),
        ("after", 5),
    ];
    assert_eq!(
        heard,
        expected.map(|(start, length)| (start.to_owned(), length))
    );
    Ok(())
}
