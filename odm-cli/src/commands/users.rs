//! `users`: who may read and write what, where a server requires users.

use std::path::Path;

use mongodb::bson::{Document, doc};
use odm_server::{Right, User, Users};

use crate::{
    arguments::{GrantedRights, OfUser, UsersCommand},
    error::{Exit, Failure, Result},
    output::Output,
    password,
    source::Source,
};

pub(super) async fn run<'a>(
    source: impl Fn(&'a str) -> Source<'a>,
    command: &'a UsersCommand,
    password_file: Option<&Path>,
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
        UsersCommand::Add { .. } | UsersCommand::Password(_) => {
            Some(password::read(password_file, &format!("`{user}`"))?)
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
        UsersCommand::Password(_) => {
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
