//! What `read_file` refuses, and in which words.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use rustix::fs::{CWD, Mode, RenameFlags};
use serde_json::json;
use toolkit::{Limits, Workspace};

use super::{over, read, refusal, registry, text};

/// F7
#[test]
fn what_is_no_text_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let registry = over(&folder);
    let mut late = vec![b'a'; 300_000];
    late[299_999] = 0;
    let mut broken = vec![b'a'; 300_000];
    broken[150_001] = 0xe9;
    let cases: [(&[u8], &str); 13] = [
        (
            b"\xff\xfeo\0n\0e\0",
            "UTF-16, little-endian by its byte order mark",
        ),
        (
            b"\xfe\xff\0o\0n\0e",
            "UTF-16, big-endian by its byte order mark",
        ),
        (
            b"\xff\xfe\0\0o\0\0\0",
            "UTF-32, little-endian by its byte order mark",
        ),
        (
            b"\0\0\xfe\xff\0\0\0o",
            "UTF-32, big-endian by its byte order mark",
        ),
        (b"\xff\xfe", "UTF-16, little-endian by its byte order mark"),
        (b"o\0n\0e\0", "binary (a zero byte at offset 1)"),
        (
            b"\x7fELF\x02\x01\x01\0\xff",
            "binary (a zero byte at offset 7)",
        ),
        (
            b"caf\xe9 au lait",
            "in another encoding or binary (the byte 0xe9 at offset 3)",
        ),
        (
            b"cut \xe2\x82",
            "in another encoding or binary (the byte 0xe2 at offset 4)",
        ),
        (
            b"surrogate \xed\xa0\x80",
            "in another encoding or binary (the byte 0xed at offset 10)",
        ),
        (
            b"overlong \xc0\x80",
            "in another encoding or binary (the byte 0xc0 at offset 9)",
        ),
        (&late, "binary (a zero byte at offset 299999)"),
        (
            &broken,
            "in another encoding or binary (the byte 0xe9 at offset 150001)",
        ),
    ];
    for (content, what) in cases {
        fs::write(folder.path().join("file"), content).unwrap();
        assert_eq!(
            refusal(&registry, &json!({"path": "file", "last_line": 1})),
            format!(
                "`file` is {what}, not UTF-8 text; read_file shows its bytes when `escape` is true"
            )
        );
    }
}

/// F7: escapes of a picture tell a model nothing.
#[test]
fn a_format_without_text_is_named_and_no_escapes_are_offered() {
    let folder = tempfile::tempdir().unwrap();
    let registry = over(&folder);
    let cases: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture"),
        (b"GIF89a\x01\0\x01\0", "a GIF picture"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document"),
    ];
    for (content, what) in cases {
        fs::write(folder.path().join("file"), content).unwrap();
        assert_eq!(
            refusal(&registry, &json!({"path": "file"})),
            format!("`file` is {what}, not UTF-8 text; only a program for such files can read it")
        );
    }
    fs::write(folder.path().join("file"), "GIF89a and more words").unwrap();
    assert_eq!(
        text(&registry, &json!({"path": "file"}))["text"],
        "GIF89a and more words"
    );
}

#[test]
fn what_lies_beyond_the_end_is_refused_with_where_that_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "one\ntwo\n").unwrap();
    fs::write(folder.path().join("one"), "one").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let registry = over(&folder);
    let beyond = |count: &str| format!("`file` has only {count}; ask for an earlier part of it");
    assert_eq!(
        refusal(&registry, &json!({"path": "file", "first_line": 3})),
        beyond("2 lines")
    );
    assert_eq!(
        refusal(&registry, &json!({"path": "file", "first_line": u64::MAX})),
        beyond("2 lines")
    );
    let column = |line: u64, column: u64| json!({"path": "file", "first_line": line, "first_column": column});
    assert_eq!(
        refusal(&registry, &column(2, 5)),
        beyond("4 characters in line 2")
    );
    assert_eq!(
        refusal(&registry, &column(1, u64::MAX)),
        beyond("4 characters in line 1")
    );
    assert_eq!(text(&registry, &column(1, 4))["text"], "\ntwo\n");
    let one = json!({"path": "one", "first_column": 4});
    assert_eq!(
        refusal(&registry, &one),
        "`one` has only 3 characters in line 1; ask for an earlier part of it"
    );
    assert_eq!(
        text(&registry, &json!({"path": "empty", "last_line": 9}))["text"],
        ""
    );
    let empty = json!({"path": "empty", "first_line": 2});
    assert_eq!(
        refusal(&registry, &empty),
        "`empty` has only 0 lines; ask for an earlier part of it"
    );
    assert_eq!(
        text(&registry, &json!({"path": "file", "last_line": u64::MAX}))["last_line"],
        2
    );
}

#[test]
fn what_is_not_there_or_no_file_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("source")).unwrap();
    fs::write(folder.path().join("source/main.rs"), "").unwrap();
    symlink("gone", folder.path().join("dead.txt")).unwrap();
    let registry = over(&folder);
    let cases = [
        (
            "dead.txt",
            "`dead.txt` does not exist; a symbolic link of this name points to nothing",
        ),
        (
            "dead.text",
            "`dead.text` does not exist; list the folder with read_folder",
        ),
        (
            "source",
            "`source` is a folder, not a file; list it with read_folder",
        ),
        (
            "source/",
            "`source/` is a folder, not a file; list it with read_folder",
        ),
        (".", "`.` is a folder, not a file; list it with read_folder"),
        (
            "source/mian.rs",
            "`source/mian.rs` does not exist; did you mean `source/main.rs`?",
        ),
        (
            "nothing",
            "`nothing` does not exist; list the folder with read_folder",
        ),
        (
            "source/main.rs/x",
            "`source/main.rs/x` does not exist; a part of it is a file, not a folder",
        ),
        (
            "source/main.rs/",
            "`source/main.rs/` does not exist; a part of it is a file, not a folder",
        ),
        (
            "\u{1b}[31m",
            r"`\u{1b}[31m` does not exist; list the folder with read_folder",
        ),
        (
            r"source\main.rs",
            r"`source\main.rs` has a backslash that stands for nothing; write `/` between folders, and `\\` for a backslash in a name",
        ),
    ];
    for (path, message) in cases {
        assert_eq!(refusal(&registry, &json!({"path": path})), message);
    }
}

#[test]
fn a_file_that_is_still_being_written_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let registry = over(&folder);
    fs::write(folder.path().join(".toolkit-unfinished-0123"), "half").unwrap();
    let message = refusal(&registry, &json!({"path": ".toolkit-unfinished-0123"}));
    assert!(message.contains("does not exist"), "{message}");
}

/// D5
#[test]
fn numbers_are_read_exactly_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "one\ntwo\n").unwrap();
    let registry = over(&folder);
    let ends = [
        ("2", Status::Ok),
        ("2.0", Status::Ok),
        ("2e0", Status::Ok),
        ("null", Status::Ok),
        ("0", Status::Violation),
        ("-0", Status::Violation),
        ("9007199254740993", Status::Failed),
        ("18446744073709551615", Status::Failed),
        ("18446744073709551616", Status::InvalidArguments),
        ("-1", Status::InvalidArguments),
        ("1.5", Status::InvalidArguments),
        ("1e400", Status::InvalidArguments),
        ("NaN", Status::InvalidArguments),
        ("\"2\"", Status::InvalidArguments),
        ("true", Status::InvalidArguments),
    ];
    for (number, status) in ends {
        for name in ["first_line", "first_column"] {
            let arguments = format!(r#"{{"path": "file", "{name}": {number}}}"#);
            let outcome = registry
                .call(ToolCall::new("1", "read_file", arguments.clone()))
                .blocking();
            assert_eq!(
                outcome.status(),
                status,
                "{arguments}: {:?}",
                outcome.error()
            );
        }
    }
}

/// D6
#[test]
fn a_path_that_no_file_can_have_is_refused_before_anything_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let registry = over(&folder);
    let ends = [
        (r#""""#, Status::Violation),
        (r#""a\u0000""#, Status::Violation),
        (r#""\u0000/etc/passwd""#, Status::Violation),
        (r#""\\u{0}""#, Status::Failed),
        (r#""\\x00""#, Status::Failed),
        (r#""\ud800""#, Status::InvalidArguments),
        (r#""a\u202etxt""#, Status::Failed),
        ("7", Status::InvalidArguments),
        (r#"["a"]"#, Status::InvalidArguments),
    ];
    for (path, status) in ends {
        let arguments = format!(r#"{{"path": {path}}}"#);
        let outcome = registry
            .call(ToolCall::new("1", "read_file", arguments))
            .blocking();
        assert_eq!(outcome.status(), status, "{path}: {:?}", outcome.error());
        let shown = outcome.error().unwrap();
        assert!(
            !shown
                .chars()
                .any(|shown| shown.is_control() || shown == '\u{202e}'),
            "{shown:?}"
        );
    }
    let long = "a/".repeat(2_048);
    assert_eq!(
        read(&registry, &json!({"path": long})).status(),
        Status::Violation
    );
    let longest = format!("{}a", "./".repeat(2_047));
    assert!(refusal(&registry, &json!({"path": longest})).contains("does not exist"));
}

#[test]
fn a_range_that_ends_before_it_begins_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "one\ntwo\n").unwrap();
    let registry = over(&folder);
    let outcome = read(
        &registry,
        &json!({"path": "file", "first_line": 2, "last_line": 1}),
    );
    assert_eq!(outcome.status(), Status::Violation);
    let message = outcome.error().unwrap();
    assert!(
        message.starts_with("the last line must not come before the first"),
        "{message}"
    );
    assert_eq!(
        read(&registry, &json!({"path": "file", "last_line": 0})).status(),
        Status::Violation
    );
}

/// F6
#[test]
fn a_fifo_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    rustix::fs::mkfifoat(CWD, folder.path().join("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("fifo", folder.path().join("link")).unwrap();
    let registry = over(&folder);
    for path in ["fifo", "link"] {
        // The machine may be busy once, but not each time.
        let quickest = (0..5).map(|_| {
            let began = Instant::now();
            let message = refusal(&registry, &json!({"path": path}));
            assert_eq!(
                message,
                format!("`{path}` is a pipe, socket or device, not a file; only files can be read and written")
            );
            began.elapsed()
        });
        let quickest = quickest.min().unwrap();
        assert!(quickest < Duration::from_millis(50), "{quickest:?}");
    }
}

/// F6: whatever was asked before, the file that is opened may be another.
#[test]
fn a_fifo_that_takes_the_place_of_a_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (file, fifo) = (folder.path().join("file"), folder.path().join("fifo"));
    fs::write(&file, "inside").unwrap();
    rustix::fs::mkfifoat(CWD, &fifo, Mode::from_raw_mode(0o600)).unwrap();
    let registry = over(&folder);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &file, CWD, &fifo, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let (mut given, mut refused) = (0, 0);
        let began = Instant::now();
        while given + refused < 4_000
            || (began.elapsed() < Duration::from_secs(10) && (given == 0 || refused == 0))
        {
            let outcome = read(&registry, &json!({"path": "file"}));
            match outcome.output() {
                Some(output) => {
                    assert!(output.contains(r#""text":"inside""#), "{output}");
                    given += 1;
                }
                None => refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(given > 0 && refused > 0, "{given} given, {refused} refused");
    });
}

/// F6
#[test]
fn sockets_and_devices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    assert!(
        refusal(&over(&folder), &json!({"path": "socket"})).contains("is a pipe, socket or device")
    );
    let devices = registry(Workspace::new("/dev").unwrap());
    for device in ["null", "zero", "random", "tty"] {
        if Path::new("/dev").join(device).exists() {
            assert!(
                refusal(&devices, &json!({"path": device})).contains("is a pipe, socket or device")
            );
        }
    }
}

#[test]
fn a_file_above_the_limit_is_refused_unread() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "12345").unwrap();
    for (read_file_bytes, fits) in [(5, true), (4, false)] {
        let limits = Limits {
            read_file_bytes,
            ..Limits::default()
        };
        let registry = registry(
            Workspace::builder()
                .root(folder.path())
                .limits(limits)
                .build()
                .unwrap(),
        );
        let outcome = read(&registry, &json!({"path": "file"}));
        assert_eq!(outcome.status() == Status::Ok, fits);
        if !fits {
            assert_eq!(
                outcome.error().unwrap(),
                "`file` has 5 bytes, and at most 4 are allowed here; take a part of it with a command, such as `tail`"
            );
        }
    }
}
