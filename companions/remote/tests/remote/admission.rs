//! More than there is room for.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, ConnectionLimits};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::plain::{Doorway, exchange, head, header, status};
use crate::tools::{Tested, registry};

const LATE: Duration = Duration::from_secs(30);

async fn doorway(
    change: impl FnOnce(&mut ConnectionLimits),
) -> Result<Doorway, Box<dyn std::error::Error>> {
    let mut limits = ConnectionLimits::default();
    change(&mut limits);
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    Doorway::of(backend.connection_limits(limits)).await
}

#[tokio::test]
async fn who_comes_too_soon_is_told_when_there_is_room() -> Tested {
    let door = doorway(|limits| {
        (limits.per_second, limits.burst) = (1, 2);
        limits.per_task = 100;
    })
    .await?;
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(exchange(&door.host, &door.lines()).await?);
    }
    let statuses: Vec<_> = answers.iter().map(|answer| status(answer)).collect();
    assert_eq!(statuses[..2], [101, 101]);
    assert_eq!(
        statuses[3], 503,
        "four at once, two and one per second: {statuses:?}"
    );
    let after = header(&answers[3], "retry-after").ok_or("no Retry-After")?;
    let after = after.parse()?;
    assert!((1..=5).contains(&after), "{after}");
    sleep(Duration::from_secs(after)).await;
    let answer = exchange(&door.host, &door.lines()).await?;
    assert_eq!(status(&answer), 101, "{answer}");
    assert!(door.backend.state().rejections.rate >= 1);
    // Those who have no token take nothing away from those who have.
    let mut stranger = door.lines();
    stranger.pop();
    for _ in 0..100 {
        assert_eq!(status(&exchange(&door.host, &stranger).await?), 401);
    }
    sleep(Duration::from_secs(3)).await;
    let answer = exchange(&door.host, &door.lines()).await?;
    assert_eq!(status(&answer), 101, "{answer}");
    Ok(())
}

#[tokio::test]
async fn a_task_has_no_more_connections_than_it_needs() -> Tested {
    let door = doorway(|limits| limits.per_task = 2).await?;
    let (first, _second) = (door.enter().await?, door.enter().await?);
    let answer = exchange(&door.host, &door.lines()).await?;
    assert_eq!(status(&answer), 503, "{answer}");
    assert_eq!(header(&answer, "retry-after"), Some("1"));
    drop(first);
    let let_in = async {
        while door.enter().await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LATE, let_in).await?;
    Ok(())
}

#[tokio::test]
async fn a_full_house_says_so_and_has_room_again() -> Tested {
    let door = doorway(|limits| {
        limits.connections = 2;
        limits.header = Duration::from_secs(20);
    })
    .await?;
    let inside = door.enter().await?;
    let half = TcpStream::connect(&door.host).await?;
    let full = async {
        while door.backend.state().connections < 2 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LATE, full).await?;
    let answer = exchange(&door.host, &door.lines()).await?;
    assert_eq!(status(&answer), 503, "{answer}");
    assert_eq!(header(&answer, "retry-after"), Some("1"));
    assert_eq!(door.backend.state().rejections.full, 1);
    drop(half);
    let let_in = async {
        while door.enter().await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LATE, let_in).await?;
    drop(inside);
    // Beyond those who are told, the line is closed without a word, and nothing is kept of it.
    let mut crowd = Vec::new();
    for _ in 0..400 {
        crowd.push(TcpStream::connect(&door.host).await?);
    }
    let rejections = async {
        while door.backend.state().rejections.full < 100 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LATE, rejections).await?;
    assert!(door.backend.state().connections <= 2 + 256);
    let mut last = crowd.pop().ok_or("nobody came")?;
    assert_eq!(head(&mut last).await.unwrap_or_default(), "");
    Ok(())
}
