//! Of several backends that open one task again at once, one makes its calls.

use std::collections::BTreeMap;

use contract_remote::protocol::TaskId;
use contract_remote::{RemoteError, Session};
use serde_json::Value;

use super::*;

const ROUNDS: u64 = 40;

/// How a call ended for the one who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Done,
    NotRun,
    Unknown,
}

async fn call(session: &Session, number: u64) -> Result<Told, String> {
    let call = ToolCall::new(
        number.to_string(),
        "leave",
        format!(r#"{{"number":{number}}}"#),
    );
    let outcome = timeout(SOON, session.registry().call(call))
        .await
        .map_err(|_| format!("call {number} has no end"))?;
    if outcome.output() == Some(&*number.to_string()) {
        return Ok(Told::Done);
    }
    let told = outcome.error().unwrap_or_default();
    match told {
        told if told.contains("was not run") => Ok(Told::NotRun),
        told if told.contains("unknown outcome") => Ok(Told::Unknown),
        told => Err(format!("call {number}: {told}")),
    }
}

/// Calls one after the other, until one is refused.
async fn calls_until_refused(
    session: Session,
    numbers: std::ops::Range<u64>,
) -> Result<BTreeMap<u64, Told>, String> {
    let mut told = BTreeMap::new();
    for number in numbers {
        let ended = call(&session, number).await?;
        told.insert(number, ended);
        if ended == Told::NotRun {
            break;
        }
    }
    Ok(told)
}

/// What a backend that opened a task again can do with it: all of its calls, or none from some call on.
async fn calls_if_at_home(
    task: &Task,
    numbers: std::ops::Range<u64>,
) -> Result<(bool, BTreeMap<u64, Told>), String> {
    let session = match timeout(SOON, task.attached()).await {
        Err(_) => return Err("neither attached nor taken over".into()),
        Ok(Err(RemoteError::TakenOver { task: named })) if named == task.id() => {
            return Ok((false, BTreeMap::new()));
        }
        Ok(session) => session.map_err(|error| error.to_string())?,
    };
    let told = calls_until_refused(session, numbers.clone()).await?;
    let all = told.len() as u64 == numbers.end - numbers.start
        && told.values().all(|told| *told == Told::Done);
    if !all {
        // Whoever lost a call has lost the task, and is told so.
        match timeout(SOON, task.attached()).await {
            Ok(Err(RemoteError::TakenOver { .. })) => {}
            other => return Err(format!("{told:?}, and then {other:?}")),
        }
    }
    Ok((all, told))
}

/// Each call that was begun has one end, which fits with what its caller was told and with what was done.
async fn judge(
    store: &RedisStore,
    task: TaskId,
    told: &BTreeMap<u64, Told>,
    left: &[u64],
) -> Tested {
    let begun = store.list(task, "call.").await?;
    let ended = store.list(task, "ending.").await?;
    let key = |name: &str| name.split_once('.').map(|(_, key)| key.to_owned());
    let keys: Vec<_> = begun.iter().map(|(name, _)| key(name)).collect();
    let ends: Vec<_> = ended.iter().map(|(name, _)| key(name)).collect();
    assert_eq!(keys, ends, "each call that was begun has one end");
    let mut kept = BTreeMap::new();
    for ((_, call), (_, ending)) in begun.iter().zip(&ended) {
        let call: Value = serde_json::from_str(&call.value)?;
        let ending: Value = serde_json::from_str(&ending.value)?;
        let number = call["parameters"]["number"].as_u64().ok_or("a number")?;
        let how = ending.as_object().and_then(|ending| ending.keys().next());
        let earlier = kept.insert(number, how.ok_or("an ending")?.clone());
        assert_eq!(earlier, None, "call {number} was made twice");
    }
    for (number, told) in told {
        let times = left.iter().filter(|one| *one == number).count();
        let kept = kept.get(number).map(String::as_str);
        match (told, kept) {
            // A call of the earlier home may be unknown to its caller, and its end was written by the later one.
            (Told::Done | Told::Unknown, Some("reply")) => assert_eq!(times, 1, "call {number}"),
            // It may have been refused before it was written down.
            (Told::NotRun, None) | (Told::NotRun | Told::Unknown, Some("not_run")) => {
                assert_eq!(times, 0, "call {number}");
            }
            (told, kept) => {
                return Err(format!("call {number}: {told:?}, {kept:?}, left {times}").into());
            }
        }
    }
    assert!(
        kept.keys().all(|number| told.contains_key(number)),
        "{kept:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_that_open_a_task_again_at_once_one_makes_its_calls() -> Tested {
    let house = House::new().await?;
    let backends = [
        house.backend("earlier").await?,
        house.backend("one").await?,
        house.backend("other").await?,
    ];
    let [earlier, one, other] = &backends;
    let store = house.store()?;
    let (mut of_one, mut unknown, mut refused) = (0, 0, 0);
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        house
            .lead_to(&backends[usize::try_from(round % 3)?])
            .await?;
        let (task, token) = earlier.task().await?;
        let executor = house.executor(&task, token)?;
        let session = timeout(SOON, task.attached()).await??;
        let under_way = tokio::spawn(calls_until_refused(session, 0..1_000));
        if round % 2 == 0 {
            house
                .lead_to(&backends[usize::try_from(round % 3 + 1)? % 3])
                .await?;
        }
        let (first, second) = tokio::join!(one.reopen(task.id()), other.reopen(task.id()));
        let first = first?.ok_or("the task is gone")?;
        let second = second?.ok_or("the task is gone")?;
        let (by_one, by_other) = tokio::join!(
            calls_if_at_home(&first, 1_000..1_005),
            calls_if_at_home(&second, 2_000..2_005)
        );
        let (one_is_home, mut told) = by_one.map_err(|why| format!("round {round}: {why}"))?;
        let (other_is_home, more) = by_other.map_err(|why| format!("round {round}: {why}"))?;
        told.extend(more);
        assert!(
            one_is_home != other_is_home,
            "round {round}: {one_is_home} and {other_is_home}, {told:?}"
        );
        of_one += u64::from(one_is_home);
        told.extend(timeout(SOON, under_way).await???);
        // The one that has lost it cannot end it either.
        task.finish(false, "by one who may not").await;
        let (home, lost) = if one_is_home {
            (&first, &second)
        } else {
            (&second, &first)
        };
        lost.finish(false, "by one who may not").await;
        timeout(SOON, home.settled()).await?;
        home.finish(true, "done").await;
        timeout(SOON, executor.ended()).await??;
        let left = std::mem::take(&mut *house.signals.left.lock().map_err(|_| "a panic")?);
        judge(&store, task.id(), &told, &left)
            .await
            .map_err(|why| format!("round {round}: {why}"))?;
        unknown += told.values().filter(|told| **told == Told::Unknown).count();
        refused += told.values().filter(|told| **told == Told::NotRun).count();
    }
    println!("{rounds} rounds, {of_one} for the first, {unknown} unknown, {refused} refused");
    assert!(refused > 0);
    Ok(())
}
