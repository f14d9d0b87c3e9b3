//! Models that do the same thing again and again.

use contract_agent::{
    ContractAgent, Event, LoopDetection, LoopKind, RunError, RunResult, Scripted,
};

use crate::tools::{inner, words};

/// A model that takes these roots, one in each reply.
fn roots(of: impl IntoIterator<Item = i64>) -> Scripted {
    of.into_iter().fold(Scripted::new(), |model, of| {
        model.calls("", [("root", format!(r#"{{"of":{of}}}"#))])
    })
}

async fn run(model: &Scripted, loops: LoopDetection) -> RunResult {
    ContractAgent::builder(inner(model))
        .loop_detection(loops)
        .build()
        .run("go")
        .await
}

#[tokio::test]
async fn the_third_equal_call_is_a_loop_unless_something_else_is_said() {
    let model = roots([4, 4, 4]).text("done");
    let result = run(&model, LoopDetection::default()).await;
    assert_eq!(
        result.error,
        Some(RunError::Loop {
            pattern: LoopKind::ActionRepeat,
            repeated: 3
        })
    );
    let ran = words(&result.steps);
    assert_eq!(ran.iter().filter(|word| *word == "action root").count(), 2);
    let model = roots([4, 9, 4, 9, 4]).text("done");
    assert!(run(&model, LoopDetection::default()).await.success);
    let model = roots([4; 9]).text("done");
    assert!(run(&model, LoopDetection::off()).await.success);
}

#[tokio::test]
async fn one_tool_again_and_again_is_a_loop_where_that_is_asked_for() {
    let loops = LoopDetection::default().same_tool(5);
    let result = run(&roots(1..9), loops).await;
    assert_eq!(
        result.error,
        Some(RunError::Loop {
            pattern: LoopKind::ToolRepeat,
            repeated: 5
        })
    );
    assert!(
        run(&roots(1..9).text("done"), LoopDetection::default())
            .await
            .success
    );
    // Another tool in between, and many calls in one reply, are no loop.
    let model = roots(1..4)
        .calls("", [("hide", r#"{"what":"a"}"#), ("root", r#"{"of":5}"#)])
        .text("done");
    assert!(run(&model, loops.same_tool(4)).await.success);
    let many: Vec<_> = (1..10)
        .map(|of| ("root", format!(r#"{{"of":{of}}}"#)))
        .collect();
    let model = Scripted::new().calls("", many).text("done");
    assert!(run(&model, loops).await.success);
}

#[tokio::test]
async fn a_stuck_model_may_be_answered_for() {
    let loops = LoopDetection::default().answering();
    let model = roots([1, 4, 9, 16, 25, 36]).calls("", [("hide", r#"{"what":"fail"}"#)]);
    let again = [("root", r#"{"of":49}"#); 3];
    let model = again
        .into_iter()
        .fold(model, |model, call| model.calls("", [call]));
    let result = run(&model, loops).await;
    // The last five results; what failed is none.
    assert_eq!(result.answer.as_deref(), Some("4.0\n5.0\n6.0\n7.0\n7.0"));
    assert!(result.success);
    let ends: Vec<_> = words(&result.steps).split_off(words(&result.steps).len() - 2);
    assert_eq!(ends[0], "loop");
    let long = "é".repeat(1_000);
    let call = ("hide", format!(r#"{{"what":"{long}"}}"#));
    let model = (0..3).fold(Scripted::new(), |model, _| model.calls("", [call.clone()]));
    let result = run(&model, loops).await;
    let short = "é".repeat(200);
    assert_eq!(result.answer, Some(format!("{short}\n{short}")));
}

#[tokio::test]
async fn an_answer_for_a_stuck_model_is_judged_and_needs_results() {
    let loops = LoopDetection::default().answering();
    let agent = ContractAgent::builder(inner(&roots([4; 3])))
        .loop_detection(loops)
        .answer_post("no two", |answer| !answer.contains('2'))
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.answer, None);
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
    assert!(
        !result
            .steps
            .iter()
            .any(|event| matches!(event, Event::Answer { .. }))
    );
    let call = ("hide", r#"{"what":"fail"}"#);
    let model = (0..3).fold(Scripted::new(), |model, _| model.calls("", [call]));
    let result = run(&model, loops).await;
    assert!(matches!(result.error, Some(RunError::Loop { .. })));
}
