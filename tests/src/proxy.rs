//! A proxy between a client and its server, which counts their messages, holds them up, cuts connections, and disguises the server as
//! another one.

mod disguise;

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use mongodb::{
    Client,
    options::{ClientOptions, ServerAddress},
};
use odm::{
    MongoDb,
    bson::{Document, RawDocument, doc},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

pub use self::disguise::Disguise;
use crate::TestDatabase;

/// The side of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A request is cut off before the server gets it.
    Request,
    /// The server has done the request, and its answer is lost.
    Answer,
}

/// The fate of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The connection of the message is closed.
    One,
    /// All are closed, and no new ones are accepted.
    All,
}

/// The message at which connections are cut.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Its number among the requests, from 1 on.
    pub at: usize,
    /// The message that is lost, of the two.
    pub side: Side,
    /// Which connections are closed.
    pub cut: Cut,
}

/// A message that comes late, with all later ones on its connection.
#[derive(Debug, Clone, Copy)]
pub struct Delay {
    /// The number of the request, from 1 on.
    pub at: usize,
    /// The message that is late, of the two.
    pub side: Side,
    /// The length of the delay.
    pub by: Duration,
}

/// An error in the answer to a request.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    /// The server's code.
    pub code: i32,
    /// Its name.
    pub name: &'static str,
    /// The labels of the error.
    pub labels: &'static [&'static str],
    /// A refused request does not reach the server. A refused answer has the error as that of the write concern: the server has done the
    /// request.
    pub side: Side,
}

/// The requests that are refused.
#[derive(Debug, Clone, Copy)]
enum Refused {
    /// The request of this number.
    At(usize),
    /// The first command of this name.
    First(&'static str),
    /// Each command of these names.
    Each(&'static [&'static str]),
}

impl Refusal {
    /// The refusal of a request, without labels.
    pub const fn new(code: i32, name: &'static str) -> Self {
        Refusal {
            code,
            name,
            labels: &[],
            side: Side::Request,
        }
    }

    /// Whether the error says that the transaction has ended.
    fn ends(self) -> bool {
        self.labels.contains(&"TransientTransactionError")
    }

    fn answer(self) -> Document {
        doc! {
            "ok": 0.0,
            "errmsg": "refused by a proxy",
            "code": self.code,
            "codeName": self.name,
            "errorLabels": self.labels,
        }
    }

    /// The answer of a server that has done the request.
    fn beside(self, mut answer: Document) -> Document {
        let error = doc! {
            "code": self.code,
            "codeName": self.name,
            "errmsg": "refused by a proxy",
        };
        answer.insert("writeConcernError", error);
        answer.insert("errorLabels", self.labels);
        answer
    }
}

/// A command that reads, and the level of its read concern, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The name of the command: `find` or `aggregate`.
    pub command: String,
    /// The level.
    pub level: Option<String>,
}

/// The messages of a store since [`Proxy::plan`].
#[derive(Debug, Default)]
struct Seen {
    plan: Option<Plan>,
    refusal: Option<(Refused, Refusal)>,
    delay: Option<Delay>,
    /// The names of the commands.
    commands: Vec<String>,
    reads: Vec<Read>,
    sessions: HashMap<Vec<u8>, Document>,
}

#[derive(Debug)]
struct Shared {
    server: String,
    disguise: Mutex<Option<Disguise>>,
    seen: Mutex<Seen>,
    is_dark: watch::Sender<bool>,
}

/// A proxy before a server.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// A client of the server, past the proxy.
    direct: Client,
}

impl Proxy {
    /// A proxy before the first server of a client, which has these options. It ends with the runtime.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub fn before(direct: &Client, options: &ClientOptions, disguise: Option<Disguise>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let listener = TcpListener::from_std(listener).expect("a runtime");
        let shared = Arc::new(Shared {
            server: options.hosts[0].to_string(),
            disguise: Mutex::new(disguise),
            seen: Mutex::default(),
            is_dark: watch::Sender::new(false),
        });
        let proxy = Proxy {
            address: listener.local_addr().expect("an address"),
            shared: shared.clone(),
            direct: direct.clone(),
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

    /// A proxy before the server of a test. The test can also reach the server past it.
    pub fn new(server: &TestDatabase) -> Self {
        Proxy::before(&server.client, &server.options, None)
    }

    /// The options of a client that reaches the server only through the proxy.
    pub fn options(&self, options: &ClientOptions) -> ClientOptions {
        let mut options = options.clone();
        options.hosts = vec![ServerAddress::Tcp {
            host: self.address.ip().to_string(),
            port: Some(self.address.port()),
        }];
        // Otherwise the driver uses the addresses that the server reports.
        options.direct_connection = Some(true);
        options.repl_set_name = None;
        options
    }

    /// A store that reaches the server only through the proxy, and waits this long for it.
    ///
    /// # Panics
    ///
    /// If the server cannot be reached.
    pub async fn store(&self, server: &TestDatabase, patience: Duration) -> MongoDb {
        let mut options = self.options(&server.options);
        options.server_selection_timeout = Some(patience);
        // The interval in which it looks for a server that says that it goes away.
        options.heartbeat_freq = Some(Duration::from_millis(500));
        let client = Client::with_options(options).expect("options");
        let store = MongoDb::new(&client, server.database.name()).await;
        store.expect("a server")
    }

    /// Disguises the server as another one from now on, as if that had become the primary.
    pub fn disguise(&self, disguise: Option<Disguise>) {
        *self.shared.disguise.lock().unwrap() = disguise;
    }

    /// Counts messages from now on, and cuts connections at one of them.
    pub fn plan(&self, plan: Option<Plan>) {
        *self.shared.seen.lock().unwrap() = Seen {
            plan,
            ..Seen::default()
        };
    }

    /// Counts messages from now on, and puts an error into the answer to one of them, by its number from 1 on. A transaction whose commit
    /// is refused is aborted, if the error says so.
    ///
    /// # Panics
    ///
    /// If another thread has.
    pub fn refuse(&self, at: usize, refusal: Refusal) {
        *self.shared.seen.lock().unwrap() = Seen {
            refusal: Some((Refused::At(at), refusal)),
            ..Seen::default()
        };
    }

    /// Counts messages from now on, and refuses the first command of this name.
    ///
    /// # Panics
    ///
    /// If another thread has.
    pub fn refuse_first(&self, command: &'static str, refusal: Refusal) {
        *self.shared.seen.lock().unwrap() = Seen {
            refusal: Some((Refused::First(command), refusal)),
            ..Seen::default()
        };
    }

    /// Counts messages from now on, and refuses each of these commands until another plan.
    ///
    /// # Panics
    ///
    /// If another thread has.
    pub fn refuse_each(&self, commands: &'static [&'static str], refusal: Refusal) {
        *self.shared.seen.lock().unwrap() = Seen {
            refusal: Some((Refused::Each(commands), refusal)),
            ..Seen::default()
        };
    }

    /// Counts messages from now on, and holds one of them up.
    ///
    /// # Panics
    ///
    /// If another thread has.
    pub fn delay(&self, delay: Delay) {
        *self.shared.seen.lock().unwrap() = Seen {
            delay: Some(delay),
            ..Seen::default()
        };
    }

    /// The names of the commands since the last plan.
    pub fn commands(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap().commands.clone()
    }

    /// The commands that read since the last plan.
    ///
    /// # Panics
    ///
    /// If another thread has.
    pub fn reads(&self) -> Vec<Read> {
        self.shared.seen.lock().unwrap().reads.clone()
    }

    /// Keeps the server away, or lets it come back.
    pub fn darken(&self, is_dark: bool) {
        self.shared.is_dark.send_replace(is_dark);
    }

    /// Waits until connections were cut by the plan.
    pub async fn dark(&self) {
        let mut is_dark = self.shared.is_dark.subscribe();
        is_dark.wait_for(|is_dark| *is_dark).await.unwrap();
    }

    /// Ends the transactions whose program was cut off, as the server does some time later.
    ///
    /// # Panics
    ///
    /// If the server refuses it.
    pub async fn end_sessions(&self) {
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
    /// Counts a message, and returns its number. Messages that monitor the connections do not count.
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
        if matches!(name, "find" | "aggregate") {
            let concern = body.get_document("readConcern");
            let level = concern.and_then(|concern| concern.get_str("level"));
            seen.reads.push(Read {
                command: name.to_owned(),
                level: level.ok().map(str::to_owned),
            });
        }
        seen.commands.push(name.to_owned());
        Some(seen.commands.len())
    }

    /// The refusal of a message.
    fn refusal(&self, number: Option<usize>, command: &str) -> Option<Refusal> {
        let mut seen = self.seen.lock().unwrap();
        let (refused, refusal) = seen.refusal?;
        let is_refused = match refused {
            Refused::At(at) => Some(at) == number,
            Refused::First(first) => first == command,
            Refused::Each(commands) => commands.contains(&command),
        };
        if is_refused && matches!(refused, Refused::First(_)) {
            seen.refusal = None;
        }
        is_refused.then_some(refusal)
    }

    /// The delay of a message.
    fn delay(&self, number: Option<usize>, side: Side) -> Option<Duration> {
        let delay = self.seen.lock().unwrap().delay?;
        (Some(delay.at) == number && delay.side == side).then_some(delay.by)
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

const OP_MSG: u32 = 2013;

/// The command in a message of the kind `OP_MSG`.
fn body(message: &[u8]) -> Option<&RawDocument> {
    let number = |at: usize| {
        Some(u32::from_le_bytes(
            message.get(at..at + 4)?.try_into().ok()?,
        ))
    };
    if number(12)? != OP_MSG || *message.get(20)? != 0 {
        return None;
    }
    let len = usize::try_from(number(21)?).ok()?;
    RawDocument::from_bytes(message.get(21..21 + len)?).ok()
}

/// The identity of a message that an answer names.
type MessageId = [u8; 4];

/// The state of a request until its answer comes.
#[derive(Debug, Default)]
struct Asked {
    number: Option<usize>,
    command: String,
    /// The answer in the place of the server's.
    answer: Option<Document>,
    /// The error that is added to the answer.
    refusal: Option<Refusal>,
}

/// The fate of a message.
enum Fate {
    Passed,
    /// It is passed later.
    Late(Duration),
    /// Another message is passed in its place.
    Changed(Vec<u8>),
    /// The proxy answers it by itself.
    Answered(Vec<u8>),
    Cut,
}

/// Passes the messages of a connection until one side closes it, or the proxy cuts it.
async fn connect(shared: Arc<Shared>, client: TcpStream) {
    let Ok(server) = TcpStream::connect(&shared.server).await else {
        return;
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let (to_client, to_server) = (Writer::new(to_client), Writer::new(to_server));
    let asked: Mutex<HashMap<MessageId, Asked>> = Mutex::default();
    let mut is_dark = shared.is_dark.subscribe();
    let requests = pass(from_client, &to_server, &to_client, |message| {
        let number = shared.count(message);
        if shared.cuts(number, Side::Request) {
            return Fate::Cut;
        }
        let body = body(message);
        let command = body.and_then(|body| body.iter().next()?.ok());
        let command = command.map_or(String::new(), |(name, _)| name.as_str().to_owned());
        let disguise = *shared.disguise.lock().unwrap();
        let refusal = shared.refusal(number, &command);
        let of = |side| refusal.filter(|refusal| refusal.side == side);
        let (refusal, later) = (of(Side::Request), of(Side::Answer));
        let aborts = command == "commitTransaction" && refusal.is_some_and(Refusal::ends);
        let by_disguise = || disguise?.answer(&command, body?);
        let (fate, answer) = match (refusal.map(Refusal::answer).or_else(by_disguise), body) {
            (Some(answer), Some(body)) if aborts => {
                (Fate::Changed(as_abort(message, body)), Some(answer))
            }
            (Some(answer), _) => {
                let answer = with_body([0; 4], id(message, 4), &answer);
                (Fate::Answered(answer), None)
            }
            (None, _) => match shared.delay(number, Side::Request) {
                Some(by) => (Fate::Late(by), None),
                None => (Fate::Passed, None),
            },
        };
        let request = Asked {
            number,
            command,
            answer,
            refusal: later,
        };
        asked.lock().unwrap().insert(id(message, 4), request);
        fate
    });
    let answers = pass(from_server, &to_client, &to_server, |message| {
        let Asked {
            number,
            command,
            answer,
            refusal,
        } = asked
            .lock()
            .unwrap()
            .remove(&id(message, 8))
            .unwrap_or_default();
        if shared.cuts(number, Side::Answer) {
            return Fate::Cut;
        }
        if let Some(answer) = answer {
            return Fate::Changed(with_body(id(message, 4), id(message, 8), &answer));
        }
        if let Some(by) = shared.delay(number, Side::Answer) {
            return Fate::Late(by);
        }
        let disguise = *shared.disguise.lock().unwrap();
        if refusal.is_none() && disguise.is_none() {
            return Fate::Passed;
        }
        let answer = body(message).and_then(|body| Document::try_from(body).ok());
        let changed = answer.and_then(|answer| match refusal {
            Some(refusal) => Some(refusal.beside(answer)),
            None => disguise?.changed(&command, answer),
        });
        match changed {
            Some(changed) => Fate::Changed(with_body(id(message, 4), id(message, 8), &changed)),
            None => Fate::Passed,
        }
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

/// The abort of the transaction in place of its commit.
fn as_abort(commit: &[u8], body: &RawDocument) -> Vec<u8> {
    let mut abort = doc! { "abortTransaction": 1 };
    let fields = Document::try_from(body).expect("a command").into_iter();
    abort.extend(fields.filter(|(name, _)| name != "commitTransaction"));
    with_body(id(commit, 4), [0; 4], &abort)
}

/// A message of this identity, in answer to another one, or not in answer.
fn with_body(own: MessageId, answered: MessageId, body: &Document) -> Vec<u8> {
    let body = odm::bson::serialize_to_vec(body).expect("a document");
    let len = 16 + 4 + 1 + body.len() as u32;
    let mut answer = Vec::from(len.to_le_bytes());
    answer.extend(own);
    answer.extend(answered);
    answer.extend(OP_MSG.to_le_bytes());
    answer.extend([0; 5]);
    answer.extend(body);
    answer
}

type Writer = tokio::sync::Mutex<OwnedWriteHalf>;

/// Passes messages until one is to be cut off.
async fn pass(
    mut from: OwnedReadHalf,
    to: &Writer,
    back: &Writer,
    fate: impl Fn(&[u8]) -> Fate,
) -> io::Result<()> {
    loop {
        let mut message = vec![0; 16];
        from.read_exact(&mut message).await?;
        let len = u32::from_le_bytes(id(&message, 0)) as usize;
        message.resize(len, 0);
        from.read_exact(&mut message[16..]).await?;
        match fate(&message) {
            Fate::Passed => to.lock().await.write_all(&message).await?,
            Fate::Late(by) => {
                tokio::time::sleep(by).await;
                to.lock().await.write_all(&message).await?;
            }
            Fate::Changed(message) => to.lock().await.write_all(&message).await?,
            Fate::Answered(answer) => back.lock().await.write_all(&answer).await?,
            Fate::Cut => return Ok(()),
        }
    }
}
