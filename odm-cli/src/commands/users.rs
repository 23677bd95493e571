//! `users`: who may read and write what, where a server requires users.

use std::path::Path;

use console::Term;
use mongodb::bson::{Document, doc};
use odm_server::{Right, User, Users};

use crate::{
    arguments::{GrantedRights, OfUser, UsersCommand},
    error::{Exit, Failure, Result},
    output::Output,
    source::Source,
};

pub(super) async fn run<'a>(
    source: impl Fn(&'a str) -> Source<'a>,
    command: &'a UsersCommand,
    output: &mut Output,
) -> Result<Exit> {
    let Some(OfUser { source: file, user }) = command.of() else {
        let UsersCommand::List(place) = command else {
            return Ok(Exit::Done);
        };
        let users = Users::of(&source(&place.source).look_directly().await?)
            .list()
            .await?;
        if users.is_empty() {
            output.note("No users.")?;
        }
        let rows: Vec<Document> = users.iter().map(row).collect();
        output.section("", &rows)?;
        return Ok(Exit::Done);
    };
    let source = source(file);
    // A password is asked for before the file is held.
    let path = source.file()?;
    let password = match command {
        UsersCommand::Add { password_file, .. } | UsersCommand::Password { password_file, .. } => {
            Some(password(password_file.as_deref())?)
        }
        _ => None,
    };
    let target = source.open_collections().await?;
    let users = Users::of(&target.collections);
    match command {
        UsersCommand::Add { rights, .. } => {
            users
                .create(user, &password.unwrap_or_default(), rights_of(rights)?)
                .await?
        }
        UsersCommand::Password { .. } => {
            users
                .set_password(user, &password.unwrap_or_default())
                .await?
        }
        UsersCommand::Rights { rights, .. } => users.set_rights(user, rights_of(rights)?).await?,
        UsersCommand::Remove(_) => {
            if !users.remove(user).await? {
                return Err(Failure::not_found(format!(
                    "there is no user `{user}` in `{}`",
                    path.display()
                )));
            }
        }
        UsersCommand::List(_) => {}
    }
    target.close().await?;
    output.note("Done.")?;
    Ok(Exit::Done)
}

fn row(user: &User) -> Document {
    let rights = user
        .rights
        .iter()
        .map(|right| format!("{} {}", right.role(), right.collection().unwrap_or("(all)")));
    let rights: Vec<String> = rights.collect();
    doc! { "user": &user.name, "rights": rights.join(", ") }
}

fn rights_of(rights: &GrantedRights) -> Result<Vec<Right>> {
    let mut all = Vec::new();
    all.extend(rights.read_all.then(Right::read_all));
    all.extend(rights.write_all.then(Right::read_write_all));
    all.extend(rights.read.iter().map(Right::read));
    all.extend(rights.write.iter().map(Right::read_write));
    if all.is_empty() {
        let message = "a user without rights can do nothing";
        return Err(Failure::usage(message)
            .with_advice("Give some by --read, --write, --read-all or --write-all."));
    }
    Ok(all)
}

/// The first line of a file, what is typed at a terminal, or the first line of the standard input.
fn password(file: Option<&Path>) -> Result<String> {
    let term = Term::stderr();
    let text = match file {
        Some(file) => std::fs::read_to_string(file).map_err(|error| {
            Failure::io(format_args!("cannot read `{}`", file.display()), &error)
        })?,
        None if console::user_attended() && term.is_term() => {
            let asked = term
                .write_str("Password: ")
                .and_then(|()| term.read_secure_line());
            asked.map_err(|error| Failure::io("cannot read the password", &error))?
        }
        None => {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            read.map_err(|error| Failure::io("cannot read the password", &error))?;
            line
        }
    };
    let password = text.lines().next().unwrap_or_default();
    if password.is_empty() {
        return Err(Failure::usage("the password is empty")
            .with_advice("Type it, or name a file with it by --password-file."));
    }
    Ok(password.to_owned())
}
