//! The certificate of a server, and its key.

use std::{path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};

use crate::error::{Failure, Result};

/// Reads a certificate, with those between it and its authority, and its key.
pub(super) fn config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>> {
    let unreadable = |file: &Path, what: &str, error: pem::Error| match error {
        pem::Error::Io(error) => {
            Failure::io(format_args!("cannot read `{}`", file.display()), &error)
        }
        pem::Error::NoItemsFound => {
            Failure::usage(format!("`{}` has no {what} in PEM", file.display()))
        }
        error => Failure::usage(format!("`{}` is no {what} in PEM: {error}", file.display())),
    };
    let read = |error| unreadable(certificate, "certificate", error);
    let chain = CertificateDer::pem_file_iter(certificate).map_err(read)?;
    let chain: Vec<CertificateDer<'static>> =
        chain.collect::<std::result::Result<_, _>>().map_err(read)?;
    if chain.is_empty() {
        return Err(read(pem::Error::NoItemsFound));
    }
    let secret = PrivateKeyDer::from_pem_file(key);
    let secret = secret.map_err(|error| unreadable(key, "private key", error))?;
    let builder = ServerConfig::builder_with_provider(ring::default_provider().into());
    let config = builder
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(chain, secret)
        });
    let config = config.map_err(|error| {
        let (certificate, key) = (certificate.display(), key.display());
        Failure::usage(format!(
            "TLS by the certificate `{certificate}` and the key `{key}` is refused: {error}"
        ))
    })?;
    Ok(Arc::new(config))
}
