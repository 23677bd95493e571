//! Profiles, and who follows whom.

use serde_json::json;

use crate::harness::Server;

#[test]
fn a_follow_is_seen_by_the_follower_alone() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let cat = server.user("Cat");
    let profile = ben.post("/profiles/ann/follow", json!({})).of(200);
    let shown = json!({ "username": "Ann", "bio": null, "image": null, "following": true });
    assert_eq!(profile["profile"], shown);
    assert_eq!(
        ben.get("/profiles/Ann").of(200)["profile"]["following"],
        true
    );
    for other in [&ann, &cat, &server.anyone()] {
        assert_eq!(
            other.get("/profiles/Ann").of(200)["profile"]["following"],
            false
        );
        assert_eq!(other.article("about-me")["author"]["following"], false);
    }
    assert_eq!(ben.article("about-me")["author"]["following"], true);
    assert_eq!(ben.article("dragons-no")["author"]["following"], false);
    let list = ben.get("/articles").of(200);
    assert_eq!(list["articles"][0]["author"]["following"], true);
    assert_eq!(list["articles"][1]["author"]["following"], false);
    ann.comment("about-me", "Hello");
    let comments = ben.get("/articles/about-me/comments").of(200);
    assert_eq!(comments["comments"][0]["author"]["following"], true);
    server.end();
}

#[test]
fn a_follow_given_twice_is_one_and_is_ended_once() {
    let server = Server::start();
    let (_, ben) = server.blog();
    let cat = server.user("Cat");
    let followers = || {
        let ann = server
            .runtime
            .block_on(server.db.user_named("Ann"))
            .unwrap();
        (ann.followers, ann.following)
    };
    for _ in 0..2 {
        ben.post("/profiles/Ann/follow", json!({})).of(200);
    }
    cat.post("/profiles/Ann/follow", json!({})).of(200);
    assert_eq!(followers(), (2, 0));
    for _ in 0..2 {
        let left = ben.delete("/profiles/Ann/follow").of(200);
        assert_eq!(left["profile"]["following"], false);
    }
    assert_eq!(followers(), (1, 0));
    assert_eq!(
        cat.get("/profiles/Ann").of(200)["profile"]["following"],
        true
    );
    server.end();
}

#[test]
fn nobody_follows_itself_or_a_user_that_there_is_not() {
    let server = Server::start();
    let ann = server.user("Ann");
    let said = ann.post("/profiles/ANN/follow", json!({})).refused(422);
    assert_eq!(said, "users cannot follow themselves");
    assert_eq!(
        ann.get("/profiles/Nobody").refused(404),
        "profile not found"
    );
    ann.post("/profiles/Nobody/follow", json!({})).refused(404);
    ann.delete("/profiles/Nobody/follow").refused(404);
    server.end();
}
