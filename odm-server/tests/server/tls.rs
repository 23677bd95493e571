use std::{sync::Arc, time::Duration};

use mongodb::{
    Client,
    bson::{Document, doc},
};
use odm::{
    Collections,
    derive::examples::{Shop, example},
};
use odm_server::{
    Limits, Right, Server, Users,
    rustls::{
        ClientConfig, RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::raw::{OP_MSG, RawClient, body, message};

/// A certificate of `localhost` and of 127.0.0.1 by an authority of its own; both are valid for a hundred years.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/tls");

fn config() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(format!("{FOLDER}/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{FOLDER}/server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    Arc::new(config.unwrap())
}

fn client_config() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(format!("{FOLDER}/authority.pem")).unwrap();
    roots.add(authority).unwrap();
    let config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

async fn served(shop: &Shop, limits: Limits) -> Server {
    let collections = Collections::of(shop);
    let users = Users::of(&collections);
    users
        .create("ann", "secret", [Right::read_write_all()])
        .await
        .unwrap();
    let builder = Server::builder()
        .database("shop", collections)
        .limits(limits);
    let builder = builder.require_users().tls(config());
    builder.listen("127.0.0.1:0").await.unwrap()
}

async fn driver(server: &Server, options: &str) -> Client {
    let port = server.local_addr().unwrap().port();
    let uri = format!(
        "mongodb://ann:secret@127.0.0.1:{port}/shop?serverSelectionTimeoutMS=2000&{options}"
    );
    Client::with_uri_str(uri).await.unwrap()
}

#[test]
fn a_driver_that_trusts_the_certificate_is_served() {
    example(async |shop| {
        let server = served(&shop, Limits::default()).await;
        let trusting = format!("tls=true&tlsCAFile={FOLDER}/authority.pem");
        let client = driver(&server, &trusting).await;
        let parts = client.database("shop").collection::<Document>("parts");
        assert_eq!(parts.count_documents(doc! {}).await.unwrap(), 3);
        let mut session = client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        parts
            .insert_one(crate::part(9, "pin"))
            .session(&mut session)
            .await
            .unwrap();
        session.commit_transaction().await.unwrap();
        assert_eq!(shop.parts.all().count().await?, 4);

        for other in ["tls=true", "tls=false"] {
            let client = driver(&server, other).await;
            assert!(
                client
                    .database("shop")
                    .list_collection_names()
                    .await
                    .is_err()
            );
        }
        server.shutdown().await;
        Ok(())
    });
}

#[test]
fn clients_without_a_handshake_are_closed_and_hold_up_nobody() {
    example(async |shop| {
        let limits = Limits::default().unauthenticated(Duration::from_millis(500));
        let server = served(&shop, limits).await;
        let mut silent: Vec<RawClient> = Vec::new();
        for _ in 0..20 {
            silent.push(RawClient::new(&server).await);
        }
        let mut plain = RawClient::new(&server).await;
        let hello = doc! { "hello": 1, "$db": "admin" };
        plain.send(OP_MSG, &body(0, &hello)).await;

        let connector = tokio_rustls::TlsConnector::from(client_config());
        let stream = TcpStream::connect(server.local_addr().unwrap())
            .await
            .unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = connector.connect(name, stream).await.unwrap();
        stream
            .write_all(&message(OP_MSG, &body(0, &hello)))
            .await
            .unwrap();
        let mut header = [0; 16];
        stream.read_exact(&mut header).await.unwrap();

        // What answers the plain client is an alert of TLS.
        let mut rest = Vec::new();
        plain.stream.read_to_end(&mut rest).await.unwrap();
        assert!(rest.len() < 16, "{rest:?}");
        for mut client in silent {
            assert!(client.receive().await.is_none());
        }
        Ok(())
    });
}

#[cfg(unix)]
#[test]
fn a_unix_socket_has_no_tls() {
    example(async |shop| {
        let folder = tempfile::tempdir().unwrap();
        let builder = Server::builder()
            .database("shop", Collections::of(&shop))
            .tls(config());
        let refused = builder
            .listen_unix(folder.path().join("s"))
            .await
            .unwrap_err();
        assert!(refused.to_string().contains("TLS at a Unix socket"));
        Ok(())
    });
}
