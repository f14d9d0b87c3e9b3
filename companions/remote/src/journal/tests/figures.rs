//! Measures the journal: `cargo test --release -- --ignored --nocapture journal::tests::figures`.

use std::time::Instant;

use super::files::Folder;
use super::{Journal, hash, reply, task};
use crate::protocol::{CallId, CallKey};

const TEXT: usize = 512;

async fn call(journal: &Journal) {
    // As a backend gives them: what is forgotten goes by the order of ids.
    let key = CallKey {
        tool_id: CallId::next(),
        attempt: 1,
    };
    journal.accept(task(0), key, hash(0)).await.unwrap();
    journal.start(task(0), key).await.unwrap();
    journal
        .finish(task(0), key, reply(key, &"x".repeat(TEXT)))
        .await
        .unwrap();
    journal.acknowledge(task(0), key).await.unwrap();
}

async fn calls_per_second(journal: &Journal, parallel: u32, calls: u32) -> f64 {
    let begun = Instant::now();
    let lanes = (0..parallel).map(|_| {
        let journal = journal.clone();
        tokio::spawn(async move {
            for _ in 0..calls / parallel {
                call(&journal).await;
            }
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.unwrap();
    }
    f64::from(calls / parallel * parallel) / begun.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn calls_from_accept_to_acknowledge() {
    let folder = Folder::new("figures");
    let file = folder.path().join("calls.journal");
    let journals = [
        ("file", Journal::open(&file).unwrap()),
        ("memory", Journal::in_memory()),
    ];
    for (name, journal) in &journals {
        for (parallel, calls) in [(1, 500), (64, 12_800)] {
            let rate = calls_per_second(journal, parallel, calls).await;
            println!("{name}, {parallel} at a time: {rate:.0} calls of {TEXT} bytes per second");
        }
    }
    drop(journals);
    let length = std::fs::metadata(&file).unwrap().len();
    let begun = Instant::now();
    let journal = Journal::open(&file).unwrap();
    println!(
        "opened {} KiB in {:.1} ms",
        length >> 10,
        begun.elapsed().as_secs_f64() * 1e3
    );
    drop(journal);
}
