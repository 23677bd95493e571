//! Malformed requests, and secrets that answers never reveal.

use serde_json::json;

use crate::harness::{Answer, Server};

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn bodies_that_cannot_be_read_are_refused_in_the_form_of_the_specification() {
    let server = Server::start();
    let ann = server.user("Ann");
    let send = |headers: &[(&str, &str)], body: &str| ann.send("POST", "/articles", headers, body);
    send(&[JSON], "{").refused(400);
    send(&[JSON], "").refused(400);
    send(&[JSON], "\u{1}").refused(400);
    send(&[], "{}").refused(415);
    send(&[("content-type", "text/plain")], "{}").refused(415);
    assert!(send(&[JSON], "{}").refused(422).contains("article"));
    assert!(
        send(&[JSON], r#"{"article":{"title":"t","body":"b"}}"#)
            .refused(422)
            .contains("description")
    );
    assert!(
        send(
            &[JSON],
            r#"{"article":{"title":5,"description":"d","body":"b"}}"#
        )
        .refused(422)
        .contains("title")
    );
    send(&[JSON], r#"{"article":[]}"#).refused(422);
    let tags = r#"{"article":{"title":"t","description":"d","body":"b","tagList":[5]}}"#;
    send(&[JSON], tags).refused(422);
    // Only so little too large that all of it is sent before the server gives up.
    let large = format!("{{\"article\": \"{}\"}}", "b".repeat(1 << 20));
    send(&[JSON], &large).refused(413);
    assert_eq!(ann.titles("/articles").1, 0);
    server.end();
}

#[test]
fn unknown_addresses_and_methods_are_refused_in_the_form_of_the_specification() {
    let server = Server::start();
    let ann = server.user("Ann");
    for path in ["", "/nothing", "/articles/a/b", "/user/x"] {
        assert_eq!(ann.get(path).refused(404), "page not found", "{path}");
    }
    for (method, path) in [
        ("DELETE", "/user"),
        ("PATCH", "/articles/x"),
        ("POST", "/tags"),
        ("GET", "/users/login"),
    ] {
        ann.send(method, path, &[], "").refused(405);
    }
    server.end();
}

#[test]
fn no_answer_names_what_is_stored_where() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let user = |name: &str, email: &str| json!({ "user": { "username": name, "email": email, "password": "password" } });
    let article = |title: &str, body: &str, tags: &[&str]| json!({ "article": { "title": title, "description": "d", "body": body, "tagList": tags } });
    let answers: Vec<Answer> = vec![
        ann.post("/users", user("ann", "new@x.org")),
        ann.post("/users", user("new", "ben@x.org")),
        ann.post("/users", user("a b", "hidden")),
        ann.post("/articles", article("About me", "b", &[])),
        ann.post("/articles", article("New", " ", &[" hidden "])),
        ann.put("/articles/dragons-no", article("x", "y", &[])),
        ann.get("/articles/hidden"),
        ann.get("/profiles/hidden"),
        ben.delete("/articles/about-me/comments/7"),
        ben.put_if("/articles/dragons-no", "\"hidden\"", article("x", "y", &[])),
        ben.post(
            "/users/login",
            json!({ "user": { "email": "ann@x.org", "password": "hidden-one" } }),
        ),
        ben.get("/articles?limit=0"),
    ];
    for answer in answers {
        let text = answer.text.to_lowercase();
        assert!(answer.status >= 400, "{text}");
        let told = [
            "users", "articles", "bodies", "tags\"", "`", "index", "_id", "slug", "hash", "hidden",
            "new", "x.org", "bson", "odm",
        ];
        for told in told {
            assert!(!text.contains(told), "{told}: {text}");
        }
    }
    server.end();
}

#[test]
fn answers_are_kept_by_no_cache_but_to_ask_whether_they_are_right() {
    let server = Server::start();
    server.blog();
    let url = format!("http://{}/api/articles/about-me", server.address);
    let answer = ureq::get(url).call().unwrap();
    assert_eq!(answer.headers()["cache-control"], "private, no-cache");
    assert_eq!(answer.headers()["content-type"], "application/json");
    let url = format!("http://{}/api/articles", server.address);
    let answer = ureq::get(url).call().unwrap();
    assert_eq!(answer.headers()["cache-control"], "no-store");
    server.end();
}
