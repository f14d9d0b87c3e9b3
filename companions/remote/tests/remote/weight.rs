//! What strangers cost: memory by the kilobyte, measured in a process of its own, and time that others do not miss.

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, ConnectionLimits, Executor, Safeguards};
use contract_runtime::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::plain::{Doorway, attach, head, status};
use crate::tools::{Tested, registry};

/// Longer than anything here is waited for.
const LATE: Duration = Duration::from_secs(60);

/// Set in the process that is measured.
const MEASURED: &str = "REMOTE_WEIGHT_IS_MEASURED";

/// Resident memory of this process, in KiB.
fn resident() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(number.ok_or("no resident memory")?.parse()?)
}

/// Runs one test of this file alone; true in the process where it is to do its work.
fn alone(test: &str) -> Result<bool, Box<dyn std::error::Error>> {
    if env::var_os(MEASURED).is_some() {
        return Ok(true);
    }
    let name = format!("weight::{test}");
    let run = Command::new(env::current_exe()?)
        .args(["--exact", &name, "--nocapture"])
        .env(MEASURED, "1")
        .output()?;
    let told = String::from_utf8_lossy(&run.stdout);
    println!("{told}");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(told.contains("KiB"), "it has measured nothing: {told}");
    Ok(false)
}

fn roomy() -> ConnectionLimits {
    let mut limits = ConnectionLimits::default();
    (limits.per_task, limits.per_task_and_minute) = (2_000, 10_000);
    (limits.per_second, limits.burst) = (10_000, 10_000);
    limits
}

#[tokio::test]
async fn a_frame_that_is_announced_and_not_sent_costs_nothing() -> Tested {
    if !alone("a_frame_that_is_announced_and_not_sent_costs_nothing")? {
        return Ok(());
    }
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend.connection_limits(roomy())).await?;
    let request = door.lines().join("\r\n") + "\r\n\r\n";
    let mut lines = Vec::new();
    for _ in 0..1_000 {
        let mut stream = TcpStream::connect(&door.host).await?;
        stream.write_all(request.as_bytes()).await?;
        assert_eq!(status(&head(&mut stream).await?), 101);
        lines.push(stream);
    }
    let before = resident()?;
    // The largest message that is taken, and its first four bytes.
    let mut begins = vec![0x81, 0xff];
    begins.extend((8_u64 << 20).to_be_bytes());
    begins.extend([0, 0, 0, 0, b'{', b'"', b'a', b'"']);
    for stream in &mut lines {
        stream.write_all(&begins).await?;
    }
    let mut most = before;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        most = most.max(resident()?);
        sleep(Duration::from_millis(20)).await;
    }
    let grown = most - before;
    println!("1,000 announced messages of 8 MiB: {grown} KiB");
    // 8 GiB were announced; 16 KiB for each are more than what was sent.
    assert!(grown < 16_000, "{grown} KiB");
    // All of them were heard: each is closed for not having said who it is.
    let mut rest = Vec::new();
    timeout(LATE, lines[999].read_to_end(&mut rest)).await??;
    assert!(String::from_utf8_lossy(&rest).contains("no handshake arrived"));
    // One byte more than the largest is refused by its announcement.
    let mut stream = TcpStream::connect(&door.host).await?;
    stream.write_all(request.as_bytes()).await?;
    assert_eq!(status(&head(&mut stream).await?), 101);
    let mut begins = vec![0x81, 0xff];
    begins.extend((16_u64 << 20).to_be_bytes());
    begins.extend([0, 0, 0, 0]);
    stream.write_all(&begins).await?;
    let mut rest = Vec::new();
    let _ = timeout(LATE, stream.read_to_end(&mut rest)).await?;
    assert_eq!(rest.get(2..4), Some(&1009_u16.to_be_bytes()[..]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_small_frames_are_not_kept_and_hold_up_nobody() -> Tested {
    if !alone("floods_of_small_frames_are_not_kept_and_hold_up_nobody")? {
        return Ok(());
    }
    let tools = registry(&Arc::default())?;
    let backend = Backend::new(tools.manifest())
        .connection_limits(roomy())
        .safeguards(Safeguards::off());
    let door = Doorway::of(backend).await?;
    let good = Executor::new(tools).connect(door.task.address(), door.token.as_str());
    let session = timeout(LATE, door.task.attached()).await??;
    let masked = |first: u8, payload: &[u8]| {
        let length = payload.len().to_be_bytes()[7];
        [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
    };
    let kinds = [
        masked(0x89, &[b'x'; 125]),
        masked(0x8a, b"unasked"),
        masked(0x81, br#"{"type":"ping"}"#),
        masked(0x81, br#"{"type":"pong"}"#),
    ];
    let before = resident()?;
    let mut floods = JoinSet::new();
    for n in 0..20_usize {
        let (task, token) = door.backend.task().await?;
        let stream = TcpStream::connect(&door.host).await?;
        let mut stream = attach(stream, &task, token.reveal(), &["halve"]).await?;
        let frames = kinds[n % kinds.len()].repeat(100);
        floods.spawn(async move {
            // Nothing is read meanwhile. The other side may close.
            while stream.write_all(&frames).await.is_ok() {}
        });
    }
    let mut most = before;
    let begun = Instant::now();
    let mut calls = 0;
    while begun.elapsed() < Duration::from_secs(5) {
        let call = ToolCall::new("1", "halve", r#"{"number":42}"#);
        let outcome = timeout(LATE, session.registry().call(call)).await?;
        assert_eq!(outcome.output(), Some("21"), "beside it");
        calls += 1;
        most = most.max(resident()?);
    }
    let grown = most.saturating_sub(before);
    println!("20 floods of small frames for 5 s: {grown} KiB; {calls} calls beside them");
    assert!(grown < 32_000, "{grown} KiB");
    floods.shutdown().await;
    drop(good);
    Ok(())
}
