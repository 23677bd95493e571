//! How a client proves which user it is.

use odm::bson::{
    Binary, RawArrayBuf, RawBsonRef, RawDocumentBuf, raw::cstr, rawdoc, spec::BinarySubtype,
};

use super::{Access, Command, Context};
use crate::{
    arguments::Arguments,
    auth::{MECHANISM, SaslReply},
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("saslStart", Access::Anyone, |context, arguments| {
        Box::pin(start(context, arguments))
    }),
    Command::new("saslContinue", Access::Anyone, |context, arguments| {
        Box::pin(async move { go_on(context, arguments) })
    }),
    Command::new("authenticate", Access::Anyone, |context, mut arguments| {
        Box::pin(async move {
            check_users(context)?;
            Err(unavailable(arguments.required("mechanism")?))
        })
    }),
    Command::new("logout", Access::Anyone, |context, _| {
        Box::pin(async move {
            context.client.authentication.log_out();
            Ok(rawdoc! {})
        })
    }),
    Command::new("connectionStatus", Access::Anyone, |context, arguments| {
        Box::pin(async move { status(context, arguments).await })
    }),
];

/// The number of the attempt of a connection, which has one at a time.
const CONVERSATION: i32 = 1;

fn check_users(context: Context<'_>) -> Result<()> {
    if context.state.requires_users {
        Ok(())
    } else {
        let message = "this server asks nobody for a password: connect without a user name";
        Err(CommandError::new(code::AUTHENTICATION_FAILED, message))
    }
}

fn unavailable(mechanism: &str) -> CommandError {
    let message = format!(
        "Received authentication for mechanism {mechanism} which is unknown or not enabled"
    );
    CommandError::new(code::MECHANISM_UNAVAILABLE, message)
}

/// Takes the message of a client.
fn take_payload<'a>(arguments: &mut Arguments<'a>) -> Result<&'a [u8]> {
    match arguments.required::<RawBsonRef<'_>>("payload")? {
        RawBsonRef::Binary(payload) => Ok(payload.bytes),
        other => Err(arguments.wrong_type("payload", other, "binData")),
    }
}

fn reply_of(reply: SaslReply) -> RawDocumentBuf {
    let payload = Binary {
        subtype: BinarySubtype::Generic,
        bytes: reply.payload,
    };
    let mut document = rawdoc! { "conversationId": CONVERSATION, "done": reply.is_done };
    document.append(cstr!("payload"), payload);
    document
}

async fn start(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    check_users(context)?;
    for name in ["saslStart", "autoAuthorize"] {
        arguments.ignore(name);
    }
    begin(context, context.database, arguments).await
}

/// Begins an attempt for a user of a database.
async fn begin(
    context: Context<'_>,
    database: &str,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    let mechanism: &str = arguments.required("mechanism")?;
    let payload = take_payload(&mut arguments)?;
    let skips_empty = match arguments.nested("options")? {
        Some(mut options) => options.flag("skipEmptyExchange")?,
        None => false,
    };
    arguments.end()?;
    if mechanism != MECHANISM {
        return Err(unavailable(mechanism));
    }
    let authentication = &context.client.authentication;
    let reply = authentication.begin(context.state, database, payload, skips_empty);
    Ok(reply_of(reply.await?))
}

fn go_on(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    check_users(context)?;
    arguments.ignore("saslContinue");
    let conversation: i64 = arguments.required("conversationId")?;
    let payload = take_payload(&mut arguments)?;
    arguments.end()?;
    if conversation != i64::from(CONVERSATION) {
        let message = "sasl: Mismatched conversation id";
        return Err(CommandError::new(code::PROTOCOL_ERROR, message));
    }
    let Context {
        client, database, ..
    } = context;
    let reply = client.authentication.go_on(database, payload);
    if let Err(error) = &reply {
        let (connection, address) = (client.id, client.address.as_str());
        tracing::info!(target: "odm", connection, address, database, error = error.text(), "authentication failed");
    }
    reply.map(reply_of)
}

/// Adds to the reply of `hello` how a client can prove which user it is, and the first message of an attempt that it has begun with it. An
/// attempt that fails is left out: the client begins another one, and is told why.
pub(super) async fn extend_hello(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
    reply: &mut RawDocumentBuf,
) -> Result<()> {
    if !context.state.requires_users {
        return Ok(());
    }
    if arguments.optional::<&str>("saslSupportedMechs")?.is_some() {
        // The same for a name that is no user's.
        let mechanisms = RawArrayBuf::from_iter([MECHANISM]);
        reply.append(cstr!("saslSupportedMechs"), mechanisms);
    }
    if let Some(mut attempt) = arguments.nested("speculativeAuthenticate")? {
        let database: &str = attempt.optional("db")?.unwrap_or(context.database);
        for name in ["saslStart", "autoAuthorize", "authenticate"] {
            attempt.ignore(name);
        }
        if let Ok(begun) = begin(context, database, attempt).await {
            reply.append(cstr!("speculativeAuthenticate"), begun);
        }
    }
    Ok(())
}

async fn status(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    arguments.ignore("connectionStatus");
    let shows_privileges = arguments.flag("showPrivileges")?;
    arguments.end()?;
    let caller = context.client.authentication.caller(context.state).await?;
    let (mut users, mut roles, mut privileges) = Default::default();
    if let Some(caller) = caller {
        let database = caller.user.database.as_str();
        let mut user = rawdoc! { "user": caller.user.name.as_str() };
        user.append(cstr!("db"), database);
        users = RawArrayBuf::from_iter([user]);
        roles = caller.rights.roles(database);
        privileges = caller.rights.privileges(database);
    }
    let mut info = RawDocumentBuf::new();
    info.append(cstr!("authenticatedUsers"), users);
    info.append(cstr!("authenticatedUserRoles"), roles);
    if shows_privileges {
        info.append(cstr!("authenticatedUserPrivileges"), privileges);
    }
    Ok(rawdoc! { "authInfo": info })
}
