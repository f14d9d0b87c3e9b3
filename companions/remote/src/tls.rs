//! TLS of the connection, on both sides (rustls).

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CertificateError, ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::{TlsAcceptor, TlsConnector, rustls};

use super::RemoteError;

/// What is spoken inside, as `ALPN` names it (RFC 7301, 6, 2014).
const HTTP: &[u8] = b"http/1.1";

/// The root certificates by which an executor authenticates a backend.
#[derive(Clone)]
pub(crate) struct Roots(Vec<CertificateDer<'static>>);

/// The certificate of a backend, and the key to it.
#[derive(Clone)]
pub(crate) struct Identity(Arc<ServerConfig>);

/// Without the provider of the process: which one that is, the program decides, and it may not have.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn failed(reason: impl fmt::Display) -> RemoteError {
    RemoteError::Tls {
        reason: reason.to_string(),
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, RemoteError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(read) if read.is_empty() => Err(failed("the text holds no certificate in PEM")),
        Ok(read) => Ok(read),
        Err(error) => Err(failed(format_args!("a certificate is not PEM: {error}"))),
    }
}

impl Identity {
    pub(crate) fn new(certificate: &[u8], key: &[u8]) -> Result<Self, RemoteError> {
        let chain = certificates(certificate)?;
        // The error says what kind of item was met, never what is in it.
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| failed(format_args!("the private key is not PEM: {error}")))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(failed)?;
        config.alpn_protocols = vec![HTTP.to_vec()];
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.0).into()
    }
}

impl Roots {
    /// These and no others.
    pub(crate) fn new(pem: &[u8]) -> Result<Self, RemoteError> {
        certificates(pem).map(Self)
    }

    /// Those of the system.
    fn of_the_system() -> Result<Self, RemoteError> {
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            return Err(failed(
                "the system has no trusted certificates; give the certificate of the authority to `Executor::roots`",
            ));
        }
        Ok(Self(found.certs))
    }
}

/// Makes connections to backends that `roots` vouch for, or else the system.
pub(crate) fn connector(roots: Option<&Roots>) -> Result<TlsConnector, RemoteError> {
    let mut store = RootCertStore::empty();
    if let Some(Roots(roots)) = roots {
        for root in roots {
            store.add(root.clone()).map_err(failed)?;
        }
    } else {
        // A system has roots that are older than the rules.
        store.add_parsable_certificates(Roots::of_the_system()?.0);
    }
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![HTTP.to_vec()];
    Ok(Arc::new(config).into())
}

/// Explains why a TLS handshake failed, and whether the peer does not speak TLS at all. A certificate may be renewed.
pub(crate) fn explained(error: &std::io::Error) -> (String, bool) {
    let inner = error.get_ref();
    let known = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let told = match known {
        Some(rustls::Error::InvalidCertificate(certificate)) => match certificate {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "its certificate is not trusted; give its authority to `Executor::roots`"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired"
            }
            _ => "its certificate is not valid",
        },
        Some(rustls::Error::InvalidMessage(_)) => "it does not speak TLS; `ws://` may be meant",
        _ => return (format!("TLS: {}", error.kind()), false),
    };
    let speaks_no_tls = matches!(known, Some(rustls::Error::InvalidMessage(_)));
    (told.to_owned(), speaks_no_tls)
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({})", self.0.len())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(..)")
    }
}
