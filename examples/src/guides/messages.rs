//! One-to-squillions with copies from the one: log messages with the address of their host, and log messages with the whole host.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use super::products::short_id;
use crate::show::{Screen, change, query};

/// A host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "hosts_of_logmsg")]
pub struct Host {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// Its name.
    pub name: String,
    /// Its address.
    #[index(unique)]
    pub ipaddr: String,
}

/// A message of a host. The index serves the newest messages of an address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "logmsg_with_ipaddr", index(fields = "ipaddr, -time"))]
pub struct LogMsg {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// When it was sent.
    pub time: DateTime,
    /// The text.
    pub message: String,
    /// The host's address.
    #[denormalize(from = "Host.ipaddr")]
    pub ipaddr: String,
    /// Who sent it.
    #[reference(parent)]
    pub host: Ref<Host>,
}

/// A message of a host without a document. Its data about the host is of the time of the message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "logmsg_without_host", index(fields = "ipaddr, -time"))]
pub struct LogMsgWithoutHost {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// When it was sent.
    pub time: DateTime,
    /// The text.
    pub message: String,
    /// The host's address.
    pub ipaddr: String,
    /// The host's name.
    pub hostname: String,
}

/// Messages with and without hosts.
#[derive(Database)]
#[database(name = "messages", version = 1)]
pub struct Messages {
    /// Hosts.
    pub hosts: Repository<Host>,
    /// Their messages.
    pub logmsg: Repository<LogMsg>,
    /// Messages that hold their host, which has no document.
    pub without_host: Repository<LogMsgWithoutHost>,
}

/// Stores the guides' message, and as many older ones, in both forms.
pub async fn load(db: &Messages, older: i64) -> odm::Result<Host> {
    let host = Host {
        id: short_id(0xAAAB),
        name: "goofy.example.com".into(),
        ipaddr: "127.66.66.66".into(),
    };
    let host = db.hosts.insert(host).await?;
    let fire: DateTime = "2014-03-28T09:42:41.382Z".parse()?;
    let message = |before: i64| LogMsg {
        id: ObjectId::new(),
        time: DateTime::from_millis(fire.timestamp_millis() - before * 1000),
        message: match before {
            0 => "cpu is on fire!".into(),
            _ => format!("cpu is getting warm, {before} s to go"),
        },
        // The library copies it.
        ipaddr: String::new(),
        host: Ref::from(&host),
    };
    let messages = db.logmsg.insert_many((0..=older).map(message)).await?;
    let without_host = messages.into_iter().map(|message| LogMsgWithoutHost {
        id: message.id,
        time: message.time,
        message: message.message,
        ipaddr: message.ipaddr,
        hostname: host.name.clone(),
    });
    db.without_host.insert_many(without_host).await?;
    Ok(host)
}

/// S11: a host gets another address, and its messages follow; messages without a host do not.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Messages::open(screen.store()).await?;
    let host = load(&db, 5_999).await?;
    screen.model(
        include_str!("messages.rs"),
        &["LogMsg", "LogMsgWithoutHost"],
    );
    screen
        .stored([
            "hosts_of_logmsg",
            "logmsg_with_ipaddr",
            "logmsg_without_host",
        ])
        .await?;

    query!(
        screen,
        "the newest 5,000 messages of an address, by one query",
        db.logmsg
            .find(LogMsg::fields().ipaddr.eq("127.66.66.66"))
            .sort(LogMsg::fields().time.desc())
            .limit(5_000)
    );
    change!(
        screen,
        "the host gets another address",
        db.hosts
            .update(&host)
            .set(Host::fields().ipaddr, "127.66.66.67")
    );
    query!(
        screen,
        "without a host: what its messages say of it stays",
        db.without_host
            .find(LogMsgWithoutHost::fields().ipaddr.eq("127.66.66.66"))
            .sort(LogMsgWithoutHost::fields().time.desc())
            .limit(5_000)
    );
    db.audit().await
}
