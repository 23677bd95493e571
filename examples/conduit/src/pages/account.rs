//! Signing up, in and out, the settings of a user, and whom it follows.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{AppendHeaders, Html, IntoResponse, Redirect, Response},
};
use maud::html;
use serde::Deserialize;

use super::{ForUser, Form, Member, PageFailure, Segments, Shown, article::Mark, cookie, layout};
use crate::{
    App,
    attempts::Address,
    failure::{Answer, Failure},
    models::User,
    requests::UserPatch,
};

const PASSWORD: &str = "8 to 128 characters.";

#[derive(Debug, Default, Deserialize)]
pub(super) struct Registration {
    username: String,
    email: String,
    #[serde(rename = "new-password")]
    password: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Login {
    email: String,
    password: String,
}

fn registration(given: &Registration, failure: Option<&Failure>) -> Html<String> {
    let main = html! {
        h1 { "Sign up" }
        form.account method="post" {
            @if let Some(failure) = failure { (layout::failed(failure)) }
            (layout::field("username", "Name", "text", &given.username, "Letters, digits, dots, - and _."))
            (layout::field("email", "E-mail", "email", &given.email, ""))
            (layout::field("new-password", "Password", "password", "", PASSWORD))
            button { "Sign up" }
        }
        p { "Have an account? " a href="/sign-in" { "Sign in" } }
    };
    layout::page("Sign up", None, None, main)
}

pub(super) async fn sign_up() -> Html<String> {
    registration(&Registration::default(), None)
}

pub(super) async fn register(
    State(app): State<App>,
    address: Address,
    Form(given): Form<Registration>,
) -> Shown<Response> {
    let (username, email) = (given.username.clone(), given.email.clone());
    let registered = app.register(address, username, email, given.password.clone());
    let registered = registered.await;
    signed_in(&app, registered, |failure| {
        registration(&given, Some(failure))
    })
}

fn login_form(given: &Login, failure: Option<&Failure>) -> Html<String> {
    let main = html! {
        h1 { "Sign in" }
        form.account method="post" {
            @if let Some(failure) = failure { (layout::failed(failure)) }
            (layout::field("email", "E-mail", "email", &given.email, ""))
            (layout::field("password", "Password", "password", "", ""))
            button { "Sign in" }
        }
        p { "Need an account? " a href="/sign-up" { "Sign up" } }
    };
    layout::page("Sign in", None, None, main)
}

pub(super) async fn sign_in() -> Html<String> {
    login_form(&Login::default(), None)
}

pub(super) async fn login(
    State(app): State<App>,
    address: Address,
    Form(given): Form<Login>,
) -> Shown<Response> {
    let user = app
        .login(address, &given.email, given.password.clone())
        .await;
    signed_in(&app, user, |failure| login_form(&given, Some(failure)))
}

/// Sets the cookie and leads to the articles, or shows the form again.
fn signed_in(
    app: &App,
    user: Answer<User>,
    form: impl FnOnce(&Failure) -> Html<String>,
) -> Shown<Response> {
    match user.and_then(|user| app.auth.token(&user)) {
        Ok(token) => {
            let cookie = AppendHeaders([(header::SET_COOKIE, cookie(app, Some(&token)))]);
            Ok((cookie, Redirect::to("/")).into_response())
        }
        Err(failure) if is_of_form(&failure) => {
            Ok((StatusCode::UNPROCESSABLE_ENTITY, form(&failure)).into_response())
        }
        Err(failure) if failure.status == StatusCode::TOO_MANY_REQUESTS => {
            Ok((failure.status, failure.headers(), form(&failure)).into_response())
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Whether the user can correct the failure in the form.
fn is_of_form(failure: &Failure) -> bool {
    matches!(
        failure.status,
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::UNAUTHORIZED
    )
}

pub(super) async fn sign_out(State(app): State<App>) -> impl IntoResponse {
    let cookie = AppendHeaders([(header::SET_COOKIE, cookie(&app, None))]);
    (cookie, Redirect::to("/"))
}

#[derive(Debug, Deserialize)]
pub(super) struct Settings {
    username: String,
    email: String,
    bio: String,
    #[serde(rename = "new-password")]
    password: String,
}

fn settings_form(user: &User, given: &Settings, failure: Option<&Failure>) -> Html<String> {
    let main = html! {
        h1 { "Settings" }
        form.account method="post" {
            @if let Some(failure) = failure { (layout::failed(failure)) }
            (layout::field("username", "Name", "text", &given.username, "A new name is in all of your articles and comments at once."))
            (layout::field("email", "E-mail", "email", &given.email, ""))
            (layout::area("bio", "About you", 4, &given.bio))
            (layout::field("new-password", "New password", "password", "", "Leave it empty to keep the one you have."))
            button { "Save" }
        }
    };
    layout::page("Settings", Some(user), None, main)
}

pub(super) async fn settings(Member(user): Member) -> Html<String> {
    let given = Settings {
        username: user.username.clone(),
        email: user.email.clone(),
        bio: user.bio.clone().unwrap_or_default(),
        password: String::new(),
    };
    settings_form(&user, &given, None)
}

pub(super) async fn save(
    State(app): State<App>,
    Member(user): Member,
    Form(given): Form<Settings>,
) -> Shown<Response> {
    let patch = UserPatch {
        username: Some(given.username.clone()),
        email: Some(given.email.clone()),
        bio: Some(Some(given.bio.replace("\r\n", "\n")).filter(|bio| !bio.is_empty())),
        ..UserPatch::default()
    };
    let password = Some(given.password.clone()).filter(|password| !password.is_empty());
    match app.update_user(&user, patch, password).await {
        Ok(user) => {
            // With a new password, the token of the cookie has ended.
            let token = app.auth.token(&user).for_user(Some(&user))?;
            let cookie = AppendHeaders([(header::SET_COOKIE, cookie(&app, Some(&token)))]);
            let profile = layout::profile(&user.username);
            Ok((cookie, Redirect::to(&profile)).into_response())
        }
        Err(failure) if is_of_form(&failure) => {
            let page = settings_form(&user, &given, Some(&failure));
            Ok((failure.status, page).into_response())
        }
        Err(failure) => Err(PageFailure::new(Some(user), failure)),
    }
}

pub(super) async fn follow(
    State(app): State<App>,
    Member(user): Member,
    Segments(username): Segments<String>,
    Form(mark): Form<Mark>,
) -> Shown<Redirect> {
    let marked = app.db.follow(&user, &username, mark.on).await;
    let other = marked.for_user(Some(&user))?;
    Ok(Redirect::to(&layout::profile(&other.username)))
}
