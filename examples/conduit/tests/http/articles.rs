//! Articles: the changes by their authors, and the refusal of others.

use serde_json::{Value, json};

use crate::harness::{Client, Server};

/// Whether a text is a time as JavaScript writes it.
fn is_time(value: &Value) -> bool {
    let text = value.as_str().unwrap();
    let form: String = text
        .chars()
        .map(|char| if char.is_ascii_digit() { '0' } else { char })
        .collect();
    form == "0000-00-00T00:00:00.000Z"
}

fn edit(author: &Client, slug: &str, changes: Value) -> Value {
    let answer = author.put(&format!("/articles/{slug}"), json!({ "article": changes }));
    answer.of(200)["article"].clone()
}

#[test]
fn a_new_article_is_shown_whole_to_everybody() {
    let server = Server::start();
    let ann = server.user("Ann");
    let new = ann.publish("How to train a dragon", &["training", "dragons"]);
    assert_eq!(new["slug"], "how-to-train-a-dragon");
    assert_eq!(new["title"], "How to train a dragon");
    assert_eq!(new["description"], "What it is about");
    assert_eq!(new["body"], "How to train a dragon, at length");
    assert_eq!(new["tagList"], json!(["dragons", "training"]));
    assert_eq!(
        (&new["favorited"], &new["favoritesCount"]),
        (&json!(false), &json!(0))
    );
    let author = json!({ "username": "Ann", "bio": null, "image": null, "following": false });
    assert_eq!(new["author"], author);
    assert!(
        is_time(&new["createdAt"]) && new["createdAt"] == new["updatedAt"],
        "{new}"
    );
    assert_eq!(new.as_object().unwrap().len(), 10);
    assert_eq!(server.anyone().article("how-to-train-a-dragon"), new);
    server.end();
}

#[test]
fn an_article_needs_no_tags_and_has_each_once_in_order() {
    let server = Server::start();
    let ann = server.user("Ann");
    let article = json!({ "title": "Plain", "description": "d", "body": "b" });
    let new = ann.post("/articles", json!({ "article": article })).of(201);
    assert_eq!(new["article"]["tagList"], json!([]));
    let twice = ann.publish("Twice", &["b", "a", "b"]);
    assert_eq!(twice["tagList"], json!(["a", "b"]));
    server.end();
}

#[test]
fn an_edit_changes_what_it_names_and_the_slug_with_the_title() {
    let server = Server::start();
    let (ann, _) = server.blog();
    let before = ann.article("about-me");
    let after = edit(&ann, "about-me", json!({ "body": "New" }));
    assert_eq!(
        (&after["body"], &after["title"]),
        (&json!("New"), &json!("About me"))
    );
    assert_eq!(after["createdAt"], before["createdAt"]);
    assert!(
        after["updatedAt"].as_str() > before["updatedAt"].as_str(),
        "{after}"
    );
    assert_eq!(ann.article("about-me"), after);
    let renamed = edit(
        &ann,
        "about-me",
        json!({ "title": "All of me", "description": "New too" }),
    );
    assert_eq!(
        (&renamed["slug"], &renamed["body"]),
        (&json!("all-of-me"), &json!("New"))
    );
    assert_eq!(renamed["description"], "New too");
    ann.get("/articles/about-me").refused(404);
    // The same title again has the same slug.
    assert_eq!(
        edit(&ann, "all-of-me", json!({ "title": "All of me" }))["slug"],
        "all-of-me"
    );
    // An empty edit is no change.
    let same = edit(&ann, "all-of-me", json!({}));
    assert_eq!(same, edit(&ann, "all-of-me", json!({ "title": null })));
    // The old slug is free.
    assert_eq!(ann.publish("About me", &[])["slug"], "about-me");
    server.end();
}

#[test]
fn tags_are_counted_as_articles_get_and_lose_them() {
    let server = Server::start();
    let (ann, _) = server.blog();
    let tags = || server.anyone().get("/tags").of(200)["tags"].clone();
    assert_eq!(tags(), json!(["dragons", "training"]));
    edit(&ann, "about-me", json!({ "tagList": ["training", "me"] }));
    ann.publish("Training again", &["training"]);
    assert_eq!(tags(), json!(["training", "dragons", "me"]));
    ann.delete("/articles/how-to-train-a-dragon").of(204);
    edit(&ann, "about-me", json!({ "tagList": [] }));
    // Tags without articles are not shown.
    assert_eq!(tags(), json!(["dragons", "training"]));
    // A removed tag is taken out of its articles.
    let removed = server
        .runtime
        .block_on(async { server.db.tags.delete("dragons").await });
    assert!(removed.unwrap());
    assert_eq!(tags(), json!(["training"]));
    assert_eq!(ann.article("dragons-no")["tagList"], json!([]));
    server.end();
}

#[test]
fn an_article_is_changed_and_deleted_by_its_author_only() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let change = json!({ "article": { "body": "Mine" } });
    let said = ben.put("/articles/about-me", change.clone()).refused(403);
    assert_eq!(said, "article can be changed by its author only");
    ben.put_if("/articles/about-me", "*", change.clone())
        .refused(403);
    ben.delete("/articles/about-me").refused(403);
    assert_eq!(ann.article("about-me")["body"], "About me, at length");
    for slug in ["nothing", "feed-", "%2e%2e", "a%2Fb"] {
        assert_eq!(
            ben.get(&format!("/articles/{slug}")).refused(404),
            "article not found"
        );
        ben.put(&format!("/articles/{slug}"), change.clone())
            .refused(404);
        ben.delete(&format!("/articles/{slug}")).refused(404);
    }
    server.end();
}

#[test]
fn a_deleted_article_is_gone_with_its_comments_and_favorites() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let id = ben.comment("about-me", "Who?")["id"].clone();
    ben.post("/articles/about-me/favorite", json!({})).of(200);
    assert_eq!(ben.titles("/articles?favorited=Ben").1, 1);
    assert_eq!(ann.delete("/articles/about-me").of(204), Value::Null);
    ann.get("/articles/about-me").refused(404);
    ann.delete("/articles/about-me").refused(404);
    ann.get("/articles/about-me/comments").refused(404);
    ben.delete(&format!("/articles/about-me/comments/{id}"))
        .refused(404);
    assert_eq!(ben.titles("/articles?favorited=Ben").1, 0);
    let left = server.runtime.block_on(async {
        let (comments, favorites) = (server.db.comments.all(), server.db.favorites.all());
        comments.count().await.unwrap() + favorites.count().await.unwrap()
    });
    assert_eq!(left, 0);
    server.end();
}

#[test]
fn a_title_whose_slug_is_taken_is_refused() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let article =
        |title: &str| json!({ "article": { "title": title, "description": "d", "body": "b" } });
    let said = ben.post("/articles", article("About -- ME!")).refused(422);
    assert_eq!(said, "title has already been taken");
    let said = ann
        .put(
            "/articles/about-me",
            json!({ "article": { "title": "Dragons: no" } }),
        )
        .refused(422);
    assert_eq!(said, "title has already been taken");
    assert_eq!(ann.article("about-me")["title"], "About me");
    // The refused articles leave no tag and no body.
    let bodies = server
        .runtime
        .block_on(async { server.db.articles.all().count().await.unwrap() });
    assert_eq!(bodies, 3);
    server.end();
}

#[test]
fn articles_with_unusable_values_are_refused() {
    let server = Server::start();
    let ann = server.user("Ann");
    let good = json!({ "title": "t", "description": "d", "body": "b", "tagList": ["a"] });
    let many: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    for (field, wrong, said) in [
        ("title", json!(""), "title"),
        ("title", json!("  "), "title"),
        ("title", json!("?!"), "title has no letter and no digit"),
        ("title", json!("Feed"), "title is reserved"),
        ("title", json!("t".repeat(201)), "title is too long"),
        (
            "description",
            json!(" "),
            "description is empty or malformed",
        ),
        (
            "description",
            json!("d".repeat(1001)),
            "description is too long",
        ),
        ("body", json!("\n"), "body is empty or malformed"),
        ("body", json!("b".repeat(100_001)), "body is too long"),
        ("tagList", json!([""]), "tag is empty or malformed"),
        ("tagList", json!([" a"]), "tag is empty or malformed"),
        ("tagList", json!(["t".repeat(41)]), "tag is too long"),
        ("tagList", json!(many), "tagList has too many entries"),
    ] {
        let mut article = good.clone();
        article[field] = wrong.clone();
        let answer = ann
            .post("/articles", json!({ "article": article }))
            .refused(422);
        assert!(answer.contains(said), "{field} {wrong}: {answer}");
    }
    assert_eq!(ann.titles("/articles").1, 0);
    assert_eq!(ann.get("/tags").of(200)["tags"], json!([]));
    ann.publish("Good", &[]);
    for (field, wrong) in [
        ("title", json!("")),
        ("body", json!("")),
        ("description", json!("")),
        ("tagList", json!([""])),
    ] {
        let mut changes = json!({});
        changes[field] = wrong;
        ann.put("/articles/good", json!({ "article": changes }))
            .refused(422);
    }
    server.end();
}

#[test]
fn titles_of_all_languages_have_slugs() {
    let server = Server::start();
    let ann = server.user("Ann");
    assert_eq!(ann.publish("Größe & Ärger", &[])["slug"], "größe-ärger");
    assert_eq!(
        ann.article("gr%C3%B6%C3%9Fe-%C3%A4rger")["title"],
        "Größe & Ärger"
    );
    assert_eq!(ann.publish("龙 'n' dragons", &[])["slug"], "龙-n-dragons");
    server.end();
}

#[test]
fn a_favorite_given_twice_is_one() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let path = "/articles/about-me/favorite";
    for _ in 0..2 {
        let article = ben.post(path, json!({})).of(200)["article"].clone();
        assert_eq!(
            (&article["favorited"], &article["favoritesCount"]),
            (&json!(true), &json!(1))
        );
        assert_eq!(article["body"], "About me, at length");
    }
    // The favorites of one user are not another's.
    let article = ann.article("about-me");
    assert_eq!(
        (&article["favorited"], &article["favoritesCount"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(
        ann.post(path, json!({})).of(200)["article"]["favoritesCount"],
        2
    );
    assert_eq!(ben.article("dragons-no")["favorited"], false);
    for _ in 0..2 {
        let article = ben.delete(path).of(200)["article"].clone();
        assert_eq!(
            (&article["favorited"], &article["favoritesCount"]),
            (&json!(false), &json!(1))
        );
    }
    // A favorite does not change the article.
    let article = server.anyone().article("about-me");
    assert_eq!(
        (&article["favoritesCount"], &article["updatedAt"]),
        (&json!(1), &article["createdAt"])
    );
    ben.post("/articles/nothing/favorite", json!({}))
        .refused(404);
    ben.delete("/articles/nothing/favorite").refused(404);
    server.end();
}

#[test]
fn a_client_asks_whether_what_it_has_is_right() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let path = "/articles/about-me";
    let ask = |client: &Client, tag: &str| client.send("GET", path, &[("if-none-match", tag)], "");
    let tag = |client: &Client| client.get(path).etag.unwrap();
    let seen = tag(&ben);
    let answer = ask(&ben, &format!("\"x\", W/{seen}"));
    assert_eq!((answer.status, &*answer.text), (304, ""));
    assert_eq!(answer.etag.as_ref(), Some(&seen));

    // The tag covers the answer: not a comment, but the author's new name and the number of favorites, although there was no edit.
    ben.comment("about-me", "Who?");
    assert_eq!(ask(&ben, &seen).status, 304);
    ann.put("/user", json!({ "user": { "username": "Anna" } }))
        .of(200);
    let renamed = ask(&ben, &seen);
    let then = renamed.etag.clone().unwrap();
    assert_eq!(
        renamed.of(200)["article"]["author"]["username"],
        json!("Anna")
    );
    ben.post("/articles/about-me/favorite", json!({})).of(200);
    assert_eq!(
        ask(&ben, &then).of(200)["article"]["favoritesCount"],
        json!(1)
    );
    // The content depends on the user.
    assert_ne!(tag(&ann), tag(&ben));
    server.end();
}

#[test]
fn an_edit_of_what_has_changed_meanwhile_is_refused_where_it_asks_for_that() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let (path, anyone) = ("/articles/about-me", server.anyone());
    let body = |text: &str| json!({ "article": { "body": text } });
    let tag = |client: &Client| client.get(path).etag.unwrap();
    let first = tag(&anyone);
    // For an edit, neither a favorite nor a comment nor another name of the author changes the article.
    ben.post("/articles/about-me/favorite", json!({})).of(200);
    ben.comment("about-me", "Who?");
    ann.put("/user", json!({ "user": { "username": "Anna" } }))
        .of(200);
    let changed = ann.put_if(path, &first, body("One"));
    let second = changed.etag.clone().unwrap();
    assert_eq!(changed.of(200)["article"]["body"], "One");
    assert_ne!(second, first);
    assert_ne!(tag(&anyone), first);

    let refused = ann.put_if(path, &first, body("Two"));
    assert_eq!(
        refused.refused(412),
        "article has been changed since it was read"
    );
    for other in [
        "",
        "x",
        "\"x\"",
        &second.replace('"', ""),
        &format!("W/{second}"),
    ] {
        ann.put_if(path, other, body("Two")).refused(412);
    }
    assert_eq!(ann.article("about-me")["body"], "One");
    // A tag in a list, any tag, or no tag.
    let changed = ann.put_if(path, &format!("\"x\", {second}"), body("Two"));
    assert_eq!(changed.of(200)["article"]["body"], "Two");
    ann.put_if(path, "*", body("Three")).of(200);
    ann.put(path, body("Four")).of(200);

    // A new article at the address of a deleted one has other tags.
    let old = tag(&ann);
    ann.delete(path).of(204);
    for text in ["1", "2", "3", "4", "5"] {
        if text == "1" {
            ann.publish("About me", &[]);
        }
        ann.put_if(path, &old, body("Old")).refused(412);
        ann.put(path, body(text)).of(200);
    }
    server.end();
}
