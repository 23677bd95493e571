//! Commands about sessions.

use odm::bson::{RawDocumentBuf, raw::cstr, rawdoc};

use super::{Access, Command, Context};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
    session::{SessionId, SessionUse},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("startSession", Access::User, |context, arguments| {
        Box::pin(async move { start(context, arguments) })
    }),
    Command::new("refreshSessions", Access::User, |context, arguments| {
        Box::pin(async move {
            for session in named(context, arguments)? {
                context.state.sessions.touch(session)?;
            }
            Ok(rawdoc! {})
        })
    }),
    Command::new("endSessions", Access::User, |context, arguments| {
        Box::pin(async move { end(context, arguments) })
    }),
    Command::new("killSessions", Access::User, |context, arguments| {
        Box::pin(async move { end(context, arguments) })
    }),
    Command::new("commitTransaction", Access::User, |context, arguments| {
        Box::pin(async move {
            let session = ended(context, arguments)?;
            let sessions = &context.state.sessions;
            let databases = context.state.databases.values().cloned().collect();
            sessions
                .commit(session, databases, context.rights())
                .await?;
            Ok(rawdoc! {})
        })
    }),
    Command::new("abortTransaction", Access::User, |context, arguments| {
        Box::pin(async move {
            let session = ended(context, arguments)?;
            context.state.sessions.abort(session).await?;
            Ok(rawdoc! {})
        })
    }),
];

/// How long a client may take a session for open that it does not use.
pub(super) const SESSION_MINUTES: i32 = 30;

fn start(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    arguments.ignore("startSession");
    arguments.end()?;
    let session = SessionId::new(context.user());
    context.state.sessions.touch(session)?;
    let mut id = rawdoc! {};
    id.append(cstr!("id"), session.to_binary());
    Ok(rawdoc! { "id": id, "timeoutMinutes": SESSION_MINUTES })
}

fn end(context: Context<'_>, arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    for session in named(context, arguments)? {
        context.state.cursors.end_session(session);
        context.state.sessions.end(session);
    }
    Ok(rawdoc! {})
}

/// The session whose transaction a command ends.
fn ended(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<SessionUse> {
    let name = arguments.name().to_owned();
    arguments.ignore(&name);
    arguments.ignore("recoveryToken");
    arguments.end()?;
    let in_transaction = context
        .session
        .filter(|session| session.starts == Some(false));
    in_transaction.ok_or_else(|| {
        let message = format!("{name} must be run within a transaction");
        CommandError::new(code::INVALID_OPTIONS, message)
    })
}

/// The sessions that a command names.
fn named(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<Vec<SessionId>> {
    let name = arguments.name().to_owned();
    let sessions = arguments.all_nested(&name)?;
    arguments.end()?;
    let sessions = sessions.into_iter();
    sessions
        .map(|session| SessionId::parse(session, context.caller))
        .collect()
}
