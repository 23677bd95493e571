//! The cluster time: clients learn of the order of commits by it, and ask for states.

use odm::{
    bson::{Binary, RawDocumentBuf, Timestamp, raw::cstr, rawdoc, spec::BinarySubtype},
    mql::Variables,
    store::contract::CommitTime,
};

use crate::{
    arguments::Arguments,
    connection::Client,
    error::{CommandError, Result, code},
    server::ServerState,
};

/// How far before the clock of this server a client may be, in seconds, as for MongoDB.
const MAX_DRIFT: u32 = 365 * 24 * 60 * 60;

/// Takes the newest time that the client has seen, from any server. Later commits get later times. That of a stranger counts for nothing.
pub(crate) fn take(
    state: &ServerState,
    client: &Client,
    arguments: &mut Arguments<'_>,
) -> Result<()> {
    let Some(mut seen) = arguments.nested("$clusterTime")? else {
        return Ok(());
    };
    // It would prove to the servers of a cluster that one of them has made the time.
    seen.ignore("signature");
    let time: Timestamp = seen.required("clusterTime")?;
    seen.end()?;
    if !client.is_member(state) || client.is_stranger(state) {
        return Ok(());
    }
    let (seconds, clock) = (time.time, now());
    if seconds.saturating_sub(clock) > MAX_DRIFT {
        let message = format!(
            "New cluster time, {seconds}, is too far from this node's wall clock time, {clock}."
        );
        return Err(CommandError::new(
            code::CLUSTER_TIME_FAILS_RATE_LIMITER,
            message,
        ));
    }
    CommitTime::advance(time.into());
    Ok(())
}

/// The variables of this server, with `$$CLUSTER_TIME` for clients that it tells the time.
pub(crate) fn variables(state: &ServerState, client: &Client) -> Variables {
    if !client.is_member(state) || client.is_stranger(state) {
        return Variables::default();
    }
    Variables::default().with_cluster_time(CommitTime::newest().into())
}

fn now() -> u32 {
    let seconds = odm::bson::DateTime::now().timestamp_millis() / 1000;
    u32::try_from(seconds).unwrap_or(0)
}

/// Checks the time after which a client wants to read. Every read has all commits, so only a time that no server has given is refused.
pub(crate) fn check_after(state: &ServerState, client: &Client, time: Timestamp) -> Result<()> {
    if !client.is_member(state) {
        let message = "Cannot specify afterClusterTime readConcern without replication enabled";
        return Err(CommandError::new(code::ILLEGAL_OPERATION, message));
    }
    let newest = CommitTime::newest();
    if CommitTime::from(time) <= newest {
        return Ok(());
    }
    let newest = Timestamp::from(newest);
    let message = format!(
        "readConcern afterClusterTime value must not be greater than the current clusterTime. Requested clusterTime: {time}; current \
         clusterTime: {newest}"
    );
    Err(CommandError::new(code::INVALID_OPTIONS, message))
}

/// Adds the time to a reply, of an error too: all that the command has committed is not later. Strangers learn no time.
pub(crate) fn append(state: &ServerState, client: &Client, reply: &mut RawDocumentBuf) {
    if !client.is_member(state) || client.is_stranger(state) {
        return;
    }
    let time = Timestamp::from(CommitTime::newest());
    let hash = Binary {
        subtype: BinarySubtype::Generic,
        bytes: vec![0; 20],
    };
    let mut signature = RawDocumentBuf::new();
    signature.append(cstr!("hash"), hash);
    signature.append(cstr!("keyId"), 0_i64);
    let mut cluster_time = rawdoc! {};
    cluster_time.append(cstr!("clusterTime"), time);
    cluster_time.append(cstr!("signature"), signature);
    reply.append(cstr!("$clusterTime"), cluster_time);
    reply.append(cstr!("operationTime"), time);
}
