//! What ends a token.

use conduit::models::User;
use odm::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Client, Server};

fn change(client: &Client, changes: Value) -> Client {
    let user = client.put("/user", json!({ "user": changes })).of(200);
    client.with(user["user"]["token"].as_str().unwrap())
}

fn is_over(client: &Client) {
    for path in ["/user", "/articles", "/profiles/Ann"] {
        assert_eq!(client.get(path).refused(401), "token is not valid");
    }
}

#[test]
fn a_new_password_ends_all_tokens_from_before() {
    let server = Server::start();
    let ann = server.user("Ann");
    let ben = server.user("Ben");
    let email = json!({ "user": { "email": "ann@x.org", "password": "password" } });
    let login = server.anyone().post("/users/login", email).of(200);
    let elsewhere = ann.with(login["user"]["token"].as_str().unwrap());

    // Other changes end none.
    let renamed = change(&ann, json!({ "bio": "I write", "email": "anna@x.org" }));
    for client in [&ann, &elsewhere, &renamed] {
        client.get("/user").of(200);
    }
    let first = change(&ann, json!({ "password": "another one" }));
    for client in [&ann, &elsewhere, &renamed] {
        is_over(client);
    }
    first.get("/user").of(200);
    // The same password again is a new password, and no token comes back.
    let second = change(&first, json!({ "password": "password" }));
    for client in [&ann, &elsewhere, &first] {
        is_over(client);
    }
    second.get("/user").of(200);
    ben.get("/user").of(200);
    // A password that is refused changes nothing.
    let short = json!({ "user": { "password": "short" } });
    second.put("/user", short).refused(422);
    second.get("/user").of(200);
    server.end();
}

#[test]
fn of_two_new_passwords_at_once_only_the_tokens_of_the_last_are_valid() {
    let server = Server::start();
    let ann = server.user("Ann");
    let tokens: Vec<Client> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let ann = &ann;
                let password = json!({ "user": { "password": format!("password {n}") } });
                scope.spawn(move || ann.put("/user", password))
            })
            .collect();
        let answers = threads.into_iter().map(|thread| thread.join().unwrap());
        // One that comes after another has a token that is not valid any more.
        let answers = answers.filter(|answer| answer.status == 200);
        let token = |body: &Value| body["user"]["token"].as_str().unwrap().to_owned();
        answers
            .map(|answer| ann.with(token(&answer.body)))
            .collect()
    });
    let valid = tokens
        .iter()
        .filter(|client| client.get("/user").status == 200);
    assert_eq!(valid.count(), 1);
    is_over(&ann);
    server.end();
}

#[test]
fn the_tokens_of_a_deleted_user_end_also_if_the_name_is_taken_again() {
    let server = Server::start();
    let ann = server.user("Ann");
    ann.publish("About me", &["me"]);
    let delete = async {
        server
            .db
            .users
            .delete_where(User::fields().username.eq("Ann"))
            .await
    };
    server.runtime.block_on(delete).unwrap();
    let again = server.user("Ann");
    is_over(&ann);
    again.get("/user").of(200);
    server.end();
}
