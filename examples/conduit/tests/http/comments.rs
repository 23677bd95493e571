//! Comments.

use serde_json::{Value, json};

use crate::harness::Server;

#[test]
fn comments_have_numbers_and_are_listed_in_their_order() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let first = ben.comment("about-me", "First");
    assert!(first["id"].is_i64(), "{first}");
    let author = json!({ "username": "Ben", "bio": null, "image": null, "following": false });
    assert_eq!(
        (&first["body"], &first["author"]),
        (&json!("First"), &author)
    );
    assert_eq!(first["createdAt"], first["updatedAt"]);
    assert_eq!(first.as_object().unwrap().len(), 5);
    let elsewhere = ann.comment("dragons-no", "Elsewhere");
    let second = ann.comment("about-me", "Second");
    assert!(second["id"].as_i64() > elsewhere["id"].as_i64());
    let listed = server.anyone().get("/articles/about-me/comments").of(200);
    assert_eq!(listed["comments"], json!([first, second]));
    server.end();
}

#[test]
fn a_comment_is_deleted_by_its_author_only() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let id = ben.comment("about-me", "Who?")["id"].clone();
    let path = format!("/articles/about-me/comments/{id}");
    assert_eq!(
        ann.delete(&path).refused(403),
        "comment can be changed by its author only"
    );
    // The comment is on another article.
    let elsewhere = format!("/articles/dragons-no/comments/{id}");
    assert_eq!(ben.delete(&elsewhere).refused(404), "comment not found");
    for wrong in ["0", "-1", "999", "x", "1.5", "99999999999999999999"] {
        ben.delete(&format!("/articles/about-me/comments/{wrong}"))
            .refused(404);
    }
    ben.delete(&format!("/articles/nothing/comments/{id}"))
        .refused(404);
    assert_eq!(ben.delete(&path).of(204), Value::Null);
    ben.delete(&path).refused(404);
    let listed = ben.get("/articles/about-me/comments").of(200);
    assert_eq!(listed["comments"], json!([]));
    // The number is not used again.
    assert!(ben.comment("about-me", "Again")["id"].as_i64() > id.as_i64());
    server.end();
}

#[test]
fn comments_without_text_or_article_are_refused() {
    let server = Server::start();
    let (ann, _) = server.blog();
    let text = |text: &str| json!({ "comment": { "body": text } });
    for (wrong, said) in [
        ("", "body is empty or malformed"),
        (" \n", "body is empty or malformed"),
        (&"b".repeat(10_001), "body is too long"),
    ] {
        assert_eq!(
            ann.post("/articles/about-me/comments", text(wrong))
                .refused(422),
            said
        );
    }
    assert_eq!(
        ann.post("/articles/nothing/comments", text("Hi"))
            .refused(404),
        "article not found"
    );
    ann.get("/articles/nothing/comments").refused(404);
    server.end();
}
