//! A proxy between a store and its server, which counts their messages and cuts connections.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use mongodb::{Client, options::ServerAddress};
use odm::{
    bson::{Document, RawDocument, doc},
    store::mongodb::MongoDb,
};
use tests::TestDatabase;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// The side of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// A request is cut off before the server gets it.
    Request,
    /// The server has done what was asked, and its answer is lost.
    Answer,
}

/// What becomes of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// That of the message is closed.
    One,
    /// All are closed, and none is taken any more.
    All,
}

/// The message at which connections are cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Its number among the requests, from 1 on.
    pub(crate) at: usize,
    pub(crate) side: Side,
    pub(crate) cut: Cut,
}

/// The messages of a store since [`Proxy::plan`].
#[derive(Debug, Default)]
struct Seen {
    plan: Option<Plan>,
    /// The names of the commands.
    commands: Vec<String>,
    sessions: HashMap<Vec<u8>, Document>,
}

#[derive(Debug)]
struct Shared {
    server: String,
    seen: Mutex<Seen>,
    is_dark: watch::Sender<bool>,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    database: String,
    /// The client of the server, past the proxy.
    direct: Client,
}

impl Proxy {
    pub(crate) async fn new(server: &TestDatabase) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shared = Arc::new(Shared {
            server: server.options.hosts[0].to_string(),
            seen: Mutex::default(),
            is_dark: watch::Sender::new(false),
        });
        let proxy = Proxy {
            address: listener.local_addr().unwrap(),
            database: server.database.name().to_owned(),
            direct: server.client.clone(),
            shared: shared.clone(),
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !*shared.is_dark.borrow() {
                    tokio::spawn(connect(shared.clone(), client));
                }
            }
        });
        proxy
    }

    /// A store that reaches the server through the proxy alone, and waits so long for it.
    pub(crate) async fn store(&self, server: &TestDatabase, patience: Duration) -> MongoDb {
        let mut options = server.options.clone();
        options.hosts = vec![ServerAddress::Tcp {
            host: self.address.ip().to_string(),
            port: Some(self.address.port()),
        }];
        // Else the driver goes to the addresses that the server tells.
        options.direct_connection = Some(true);
        options.repl_set_name = None;
        options.server_selection_timeout = Some(patience);
        let client = Client::with_options(options).unwrap();
        MongoDb::new(&client, &self.database).await.unwrap()
    }

    /// Counts messages from now on, and cuts connections at one of them.
    pub(crate) fn plan(&self, plan: Option<Plan>) {
        *self.shared.seen.lock().unwrap() = Seen { plan, ..Seen::default() };
    }

    /// The names of the commands since the last plan.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap().commands.clone()
    }

    /// Keeps the server away, or lets it come back.
    pub(crate) fn darken(&self, is_dark: bool) {
        self.shared.is_dark.send_replace(is_dark);
    }

    /// Waits until connections were cut by the plan.
    pub(crate) async fn dark(&self) {
        let mut is_dark = self.shared.is_dark.subscribe();
        is_dark.wait_for(|is_dark| *is_dark).await.unwrap();
    }

    /// Ends the transactions that were cut off from their program, as the server does some time later.
    pub(crate) async fn end_sessions(&self) {
        let sessions: Vec<Document> = {
            let seen = self.shared.seen.lock().unwrap();
            seen.sessions.values().cloned().collect()
        };
        if !sessions.is_empty() {
            let kill = doc! { "killSessions": sessions };
            let killed = self.direct.database("admin").run_command(kill).await;
            killed.unwrap();
        }
    }
}

impl Shared {
    /// Counts a message, and returns its number. What watches over the connections is no message.
    fn count(&self, message: &[u8]) -> Option<usize> {
        let body = body(message)?;
        let (name, _) = body.iter().next()?.ok()?;
        let name = name.as_str();
        if matches!(name, "hello" | "isMaster" | "ismaster" | "endSessions") {
            return None;
        }
        let mut seen = self.seen.lock().unwrap();
        if let Ok(session) = body.get_document("lsid") {
            let lsid = Document::try_from(session).unwrap();
            seen.sessions.insert(session.as_bytes().to_vec(), lsid);
        }
        seen.commands.push(name.to_owned());
        Some(seen.commands.len())
    }

    /// Whether connections are cut at a message.
    fn cuts(&self, number: Option<usize>, side: Side) -> bool {
        let plan = self.seen.lock().unwrap().plan;
        let Some(plan) = plan.filter(|plan| Some(plan.at) == number && plan.side == side) else {
            return false;
        };
        if plan.cut == Cut::All {
            self.is_dark.send_replace(true);
        }
        true
    }
}

/// The command in a message of the kind `OP_MSG`.
fn body(message: &[u8]) -> Option<&RawDocument> {
    const OP_MSG: u32 = 2013;
    let number = |at: usize| Some(u32::from_le_bytes(message.get(at..at + 4)?.try_into().ok()?));
    if number(12)? != OP_MSG || *message.get(20)? != 0 {
        return None;
    }
    let len = usize::try_from(number(21)?).ok()?;
    RawDocument::from_bytes(message.get(21..21 + len)?).ok()
}

/// The identity of a message that an answer names.
type MessageId = [u8; 4];

/// Passes the messages of a connection until one of both sides closes it, or the proxy cuts it.
async fn connect(shared: Arc<Shared>, client: TcpStream) {
    let Ok(server) = TcpStream::connect(&shared.server).await else {
        return;
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let asked: Mutex<HashMap<MessageId, Option<usize>>> = Mutex::default();
    let mut is_dark = shared.is_dark.subscribe();
    let requests = pass(from_client, to_server, |message| {
        let number = shared.count(message);
        asked.lock().unwrap().insert(id(message, 4), number);
        shared.cuts(number, Side::Request)
    });
    let answers = pass(from_server, to_client, |message| {
        let number = asked.lock().unwrap().remove(&id(message, 8)).flatten();
        shared.cuts(number, Side::Answer)
    });
    // An end of the connection by one side ends it for the other.
    tokio::select! {
        _ = requests => {}
        _ = answers => {}
        _ = is_dark.wait_for(|is_dark| *is_dark) => {}
    }
}

fn id(message: &[u8], at: usize) -> MessageId {
    [0, 1, 2, 3].map(|byte| message[at + byte])
}

/// Passes messages until one is to be cut off.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    is_cut: impl Fn(&[u8]) -> bool,
) -> io::Result<()> {
    loop {
        let mut message = vec![0; 16];
        from.read_exact(&mut message).await?;
        let len = u32::from_le_bytes(id(&message, 0)) as usize;
        message.resize(len, 0);
        from.read_exact(&mut message[16..]).await?;
        if is_cut(&message) {
            return Ok(());
        }
        to.write_all(&message).await?;
    }
}
