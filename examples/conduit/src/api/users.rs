//! Users and profiles.

use axum::{Json as Answered, extract::State, http::StatusCode};
use odm::Public;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Json, Segments,
    views::{ProfileView, UserView},
};
use crate::{
    App,
    attempts::Address,
    auth::{Me, Reader},
    failure::Answer,
    models::{Author, User},
    requests::UserPatch,
};

#[derive(Deserialize)]
pub(super) struct Body<T> {
    user: T,
}

#[derive(Deserialize)]
pub(super) struct Registration {
    username: String,
    email: String,
    password: String,
}

#[derive(Deserialize)]
pub(super) struct Login {
    email: String,
    password: String,
}

#[derive(Deserialize)]
pub(super) struct UserUpdate {
    password: Option<String>,
    #[serde(flatten)]
    patch: UserPatch,
}

fn user(app: &App, user: User) -> Answer<Answered<Value>> {
    let token = app.auth.token(&user)?;
    Ok(Answered(json!({ "user": UserView::new(&user, token) })))
}

pub(super) async fn register(
    State(app): State<App>,
    address: Address,
    Json(body): Json<Body<Registration>>,
) -> Answer<(StatusCode, Answered<Value>)> {
    let Registration {
        username,
        email,
        password,
    } = body.user;
    let registered = app.register(address, username, email, password).await?;
    Ok((StatusCode::CREATED, user(&app, registered)?))
}

pub(super) async fn login(
    State(app): State<App>,
    address: Address,
    Json(body): Json<Body<Login>>,
) -> Answer<Answered<Value>> {
    let Login { email, password } = body.user;
    user(&app, app.login(address, &email, password).await?)
}

pub(super) async fn current(State(app): State<App>, Me(me): Me) -> Answer<Answered<Value>> {
    user(&app, me)
}

pub(super) async fn update(
    State(app): State<App>,
    Me(me): Me,
    Json(body): Json<Body<UserUpdate>>,
) -> Answer<Answered<Value>> {
    let UserUpdate { password, patch } = body.user;
    user(&app, app.update_user(&me, patch, password).await?)
}

pub(super) async fn profile(
    State(app): State<App>,
    Reader(me): Reader,
    Segments(username): Segments<String>,
) -> Answer<Answered<Value>> {
    let author = Author::from(&app.db.user_named(&username).await?);
    let marks = app.db.marks(me.as_ref(), &[], [&author]).await?;
    let profile = ProfileView::new(author, &marks);
    Ok(Answered(json!({ "profile": profile })))
}

pub(super) async fn follow(
    State(app): State<App>,
    Me(me): Me,
    Segments(username): Segments<String>,
) -> Answer<Answered<Value>> {
    marked(&app, &me, &username, true).await
}

pub(super) async fn unfollow(
    State(app): State<App>,
    Me(me): Me,
    Segments(username): Segments<String>,
) -> Answer<Answered<Value>> {
    marked(&app, &me, &username, false).await
}

async fn marked(app: &App, me: &User, username: &str, following: bool) -> Answer<Answered<Value>> {
    let author = Author::from(&app.db.follow(me, username, following).await?);
    let profile = ProfileView {
        author: Public(author),
        following,
    };
    Ok(Answered(json!({ "profile": profile })))
}
