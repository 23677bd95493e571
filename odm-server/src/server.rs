//! The server: its settings, where it listens, and how it ends.

mod counters;
mod listener;
mod slow;
mod state;

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use odm::{Collections, Result};
use tokio::{
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use self::listener::{Accept, Listener};
pub(crate) use self::{slow::EndedCommand, state::ServerState};
use crate::{
    auth::Authentication,
    connection::{Client, Connection},
    limits::Limits,
};

/// A server of MongoDB's wire protocol. Dropping it ends it at once; [`shutdown`](Server::shutdown) lets commands end.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::Collections;
/// use odm_server::Server;
///
/// let server = Server::builder().database("shop", Collections::of(&shop)).listen("127.0.0.1:0").await?;
/// let address = server.local_addr().unwrap();
/// println!("mongosh mongodb://{address}/shop");
/// server.shutdown().await;
/// # Ok(()) });
/// ```
#[must_use = "a server ends when it is dropped"]
pub struct Server {
    address: Option<SocketAddr>,
    #[cfg(feature = "http")]
    pub(crate) state: Arc<ServerState>,
    ending: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Begins the settings of a server.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The address at which it listens, or `None` if that is a socket in the file system.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Ends the server. It takes no new connections and no new commands. Commands that run have as long as
    /// [`Limits::shutdown`] to end, and are dropped then: their writes are stored whole, or not at all.
    pub async fn shutdown(mut self) {
        self.ending.send_replace(true);
        if let Err(error) = (&mut self.accepting).await {
            tracing::error!(target: "odm", %error, "server failed");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // With this task go the tasks of its connections.
        self.accepting.abort();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The settings of a server, from [`Server::builder`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    databases: Vec<(String, Collections)>,
    limits: Limits,
    requires_users: bool,
    host: Option<String>,
    slow_operation: Option<Duration>,
    #[cfg(feature = "tls")]
    tls: Option<Arc<rustls::ServerConfig>>,
}

impl Builder {
    /// Serves collections as the database of a name. Clients see the databases `admin`, `config` and `local` besides, which are empty.
    #[must_use]
    pub fn database(mut self, name: impl Into<String>, collections: Collections) -> Self {
        self.databases.push((name.into(), collections));
        self
    }

    /// Sets the limits of clients.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets in only the [users](crate::Users) of the databases. Before a client has proved to know the password of one, by SCRAM-SHA-256,
    /// it can run no command that shows or changes anything, and then those alone that the rights of the user allow.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::Collections;
    /// use odm_server::{Right, Server, Users};
    ///
    /// let collections = Collections::of(&shop);
    /// Users::of(&collections).create("ann", "a long secret", [Right::read("products")]).await?;
    /// let server = Server::builder().database("shop", collections).require_users().listen("127.0.0.1:0").await?;
    /// println!("mongosh mongodb://ann@{}/shop", server.local_addr().unwrap());
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn require_users(mut self) -> Self {
        self.requires_users = true;
        self
    }

    /// Sets the name and the port by which clients reach the server, such as `db.example.com:27017`. Drivers ask the server for it, and
    /// connect to it from then on. By default it is the address at which the server listens, or, where that is one of all interfaces,
    /// the one by which a client has come. With TLS it must be a name of the certificate.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::Collections;
    /// use odm_server::Server;
    ///
    /// let builder = Server::builder().database("shop", Collections::of(&shop)).host("localhost:27017");
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.host = Some(name.into());
        self
    }

    /// Sets from which time on a command is a slow one, 100 ms by default. The last 1,000 slow commands are kept in memory, for `getLog`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    /// use odm::Collections;
    /// use odm_server::Server;
    ///
    /// let builder = Server::builder().database("shop", Collections::of(&shop)).slow_operation(Duration::from_millis(20));
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn slow_operation(mut self, time: Duration) -> Self {
        self.slow_operation = Some(time);
        self
    }

    /// Speaks TLS with all clients, by a configuration of [`rustls`](crate::rustls) with the certificate of the server. The program chooses
    /// the provider of cryptography, of which this crate brings none. A client without TLS, or whose handshake takes longer than 10
    /// seconds, is not served.
    ///
    /// ```no_run
    /// # use odm::{Collections, derive::examples::Shop};
    /// use std::sync::Arc;
    /// use odm_server::{Server, rustls::{self, pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject}}};
    ///
    /// # async fn serve(shop: Shop) -> Result<(), Box<dyn std::error::Error>> {
    /// let certificates = CertificateDer::pem_file_iter("server.pem")?.collect::<Result<_, _>>()?;
    /// let key = PrivateKeyDer::from_pem_file("server.key")?;
    /// let provider = rustls::crypto::ring::default_provider(); // with the feature `ring` of `rustls`
    /// let config = rustls::ServerConfig::builder_with_provider(provider.into())
    ///     .with_safe_default_protocol_versions()?
    ///     .with_no_client_auth()
    ///     .with_single_cert(certificates, key)?;
    /// let server = Server::builder().database("shop", Collections::of(&shop)).require_users().tls(Arc::new(config));
    /// let server = server.host("db.example.com:27017").listen("0.0.0.0:27017").await?;
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn tls(mut self, config: Arc<rustls::ServerConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// Listens at an address of TCP, such as `127.0.0.1:27017`, or with the port 0 at a free one. Every process of the machine can connect
    /// to one of the loopback, whoever runs it. Other addresses need [`require_users`](Builder::require_users), and
    /// should have TLS too: without it others in the network can read all messages, and can try
    /// passwords at the messages that they have recorded.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::Collections;
    /// use odm_server::Server;
    ///
    /// let builder = Server::builder().database("shop", Collections::of(&shop));
    /// let refused = builder.listen("0.0.0.0:27017").await.unwrap_err();
    /// assert!(refused.to_string().contains("can be reached by other machines"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the address is not one of the loopback and no users are required, if the name of a database is invalid, or given
    /// twice, or if its collections are on a MongoDB server; `Io` if the address cannot be used.
    pub async fn listen(self, address: &str) -> Result<Server> {
        let (listener, address) = listener::bind(address, self.requires_users).await?;
        self.serve(listener, Some(address), address.to_string())
            .await
    }

    /// Listens at a socket in the file system, which only the user of this process can connect to. The file is removed with the server.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.sock");
    /// use odm::Collections;
    /// use odm_server::Server;
    ///
    /// let server = Server::builder().database("shop", Collections::of(&shop)).listen_unix(&path).await?;
    /// assert_eq!(server.local_addr(), None);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`listen`](Builder::listen); `Io` also if another process listens there; `InvalidQuery` also with TLS, which such a
    /// socket does not need.
    #[cfg(unix)]
    pub async fn listen_unix(self, path: impl AsRef<std::path::Path>) -> Result<Server> {
        let path = path.as_ref();
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            let message =
                "TLS at a Unix socket, which leaves the machine nowhere: listen there without it";
            return Err(odm::Error::new(odm::ErrorKind::InvalidQuery, message));
        }
        let listener = listener::bind_unix(path).await?;
        self.serve(listener, None, path.display().to_string()).await
    }

    async fn serve(
        self,
        listener: Listener,
        address: Option<SocketAddr>,
        shown: String,
    ) -> Result<Server> {
        let (ending, end) = watch::channel(false);
        let state = Arc::new(self.state(address, Some(shown), end.clone()).await?);
        let accepting = tokio::spawn(accept(listener, state.clone(), end));
        Ok(Server {
            address,
            #[cfg(feature = "http")]
            state,
            ending,
            accepting,
        })
    }
}

/// How long the handshake of TLS may take.
#[cfg(feature = "tls")]
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Serves a client by TLS, once its handshake is done.
#[cfg(feature = "tls")]
async fn serve_tls(
    stream: tokio::net::TcpStream,
    client: Client,
    state: Arc<ServerState>,
    end: watch::Receiver<bool>,
) {
    let Some(acceptor) = &state.tls else { return };
    let (connection, address) = (client.id, client.address.as_str());
    let time = HANDSHAKE.min(state.limits.unauthenticated);
    let mut ending = end.clone();
    let handshake = tokio::select! {
        biased;
        _ = ending.wait_for(|is_ending| *is_ending) => return,
        handshake = tokio::time::timeout(time, acceptor.accept(stream)) => handshake,
    };
    match handshake {
        Ok(Ok(stream)) => Connection::new(stream, client, state, end).serve().await,
        Ok(Err(error)) => {
            tracing::debug!(target: "odm", connection, address, %error, "handshake of TLS failed");
        }
        Err(_) => {
            tracing::debug!(target: "odm", connection, address, "handshake of TLS took too long");
        }
    }
}

/// Takes connections until the server ends, and ends the open ones then.
async fn accept(listener: Listener, state: Arc<ServerState>, mut end: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    // They end with this task.
    let _sweeping = state.clone().sweep();
    let mut last_id = 0_i32;
    loop {
        let accepted = tokio::select! {
            biased;
            _ = end.changed() => break,
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended {
                    tracing::error!(target: "odm", %error, "connection failed");
                }
                state.counters.close();
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Such as too many open files: it can pass.
                tracing::warn!(target: "odm", %error, "connection not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if connections.len() >= state.limits.connections {
            let limit = state.limits.connections;
            tracing::warn!(target: "odm", limit, "connection refused: there are as many as the limit");
            continue;
        }
        let authentication = match state.requires_users {
            false => Authentication::default(),
            true => match state.strangers.clone().try_acquire_owned() {
                Ok(place) => Authentication::of_stranger(place),
                Err(_) => {
                    tracing::warn!(target: "odm", "connection refused: half of the limit has not authenticated");
                    continue;
                }
            },
        };
        last_id = last_id.wrapping_add(1);
        let client = Client {
            id: last_id,
            address: address.into(),
            member: stream.local_address(),
            authentication,
        };
        state.counters.open();
        let (state, end) = (state.clone(), end.clone());
        match stream {
            #[cfg(feature = "tls")]
            Accept::Tcp(stream) if state.tls.is_some() => {
                connections.spawn(serve_tls(stream, client, state, end));
            }
            Accept::Tcp(stream) => {
                connections.spawn(Connection::new(stream, client, state, end).serve());
            }
            #[cfg(unix)]
            Accept::Unix(stream) => {
                connections.spawn(Connection::new(stream, client, state, end).serve());
            }
        }
    }
    drop(listener);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(state.limits.shutdown, all_ended)
        .await
        .is_err()
    {
        tracing::warn!(target: "odm", cut = connections.len(), "commands did not end before the shutdown");
        connections.shutdown().await;
    }
}
