//! Users, passwords, TLS and options that cannot work.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, RedisOptions, RedisStore, Store, StoreError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::patient;
use crate::server::Server;

const SECRET: &str = "hunter2-hunter2";

async fn tried(options: &RedisOptions) -> Result<(), StoreError> {
    let store = RedisStore::new(options.clone())?;
    let shown = format!("{store:?} {options:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    let task = TaskId::random();
    let written = store.write(task, "a", "1", Expect::Absent).await;
    written.map(drop).inspect_err(|error| {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(SECRET), "{shown}");
    })
}

#[tokio::test]
async fn a_password_is_asked_for_and_shown_nowhere() {
    let server = Server::with(&["--requirepass", SECRET]);
    let mut options = patient(server.address());
    let refused = |error: StoreError| {
        let shown = error.to_string();
        assert!(matches!(error, StoreError::Refused { .. }), "{shown}");
        assert!(shown.contains("check `user` and `password`"), "{shown}");
    };
    refused(tried(&options).await.unwrap_err());
    options.password = Some("hunter2-hunter".into());
    refused(tried(&options).await.unwrap_err());
    options.password = Some(SECRET.into());
    tried(&options).await.unwrap();
    options.user = Some("default".into());
    tried(&options).await.unwrap();
    options.user = Some("nobody".into());
    refused(tried(&options).await.unwrap_err());
}

#[tokio::test]
async fn a_password_that_becomes_right_is_taken() {
    let server = Server::with(&["--requirepass", "another"]);
    let mut options = patient(server.address());
    options.password = Some(SECRET.into());
    let store = RedisStore::new(options).unwrap();
    let task = TaskId::random();
    for _ in 0..2 {
        let error = store.read(task, "a").await.unwrap_err();
        assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    }
    let client = redis::Client::open(server.address()).unwrap();
    let mut judge = client.get_multiplexed_async_connection().await.unwrap();
    let mut ask = async |words: &[&str]| {
        let mut command = redis::cmd(words[0]);
        let asked = command.arg(&words[1..]).query_async(&mut judge);
        let _: redis::Value = asked.await.unwrap();
    };
    ask(&["AUTH", "another"]).await;
    ask(&["CONFIG", "SET", "requirepass", SECRET]).await;
    assert_eq!(store.read(task, "a").await.unwrap(), None);
}

#[tokio::test]
async fn a_user_who_may_not_is_told_what_is_needed() {
    let server = Server::with(&["--user", "reader", "on", "nopass", "~*", "+get"]);
    let mut options = patient(server.address());
    options.user = Some("reader".into());
    options.password = Some(SECRET.into());
    let error = tried(&options).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(
        error.to_string().contains("let the user run on the keys"),
        "{error}"
    );
}

#[test]
fn options_that_cannot_work_are_refused_at_once() {
    let refused = |change: fn(&mut RedisOptions), named: &str| {
        let mut options = RedisOptions::new("redis://127.0.0.1:6379");
        change(&mut options);
        let error = RedisStore::new(options).unwrap_err();
        let shown = error.to_string();
        let StoreError::Options { option, .. } = error else {
            panic!("{shown}")
        };
        assert_eq!(option, named);
        assert!(!shown.contains(SECRET), "{shown}");
    };
    refused(
        |options| options.address = "127.0.0.1:6379".into(),
        "address",
    );
    refused(
        |options| options.address = "http://127.0.0.1".into(),
        "address",
    );
    refused(
        |options| options.address = format!("redis://:{SECRET}@127.0.0.1"),
        "address",
    );
    refused(
        |options| options.address = format!("redis://me:{SECRET}@127.0.0.1"),
        "address",
    );
    refused(|options| options.address = format!("{SECRET} "), "address");
    refused(|options| options.prefix = "a:{b}".into(), "prefix");
    refused(|options| options.prefix = String::new(), "prefix");
    refused(|options| options.attempt = Duration::ZERO, "patience");
    refused(
        |options| options.patience = Duration::from_secs(31),
        "patience",
    );
    refused(|options| options.waiting = 0, "waiting");
    refused(|options| options.authorities = Some(vec![]), "authorities");
    refused(
        |options| {
            options.address = "rediss://127.0.0.1:6379".into();
            options.authorities = Some(b"no certificate".to_vec());
        },
        "authorities",
    );
}

struct Authority {
    pem: String,
    server: [(&'static str, String); 2],
}

/// An authority, and a certificate it gives to `127.0.0.1`.
fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    Authority {
        pem: issuer.pem(),
        server: [
            ("server.crt", certificate.pem()),
            ("server.key", key.serialize_pem()),
        ],
    }
}

#[tokio::test]
async fn tls_trusts_the_authority_it_is_given_and_no_other() {
    let (right, other) = (authority(), authority());
    let mut server = Server::absent();
    for (name, text) in &right.server {
        fs::write(server.folder().join(name), text).unwrap();
    }
    // Free a moment ago; nobody else on this machine is meant to take it within one.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    server.set(&["--tls-port", &port.to_string(), "--tls-auth-clients", "no"]);
    server.set(&[
        "--tls-cert-file",
        "server.crt",
        "--tls-key-file",
        "server.key",
    ]);
    server.set(&["--tls-ca-cert-file", "server.crt", "--requirepass", SECRET]);
    server.run();

    let mut options = RedisOptions::new(format!("rediss://127.0.0.1:{port}"));
    options.attempt = Duration::from_secs(5);
    options.patience = Duration::from_secs(30);
    options.password = Some(SECRET.into());
    options.authorities = Some(right.pem.into_bytes());
    tried(&options).await.unwrap();

    options.patience = Duration::from_secs(5);
    options.authorities = Some(other.pem.into_bytes());
    let error = tried(&options).await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");

    // In the clear, to a port that speaks TLS.
    options.authorities = None;
    options.address = format!("redis://127.0.0.1:{port}");
    tried(&options).await.unwrap_err();
}
