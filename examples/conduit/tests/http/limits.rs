//! How often somebody may try to sign in or to register.

use std::thread;

use conduit::{Settings, attempts::Limits};
use serde_json::json;

use crate::harness::{Answer, Client, Server};

fn server(account: u32, address: u32, proxy: bool) -> Server {
    Server::start_as(Settings {
        proxy,
        limits: Limits { account, address },
        ..Settings::default()
    })
}

/// Tries to sign in, from an address that a proxy sees.
fn login(anyone: &Client, from: &str, email: &str, password: &str) -> Answer {
    let user = json!({ "user": { "email": email, "password": password } });
    let headers = [
        ("content-type", "application/json"),
        ("x-forwarded-for", from),
    ];
    anyone.send("POST", "/users/login", &headers, &user.to_string())
}

fn register(anyone: &Client, from: &str, name: &str, email: &str) -> Answer {
    let user = json!({ "user": { "username": name, "email": email, "password": "password" } });
    let headers = [
        ("content-type", "application/json"),
        ("x-forwarded-for", from),
    ];
    anyone.send("POST", "/users", &headers, &user.to_string())
}

fn too_many(answer: Answer, minutes: std::ops::RangeInclusive<u64>) {
    let seconds = answer.retry_after.expect(&answer.text);
    assert!(minutes.contains(&(seconds / 60)), "{seconds} s");
    let said = answer.refused(429);
    assert_eq!(said, "there have been too many attempts: try again later");
}

#[test]
fn an_account_has_so_many_attempts_from_all_addresses_together() {
    let server = server(4, 0, true);
    let anyone = server.anyone();
    // To register is an attempt, too. The case of an e-mail address does not matter, in any script.
    register(&anyone, "10.0.0.1", "Ärger_1", "ÄRGER@x.org").of(201);
    login(&anyone, "10.0.0.2", "ärger@x.org", "wrong one").refused(401);
    login(&anyone, "10.0.0.3", "Ärger@x.org", "wrong one").refused(401);
    login(&anyone, "10.0.0.4", "ärger@X.ORG", "password").of(200);
    // Then the right password is refused as well, or guessing would go on.
    too_many(
        login(&anyone, "10.0.0.5", "ärger@x.org", "password"),
        14..=15,
    );
    too_many(
        register(&anyone, "10.0.0.6", "Other", "ärger@x.org"),
        14..=15,
    );
    // Accounts that do not exist are limited likewise, so that the answer tells nothing.
    for _ in 0..4 {
        login(&anyone, "10.0.0.7", "nobody@x.org", "password").refused(401);
    }
    too_many(
        login(&anyone, "10.0.0.7", "nobody@x.org", "password"),
        14..=15,
    );
    // Another account is not concerned.
    register(&anyone, "10.0.0.5", "Ben", "ben@x.org").of(201);
    server.end();
}

#[test]
fn an_address_has_so_many_attempts_for_all_accounts_together() {
    let server = server(0, 3, true);
    let anyone = server.anyone();
    let one = "2001:db8::1";
    register(&anyone, one, "Ann", "ann@x.org").of(201);
    login(&anyone, one, "ben@x.org", "password").refused(401);
    // What a client writes itself comes before what the proxy adds.
    let said = format!("10.1.1.1, {one}");
    login(&anyone, &said, "ann@x.org", "password").of(200);
    // The network is the address.
    too_many(
        login(&anyone, "2001:db8::2", "ann@x.org", "password"),
        19..=20,
    );
    too_many(register(&anyone, one, "Cat", "cat@x.org"), 19..=20);
    login(&anyone, "2001:db8:0:1::1", "ann@x.org", "password").of(200);
    server.end();
}

#[test]
fn without_a_proxy_the_address_is_that_of_the_connection() {
    let server = server(0, 2, false);
    let anyone = server.anyone();
    register(&anyone, "10.0.0.1", "Ann", "ann@x.org").of(201);
    login(&anyone, "10.0.0.2", "ann@x.org", "password").of(200);
    too_many(login(&anyone, "10.0.0.3", "ann@x.org", "password"), 29..=30);
    // Requests with a token go on.
    server.anyone().get("/articles").of(200);
    server.end();
}

#[test]
fn zero_is_no_limit_and_a_proxy_that_names_no_address_is_an_error() {
    let open = server(0, 0, false);
    let anyone = open.anyone();
    register(&anyone, "", "Ann", "ann@x.org").of(201);
    for _ in 0..25 {
        login(&anyone, "", "ann@x.org", "password").of(200);
    }
    open.end();
    let behind = server(0, 0, true);
    let said = register(&behind.anyone(), "unknown", "Ann", "ann@x.org").refused(500);
    assert_eq!(said, "the address of the client is not known");
    behind.end();
}

#[test]
fn of_many_attempts_at_once_as_many_as_allowed_are_answered() {
    let server = server(10, 0, false);
    server.user("Ann");
    let threads: Vec<_> = (0..40)
        .map(|n| {
            let anyone = server.anyone();
            let password = if n % 2 == 0 { "password" } else { "wrong one" };
            thread::spawn(move || login(&anyone, "", "ann@x.org", password).status)
        })
        .collect();
    let answers = threads.into_iter().map(|thread| thread.join().unwrap());
    let refused = answers.filter(|status| *status == 429).count();
    // One attempt was the registration.
    assert_eq!(refused, 40 - 9);
    server.end();
}
