//! Calls of one turn, with real files: those that read overlap, those that write come one after another.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{
    Ground, Heard, alone, beside, children, ended, no_commands, polled, tell, until,
};
use contract_runtime::Status;
use contract_runtime::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::{FileText, Problem, Workspace};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn tool_call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall::new("the same id", name, arguments.to_string())
}

fn read(path: &str) -> ToolCall {
    tool_call("read_file", &json!({"path": path}))
}

fn write(path: &str, text: &str) -> ToolCall {
    tool_call("write_file", &json!({"path": path, "text": text}))
}

#[track_caller]
fn text(outcome: &Outcome) -> String {
    assert!(outcome.is_ok(), "{}", ended(outcome));
    outcome.value().unwrap()["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_read_after_a_write_in_one_batch_sees_the_write() {
    let _beside = beside();
    let ground = Ground::new();
    let registry = ground.registry();
    let edit = json!({"path": "new/a.txt", "old": "first", "new": "second"});
    let outcomes = runtime().block_on(registry.call_all([
        read("new/a.txt"),
        write("new/a.txt", "first\n"),
        read("new/a.txt"),
        tool_call("read_folder", &json!({"path": "new"})),
        tool_call(
            "search_in_files",
            &json!({"pattern": "first", "path": "new"}),
        ),
        tool_call("edit_file", &edit),
        read("new/a.txt"),
        tool_call(
            "search_in_files",
            &json!({"pattern": "first", "path": "new"}),
        ),
        tool_call(
            "search_in_files",
            &json!({"pattern": "second", "path": "new"}),
        ),
        write("new/a.txt", "third\n"),
        write("new/a.txt", "fourth\n"),
        read("new/a.txt"),
    ]));
    assert_eq!(
        outcomes[0].status(),
        Status::Failed,
        "it does not exist yet"
    );
    assert_eq!(text(&outcomes[2]), "first\n");
    assert!(outcomes[3].output().unwrap().contains("a.txt"));
    let hits = |at: usize| {
        outcomes[at].value().unwrap()["hits"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((hits(4), hits(7), hits(8)), (1, 0, 1));
    assert_eq!(text(&outcomes[6]), "second\n");
    assert_eq!(text(&outcomes[11]), "fourth\n");
    assert_eq!(
        fs::read_to_string(ground.path("new/a.txt")).unwrap(),
        "fourth\n"
    );
}

/// Reads through the tool of the package, once the others of its row are there too.
struct Meeting {
    workspace: Workspace,
    inside: AtomicUsize,
    most: AtomicUsize,
    came: AtomicUsize,
    all: usize,
}

#[tool]
impl Meeting {
    /// Read a file together with three others.
    #[tool(read_only, blocking)]
    fn read_together(&self, path: &str) -> Result<FileText, Problem> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        let place = self.came.fetch_add(1, Ordering::SeqCst);
        // The last one finds no row to fill.
        let row = (place / 4 * 4 + 4).min(self.all);
        let end = Instant::now() + Duration::from_secs(20);
        while self.came.load(Ordering::SeqCst) < row && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        // A fifth would come now.
        thread::sleep(Duration::from_millis(20));
        let nobody = CancellationToken::new();
        let text = toolkit::read_file(path, None, None, None, false, &self.workspace, &nobody);
        self.inside.fetch_sub(1, Ordering::SeqCst);
        text
    }
}

#[test]
fn nine_reads_overlap_up_to_four() {
    let _beside = beside();
    let ground = Ground::new();
    let meeting = Arc::new(Meeting {
        workspace: ground.workspace().build().unwrap(),
        inside: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        came: AtomicUsize::new(0),
        all: 9,
    });
    let registry = ground.builder().with(Arc::clone(&meeting)).build().unwrap();
    let begun = Instant::now();
    let calls = (0..9).map(|_| tool_call("read_together", &json!({"path": "notes.txt"})));
    let outcomes = runtime().block_on(registry.call_all(calls));
    // Had four not met, the first would have waited in vain.
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    assert!(
        outcomes
            .iter()
            .all(|outcome| text(outcome) == "one\ntwo\nthree\n")
    );
    assert_eq!(meeting.most.load(Ordering::SeqCst), 4);
}

#[test]
fn nine_reads_of_the_package_itself_overlap_up_to_four() {
    let _alone = alone();
    let heard = Heard::everywhere();
    let ground = Ground::new();
    ground.write("large.txt", "0123456789abcde\n".repeat(1 << 19));
    let registry = ground.registry();
    let _ = heard.together();
    let last = |_| {
        tool_call(
            "read_file",
            &json!({"path": "large.txt", "first_line": (1 << 19) - 1}),
        )
    };
    let outcomes = runtime().block_on(registry.call_all((0..9).map(last)));
    assert!(
        outcomes
            .iter()
            .all(|outcome| text(outcome) == "0123456789abcde\n".repeat(2))
    );
    let together = heard.together();
    assert_eq!(together.len(), 9);
    let most = together.iter().map(Vec::len).max();
    assert_eq!(most, Some(4), "{together:?}");
}

#[test]
fn two_batches_on_one_registry_respect_each_other() {
    let _alone = alone();
    let heard = Heard::everywhere();
    let ground = Ground::new();
    let registry = ground.registry();
    let version = |number: usize| format!("{number}\n").repeat(5_000);
    ground.write("shared.txt", version(0));
    let _ = heard.together();
    let batch = |own: usize| {
        let calls = (0..40).map(move |number| {
            if number % 4 == 3 {
                write("shared.txt", &version(own + number))
            } else {
                read("shared.txt")
            }
        });
        let registry = registry.clone();
        async move { registry.call_all(calls).await }
    };
    let (one, other, third) = runtime().block_on(async {
        let one = tokio::spawn(batch(100));
        let other = tokio::spawn(batch(200));
        let third = tokio::spawn(batch(300));
        (
            one.await.unwrap(),
            other.await.unwrap(),
            third.await.unwrap(),
        )
    });
    for outcome in [one, other, third].into_iter().flatten() {
        assert!(outcome.is_ok(), "{}", ended(&outcome));
        if outcome.tool() == "read_file" {
            let text = text(&outcome);
            let first = text.lines().next().unwrap();
            assert!(
                text.lines().all(|line| line == first),
                "a read saw two versions"
            );
        }
    }
    let together = heard.together();
    assert_eq!(together.len(), 120);
    for open in &together {
        let writing = open.iter().filter(|tool| *tool == "write_file").count();
        assert!(writing == 0 || open.len() == 1, "{open:?}");
    }
    assert!(
        together.iter().any(|open| open.len() > 1),
        "nothing overlapped"
    );
}

/// D11, S3
#[test]
fn a_batch_dropped_half_way_leaves_no_child_process_and_starts_nothing_more() {
    let _alone = alone();
    if let Some(answer) = no_commands() {
        tell(format_args!(
            "NOT RUN D11, S3 a_batch_dropped_half_way: {answer}"
        ));
        return;
    }
    let ground = Ground::new();
    let registry = ground.registry();
    let script = "(sleep 600 & setsid sleep 600 &) ; touch begun; sleep 600";
    let calls = move || {
        [
            read("notes.txt"),
            tool_call("run_shell", &json!({"script": script})),
            write("after.txt", "it went on\n"),
            tool_call("run_shell", &json!({"argv": ["touch", "after-too.txt"]})),
        ]
    };
    let runtime = runtime();
    for round in 0..3 {
        let _ = fs::remove_file(ground.path("begun"));
        let registry = registry.clone();
        let batch = runtime.spawn(async move { registry.call_all(calls()).await });
        assert!(until(|| ground.path("begun").exists()), "round {round}");
        assert!(!children().is_empty());
        batch.abort();
        assert!(until(|| children().is_empty()), "{:?}", children());
    }
    // At any other moment too; it is not polled any more when everything waits.
    for polls in 0..30 {
        let batch = polled(registry.call_all(calls().into_iter().take(2)), polls);
        let _ = runtime
            .block_on(async { tokio::time::timeout(Duration::from_millis(150), batch).await });
    }
    assert!(until(|| children().is_empty()), "{:?}", children());
    thread::sleep(Duration::from_millis(100));
    assert!(!ground.path("after.txt").exists());
    assert!(!ground.path("after-too.txt").exists());
}

/// What one call of a turn does.
#[derive(Clone, Debug)]
enum Step {
    Read(u8),
    List,
    Search(u8),
    Write(u8, u8),
    Edit(u8, u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let (file, text) = (0..3_u8, 0..4_u8);
    prop_oneof![
        3 => file.clone().prop_map(Step::Read),
        1 => Just(Step::List),
        1 => text.clone().prop_map(Step::Search),
        2 => (file.clone(), text.clone()).prop_map(|(file, text)| Step::Write(file, text)),
        1 => (file, text.clone(), text).prop_map(|(file, old, new)| Step::Edit(file, old, new)),
    ]
}

impl Step {
    fn call(&self) -> ToolCall {
        let name = |file: &u8| format!("turn/{file}.txt");
        let text = |text: &u8| format!("text {text}.\n");
        match self {
            Self::Read(file) => read(&name(file)),
            Self::List => tool_call("read_folder", &json!({"path": "turn"})),
            Self::Search(one) => tool_call(
                "search_in_files",
                &json!({"pattern": format!("text {one}"), "path": "turn"}),
            ),
            Self::Write(file, one) => write(&name(file), &text(one)),
            Self::Edit(file, old, new) if old == new => write(&name(file), &text(new).repeat(2)),
            Self::Edit(file, old, new) => tool_call(
                "edit_file",
                &json!({"path": name(file), "old": text(old), "new": text(new)}),
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_turn_is_as_if_its_calls_had_come_one_after_another(steps in prop::collection::vec(step(), 1..14)) {
        let _beside = beside();
        let runtime = runtime();
        let mut results = Vec::new();
        for together in [true, false] {
            let ground = Ground::new();
            ground.write("turn/0.txt", "text 0.\n");
            let registry = ground.registry();
            let calls: Vec<_> = steps.iter().map(Step::call).collect();
            let outcomes = if together {
                runtime.block_on(registry.call_all(calls))
            } else {
                calls.into_iter().map(|call| runtime.block_on(registry.call(call))).collect()
            };
            let said: Vec<_> = outcomes.iter().map(|outcome| (ended(outcome), outcome.output().map(str::to_owned))).collect();
            let root = ground.root();
            let files: BTreeMap<_, _> = ground
                .snapshot()
                .into_iter()
                .filter_map(|(path, bytes)| Some((path.strip_prefix(&root).ok()?.to_owned(), bytes)))
                .collect();
            let told = format!("{said:?}").replace(&root.display().to_string(), "ROOT");
            results.push((told, files));
        }
        prop_assert_eq!(&results[0], &results[1]);
    }
}
