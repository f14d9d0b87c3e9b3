//! The line over TLS, with certificates of our own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, Reconnect, RemoteError};
use contract_runtime::prelude::*;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::plain::{Doorway, exchange};
use crate::tools::{Tested, registry};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const LATE: Duration = Duration::from_secs(30);

/// Somebody who vouches for backends.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Fallible<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(Self(CertifiedIssuer::self_signed(
            params,
            KeyPair::generate()?,
        )?))
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a name, and its key.
    fn vouch(
        &self,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Fallible<[String; 2]> {
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        change(&mut params);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.0)?;
        Ok([certificate.pem(), key.serialize_pem()])
    }
}

async fn doorway([certificate, key]: &[String; 2]) -> Fallible<Doorway> {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    Doorway::of(backend.tls(certificate, key)?).await
}

/// Why an executor that trusts this authority does not come in.
async fn refused(door: &Doorway, address: &str, trusted: &Authority) -> Fallible<String> {
    let executor = Executor::new(registry(&Arc::default())?).roots(trusted.pem())?;
    let executor = executor.reconnect(Reconnect::default().attempts(0));
    let ended = timeout(LATE, executor.connect(address, door.token.as_str()).ended());
    let error = ended.await?.err().ok_or("it was let in")?;
    // A certificate may be renewed, so only a wrong address ends an executor that may try again.
    assert!(
        matches!(
            error,
            RemoteError::Connect { .. } | RemoteError::Lost { .. }
        ),
        "{error:?}"
    );
    Ok(error.to_string())
}

#[tokio::test]
async fn calls_travel_over_tls_where_the_certificate_is_vouched_for() -> Tested {
    let authority = Authority::new()?;
    let door = doorway(&authority.vouch("127.0.0.1", |_| {})?).await?;
    let address = door.task.address();
    assert!(address.starts_with("wss://127.0.0.1:"), "{address}");
    let executor = Executor::new(registry(&Arc::default())?).roots(authority.pem())?;
    let executor = executor.connect(address, door.token.as_str());
    let session = timeout(LATE, door.task.attached()).await??;
    let call = ToolCall::new("1", "halve", r#"{"number":42}"#);
    let outcome = timeout(LATE, session.registry().call(call)).await?;
    assert_eq!(outcome.output(), Some("21"));
    session.finish(true, "done").await;
    timeout(LATE, executor.ended()).await??;
    Ok(())
}

#[tokio::test]
async fn a_backend_that_is_another_is_not_talked_to() -> Tested {
    let (right, wrong) = (Authority::new()?, Authority::new()?);
    let door = doorway(&right.vouch("127.0.0.1", |_| {})?).await?;
    let told = refused(&door, door.task.address(), &wrong).await?;
    assert!(told.contains("its certificate is not trusted"), "{told}");

    let door = doorway(&right.vouch("tools.example", |_| {})?).await?;
    let told = refused(&door, door.task.address(), &right).await?;
    assert!(told.contains("for another name"), "{told}");

    let old = |params: &mut CertificateParams| params.not_after = date_time_ymd(2020, 1, 1);
    let door = doorway(&right.vouch("127.0.0.1", old)?).await?;
    let told = refused(&door, door.task.address(), &right).await?;
    assert!(told.contains("has expired"), "{told}");
    assert_eq!(door.backend.state().accepted, 0);
    Ok(())
}

#[tokio::test]
async fn whoever_speaks_without_tls_is_told_and_the_other_way_round() -> Tested {
    let authority = Authority::new()?;
    let door = doorway(&authority.vouch("127.0.0.1", |_| {})?).await?;
    let bare = door.task.address().replace("wss://", "ws://");
    let told = refused(&door, &bare, &authority).await?;
    assert!(told.contains("must begin with `wss://`"), "{told}");
    let answer = exchange(&door.host, &door.lines()).await?;
    assert!(answer.starts_with("HTTP/1.1 426 "), "{answer}");
    assert!(answer.contains("wss://"), "{answer}");

    let plain = Doorway::of(Backend::new(registry(&Arc::default())?.manifest())).await?;
    let wrapped = plain.task.address().replace("ws://", "wss://");
    let told = refused(&plain, &wrapped, &authority).await?;
    assert!(told.contains("`ws://` may be meant"), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_handshake_of_tls_has_five_seconds_as_well() -> Tested {
    let authority = Authority::new()?;
    let door = doorway(&authority.vouch("127.0.0.1", |_| {})?).await?;
    // Nothing; the beginning of a record; a record that is none.
    for (bytes, waits) in [
        (&b""[..], true),
        (&[22, 3, 1, 2, 0], true),
        (&[22, 0, 0], false),
    ] {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(&door.host).await?;
        stream.write_all(bytes).await?;
        let mut rest = Vec::new();
        let _ = timeout(LATE, stream.read_to_end(&mut rest)).await?;
        let waited = begun.elapsed() >= Duration::from_millis(4_500);
        assert!(!waits || waited, "{bytes:?}");
    }
    let rejections = door.backend.state().rejections;
    assert!(rejections.silent >= 2, "{rejections:?}");
    Ok(())
}

#[tokio::test]
async fn certificates_and_keys_that_cannot_be_used_are_said_and_not_shown() -> Tested {
    let authority = Authority::new()?;
    let [certificate, key] = authority.vouch("127.0.0.1", |_| {})?;
    let [_, other] = authority.vouch("127.0.0.1", |_| {})?;
    let secret = key.lines().nth(1).unwrap_or_default().to_owned();
    let broken = key.replace("END", "DONE");
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    for (certificate, key, why) in [
        ("", &*key, "no certificate"),
        ("hello", &key, "no certificate"),
        (&key, &key, "no certificate"),
        (&certificate, "", "key is not PEM"),
        (&certificate, &certificate, "key is not PEM"),
        (&certificate, &broken, "key is not PEM"),
        (&certificate, &other, "TLS: "),
    ] {
        let error = backend.clone().tls(certificate, key).err().ok_or("taken")?;
        let told = format!("{error} {error:?}");
        assert!(told.contains(why), "{told}");
        assert!(!told.contains(&secret), "{told}");
    }
    let backend = backend.tls(&certificate, &key)?;
    assert!(!format!("{backend:?}").contains(&secret));
    let executor = Executor::new(registry(&Arc::default())?);
    assert!(executor.roots("").is_err());
    Ok(())
}
