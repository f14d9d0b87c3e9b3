//! Asks people about calls, one at a time, and takes what they decide.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::approval::{Approval as Reach, ApprovalRequest, Decision};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::refused::{Refused, judge};
use super::run::Run;
use super::run_store::RunStore;
use crate::contract::{Approval, ApprovalAnswer, Happening, RunState, Step};

/// How long a person may think: the run holds up those that wait for their turn, and its safeguards end one that is silent for 20
/// minutes.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

const NOBODY: &str = "nobody answered within 15 minutes";

/// Who waits for the decision on a call.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Option<oneshot::Sender<Decision>>>);

type Deciding = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// Asks about the calls of a run, through its state. A decision for an earlier process holds for the call that was asked about.
pub(super) fn approver(
    run: &Arc<Run>,
    run_store: &RunStore,
    decided: Option<(Approval, ApprovalAnswer)>,
) -> impl Fn(ApprovalRequest) -> Deciding + Send + Sync + 'static + use<> {
    let (run, run_store) = (Arc::clone(run), run_store.clone());
    // Calls that only read run side by side.
    let decided = Arc::new(tokio::sync::Mutex::new(decided));
    move |request| {
        let (run, run_store) = (Arc::clone(&run), run_store.clone());
        let decided = Arc::clone(&decided);
        Box::pin(async move {
            let mut decided = decided.lock().await;
            let is_asked = |asked: &Approval| {
                let id = asked.id.clone();
                *asked
                    == Approval {
                        id,
                        ..Approval::from(&request)
                    }
            };
            match decided.take_if(|(asked, _)| is_asked(asked)) {
                Some((_, answer)) => decision(answer),
                None => ask(&run, &run_store, &request).await,
            }
        })
    }
}

async fn ask(run: &Run, run_store: &RunStore, request: &ApprovalRequest) -> Decision {
    let (answerer, mut decided) = oneshot::channel();
    *run.waiting.0.lock() = Some(answerer);
    let asked = run.change_anyway(run_store, |record| {
        record.life.take(Step::Request)?;
        let approval = Approval::from(request);
        record.approval = Some(approval.clone());
        Ok(vec![Happening::ApprovalRequested { approval }])
    });
    if let Err(refused) = asked.await {
        return Decision::Denied(refused.to_string());
    }
    if let Ok(Ok(decision)) = tokio::time::timeout(PATIENCE, &mut decided).await {
        return decision;
    }
    let answer = ApprovalAnswer {
        id: request.id.clone(),
        approve: false,
        reason: NOBODY.to_owned(),
    };
    let given_up = run.change_anyway(run_store, |record| decide(record, &answer));
    match given_up.await {
        Ok(()) => Decision::Denied(answer.reason),
        // The answer came just before the timeout.
        Err(_) => decided.await.unwrap_or(Decision::Denied(answer.reason)),
    }
}

fn decide(
    record: &mut super::RunRecord,
    answer: &ApprovalAnswer,
) -> Result<Vec<Happening>, Refused> {
    let is_asked = record
        .approval
        .as_ref()
        .is_some_and(|approval| approval.id == answer.id);
    if record.life.state() != RunState::WaitingApproval || !is_asked {
        return Err(Refused::NotAsked);
    }
    record.life.take(Step::Decide)?;
    record.decided = record.approval.take().map(|asked| (asked, answer.clone()));
    Ok(vec![Happening::ApprovalAnswered {
        id: answer.id.clone(),
        approved: answer.approve,
        reason: answer.reason.clone(),
    }])
}

/// Takes a decision; of several at once, one takes the step.
pub(super) async fn answer(
    run: &Run,
    run_store: &RunStore,
    answer: &ApprovalAnswer,
) -> Result<(), Refused> {
    let mut answer = answer.clone();
    if !answer.approve {
        if answer.reason.trim().is_empty() {
            "a person said no".clone_into(&mut answer.reason);
        }
        judge(&answer.reason)?;
    }
    let decided = run.change(run_store, |record| {
        if record.owner != run_store.name() && !record.life.state().is_over() {
            let (owner, state) = (record.owner.clone(), record.life.state());
            return Err(Refused::Elsewhere { owner, state });
        }
        decide(record, &answer)
    });
    decided.await?;
    // Nobody waits where an earlier process asked: the run goes on with the decision once its executor has dialled in.
    if let Some(answerer) = run.waiting.0.lock().take() {
        // The run may have been cancelled meanwhile.
        let _ = answerer.send(decision(answer));
    }
    Ok(())
}

fn decision(answer: ApprovalAnswer) -> Decision {
    if answer.approve {
        Decision::Approved(Reach::Once)
    } else {
        Decision::Denied(answer.reason)
    }
}
