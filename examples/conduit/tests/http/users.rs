//! Users and their accounts.

use chrono::Duration;
use conduit::auth::Auth;
use jwt_compact::{
    AlgorithmExt, Claims, Header, TimeOptions,
    alg::{Hs256, Hs256Key},
};
use serde_json::{Value, json};

use crate::harness::{Client, SECRET, Server};

fn login(anyone: &Client, email: &str, password: &str) -> crate::harness::Answer {
    let user = json!({ "user": { "email": email, "password": password } });
    anyone.post("/users/login", user)
}

fn register(
    anyone: &Client,
    username: &str,
    email: &str,
    password: &str,
) -> crate::harness::Answer {
    let user = json!({ "username": username, "email": email, "password": password });
    anyone.post("/users", json!({ "user": user }))
}

#[test]
fn a_new_user_is_shown_with_a_token_and_can_sign_in() {
    let server = Server::start();
    let anyone = server.anyone();
    let new = register(&anyone, "Ann", "ann@x.org", "password").of(201);
    let user = new["user"].as_object().unwrap();
    let names: Vec<&str> = user.keys().map(String::as_str).collect();
    assert_eq!(names, ["bio", "email", "image", "token", "username"]);
    assert_eq!(
        (&user["username"], &user["email"]),
        (&json!("Ann"), &json!("ann@x.org"))
    );
    assert_eq!((&user["bio"], &user["image"]), (&Value::Null, &Value::Null));
    // The case of an address does not matter.
    let token = login(&anyone, "ANN@x.org", "password").of(200)["user"]["token"].clone();
    let ann = anyone.with(token.as_str().unwrap());
    assert_eq!(ann.get("/user").of(200)["user"]["username"], "Ann");
    server.end();
}

#[test]
fn a_token_is_that_of_its_user_and_can_be_sent_as_bearer() {
    let server = Server::start();
    let (ann, ben) = (server.user("Ann"), server.user("Ben"));
    assert_eq!(ann.get("/user").of(200)["user"]["username"], "Ann");
    assert_eq!(ben.get("/user").of(200)["user"]["username"], "Ben");
    let bearer = format!("Bearer {}", ben.token.unwrap());
    let answer = server
        .anyone()
        .send("GET", "/user", &[("authorization", &bearer)], "");
    assert_eq!(answer.of(200)["user"]["username"], "Ben");
    server.end();
}

#[test]
fn names_and_addresses_are_taken_in_any_case() {
    let server = Server::start();
    let ben = server.user("Ben");
    server.user("Ann");
    let anyone = server.anyone();
    let taken = register(&anyone, "aNN", "other@x.org", "password").refused(422);
    assert_eq!(taken, "username has already been taken");
    let taken = register(&anyone, "Other", "ANN@X.ORG", "password").refused(422);
    assert_eq!(taken, "email has already been taken");
    let taken = ben
        .put("/user", json!({ "user": { "email": "Ann@x.org" } }))
        .refused(422);
    assert_eq!(taken, "email has already been taken");
    // A user may change the case of its own name.
    let changed = ben
        .put("/user", json!({ "user": { "username": "BEN" } }))
        .of(200);
    assert_eq!(changed["user"]["username"], "BEN");
    server.end();
}

#[test]
fn a_wrong_password_and_an_unknown_user_get_the_same_answer() {
    let server = Server::start();
    server.user("Ann");
    let anyone = server.anyone();
    let wrong = login(&anyone, "ann@x.org", "passwort").refused(401);
    assert_eq!(wrong, "email or password is wrong");
    assert_eq!(
        login(&anyone, "nobody@x.org", "password").refused(401),
        wrong
    );
    assert_eq!(
        login(&anyone, "ann@x.org", &"p".repeat(1000)).refused(401),
        wrong
    );
    server.end();
}

#[test]
fn a_request_without_a_valid_token_is_refused() {
    let server = Server::start();
    let (ann, _) = server.blog();
    let anyone = server.anyone();
    let text = json!({ "comment": { "body": "Hi" } });
    for refused in [
        anyone.get("/user"),
        anyone.put("/user", json!({ "user": {} })),
        anyone.get("/articles/feed"),
        anyone.post("/articles", json!({})),
        anyone.put("/articles/about-me", json!({})),
        anyone.delete("/articles/about-me"),
        anyone.post("/articles/about-me/favorite", json!({})),
        anyone.delete("/articles/about-me/favorite"),
        anyone.post("/articles/about-me/comments", text),
        anyone.delete("/articles/about-me/comments/1"),
        anyone.post("/profiles/Ann/follow", json!({})),
        anyone.delete("/profiles/Ann/follow"),
    ] {
        assert_eq!(
            refused.refused(401),
            "sign in first: the request has no token"
        );
    }
    // A wrong token is refused even where no token is needed.
    let user = server
        .runtime
        .block_on(server.db.user_named("Ann"))
        .unwrap();
    let forged = Auth::new(b"another secret").unwrap().token(&user).unwrap();
    let token = ann.token.unwrap();
    let own = format!("Token {token}");
    // The last character of the signature differs.
    let last = if token.ends_with('A') { 'B' } else { 'A' };
    let damaged = format!("Token {}{last}", &token[..token.len() - 1]);
    for header in [
        "",
        "Token",
        "Token x",
        &format!("Token {forged}"),
        &damaged,
        &format!("Basic {token}"),
    ] {
        for path in ["/user", "/articles", "/profiles/Ann"] {
            let answer = anyone.send("GET", path, &[("authorization", header)], "");
            assert_eq!(answer.refused(401), "token is not valid", "{header} {path}");
        }
    }
    anyone
        .send("GET", "/user", &[("authorization", &own)], "")
        .of(200);
    server.end();
}

#[test]
fn a_token_that_has_expired_is_refused() {
    let server = Server::start();
    server.user("Ann");
    let user = server
        .runtime
        .block_on(server.db.user_named("Ann"))
        .unwrap();
    let token = |minutes| {
        let (now, key) = (TimeOptions::default(), Hs256Key::new(SECRET));
        let claims = Claims::new(json!({ "sub": user.id }));
        let claims = claims.set_duration_and_issuance(&now, Duration::minutes(minutes));
        Hs256.token(&Header::empty(), &claims, &key).unwrap()
    };
    let user = server.anyone().with(token(5)).get("/user").of(200);
    assert_eq!(user["user"]["username"], "Ann");
    let late = server.anyone().with(token(-5)).get("/user");
    assert_eq!(late.refused(401), "token is not valid");
    server.end();
}

#[test]
fn a_user_changes_what_it_names_and_nothing_else() {
    let server = Server::start();
    let (ann, anyone) = (server.user("Ann"), server.anyone());
    let change =
        |changes: Value| ann.put("/user", json!({ "user": changes })).of(200)["user"].clone();
    let user = change(json!({ "bio": "I write", "image": "ann.png" }));
    assert_eq!(
        (&user["bio"], &user["image"]),
        (&json!("I write"), &json!("ann.png"))
    );
    let user = change(json!({ "image": null, "email": "anna@x.org" }));
    assert_eq!(
        (&user["bio"], &user["image"]),
        (&json!("I write"), &Value::Null)
    );
    assert_eq!(user["username"], "Ann");
    assert_eq!(change(json!({}))["email"], "anna@x.org");
    login(&anyone, "ann@x.org", "password").refused(401);
    let ann = change(json!({ "password": "a new one" }))["token"].clone();
    let ann = anyone.with(ann.as_str().unwrap());
    let change =
        |changes: Value| ann.put("/user", json!({ "user": changes })).of(200)["user"].clone();
    login(&anyone, "anna@x.org", "password").refused(401);
    login(&anyone, "anna@x.org", "a new one").of(200);
    // Fields that a client cannot change are ignored.
    change(json!({ "password_hash": "x", "followers": 7, "id": 1, "token": "x" }));
    login(&anyone, "anna@x.org", "a new one").of(200);
    server.end();
}

#[test]
fn a_renamed_user_is_renamed_in_articles_and_comments() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    ann.comment("dragons-no", "But yes");
    ben.comment("about-me", "Who?");
    let change = json!({ "user": { "username": "Anna", "image": "anna.png", "bio": "Still me" } });
    ann.put("/user", change).of(200);
    let anyone = server.anyone();
    let shown =
        json!({ "username": "Anna", "image": "anna.png", "bio": "Still me", "following": false });
    assert_eq!(anyone.article("about-me")["author"], shown);
    let comments = anyone.get("/articles/dragons-no/comments").of(200);
    assert_eq!(comments["comments"][0]["author"], shown);
    let comments = anyone.get("/articles/about-me/comments").of(200);
    assert_eq!(comments["comments"][0]["author"]["username"], "Ben");
    assert_eq!(anyone.titles("/articles?author=Anna").1, 2);
    assert_eq!(anyone.titles("/articles?author=Ann").1, 0);
    anyone.get("/profiles/Ann").refused(404);
    // A change of the author is not a change of the article.
    let article = anyone.article("about-me");
    assert_eq!(article["createdAt"], article["updatedAt"]);
    server.end();
}

#[test]
fn accounts_with_unusable_values_are_refused() {
    let server = Server::start();
    let anyone = server.anyone();
    let (name, email, password) = ("Ann", "ann@x.org", "password");
    let long = "n".repeat(41);
    for wrong in [
        "", " ", "a b", "a/b", ".", "..", "a\u{0}", "a\n", "<b>", &long,
    ] {
        let said = register(&anyone, wrong, email, password).refused(422);
        assert!(said.starts_with("username is "), "{wrong:?}: {said}");
        assert!(
            wrong.trim().is_empty() || !said.contains(wrong) || wrong == ".",
            "{said}"
        );
    }
    for wrong in [
        "",
        "ann",
        "@",
        "ann@",
        "@x.org",
        "a b@x.org",
        &format!("{}@x.org", "a".repeat(250)),
    ] {
        let said = register(&anyone, name, wrong, password).refused(422);
        assert!(said.starts_with("email is "), "{wrong:?}: {said}");
    }
    for wrong in ["", "short", &"p".repeat(129)] {
        let said = register(&anyone, name, email, wrong).refused(422);
        assert_eq!(said, "password must have 8 to 128 characters");
    }
    // One answer names all violations.
    let both = register(&anyone, "", "", password).refused(422);
    assert!(
        both.contains("username") && both.contains("email"),
        "{both}"
    );
    let ann = server.user("Ann");
    for change in [
        json!({ "username": "" }),
        json!({ "email": "x" }),
        json!({ "password": "x" }),
        json!({ "bio": "b".repeat(2001) }),
    ] {
        ann.put("/user", json!({ "user": change })).refused(422);
    }
    server.end();
}

#[test]
fn names_of_all_languages_are_addresses_of_profiles() {
    let server = Server::start();
    let user = server.user("Zoë-王.1");
    let path = "/profiles/Zo%C3%AB-%E7%8E%8B.1";
    assert_eq!(user.get(path).of(200)["profile"]["username"], "Zoë-王.1");
    server.end();
}

#[test]
fn a_deleted_user_is_gone_with_all_of_it() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    ben.post("/profiles/Ann/follow", json!({})).of(200);
    ben.post("/articles/about-me/favorite", json!({})).of(200);
    ann.post("/articles/dragons-no/favorite", json!({})).of(200);
    ann.comment("dragons-no", "Mine");
    server.runtime.block_on(async {
        let ann = server.db.user_named("Ann").await.unwrap();
        server.db.users.delete(ann.id).await.unwrap();
    });
    assert_eq!(ann.get("/user").refused(401), "token is not valid");
    assert_eq!(
        ben.titles("/articles"),
        (vec!["Dragons? No!".to_owned()], 1)
    );
    assert_eq!(ben.article("dragons-no")["favoritesCount"], 0);
    assert_eq!(
        ben.get("/articles/dragons-no/comments").of(200)["comments"],
        json!([])
    );
    assert_eq!(ben.titles("/articles/feed").1, 0);
    assert_eq!(ben.get("/tags").of(200)["tags"], json!(["dragons"]));
    server.end();
}
