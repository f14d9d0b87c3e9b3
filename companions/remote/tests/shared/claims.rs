//! Of two executors that dial in to two backends at once, one stays.

use contract_remote::RemoteError;

use super::*;

const ROUNDS: u64 = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_hosts_that_claim_a_task_at_once_one_holds_it() -> Tested {
    let house = House::new().await?;
    let backends = [
        house.backend("home").await?,
        house.backend("one").await?,
        house.backend("other").await?,
    ];
    let mut of_first = 0;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        let (task, token) = backends[0].task().await?;
        // Two hosts, or the home and a host.
        let hosts = [&backends[1], &backends[if round % 2 == 0 { 0 } else { 2 }]];
        let signals: [Arc<Signals>; 2] = Default::default();
        let mut executors = Vec::new();
        for (host, signals) in hosts.into_iter().zip(&signals) {
            let (anywhere, _) = host.task().await?;
            let address = anywhere
                .address()
                .replace(&anywhere.id().to_string(), &task.id().to_string());
            host.forget(anywhere.id()).await?;
            let executor = Executor::new(tools(signals)?);
            executors.push((address, executor, Token::from(token.reveal().to_owned())));
        }
        let mut ended: Vec<_> = executors
            .into_iter()
            .map(|(address, executor, token)| {
                tokio::spawn(async move { executor.connect(address, token).ended().await })
            })
            .collect();
        let second = ended.pop().ok_or("two")?;
        let first = ended.pop().ok_or("two")?;
        let (mut first, mut second) = (first, second);
        // The earlier one is sent away for good.
        let (is_first, lost) = timeout(SOON, async {
            tokio::select! {
                lost = &mut first => (false, lost),
                lost = &mut second => (true, lost),
            }
        })
        .await
        .map_err(|_| format!("round {round}: both hold it"))?;
        assert!(
            matches!(lost?, Err(RemoteError::Refused { .. })),
            "round {round}"
        );
        of_first += usize::from(is_first);
        let session = timeout(SOON, task.attached()).await??;
        let outcome = timeout(
            SOON,
            session.registry().call(ToolCall::new("1", "mark", "")),
        )
        .await?;
        assert_eq!(outcome.output(), Some("1"), "round {round}: {outcome:?}");
        let winner = &signals[usize::from(!is_first)];
        assert_eq!(winner.marks.load(Ordering::SeqCst), 1, "round {round}");
        task.finish(true, "done").await;
        let stays = if is_first { first } else { second };
        timeout(SOON, stays).await???;
    }
    println!("{rounds} rounds, {of_first} for the first");
    Ok(())
}
