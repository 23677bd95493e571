//! `usersInfo`, and the commands that would change users.
//!
//! No user has the right to change users, and a client of a server without users is nobody. So the program that serves changes its
//! users, and no client does: a client that could would need a right above all others, which no database has to give.

use odm::bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr, rawdoc};

use super::{Access, Command, Context, access::refused};
use crate::{
    arguments::Arguments,
    auth::MECHANISM,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("usersInfo", Access::User, |context, arguments| {
        Box::pin(async move { info(context, arguments) })
    }),
    Command::new("rolesInfo", Access::User, |context, arguments| {
        Box::pin(async move { roles(context, arguments) })
    }),
    change("createUser"),
    change("updateUser"),
    change("dropUser"),
    change("dropAllUsersFromDatabase"),
    change("grantRolesToUser"),
    change("revokeRolesFromUser"),
];

const fn change(name: &'static str) -> Command {
    Command::new(name, Access::User, |_, arguments| {
        Box::pin(async move {
            let message = format!(
                "not authorized to execute command {}: the program that serves this database changes its users, by `odm_server::Users`",
                arguments.name()
            );
            Err(CommandError::new(code::UNAUTHORIZED, message))
        })
    })
}

/// Describes the user themself. Others are not shown, and where there are no users, nobody is.
fn info(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let asked: RawBsonRef<'_> = arguments.required("usersInfo")?;
    let wrong_type = arguments.wrong_type("usersInfo", asked, "[string, object, array, number]");
    let shows_privileges = arguments.flag("showPrivileges")?;
    let filter = arguments.filter("filter")?;
    arguments.refuse_true("showCredentials")?;
    for name in ["showCustomData", "showAuthenticationRestrictions"] {
        arguments.ignore(name);
    }
    arguments.end()?;
    let shows_own = match asked {
        RawBsonRef::String(_) => is_own(context, asked)?,
        RawBsonRef::Document(of) if is_for_all_databases(of) => true,
        RawBsonRef::Document(_) => is_own(context, asked)?,
        RawBsonRef::Array(all) => {
            let mut shows_own = false;
            for one in all {
                shows_own |= is_own(context, one?)?;
            }
            shows_own
        }
        one if is_one(one) => {
            let own = context.caller.map(|caller| caller.user.database.as_str());
            own == Some(context.database)
        }
        _ => return Err(wrong_type),
    };
    let mut users = RawArrayBuf::new();
    if let Some(caller) = context.caller.filter(|_| shows_own) {
        let (user, rights) = (&caller.user, &caller.rights);
        let mut shown = rawdoc! { "_id": format!("{}.{}", user.database, user.name) };
        shown.append(cstr!("user"), user.name.as_str());
        shown.append(cstr!("db"), user.database.as_str());
        shown.append(cstr!("roles"), rights.roles(&user.database));
        shown.append(cstr!("mechanisms"), RawArrayBuf::from_iter([MECHANISM]));
        if shows_privileges {
            shown.append(cstr!("inheritedRoles"), rights.roles(&user.database));
            let privileges = rights.privileges(&user.database);
            shown.append(cstr!("inheritedPrivileges"), privileges);
        }
        if filter.matches(&shown)? {
            users.push(shown);
        }
    }
    Ok(rawdoc! { "users": users })
}

/// The roles of MongoDB that rights are, if a client asks for roles that are built in. There are no others.
fn roles(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let asked: RawBsonRef<'_> = arguments.required("rolesInfo")?;
    let wrong_type = arguments.wrong_type("rolesInfo", asked, "[string, number]");
    let shows_built_in = arguments.flag("showBuiltinRoles")?;
    arguments.refuse_true("showPrivileges")?;
    arguments.ignore("showAuthenticationRestrictions");
    arguments.end()?;
    let is_shown = |name: &&str| match asked {
        RawBsonRef::String(asked) => asked == *name,
        _ => shows_built_in,
    };
    if !matches!(asked, RawBsonRef::String(_)) && !is_one(asked) {
        return Err(wrong_type);
    }
    let roles = ["read", "readWrite"].into_iter().filter(is_shown);
    let roles = roles.map(|name| {
        let mut role = rawdoc! { "role": name, "db": context.database, "isBuiltin": true };
        for list in [cstr!("roles"), cstr!("inheritedRoles")] {
            role.append(list, RawArrayBuf::new());
        }
        role
    });
    Ok(rawdoc! { "roles": RawArrayBuf::from_iter(roles) })
}

/// Whether an argument asks for the users of all databases: `{ forAllDBs: true }`, or 1, with which servers send it to each other.
fn is_for_all_databases(of: &RawDocument) -> bool {
    let mut fields = of.iter();
    let is_asked = match fields.next() {
        Some(Ok((name, value))) if name.as_str() == "forAllDBs" => {
            value == RawBsonRef::Boolean(true) || is_one(value)
        }
        _ => false,
    };
    is_asked && fields.next().is_none()
}

fn is_one(value: RawBsonRef<'_>) -> bool {
    matches!(
        value,
        RawBsonRef::Int32(1) | RawBsonRef::Int64(1) | RawBsonRef::Double(1.0)
    )
}

/// Whether a name, or a name with a database, is that of the user.
///
/// # Errors
///
/// `Unauthorized` if it is that of somebody else.
fn is_own(context: Context<'_>, asked: RawBsonRef<'_>) -> Result<bool> {
    let text = |of: &RawDocument, name: &str| match of.get(name) {
        Ok(Some(RawBsonRef::String(text))) => Some(text.to_owned()),
        _ => None,
    };
    let named = match asked {
        RawBsonRef::String(name) => Some((context.database.to_owned(), name.to_owned())),
        RawBsonRef::Document(of) if of.iter().count() == 2 => text(of, "db").zip(text(of, "user")),
        _ => None,
    };
    let Some((database, name)) = named else {
        let message = "usersInfo: a user is a name, or an object with the texts 'user' and 'db'";
        return Err(CommandError::new(code::BAD_VALUE, message));
    };
    match context.caller {
        None => Ok(false),
        Some(caller) if (&caller.user.database, &caller.user.name) == (&database, &name) => {
            Ok(true)
        }
        Some(_) => Err(refused(context.database, "usersInfo", Some(&name))),
    }
}
