//! A token is in no log, in no `Debug` and in no error, whatever happens.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::plain::{Doorway, exchange};
use crate::tools::{Tested, registry};

/// Every word that anything logs in this process, by `tracing` and by `log`.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

struct Words<'e>(&'e Everything);

impl Everything {
    fn add(&self, words: std::fmt::Arguments<'_>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(all, "{words}");
    }
}

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.add(format_args!("{field}={value:?}"));
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Words(self));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Words(self));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.add(format_args!("{}", event.metadata().target()));
        event.record(&mut Words(self));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl log::Log for Everything {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.add(format_args!("{} {}", record.target(), record.args()));
    }

    fn flush(&self) {}
}

#[tokio::test]
async fn no_token_is_in_a_log_in_debug_or_in_an_error() -> Tested {
    let all = Everything::default();
    log::set_boxed_logger(Box::new(all.clone()))?;
    log::set_max_level(log::LevelFilter::Trace);
    let _listening = tracing::subscriber::set_default(all.clone());

    let tools = registry(&Arc::default())?;
    let backend = Backend::new(tools.manifest());
    let door = Doorway::of(backend).await?;
    let (address, token, path) = (door.task.address(), &door.token, &door.path);

    let executor = Executor::new(tools.clone()).connect(address, token.as_str());
    let session = door.task.attached().await?;
    all.add(format_args!(
        "{:?} {:?} {session:?} {executor:?}",
        door.backend, door.task
    ));
    session.finish(true, "done").await;
    executor.ended().await?;

    let good = door.lines();
    let mut query = good.clone();
    query[0] = format!("GET {path}?token={token} HTTP/1.1");
    let mut elsewhere = good.clone();
    elsewhere[0] = format!("GET /{token} HTTP/1.1");
    let mut broken = good.clone();
    broken[0] = format!("GET {path} {token} HTTP/1.1");
    for lines in [
        good.clone(),
        query,
        elsewhere,
        broken,
        [good, vec!["Origin: x".to_owned()]].concat(),
    ] {
        let answer = exchange(&door.host, &lines).await?;
        all.add(format_args!("{answer}"));
    }
    let (other, other_token) = door.backend.task().await?;
    all.add(format_args!("{other_token:?}"));
    let nowhere = other.address().to_owned();
    for (address, token) in [
        (nowhere, token.clone()),
        (format!("{address}?token={token}"), token.clone()),
        (
            address.replace("ws://", &format!("ws://user:{token}@")),
            token.clone(),
        ),
        (address.replace("ws://", "wss://"), token.clone()),
        (address.to_owned(), format!("{token}\n")),
    ] {
        let executor = Executor::new(tools.clone()).connect(address, token);
        let ended = executor.ended().await;
        let error = ended.err().ok_or("it was let in")?;
        all.add(format_args!("{error} {error:?}"));
    }
    log::set_max_level(log::LevelFilter::Off);
    let words = all.0.lock().unwrap_or_else(PoisonError::into_inner);
    for module in ["tungstenite", "contract_remote"] {
        assert!(words.contains(module), "{module} is heard");
    }
    let told = words.lines().find(|line| line.contains(token.as_str()));
    assert_eq!(told, None);
    Ok(())
}
