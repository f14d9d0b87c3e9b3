//! An agent pays three times; its process is killed at every point, and its run goes on. Each payment is made once.

use std::path::Path;
use std::process::{Command, abort};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bank::Till;
use contract_agent::{
    ContractAgent, FileStore, LoopDetection, Message, RunState, RunStore, Scripted, Stored,
    ToolCallingAgent,
};
use contract_runtime::prelude::*;
use rusqlite::Connection;

/// The variable with the folder of the process that is killed, and the one with the number of the point.
const FOLDER: &str = "BANK_ONCE_FOLDER";
const POINT: &str = "BANK_ONCE_POINT";

/// Aborts the process at the point with this number, counted down.
#[derive(Clone)]
struct Points(Arc<AtomicU32>);

impl Points {
    fn pass(&self) {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 0 {
            abort();
        }
    }
}

/// A store with a point before each record and one behind it.
struct Watched(FileStore, Points);

impl RunStore for Watched {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        Box::pin(async move {
            self.1.pass();
            self.0.append(run, expected, record).await?;
            self.1.pass();
            Ok(())
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        self.0.read(run)
    }
}

fn database(folder: &Path) -> Connection {
    Connection::open(folder.join("till.db")).unwrap()
}

/// Two equal payments in one reply, and the same one in another reply.
const REPLIES: [&[(&str, &str)]; 2] = {
    const PAY: (&str, &str) = ("pay", r#"{"payee":"ada","cents":100}"#);
    [&[PAY, PAY], &[PAY]]
};

/// A process of the run, which does nothing unless the test below has started it.
#[tokio::test]
async fn a_process() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let point = std::env::var(POINT).unwrap().parse().unwrap();
    let (folder, points) = (Path::new(&folder), Points(Arc::new(AtomicU32::new(point))));
    let (db, changes, commits) = (database(folder), points.clone(), points.clone());
    let hook = db.update_hook(Some(move |_, _: &str, _: &str, _| changes.pass()));
    hook.unwrap();
    let committing = move || {
        commits.pass();
        false
    };
    db.commit_hook(Some(committing)).unwrap();
    let registry = Registry::builder().with(Till::new(db).unwrap());

    let store = FileStore::new(folder.join("runs")).unwrap();
    let store = Arc::new(Watched(store, points));
    let run = RunState::open(store, "payments").await.unwrap();
    let is_reply = |message: &&Message| matches!(message, Message::Assistant { .. });
    let replied = run.messages().iter().filter(is_reply).count();
    let rest = REPLIES.iter().skip(replied);
    let model = rest.fold(Scripted::new(), |model, calls| {
        model.calls("", calls.iter().copied())
    });
    let model = model.text("paid");
    let inner = ToolCallingAgent::new(model, registry.build().unwrap());
    // It pays the same three times.
    let agent =
        ContractAgent::builder(inner).loop_detection(LoopDetection::default().same_action(0));
    let agent = agent.build();
    let result = if run.messages().is_empty() {
        agent.run_after(run, "Pay ada.").await
    } else {
        agent.resume(run).await
    };
    assert!(result.success, "{result:?}");
    let said = |message: &Message| matches!(message, Message::Tool { text, .. } if text == "3");
    assert!(result.messages.iter().any(said), "{result:?}");
}

/// Runs a process, and returns whether it came to its end.
fn process(folder: &Path, point: u32) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process", "--nocapture"])
        .env(FOLDER, folder)
        .env(POINT, point.to_string())
        .output()
        .unwrap();
    let was_killed = output.status.code().is_none();
    assert!(was_killed || output.status.success(), "{output:?}");
    !was_killed
}

#[test]
fn a_payment_is_made_once_wherever_its_process_is_killed() {
    let mut point = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let came_to_its_end = process(folder.path(), point);
        assert!(came_to_its_end || process(folder.path(), u32::MAX));
        let count = "SELECT COUNT(*) FROM payment";
        let db = database(folder.path());
        let payments: i64 = db.query_row(count, (), |row| row.get(0)).unwrap();
        assert_eq!(payments, 3, "killed at point {point}");
        if came_to_its_end {
            break;
        }
        point += 1;
    }
    println!("killed at {point} points: no payment lost, none made twice");
    assert!(point > 30, "{point}");
}

#[test]
fn a_known_key_gives_the_earlier_result_and_refuses_other_arguments() {
    let till = Till::new(Connection::open_in_memory().unwrap()).unwrap();
    let registry = Registry::builder().with(till).build().unwrap();
    let pay = |key, arguments| {
        let context = Context::new().idempotency_key(IdempotencyKey::new(key));
        let call = registry.call(("1", "pay", arguments)).context(context);
        call.blocking()
    };
    let to_ada = r#"{"payee":"ada","cents":600}"#;
    for (key, payment) in [("order-7", "1"), ("order-7", "1"), ("order-8", "2")] {
        assert_eq!(pay(key, to_ada).output(), Some(payment), "{key}");
    }
    let other = pay("order-7", r#"{"payee":"ben","cents":600}"#);
    let why = "a call with other arguments was made under this key";
    assert_eq!(other.error(), Some(why));
}
