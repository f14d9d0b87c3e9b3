//! What a store does, whatever it is kept in.

use std::sync::Arc;

use contract_remote::protocol::TaskId;
use contract_remote::store::{
    Expect, Logged, Store, StoreError, StoreLimits, Stored, Tail, Written,
};

type Any = Arc<dyn Store>;

pub(crate) fn limits(_: &str) -> StoreLimits {
    StoreLimits::default()
}

fn done(version: u64) -> Written {
    Written::Done { version }
}

pub(crate) async fn versions_count_the_writes_of_a_name(store: Any) {
    let task = TaskId::random();
    assert_eq!(store.read(task, "a").await.unwrap(), None);
    for version in 1..=3 {
        let text = format!("text {version}");
        let written = store.write(task, "a", &text, Expect::Any).await.unwrap();
        assert_eq!(written, done(version));
        let there = store.read(task, "a").await.unwrap();
        assert_eq!(there, Some(Stored::new(version, text)));
    }
    let written = store.write(task, "b", "", Expect::Any).await.unwrap();
    assert_eq!(written, done(1));
}

pub(crate) async fn a_write_is_built_on_what_it_expects(store: Any) {
    let task = TaskId::random();
    let write = async |text: &str, expect| store.write(task, "a", text, expect).await.unwrap();
    let conflict = |there| Written::Conflict { current: there };
    for nowhere in [0, 1, u64::MAX] {
        let written = write("no", Expect::Version(nowhere)).await;
        assert_eq!(written, conflict(None), "version {nowhere}");
    }
    assert_eq!(write("1", Expect::Absent).await, done(1));
    let there = || conflict(Some(Stored::new(1, "1")));
    assert_eq!(write("no", Expect::Absent).await, there());
    for other in [0, 2, u64::MAX] {
        let written = write("no", Expect::Version(other)).await;
        assert_eq!(written, there(), "version {other}");
    }
    assert_eq!(write("2", Expect::Version(1)).await, done(2));
    assert_eq!(write("3", Expect::Any).await, done(3));
    let there = store.read(task, "a").await.unwrap();
    assert_eq!(there, Some(Stored::new(3, "3")));
}

/// Texts that a key, a script or a separator could trip over.
pub(crate) const TEXTS: [&str; 12] = [
    "",
    " ",
    "0",
    "12:34",
    ":",
    "any",
    "line\r\nline\n",
    "\0\u{1}\u{7f}",
    "'\"\\`${x}]]--",
    "\u{1F600} ü ﷽ \u{202e}right to left",
    "*3\r\n$3\r\nDEL\r\n",
    "nil",
];

pub(crate) async fn a_text_comes_back_as_it_was(store: Any) {
    let task = TaskId::random();
    for (index, text) in TEXTS.into_iter().enumerate() {
        let name = format!("n{index}");
        let written = store.write(task, &name, text, Expect::Absent).await;
        assert_eq!(written.unwrap(), done(1));
        let there = store.read(task, &name).await.unwrap();
        assert_eq!(there, Some(Stored::new(1, text)));
        let again = store.write(task, &name, "", Expect::Absent).await.unwrap();
        let there = Some(Stored::new(1, text));
        assert_eq!(again, Written::Conflict { current: there });
        store.append(task, "log", &name, text).await.unwrap();
    }
    let listed = store.list(task, "n").await.unwrap();
    let tail = store.tail(task, "log", 0, 100).await.unwrap();
    for (index, text) in TEXTS.into_iter().enumerate() {
        let name = format!("n{index}");
        assert!(listed.contains(&(name.clone(), Stored::new(1, text))));
        let sequence = index as u64 + 1;
        assert_eq!(tail.entries[index], Logged::new(sequence, name, text));
    }
}

pub(crate) async fn a_name_that_means_something_in_a_key_is_refused(store: Any) {
    let task = TaskId::random();
    let long = "x".repeat(101);
    let refused = [
        "a:b",
        "{a}",
        "a}b",
        "*",
        "a*",
        "a?",
        "[a]",
        "a b",
        " a",
        "a\n",
        "a\r\nDEL x",
        "a\0",
        "é",
        "a/b",
        "../a",
        "a\\",
        "a'b",
        "a\"b",
        "a`b",
        "a$b",
        "a(b",
        "a)b",
        "a|b",
        "a,b",
        "a~",
        "a\u{7f}",
        "\u{ff10}",
        &long,
    ];
    for name in refused {
        let is_refused = |error: StoreError| {
            let shown = error.to_string();
            assert!(
                matches!(error, StoreError::Name { .. }),
                "{name:?}: {shown}"
            );
            assert!(shown.is_ascii() && !shown.contains('\n'), "{shown:?}");
        };
        is_refused(store.read(task, name).await.unwrap_err());
        is_refused(store.write(task, name, "", Expect::Any).await.unwrap_err());
        is_refused(store.list(task, name).await.unwrap_err());
        is_refused(store.append(task, name, "id", "").await.unwrap_err());
        is_refused(store.append(task, "log", name, "").await.unwrap_err());
        is_refused(store.tail(task, name, 0, 1).await.unwrap_err());
    }
    for error in [
        store.read(task, "").await.unwrap_err(),
        store.write(task, "", "", Expect::Any).await.unwrap_err(),
        store.append(task, "", "id", "").await.unwrap_err(),
        store.append(task, "log", "", "").await.unwrap_err(),
        store.tail(task, "", 0, 1).await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Name { .. }), "{error}");
    }
    assert_eq!(store.list(task, "").await.unwrap(), []);
    assert_eq!(
        store.tail(task, "log", 0, 9).await.unwrap(),
        Tail::default()
    );

    let longest = "z".repeat(100);
    for name in ["a", "0", "_", "-", ".", "#", "A.z_0-9#", &longest] {
        let written = store.write(task, name, name, Expect::Absent).await;
        assert_eq!(written.unwrap(), done(1), "{name}");
        assert!(store.append(task, "log", name, "").await.unwrap() > 0);
    }
}

pub(crate) async fn a_list_is_sorted_and_whole(store: Any) {
    let task = TaskId::random();
    // More than comes at once, in no order.
    for index in 0..700_u32 {
        let name = format!("n.{:03}", index * 337 % 700);
        let _ = store.write(task, &name, &name, Expect::Any).await.unwrap();
    }
    for name in ["N.1", "n", "n-1", "n.", "n.0", "n.00", "n.0000", "n_1", "o"] {
        let _ = store.write(task, name, name, Expect::Any).await.unwrap();
    }
    let names = async |prefix: &str| -> Vec<String> {
        let listed = store.list(task, prefix).await.unwrap();
        let right = |(name, there): &(String, Stored)| *there == Stored::new(1, name.clone());
        assert!(listed.iter().all(right));
        listed.into_iter().map(|(name, _)| name).collect()
    };
    let all = names("").await;
    assert_eq!(all.len(), 709);
    assert!(all.is_sorted());
    let some = names("n.").await;
    assert_eq!(some.len(), 704);
    assert!(some.is_sorted());
    assert_eq!(names("n.00").await.len(), 12);
    assert_eq!(names("n.0000").await, ["n.0000"]);
    assert_eq!(names("o").await, ["o"]);
    assert!(names("p").await.is_empty());
}

pub(crate) async fn a_list_holds_large_values(store: Any) {
    let task = TaskId::random();
    let large = "\u{fc}".repeat(3 << 19);
    for name in ["a", "b", "c", "d"] {
        let _ = store.write(task, name, &large, Expect::Any).await.unwrap();
    }
    let _ = store.write(task, "e", "small", Expect::Any).await.unwrap();
    let listed = store.list(task, "").await.unwrap();
    assert_eq!(listed.len(), 5);
    let right = |(_, there): &(String, Stored)| there.value == large;
    assert!(listed[..4].iter().all(right));
}

pub(crate) async fn what_is_removed_is_gone_and_begins_anew(store: Any) {
    let (task, other) = (TaskId::random(), TaskId::random());
    // Nothing is there to remove, and the task is not there either.
    store.remove(task, &["a"]).await.unwrap();
    store.remove(task, &[]).await.unwrap();
    assert!(!store.tasks().await.unwrap().contains(&task));
    for of in [task, other] {
        for name in ["a", "b", "c"] {
            let _ = store.write(of, name, "1", Expect::Any).await.unwrap();
        }
    }
    let _ = store.write(task, "a", "2", Expect::Any).await.unwrap();
    let refused = store.remove(task, &["c", "a:b"]).await.unwrap_err();
    assert!(matches!(refused, StoreError::Name { .. }), "{refused}");
    assert_eq!(store.list(task, "").await.unwrap().len(), 3);

    store.remove(task, &["a", "b"]).await.unwrap();
    assert_eq!(store.read(task, "a").await.unwrap(), None);
    let listed = store.list(task, "").await.unwrap();
    assert_eq!(listed, [("c".to_owned(), Stored::new(1, "1"))]);
    assert_eq!(store.list(other, "").await.unwrap().len(), 3);
    let late = store.write(task, "a", "3", Expect::Version(2)).await;
    assert_eq!(late.unwrap(), Written::Conflict { current: None });
    let anew = store.write(task, "a", "3", Expect::Absent).await;
    assert_eq!(anew.unwrap(), done(1));
}

pub(crate) async fn a_log_counts_from_one(store: Any) {
    let task = TaskId::random();
    for sequence in 1..=40 {
        let (id, text) = (format!("id{sequence}"), format!("text {sequence}"));
        let given = store.append(task, "log", &id, &text).await.unwrap();
        assert_eq!(given, sequence);
    }
    assert_eq!(store.append(task, "other", "id1", "").await.unwrap(), 1);
    let cases = [
        (0, 100, 1..=40),
        (0, 7, 1..=7),
        (7, 20, 8..=27),
        (39, 20, 40..=40),
    ];
    for (after, most, expected) in cases {
        let tail = store.tail(task, "log", after, most).await.unwrap();
        let found: Vec<u64> = tail.entries.iter().map(|entry| entry.sequence).collect();
        assert_eq!(found, expected.collect::<Vec<u64>>());
        assert_eq!((tail.cut, tail.last), (0, 40));
    }
    for (after, most) in [
        (40, 9),
        (41, 9),
        (u64::MAX, 9),
        (u64::MAX - 1, usize::MAX),
        (3, 0),
    ] {
        let tail = store.tail(task, "log", after, most).await.unwrap();
        assert_eq!((tail.entries, tail.last), (vec![], 40), "{after} {most}");
    }
    let all = store.tail(task, "log", 0, usize::MAX).await.unwrap();
    assert_eq!(all.entries.len(), 40);
    assert_eq!(
        store.tail(task, "none", 0, 9).await.unwrap(),
        Tail::default()
    );
}

pub(crate) async fn a_repeated_id_is_not_logged_twice(store: Any) {
    let task = TaskId::random();
    assert_eq!(store.append(task, "log", "a", "first").await.unwrap(), 1);
    assert_eq!(store.append(task, "log", "b", "second").await.unwrap(), 2);
    assert_eq!(store.append(task, "log", "a", "other").await.unwrap(), 1);
    let tail = store.tail(task, "log", 0, 9).await.unwrap();
    let expected = [Logged::new(1, "a", "first"), Logged::new(2, "b", "second")];
    assert_eq!(tail.entries, expected);
}

pub(crate) async fn a_tail_of_large_entries_comes_in_pieces(store: Any) {
    let task = TaskId::random();
    let large = "x".repeat(1 << 20);
    for id in 0..10 {
        let id = format!("id{id}");
        store.append(task, "log", &id, &large).await.unwrap();
    }
    let (mut after, mut pieces) = (0, 0);
    while after < 10 {
        let tail = store.tail(task, "log", after, 100).await.unwrap();
        let bytes: usize = tail.entries.iter().map(|entry| entry.value.len()).sum();
        assert!(bytes > 0 && bytes <= 4 << 20, "{bytes}");
        for entry in tail.entries {
            after += 1;
            assert_eq!(entry.sequence, after);
        }
        pieces += 1;
    }
    assert!(pieces >= 3, "{pieces}");
}

pub(crate) async fn a_task_knows_nothing_of_another(store: Any) {
    let (one, other) = (TaskId::random(), TaskId::random());
    let _ = store.write(one, "a", "1", Expect::Any).await.unwrap();
    store.append(one, "log", "id", "1").await.unwrap();
    assert_eq!(store.read(other, "a").await.unwrap(), None);
    assert_eq!(store.list(other, "").await.unwrap(), []);
    assert_eq!(
        store.tail(other, "log", 0, 9).await.unwrap(),
        Tail::default()
    );
    assert_eq!(store.append(other, "log", "id", "2").await.unwrap(), 1);
    store.forget(other).await.unwrap();
    assert_eq!(store.list(one, "").await.unwrap().len(), 1);
    assert_eq!(store.tail(one, "log", 0, 9).await.unwrap().last, 1);
}

pub(crate) async fn a_forgotten_task_begins_anew(store: Any) {
    let task = TaskId::random();
    store.forget(task).await.unwrap();
    for round in 0..2 {
        let written = store.write(task, "a", "1", Expect::Absent).await.unwrap();
        assert_eq!(written, done(1), "round {round}");
        assert_eq!(store.append(task, "log", "id", "1").await.unwrap(), 1);
        assert_eq!(store.append(task, "other", "id", "1").await.unwrap(), 1);
        store.forget(task).await.unwrap();
        assert_eq!(store.read(task, "a").await.unwrap(), None);
        assert_eq!(store.list(task, "").await.unwrap(), []);
        for log in ["log", "other"] {
            assert_eq!(store.tail(task, log, 0, 9).await.unwrap(), Tail::default());
        }
        assert!(!store.tasks().await.unwrap().contains(&task));
    }
}

pub(crate) async fn tasks_are_listed_while_they_are_kept(store: Any) {
    assert_eq!(store.tasks().await.unwrap(), []);
    let mut tasks: Vec<TaskId> = (0..30).map(|_| TaskId::random()).collect();
    for (index, task) in tasks.iter().enumerate() {
        if index % 2 == 0 {
            let _ = store.write(*task, "a", "1", Expect::Any).await.unwrap();
        } else {
            store.append(*task, "log", "id", "1").await.unwrap();
        }
    }
    store.forget(tasks.pop().unwrap()).await.unwrap();
    tasks.sort_unstable();
    assert_eq!(store.tasks().await.unwrap(), tasks);
}

pub(crate) async fn a_future_that_is_dropped_leaves_the_store_usable(store: Any) {
    let task = TaskId::random();
    for index in 0..200 {
        let text = format!("{index}");
        // Given up at its first wait, or just after.
        let writes = async {
            let _ = store.write(task, "a", &text, Expect::Any).await;
            let _ = store.append(task, "log", &text, &text).await;
        };
        tokio::select! {
            biased;
            () = writes => {}
            () = async { if index % 3 != 0 { tokio::task::yield_now().await } } => {}
        }
    }
    let written = store.write(task, "a", "last", Expect::Any).await.unwrap();
    assert!(matches!(written, Written::Done { version } if version <= 201));
    let last = store.append(task, "log", "last", "last").await.unwrap();
    let tail = store.tail(task, "log", 0, 1000).await.unwrap();
    let found: Vec<u64> = tail.entries.iter().map(|entry| entry.sequence).collect();
    assert!(last <= 201);
    // Some that were given up may have come since.
    assert_eq!(found, (1..=found.len() as u64).collect::<Vec<u64>>());
    assert!(found.len() as u64 >= last);
}
