//! Many clients at once.

use std::{collections::HashSet, thread};

use serde_json::json;

use crate::harness::Server;

#[test]
fn many_who_favorite_and_comment_one_article_are_all_counted() {
    const CLIENTS: usize = 12;
    const ROUNDS: usize = 8;
    let server = Server::start();
    let ann = server.user("Ann");
    ann.publish("About me", &["me"]);
    let users: Vec<_> = (0..CLIENTS)
        .map(|n| server.user(&format!("user{n}")))
        .collect();
    let threads: Vec<_> = users
        .into_iter()
        .enumerate()
        .map(|(n, user)| {
            thread::spawn(move || {
                let favorite = "/articles/about-me/favorite";
                let mut ids = Vec::new();
                for round in 0..ROUNDS {
                    user.post(favorite, json!({})).of(200);
                    let comment = user.comment("about-me", &format!("{n}, {round}"));
                    ids.push(comment["id"].as_i64().unwrap());
                    user.post("/profiles/Ann/follow", json!({})).of(200);
                    if round % 2 == 0 {
                        user.delete(favorite).of(200);
                        user.delete("/profiles/Ann/follow").of(200);
                        let id = ids.pop().unwrap();
                        user.delete(&format!("/articles/about-me/comments/{id}"))
                            .of(204);
                    }
                }
                if n % 3 == 0 {
                    user.delete(favorite).of(200);
                }
                ids
            })
        })
        .collect();
    let mut ids = HashSet::new();
    for thread in threads {
        for id in thread.join().unwrap() {
            assert!(ids.insert(id), "{id} was given twice");
        }
    }
    assert_eq!(ids.len(), CLIENTS * ROUNDS / 2);
    let article = ann.article("about-me");
    assert_eq!(article["favoritesCount"], json!(CLIENTS - CLIENTS / 3));
    let comments = ann.get("/articles/about-me/comments").of(200);
    let listed: HashSet<i64> = comments["comments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|comment| comment["id"].as_i64().unwrap())
        .collect();
    assert_eq!(listed, ids);
    let followers = server
        .runtime
        .block_on(server.db.user_named("Ann"))
        .unwrap()
        .followers;
    assert_eq!(followers, CLIENTS as i64);
    server.end();
}

#[test]
fn of_many_who_take_a_name_or_a_title_at_once_one_has_it() {
    let server = Server::start();
    let ann = server.user("Ann");
    let tried = |act: fn(&crate::harness::Client, usize) -> u16| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let client = ann.clone();
                thread::spawn(move || act(&client, n))
            })
            .collect();
        let mut statuses: Vec<u16> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect();
        statuses.sort_unstable();
        statuses
    };
    let expected = [201, 422, 422, 422, 422, 422, 422, 422];
    let name = tried(|client, n| {
        let user =
            json!({ "username": "Ben", "email": format!("{n}@x.org"), "password": "password" });
        client.post("/users", json!({ "user": user })).status
    });
    assert_eq!(name, expected);
    let title = tried(|client, n| {
        let article =
            json!({ "title": "One", "description": "d", "body": "b", "tagList": [n.to_string()] });
        client
            .post("/articles", json!({ "article": article }))
            .status
    });
    assert_eq!(title, expected);
    // The refused requests have left no tag.
    assert_eq!(
        ann.get("/tags").of(200)["tags"].as_array().unwrap().len(),
        1
    );
    let tags = server
        .runtime
        .block_on(async { server.db.tags.all().count().await.unwrap() });
    assert_eq!(tags, 1);
    server.end();
}

#[test]
fn of_many_edits_of_one_version_one_is_stored() {
    let server = Server::start();
    let ann = server.user("Ann");
    ann.publish("About me", &[]);
    let tag = ann.get("/articles/about-me").etag.unwrap();
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let (client, tag) = (ann.clone(), tag.clone());
            thread::spawn(move || {
                let change = json!({ "article": { "body": format!("by {n}") } });
                client.put_if("/articles/about-me", &tag, change)
            })
        })
        .collect();
    let answers: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let stored: Vec<_> = answers
        .into_iter()
        .filter(|answer| answer.status == 200)
        .collect();
    assert_eq!(stored.len(), 1);
    assert_eq!(
        stored[0].body["article"]["body"],
        ann.article("about-me")["body"]
    );
    server.end();
}
