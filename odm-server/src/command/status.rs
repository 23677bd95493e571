//! The commands of shells and tools about the state of a server.

use odm::{
    bson::{DateTime, RawArrayBuf, RawBsonRef, RawDocumentBuf, raw::CString, rawdoc},
    collections::json,
};

use super::{
    Access, COMMANDS as COMMANDS_OF_ALL, Command, Context, collections::check_admin,
    handshake::VERSION,
};
use crate::{
    arguments::Arguments,
    auth::MECHANISM,
    error::{CommandError, Result, code},
    message::MAX_MESSAGE,
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("serverStatus", Access::Server, |context, _| {
        Box::pin(async move { Ok(server_status(context)) })
    }),
    Command::new("hostInfo", Access::Server, |_, _| {
        Box::pin(async { Ok(host_info()) })
    }),
    Command::new("getLog", Access::Server, |context, arguments| {
        Box::pin(async move { get_log(context, arguments) })
    }),
    Command::new("getParameter", Access::Server, |context, arguments| {
        Box::pin(async move { get_parameter(context, arguments) })
    }),
    Command::new("getCmdLineOpts", Access::Server, |context, _| {
        Box::pin(async move {
            check_admin(context, "getCmdLineOpts")?;
            Ok(rawdoc! { "argv": [], "parsed": {} })
        })
    }),
    Command::new("listCommands", Access::Anyone, |_, _| {
        Box::pin(async { Ok(list_commands()) })
    }),
    Command::new("fsync", Access::Server, |context, arguments| {
        Box::pin(sync(context, arguments))
    }),
    Command::new("profile", Access::ReadAll, |_, arguments| {
        Box::pin(async move { profile(arguments) })
    }),
    Command::new("currentOp", Access::User, |context, arguments| {
        Box::pin(async move { current_operations(context, arguments) })
    }),
    Command::new("killOp", Access::User, |context, arguments| {
        Box::pin(async move { kill_operation(context, arguments) })
    }),
    Command::new("top", Access::Server, |context, _| {
        Box::pin(async move {
            check_admin(context, "top")?;
            Ok(rawdoc! { "totals": { "note": "all times in microseconds" } })
        })
    }),
];

fn list_commands() -> RawDocumentBuf {
    let mut commands: Vec<&Command> = COMMANDS_OF_ALL.iter().copied().flatten().collect();
    commands.sort_unstable_by_key(|command| command.name);
    let mut listed = RawDocumentBuf::new();
    for command in commands {
        if let Ok(name) = CString::try_from(command.name) {
            let requires_auth = command.access != Access::Anyone;
            listed.append(name, rawdoc! { "help": "", "requiresAuth": requires_auth });
        }
    }
    rawdoc! { "commands": listed }
}

/// Makes all commits of all databases durable, as far as their stores do. Nobody can keep others from writing meanwhile.
async fn sync(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    check_admin(context, "fsync")?;
    for name in ["fsync", "async", "fsyncLockAcquisitionTimeoutMillis"] {
        arguments.ignore(name);
    }
    arguments.refuse_true("lock")?;
    arguments.end()?;
    for collections in context.state.databases.values() {
        collections.sync().await?;
    }
    Ok(rawdoc! { "numFiles": 1 })
}

/// Tells that no command is profiled. The events of the server are events of the program that it is in.
fn profile(mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let level: i64 = arguments.required("profile")?;
    for name in ["slowms", "sampleRate"] {
        arguments.ignore(name);
    }
    arguments.end()?;
    match level {
        -1 | 0 => Ok(rawdoc! { "was": 0, "slowms": 100, "sampleRate": 1.0 }),
        _ => {
            let message = format!("the profiling level {level} is not supported by this server");
            Err(CommandError::new(code::NOT_IMPLEMENTED, message))
        }
    }
}

/// Lists the running commands that match the rest of the arguments.
fn current_operations(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    check_admin(context, "currentOp")?;
    // Idle connections run no command, users see their own commands alone, and none is shortened.
    for name in ["currentOp", "$all", "$ownOps", "$truncateOps"] {
        arguments.ignore(name);
    }
    let filter = arguments.rest_as_filter()?;
    let mut running = RawArrayBuf::new();
    for operation in context.state.operations.list(context.user()) {
        if filter.matches(&operation)? {
            running.push(operation);
        }
    }
    Ok(rawdoc! { "inprog": running })
}

/// Ends a command, which is dropped as that of a client that has gone.
fn kill_operation(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    check_admin(context, "killOp")?;
    arguments.ignore("killOp");
    let id: i64 = arguments.required("op")?;
    arguments.end()?;
    if let Ok(id) = i32::try_from(id) {
        context.state.operations.kill(id, context.user());
    }
    // As MongoDB, it does not say whether there was one.
    Ok(rawdoc! { "info": "attempting to kill op" })
}

fn server_status(context: Context<'_>) -> RawDocumentBuf {
    let state = context.state;
    let uptime = state.started.elapsed();
    let connections = state.counters.connections();
    let (readers, writers) = state.operations.active();
    let limit = i64::try_from(state.limits.connections).unwrap_or(i64::MAX);
    rawdoc! {
        "host": "localhost",
        "version": VERSION,
        "process": "odm-server",
        "pid": i64::from(std::process::id()),
        "uptime": uptime.as_secs_f64(),
        "uptimeMillis": uptime.as_millis() as i64,
        "localTime": DateTime::now(),
        "connections": {
            "current": connections,
            "available": limit.saturating_sub(connections),
            "totalCreated": state.counters.total_connections(),
        },
        // No command waits for a lock.
        "globalLock": {
            "totalTime": uptime.as_micros() as i64,
            "currentQueue": { "total": 0, "readers": 0, "writers": 0 },
            "activeClients": { "total": readers.saturating_add(writers), "readers": readers, "writers": writers },
        },
        "metrics": { "cursor": { "open": { "total": state.cursors.len() as i64 } } },
        "network": state.counters.network(),
        "opcounters": state.counters.operations(),
        "mem": { "bits": 64, "resident": 0, "virtual": 0 },
        "storageEngine": { "name": "odm", "persistent": true, "readOnly": false },
    }
}

fn host_info() -> RawDocumentBuf {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    rawdoc! {
        "system": {
            "currentTime": DateTime::now(),
            "hostname": "localhost",
            "cpuAddrSize": i32::try_from(usize::BITS).unwrap_or(64),
            "numCores": cores as i64,
            "cpuArch": std::env::consts::ARCH,
        },
        "os": { "type": std::env::consts::OS, "name": std::env::consts::OS, "version": "" },
        "extra": {},
    }
}

/// The log has the slow commands alone: the other events of the server are events of the program that it is in.
fn get_log(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    check_admin(context, "getLog")?;
    let log: &str = arguments.required("getLog")?;
    arguments.end()?;
    match log {
        "*" => Ok(rawdoc! { "names": ["global", "startupWarnings"] }),
        "global" => {
            let database = context.caller.map(|caller| caller.user.database.as_str());
            let (slow, total) = context.state.slow.list(database);
            let mut lines = RawArrayBuf::new();
            for line in &slow {
                let text = json::write(line, MAX_MESSAGE)?;
                lines.push(String::from_utf8_lossy(&text).as_ref());
            }
            Ok(
                rawdoc! { "totalLinesWritten": i64::try_from(total).unwrap_or(i64::MAX), "log": lines },
            )
        }
        "startupWarnings" => Ok(rawdoc! { "totalLinesWritten": 0, "log": [] }),
        _ => {
            let message = format!("No log named '{log}'");
            Err(CommandError::new(code::BAD_VALUE, message))
        }
    }
}

/// The parameters that clients ask for.
fn parameters(context: Context<'_>) -> RawDocumentBuf {
    let mechanisms = Some(MECHANISM).filter(|_| context.state.requires_users);
    rawdoc! {
        "authenticationMechanisms": RawArrayBuf::from_iter(mechanisms),
        "enableTestCommands": false,
        "featureCompatibilityVersion": { "version": "8.0" },
    }
}

fn get_parameter(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    check_admin(context, "getParameter")?;
    let which = arguments.required::<RawBsonRef<'_>>("getParameter")?;
    let all = parameters(context);
    if which == RawBsonRef::String("*") {
        return Ok(all);
    }
    let mut asked = RawDocumentBuf::new();
    for parameter in &all {
        let (name, value) = parameter?;
        if arguments.flag(name.as_str())? {
            asked.append(name, value);
        }
    }
    match asked.is_empty() {
        true => Err(CommandError::new(
            code::INVALID_OPTIONS,
            "no option found to get",
        )),
        false => Ok(asked),
    }
}
