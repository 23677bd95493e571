//! The commands of shells and tools about the replica set, of which the server is the only member.

use std::time::Duration;

use odm::{
    bson::{DateTime, RawArrayBuf, RawDocumentBuf, Timestamp, raw::cstr, rawdoc},
    store::contract::CommitTime,
};

use super::{Access, Command, Context, collections::check_admin, handshake::REPLICA_SET};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("replSetGetStatus", Access::Server, |context, arguments| {
        Box::pin(async move { status(context, arguments) })
    }),
    Command::new("replSetGetConfig", Access::Server, |context, arguments| {
        Box::pin(async move { config(context, arguments) })
    }),
];

/// The state of a primary.
const PRIMARY: i32 = 1;

/// There was no election of another member.
const TERM: i64 = 1;

/// Takes the arguments of a command, and returns the name of the member.
fn take<'a>(context: Context<'a>, mut arguments: Arguments<'_>) -> Result<&'a str> {
    let name = arguments.name().to_owned();
    check_admin(context, &name)?;
    for name in [&*name, "initialSync", "commitmentStatus"] {
        arguments.ignore(name);
    }
    arguments.end()?;
    context.client.member(context.state).ok_or_else(|| {
        let message = "not running with --replSet";
        CommandError::new(code::NO_REPLICATION, message)
    })
}

fn status(context: Context<'_>, arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let name = take(context, arguments)?;
    let (now, time) = (DateTime::now(), Timestamp::from(CommitTime::newest()));
    let mut place = rawdoc! { "ts": time };
    place.append(cstr!("t"), TERM);
    let uptime: Duration = context.state.started.elapsed();
    let mut member = rawdoc! { "_id": 0, "name": name, "health": 1.0, "state": PRIMARY };
    member.append(cstr!("stateStr"), "PRIMARY");
    let seconds = i32::try_from(uptime.as_secs()).unwrap_or(i32::MAX);
    member.append(cstr!("uptime"), seconds);
    member.append(cstr!("optime"), &*place);
    member.append(cstr!("optimeDate"), now);
    member.append(cstr!("configVersion"), 1);
    member.append(cstr!("configTerm"), TERM);
    member.append(cstr!("self"), true);
    let mut places = RawDocumentBuf::new();
    for name in [
        cstr!("lastCommittedOpTime"),
        cstr!("readConcernMajorityOpTime"),
        cstr!("appliedOpTime"),
        cstr!("durableOpTime"),
    ] {
        places.append(name, &*place);
    }
    let mut status = rawdoc! { "set": REPLICA_SET, "date": now, "myState": PRIMARY };
    status.append(cstr!("term"), TERM);
    status.append(cstr!("heartbeatIntervalMillis"), 2000_i64);
    for name in [
        cstr!("majorityVoteCount"),
        cstr!("writeMajorityCount"),
        cstr!("votingMembersCount"),
        cstr!("writableVotingMembersCount"),
    ] {
        status.append(name, 1);
    }
    status.append(cstr!("optimes"), places);
    status.append(cstr!("members"), RawArrayBuf::from_iter([member]));
    Ok(status)
}

fn config(context: Context<'_>, arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let name = take(context, arguments)?;
    let mut member = rawdoc! { "_id": 0, "host": name, "arbiterOnly": false, "buildIndexes": true };
    member.append(cstr!("hidden"), false);
    member.append(cstr!("priority"), 1.0);
    member.append(cstr!("tags"), rawdoc! {});
    member.append(cstr!("secondaryDelaySecs"), 0_i64);
    member.append(cstr!("votes"), 1);
    let mut config = rawdoc! { "_id": REPLICA_SET, "version": 1 };
    config.append(cstr!("term"), TERM);
    config.append(cstr!("members"), RawArrayBuf::from_iter([member]));
    config.append(cstr!("protocolVersion"), 1_i64);
    config.append(cstr!("settings"), rawdoc! {});
    Ok(rawdoc! { "config": config })
}
