//! The first command of a client: who the server is, and its features.

use odm::bson::{
    DateTime, RawArrayBuf, RawDocumentBuf,
    raw::{CStr, cstr},
    rawdoc,
};

use super::{
    Access, Command, Context, authentication, sessions::SESSION_MINUTES, write::MAX_WRITE_BATCH,
};
use crate::{arguments::Arguments, error::Result, message::MAX_MESSAGE};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("hello", Access::Anyone, |context, arguments| {
        Box::pin(hello(context, arguments, cstr!("isWritablePrimary")))
    }),
    Command::new("isMaster", Access::Anyone, |context, arguments| {
        Box::pin(hello(context, arguments, cstr!("ismaster")))
    }),
    Command::new("ismaster", Access::Anyone, |context, arguments| {
        Box::pin(hello(context, arguments, cstr!("ismaster")))
    }),
    Command::new("ping", Access::Anyone, |_, mut arguments| {
        Box::pin(async move {
            arguments.ignore("ping");
            arguments.end()?;
            Ok(rawdoc! {})
        })
    }),
    Command::new("buildInfo", Access::Anyone, |_, _| {
        Box::pin(async { Ok(build_info()) })
    }),
    Command::new("buildinfo", Access::Anyone, |_, _| {
        Box::pin(async { Ok(build_info()) })
    }),
    Command::new("whatsmyuri", Access::Anyone, |context, _| {
        Box::pin(async move { Ok(rawdoc! { "you": context.client.address.as_str() }) })
    }),
];

/// The version of MongoDB whose protocol and commands the server has.
pub(super) const VERSION: &str = "8.0.0";

/// The number of that version in the protocol.
const WIRE_VERSION: i32 = 25;

/// The name of the replica set of which the server is the only member.
pub(super) const REPLICA_SET: &str = "odm";

/// The largest document that a client may store.
const MAX_DOCUMENT: i32 = 16 << 20;

async fn hello(
    context: Context<'_>,
    arguments: Arguments<'_>,
    is_primary: &CStr,
) -> Result<RawDocumentBuf> {
    let mut reply = rawdoc! { "helloOk": true };
    reply.append(is_primary, true);
    reply.append(cstr!("maxBsonObjectSize"), MAX_DOCUMENT);
    reply.append(cstr!("maxMessageSizeBytes"), MAX_MESSAGE as i32);
    reply.append(cstr!("maxWriteBatchSize"), MAX_WRITE_BATCH as i32);
    reply.append(cstr!("localTime"), DateTime::now());
    reply.append(cstr!("logicalSessionTimeoutMinutes"), SESSION_MINUTES);
    reply.append(cstr!("connectionId"), context.client.id);
    reply.append(cstr!("minWireVersion"), 0);
    reply.append(cstr!("maxWireVersion"), WIRE_VERSION);
    reply.append(cstr!("readOnly"), false);
    // A replica set of one, since drivers have transactions, and send writes again, only there.
    if let Some(member) = context.client.member(context.state) {
        reply.append(cstr!("setName"), REPLICA_SET);
        reply.append(cstr!("setVersion"), 1);
        reply.append(cstr!("hosts"), RawArrayBuf::from_iter([member]));
        reply.append(cstr!("primary"), member);
        reply.append(cstr!("me"), member);
        reply.append(cstr!("secondary"), false);
    }
    authentication::extend_hello(context, arguments, &mut reply).await?;
    Ok(reply)
}

fn build_info() -> RawDocumentBuf {
    rawdoc! {
        "version": VERSION,
        "gitVersion": "none",
        "modules": [],
        "javascriptEngine": "none",
        "versionArray": [8, 0, 0, 0],
        "bits": 64,
        "debug": false,
        "maxBsonObjectSize": MAX_DOCUMENT,
        "storageEngines": ["odm"],
        "odmServer": env!("CARGO_PKG_VERSION"),
    }
}
