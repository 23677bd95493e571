//! What clients ask before all else: who the server is, and what it can do.

use odm::bson::{
    DateTime, RawArrayBuf, RawDocumentBuf,
    raw::{CStr, cstr},
    rawdoc,
};

use super::{Command, Context, sessions::SESSION_MINUTES, write::MAX_WRITE_BATCH};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
    message::MAX_MESSAGE,
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("hello", |context, _| {
        Box::pin(async move { Ok(hello(context, cstr!("isWritablePrimary"))) })
    }),
    Command::new("isMaster", |context, _| {
        Box::pin(async move { Ok(hello(context, cstr!("ismaster"))) })
    }),
    Command::new("ismaster", |context, _| {
        Box::pin(async move { Ok(hello(context, cstr!("ismaster"))) })
    }),
    Command::new("ping", |_, mut arguments| {
        Box::pin(async move {
            arguments.ignore("ping");
            arguments.end()?;
            Ok(rawdoc! {})
        })
    }),
    Command::new("buildInfo", |_, _| Box::pin(async { Ok(build_info()) })),
    Command::new("buildinfo", |_, _| Box::pin(async { Ok(build_info()) })),
    Command::new("whatsmyuri", |context, _| {
        Box::pin(async move { Ok(rawdoc! { "you": context.client.address.as_str() }) })
    }),
    Command::new("connectionStatus", |_, arguments| {
        Box::pin(async move { connection_status(arguments) })
    }),
    Command::new("saslStart", |_, _| Box::pin(async { Err(no_users()) })),
    Command::new("authenticate", |_, _| Box::pin(async { Err(no_users()) })),
];

/// The version of MongoDB whose protocol and commands the server has.
pub(super) const VERSION: &str = "7.0.0";

/// The number of that version in the protocol.
const WIRE_VERSION: i32 = 21;

/// The name of the replica set of which the server is the only member.
const REPLICA_SET: &str = "odm";

/// The largest document that a client may store.
const MAX_DOCUMENT: i32 = 16 << 20;

fn hello(context: Context<'_>, is_primary: &CStr) -> RawDocumentBuf {
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
    if let Some(member) = &context.state.member {
        let member = member.as_str();
        reply.append(cstr!("setName"), REPLICA_SET);
        reply.append(cstr!("setVersion"), 1);
        reply.append(cstr!("hosts"), RawArrayBuf::from_iter([member]));
        reply.append(cstr!("primary"), member);
        reply.append(cstr!("me"), member);
        reply.append(cstr!("secondary"), false);
    }
    reply
}

fn build_info() -> RawDocumentBuf {
    rawdoc! {
        "version": VERSION,
        "gitVersion": "none",
        "modules": [],
        "javascriptEngine": "none",
        "versionArray": [7, 0, 0, 0],
        "bits": 64,
        "debug": false,
        "maxBsonObjectSize": MAX_DOCUMENT,
        "storageEngines": ["odm"],
        "odmServer": env!("CARGO_PKG_VERSION"),
    }
}

fn connection_status(mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    arguments.ignore("connectionStatus");
    let privileges = arguments.flag("showPrivileges")?;
    arguments.end()?;
    let mut info = rawdoc! { "authenticatedUsers": [], "authenticatedUserRoles": [] };
    if privileges {
        info.append(cstr!("authenticatedUserPrivileges"), RawArrayBuf::new());
    }
    Ok(rawdoc! { "authInfo": info })
}

fn no_users() -> CommandError {
    let message = "this server has no users: connect without a user name";
    CommandError::new(code::AUTHENTICATION_FAILED, message)
}
