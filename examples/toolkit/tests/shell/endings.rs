//! How commands end, and what is left of them.

use std::pin::pin;
use std::time::{Duration, Instant};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::Limits;

use crate::test_shell::{TestShell, mark, note, running, until};

/// S4: the best of some tries, because the machine may be busy.
#[tokio::test]
async fn a_process_in_the_background_does_not_keep_the_command() {
    let Some(shell) = TestShell::new(
        "S4",
        "a_process_in_the_background_does_not_keep_the_command",
    )
    .await
    else {
        return;
    };
    let mark = mark();
    let enough = Duration::from_millis(500);
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let began = Instant::now();
        let report = shell
            .script(&format!("echo before; sleep {mark} & echo done"))
            .await;
        best = best.min(began.elapsed());
        assert_eq!(report["stdout"]["text"], "before\ndone\n");
        assert_eq!(report["ended"], json!({"by": "exit", "code": 0}));
        assert_eq!(report["left_behind"], 1, "{report}");
        assert_eq!(report["stdout"]["complete"], true, "{report}");
        if best < enough {
            break;
        }
    }
    note(&format!("S4: returned after {best:?}"));
    assert!(best < enough, "{best:?}");
    until("the process was left", || running(&mark) == 0).await;
}

/// S4
#[tokio::test]
async fn a_process_that_left_its_session_is_ended_with_the_command() {
    let Some(shell) = TestShell::new(
        "S4",
        "a_process_that_left_its_session_is_ended_with_the_command",
    )
    .await
    else {
        return;
    };
    let mark = mark();
    let report = shell
        .script(&format!(
            "(setsid sleep {mark} &); nohup sleep {mark} >&2 2>/dev/null & echo done"
        ))
        .await;
    assert_eq!(report["stdout"]["text"], "done\n");
    until("a process was left", || running(&mark) == 0).await;
}

/// S10
#[tokio::test]
async fn there_is_nothing_to_read_and_no_terminal() {
    let Some(shell) = TestShell::new("S10", "there_is_nothing_to_read_and_no_terminal").await
    else {
        return;
    };
    let report = shell.script("read line; echo \"$?\"").await;
    assert_eq!(report["stdout"]["text"], "1\n");
    let report = shell.report(json!({"argv": ["cat"]})).await;
    assert_eq!(report["ended"], json!({"by": "exit", "code": 0}));
    let report = shell
        .script("for n in 0 1 2; do test -t $n && echo terminal $n; done; (: < /dev/tty) 2>/dev/null && echo tty; echo end")
        .await;
    assert_eq!(report["stdout"]["text"], "end\n");
}

/// S10: it is not installed, or it has no way to ask.
#[tokio::test]
async fn sudo_ends_by_itself() {
    let Some(shell) = TestShell::new("S10", "sudo_ends_by_itself").await else {
        return;
    };
    let report = shell
        .report(json!({"script": "sudo true", "timeout_seconds": 30}))
        .await;
    assert_eq!(report["ended"]["by"], "exit", "{report}");
    assert_ne!(report["ended"]["code"], 0, "{report}");
}

/// S10
#[tokio::test]
async fn a_signal_is_reported_by_its_name() {
    let Some(shell) = TestShell::new("S10", "a_signal_is_reported_by_its_name").await else {
        return;
    };
    for (signal, number, name) in [
        ("SEGV", 11, "SIGSEGV"),
        ("KILL", 9, "SIGKILL"),
        ("TERM", 15, "SIGTERM"),
    ] {
        let report = shell
            .script(&format!("echo before; kill -{signal} $$"))
            .await;
        assert_eq!(
            report["ended"],
            json!({"by": "signal", "number": number, "name": name})
        );
        assert_eq!(report["stdout"]["text"], "before\n");
    }
}

/// D10
#[tokio::test]
async fn a_command_that_hangs_is_ended_with_all_that_it_started() {
    let Some(shell) = TestShell::new(
        "D10",
        "a_command_that_hangs_is_ended_with_all_that_it_started",
    )
    .await
    else {
        return;
    };
    let mark = mark();
    let script = format!(
        "echo begun; echo problem >&2; trap '' TERM INT HUP; setsid sleep {mark} & sleep {mark}; echo never"
    );
    let began = Instant::now();
    let report = shell
        .report(json!({"script": script, "timeout_seconds": 1}))
        .await;
    let took = began.elapsed();
    note(&format!(
        "D10: a timeout of 1 s ended the call after {took:?}"
    ));
    assert_eq!(report["ended"], json!({"by": "timeout", "seconds": 1}));
    assert_eq!(report["stdout"]["text"], "begun\n");
    assert_eq!(report["stderr"]["text"], "problem\n");
    assert_ne!(report["sandbox"]["level"], "none");
    assert!(took >= Duration::from_secs(1), "{took:?}");
    // 200 ms on a machine with nothing else to do.
    assert!(took < Duration::from_secs(5), "{took:?}");
    until("a process was left", || running(&mark) == 0).await;
}

/// D10
#[tokio::test]
async fn the_workspace_bounds_the_timeout() {
    let limits = Limits {
        shell_time: Duration::from_secs(2),
        ..Limits::default()
    };
    let Some(shell) = TestShell::with("D10", "the_workspace_bounds_the_timeout", limits).await
    else {
        return;
    };
    let outcome = shell
        .call(json!({"script": "true", "timeout_seconds": 3}))
        .await;
    assert_eq!(
        outcome.error().unwrap(),
        "3 seconds are more than the 2 seconds that a command may run here; ask for at most 2, and split what takes longer"
    );
    let report = shell.script("sleep 30").await;
    assert_eq!(report["ended"], json!({"by": "timeout", "seconds": 2}));
}

/// D11
#[tokio::test]
async fn a_cancelled_call_leaves_nothing() {
    let Some(shell) = TestShell::new("D11", "a_cancelled_call_leaves_nothing").await else {
        return;
    };
    let mark = mark();
    let token = CancellationToken::new();
    let call = ToolCall::new(
        "1",
        "run_shell",
        json!({"argv": ["sleep", mark]}).to_string(),
    );
    let context = Context::new().cancellation(token.clone());
    let (outcome, ()) = tokio::join!(shell.registry.call(call).context(context), async {
        until("it did not begin", || running(&mark) > 0).await;
        token.cancel();
    });
    assert_eq!(outcome.status(), Status::Cancelled);
    until("a process was left", || running(&mark) == 0).await;
}

/// D12: whatever is written, the answer is whole and is JSON, with the default registry.
#[tokio::test]
async fn no_output_makes_the_registry_cut_the_report() {
    let Some(shell) = TestShell::new("D12", "no_output_makes_the_registry_cut_the_report").await
    else {
        return;
    };
    for text in ["x", "\\\"", "\\001", "\\n", "\\303\\251"] {
        let script = format!(
            "for i in $(seq 6000); do printf '{}'; done | tee /dev/stderr",
            text.repeat(10)
        );
        let report = shell.script(&script).await;
        for stream in ["stdout", "stderr"] {
            let stream = &report[stream];
            let kept = stream["text"]
                .as_str()
                .unwrap_or_else(|| panic!("{text}: {report}"));
            assert_eq!(stream["complete"], true);
            let left_out = stream["left_out"].as_u64().unwrap();
            assert!(left_out >= 10_000, "{text}: {left_out}");
            assert!(kept.contains(&format!("\n[.. {left_out} characters left out ..]\n")));
            assert_eq!(stream["replaced"], 0);
        }
    }
}

#[tokio::test]
async fn commands_of_one_batch_run_one_after_the_other() {
    let Some(shell) = TestShell::new("D11", "commands_of_one_batch_run_one_after_the_other").await
    else {
        return;
    };
    let calls = (0..4).map(|number| {
        let script = format!("echo begin {number} >> log; sleep 0.1; echo end {number} >> log");
        ToolCall::new("x", "run_shell", json!({"script": script}).to_string())
    });
    let outcomes = shell.registry.call_all(calls).await;
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.status() == Status::Ok),
        "{outcomes:?}"
    );
    let expected = "begin 0 end 0 begin 1 end 1 begin 2 end 2 begin 3 end 3";
    let log = std::fs::read_to_string(shell.path().join("log")).unwrap();
    assert_eq!(
        log.split_whitespace().collect::<Vec<_>>().join(" "),
        expected
    );
}

/// D11
#[tokio::test]
async fn a_batch_dropped_half_way_leaves_no_process() {
    let Some(shell) = TestShell::new("D11", "a_batch_dropped_half_way_leaves_no_process").await
    else {
        return;
    };
    let mark = mark();
    let scripts = [
        "touch first".to_owned(),
        format!("touch second; sleep {mark} & setsid sleep {mark} & sleep {mark}"),
        "touch third".to_owned(),
    ];
    let calls = scripts
        .map(|script| ToolCall::new("x", "run_shell", json!({"script": script}).to_string()));
    {
        let mut batch = pin!(shell.registry.call_all(calls));
        let begun = async {
            until("it did not begin", || running(&mark) == 3).await;
        };
        tokio::select! {
            outcomes = &mut batch => panic!("{outcomes:?}"),
            () = begun => {}
        }
    }
    until("a process was left", || running(&mark) == 0).await;
    assert!(shell.path().join("first").exists());
    assert!(shell.path().join("second").exists());
    assert!(!shell.path().join("third").exists());
}
