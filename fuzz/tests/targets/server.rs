//! Messages of clients: every well-formed one is answered, others end their connection alone, and the server goes on.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{LazyLock, Mutex, PoisonError},
    time::Duration,
};

use fuzz::{Choices, check};
use odm::{
    Collections, Embedded,
    bson::{Document, RawDocumentBuf, doc},
};
use odm_server::{Limits, Server};
use tokio::runtime::Runtime;

use crate::updates::runtime;

const OP_MSG: i32 = 2013;

/// The commands that clients send, and one that does not exist.
const COMMANDS: [&str; 41] = [
    "find",
    "getMore",
    "killCursors",
    "count",
    "distinct",
    "insert",
    "update",
    "delete",
    "findAndModify",
    "explain",
    "aggregate",
    "listDatabases",
    "listCollections",
    "create",
    "drop",
    "renameCollection",
    "dbStats",
    "collStats",
    "validate",
    "createIndexes",
    "listIndexes",
    "dropIndexes",
    "hello",
    "isMaster",
    "ping",
    "connectionStatus",
    "whatsmyuri",
    "startSession",
    "endSessions",
    "refreshSessions",
    "killSessions",
    "commitTransaction",
    "abortTransaction",
    "buildInfo",
    "hostInfo",
    "serverStatus",
    "getLog",
    "getParameter",
    "currentOp",
    "saslStart",
    "unknown",
];

/// Arguments of many commands.
const ARGUMENTS: [&str; 37] = [
    "filter",
    "sort",
    "projection",
    "skip",
    "limit",
    "batchSize",
    "singleBatch",
    "pipeline",
    "cursor",
    "key",
    "query",
    "documents",
    "updates",
    "deletes",
    "ordered",
    "update",
    "new",
    "upsert",
    "remove",
    "fields",
    "arrayFilters",
    "collection",
    "cursors",
    "indexes",
    "index",
    "to",
    "verbosity",
    "explain",
    "let",
    "collation",
    "lsid",
    "txnNumber",
    "startTransaction",
    "autocommit",
    "readConcern",
    "writeConcern",
    "maxTimeMS",
];

/// A server that all cases share.
static SERVER: LazyLock<(Runtime, Server, SocketAddr)> = LazyLock::new(|| {
    let runtime = runtime();
    let (server, address) = runtime.block_on(async {
        let collections = Collections::open(Embedded::memory().await.expect("a store"));
        let collections = collections.await.expect("collections");
        let server = Server::builder()
            .database("fuzz", collections)
            .limits(Limits::default().idle_transaction(Duration::from_millis(200)))
            .listen("127.0.0.1:0")
            .await
            .expect("a server");
        let address = server.local_addr().expect("it listens at TCP");
        (server, address)
    });
    (runtime, server, address)
});

fn connect() -> TcpStream {
    let stream = TcpStream::connect(SERVER.2).expect("the server accepts");
    let limit = Some(Duration::from_secs(20));
    stream.set_read_timeout(limit).expect("a limit");
    stream.set_nodelay(true).expect("no delay");
    stream
}

fn message(opcode: i32, content: &[u8]) -> Vec<u8> {
    let length = i32::try_from(16 + content.len()).expect("it is short");
    let mut message = Vec::new();
    for number in [length, 1, 0, opcode] {
        message.extend(number.to_le_bytes());
    }
    message.extend(content);
    message
}

/// Runs a command, and returns its reply.
fn run(stream: &mut TcpStream, command: &Document) -> Document {
    let mut content = vec![0; 5];
    content.extend(command.to_vec().expect("it is BSON"));
    let sent = stream.write_all(&message(OP_MSG, &content));
    sent.unwrap_or_else(|error| panic!("{error}: {command}"));
    let mut header = [0; 16];
    let received = stream.read_exact(&mut header);
    received.unwrap_or_else(|error| panic!("no reply: {error}: {command}"));
    let length = i32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let mut reply = vec![0; usize::try_from(length).expect("a length") - 16];
    stream.read_exact(&mut reply).expect("the whole reply");
    let reply = RawDocumentBuf::from_bytes(reply.split_off(5)).expect("the reply is BSON");
    Document::try_from(reply).expect("the reply is well-formed")
}

fn is_alive(stream: &mut TcpStream) -> bool {
    let reply = run(stream, &doc! { "ping": 1, "$db": "fuzz" });
    reply.get_f64("ok").is_ok_and(|ok| ok == 1.0)
}

/// A command with arguments of which most are what it takes.
fn command(choices: &mut Choices<'_>) -> Document {
    let name = choices.one_of(&COMMANDS);
    let mut command = doc! { name: choices.one_of(&["a", "b", "b", "", "$cmd", "_odm_catalog"]) };
    if choices.below(8) == 0 {
        command.insert(name, choices.value(1));
    }
    let statement = |choices: &mut Choices<'_>, with: &str| {
        let mut statement = doc! { "q": choices.filter(2) };
        match with {
            "updates" => {
                let (update, filters) = choices.update();
                statement.insert("u", update);
                statement.insert("arrayFilters", filters);
                statement.insert("upsert", choices.below(2) == 0);
                statement.insert("multi", choices.below(2) == 0);
            }
            _ => drop(statement.insert("limit", i32::try_from(choices.below(2)).unwrap_or(0))),
        }
        statement
    };
    match name {
        "insert" => {
            let documents: Vec<Document> = (0..3).map(|_| choices.document(2)).collect();
            command.insert("documents", documents);
        }
        "update" => drop(command.insert("updates", vec![statement(choices, "updates")])),
        "delete" => drop(command.insert("deletes", vec![statement(choices, "deletes")])),
        "find" => {
            command.insert("filter", choices.filter(2));
            command.insert("sort", choices.sort());
        }
        "aggregate" => {
            command.insert("pipeline", choices.pipeline(2));
            command.insert("cursor", doc! {});
        }
        _ => {}
    }
    for _ in 0..choices.below(3) {
        let argument = choices.one_of(&ARGUMENTS);
        command.insert(argument, choices.value(2));
    }
    command.insert(
        "$db",
        choices.one_of(&["fuzz", "fuzz", "fuzz", "admin", "a.b"]),
    );
    command
}

#[test]
fn every_command_with_any_arguments_is_answered_by_a_reply_that_says_whether_it_was_done() {
    let stream = Mutex::new(connect());
    check(400, |bytes| {
        let mut choices = Choices::new(bytes);
        let command = command(&mut choices);
        let stream = &mut *stream.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = run(stream, &command);
        match reply.get_f64("ok") {
            Ok(1.0) => {}
            Ok(0.0) => {
                let (code, text) = (reply.get_i32("code"), reply.get_str("errmsg"));
                assert!(code.is_ok() && text.is_ok(), "{command}: {reply}");
            }
            other => panic!("{other:?}: {command}: {reply}"),
        }
    });
}

#[test]
fn bytes_that_are_no_message_end_their_connection_alone() {
    let other = Mutex::new(connect());
    check(300, |bytes| {
        let mut choices = Choices::new(bytes);
        let opcode = [OP_MSG, 2004, 1, 2012][choices.below(4)];
        let bytes = match choices.below(3) {
            0 => choices.rest().to_vec(),
            1 => message(opcode, &choices.framed()),
            _ => {
                let mut content = vec![0; 4];
                content.push(u8::try_from(choices.below(3)).unwrap_or(0));
                content.extend(choices.framed());
                message(opcode, &content)
            }
        };
        let mut stream = connect();
        // The server may close it before it has all.
        let sent = stream.write_all(&bytes);
        drop(sent.and_then(|()| stream.shutdown(Shutdown::Write)));
        // A reply, or nothing: and then the end.
        match stream.read_to_end(&mut Vec::new()) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{error}"),
        }
        let other = &mut *other.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(is_alive(other));
    });
}
