//! Commands about sessions.

use odm::bson::{RawDocumentBuf, raw::cstr, rawdoc};

use super::{Command, Context};
use crate::{arguments::Arguments, error::Result, session::SessionId};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("startSession", |_, arguments| {
        Box::pin(async move { start(arguments) })
    }),
    Command::new("refreshSessions", |_, arguments| {
        Box::pin(async move {
            // No session ends by itself.
            named(arguments)?;
            Ok(rawdoc! {})
        })
    }),
    Command::new("endSessions", |context, arguments| {
        Box::pin(async move { end(context, arguments) })
    }),
    Command::new("killSessions", |context, arguments| {
        Box::pin(async move { end(context, arguments) })
    }),
];

/// How long a client may take a session for open that it does not use.
pub(super) const SESSION_MINUTES: i32 = 30;

fn start(mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    arguments.ignore("startSession");
    arguments.end()?;
    let mut id = rawdoc! {};
    id.append(cstr!("id"), SessionId::new().to_binary());
    Ok(rawdoc! { "id": id, "timeoutMinutes": SESSION_MINUTES })
}

fn end(context: Context<'_>, arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    for session in named(arguments)? {
        context.state.cursors.end_session(session);
    }
    Ok(rawdoc! {})
}

/// The sessions that a command names.
fn named(mut arguments: Arguments<'_>) -> Result<Vec<SessionId>> {
    let name = arguments.name().to_owned();
    let sessions = arguments.all_nested(&name)?;
    arguments.end()?;
    sessions.into_iter().map(SessionId::parse).collect()
}
