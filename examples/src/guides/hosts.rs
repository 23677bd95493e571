//! One-to-squillions: log messages that refer to their host.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change, query};

/// A host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "hosts")]
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

/// A message of a host. The index serves its newest messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "logmsg", index(fields = "host, -time"))]
pub struct LogMsg {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// When it was sent.
    pub time: DateTime,
    /// The text.
    pub message: String,
    /// Who sent it.
    #[reference(parent)]
    pub host: Ref<Host>,
}

/// Hosts and their messages.
#[derive(Database)]
#[database(name = "logs", version = 1)]
pub struct Logs {
    /// Hosts.
    pub hosts: Repository<Host>,
    /// Their messages.
    pub logmsg: Repository<LogMsg>,
}

/// The guides' message, and as many older ones.
pub async fn load(db: &Logs, older: i64) -> odm::Result<Host> {
    let host = Host {
        id: super::products::short_id(0xAAAB),
        name: "goofy.example.com".into(),
        ipaddr: "127.66.66.66".into(),
    };
    let host = db.hosts.insert(host).await?;
    let fire: DateTime = "2014-03-28T09:42:41.382Z".parse()?;
    let message = |time, message: String| LogMsg {
        id: ObjectId::new(),
        time,
        message,
        host: Ref::from(&host),
    };
    db.logmsg
        .insert(message(fire, "cpu is on fire!".into()))
        .await?;
    let older = (1..=older).map(|second| {
        let time = DateTime::from_millis(fire.timestamp_millis() - second * 1000);
        message(time, format!("cpu is getting warm, {second} s to go"))
    });
    db.logmsg.insert_many(older).await?;
    Ok(host)
}

/// S7: the newest messages of a host.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Logs::open(screen.store()).await?;
    load(&db, 5_999).await?;
    screen.model(include_str!("hosts.rs"), &["Host", "LogMsg"]);
    screen.stored(["hosts", "logmsg"]).await?;

    let host = query!(
        screen,
        "the host with this address",
        db.hosts
            .find(Host::fields().ipaddr.eq("127.66.66.66"))
            .one()
    );
    query!(
        screen,
        "its newest 5,000 messages, by one more query",
        db.logmsg
            .of(&host)
            .sort(LogMsg::fields().time.desc())
            .limit(5_000)
    );
    query!(
        screen,
        "all hosts, each joined with its two newest messages",
        db.hosts.all().join(
            LogMsg::fields()
                .host
                .referrers()
                .sort(LogMsg::fields().time.desc())
                .limit(2)
        )
    );
    let message = LogMsg {
        id: ObjectId::new(),
        time: "2014-03-28T09:42:42Z".parse()?,
        message: "cpu is out!".into(),
        host: Ref::from(&host),
    };
    change!(
        screen,
        "a message comes in, by which no host grows",
        db.logmsg.insert(message)
    );
    db.audit().await
}
