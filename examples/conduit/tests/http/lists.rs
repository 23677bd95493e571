//! Lists, pages and the feed.

use serde_json::json;

use crate::harness::Server;

fn owned<const N: usize>(titles: [&str; N]) -> Vec<String> {
    titles.map(str::to_owned).to_vec()
}

#[test]
fn a_list_has_the_newest_first_and_no_bodies() {
    let server = Server::start();
    assert_eq!(server.anyone().titles("/articles"), (vec![], 0));
    server.blog();
    let titles = owned(["About me", "Dragons? No!", "How to train a dragon"]);
    assert_eq!(server.anyone().titles("/articles"), (titles, 3));
    let list = server.anyone().get("/articles").of(200);
    for article in list["articles"].as_array().unwrap() {
        assert!(article.get("body").is_none(), "{article}");
        assert_eq!(article.as_object().unwrap().len(), 9, "{article}");
    }
    server.end();
}

#[test]
fn filters_hold_together() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    ann.post("/articles/how-to-train-a-dragon/favorite", json!({}))
        .of(200);
    ann.post("/articles/dragons-no/favorite", json!({})).of(200);
    ben.post("/articles/about-me/favorite", json!({})).of(200);
    let anyone = server.anyone();
    for (query, titles) in [
        (
            "tag=dragons",
            &["Dragons? No!", "How to train a dragon"][..],
        ),
        ("tag=training", &["How to train a dragon"]),
        ("tag=Dragons", &[]),
        ("tag=", &[]),
        ("author=Ann", &["About me", "How to train a dragon"]),
        ("author=aNN", &["About me", "How to train a dragon"]),
        ("author=Nobody", &[]),
        ("favorited=Ann", &["Dragons? No!", "How to train a dragon"]),
        ("favorited=ben", &["About me"]),
        ("favorited=Nobody", &[]),
        ("author=Ann&tag=dragons", &["How to train a dragon"]),
        ("author=Ben&favorited=Ann", &["Dragons? No!"]),
        ("author=Ben&favorited=Ben", &[]),
        (
            "tag=dragons&author=Ann&favorited=Ann",
            &["How to train a dragon"],
        ),
        ("tag=dragons&author=Ann&favorited=Ben", &[]),
        (
            "unknown=x",
            &["About me", "Dragons? No!", "How to train a dragon"],
        ),
    ] {
        let titles: Vec<String> = titles.iter().map(|title| title.to_string()).collect();
        let total = titles.len() as u64;
        assert_eq!(
            anyone.titles(&format!("/articles?{query}")),
            (titles, total),
            "{query}"
        );
    }
    server.end();
}

#[test]
fn a_list_says_what_its_reader_has_marked() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    ben.post("/articles/about-me/favorite", json!({})).of(200);
    let marks = |client: &crate::harness::Client| {
        let list = client.get("/articles").of(200);
        let articles = list["articles"].as_array().unwrap().clone().into_iter();
        articles
            .map(|article| {
                (
                    article["favorited"] == true,
                    article["favoritesCount"].as_i64().unwrap(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(marks(&ben), [(true, 1), (false, 0), (false, 0)]);
    assert_eq!(marks(&ann), [(false, 1), (false, 0), (false, 0)]);
    assert_eq!(
        marks(&server.anyone()),
        [(false, 1), (false, 0), (false, 0)]
    );
    server.end();
}

#[test]
fn slices_of_a_list_follow_each_other() {
    let server = Server::start();
    let ann = server.user("Ann");
    for number in 1..=25 {
        ann.publish(&format!("Article {number}"), &["all"]);
    }
    let titles = |numbers: std::ops::RangeInclusive<u32>| {
        numbers
            .rev()
            .map(|number| format!("Article {number}"))
            .collect::<Vec<_>>()
    };
    let anyone = server.anyone();
    // There are 20 unless the request says otherwise.
    assert_eq!(anyone.titles("/articles"), (titles(6..=25), 25));
    for filter in ["", "&tag=all", "&author=Ann", "&tag=all&author=ann"] {
        let list = |query: &str| anyone.titles(&format!("/articles?{query}{filter}"));
        assert_eq!(list("limit=10"), (titles(16..=25), 25), "{filter}");
        assert_eq!(list("limit=10&offset=10"), (titles(6..=15), 25));
        assert_eq!(list("limit=10&offset=20"), (titles(1..=5), 25));
        assert_eq!(list("limit=10&offset=25"), (vec![], 25));
        assert_eq!(list("limit=1&offset=24"), (titles(1..=1), 25));
        assert_eq!(list("limit=100"), (titles(1..=25), 25));
        assert_eq!(list("offset=9223372036854775807"), (vec![], 25));
    }
    server.end();
}

#[test]
fn slices_out_of_bounds_are_refused() {
    let server = Server::start();
    let ann = server.user("Ann");
    for query in [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=x",
        "limit=",
        "limit=1.5",
        "limit=99999999999999999999",
        "limit=1&limit=2",
        "offset=-1",
        "offset=x",
        "offset=99999999999999999999",
    ] {
        for path in ["/articles", "/articles/feed"] {
            let said = ann.get(&format!("{path}?{query}")).refused(422);
            let field = &query[..query.find('=').unwrap()];
            assert!(said.contains(field), "{query}: {said}");
        }
    }
    server.end();
}

#[test]
fn the_feed_has_the_articles_of_those_who_are_followed() {
    let server = Server::start();
    let (ann, ben) = server.blog();
    let cat = server.user("Cat");
    assert_eq!(cat.titles("/articles/feed"), (vec![], 0));
    cat.post("/profiles/Ann/follow", json!({})).of(200);
    let of_ann = owned(["About me", "How to train a dragon"]);
    assert_eq!(cat.titles("/articles/feed"), (of_ann.clone(), 2));
    assert_eq!(ann.titles("/articles/feed").1, 0);
    cat.post("/profiles/Ben/follow", json!({})).of(200);
    ben.publish("Still no", &[]);
    let both = owned([
        "Still no",
        "About me",
        "Dragons? No!",
        "How to train a dragon",
    ]);
    assert_eq!(cat.titles("/articles/feed"), (both, 4));
    assert_eq!(
        cat.titles("/articles/feed?limit=2&offset=1"),
        (owned(["About me", "Dragons? No!"]), 4)
    );
    let feed = cat.get("/articles/feed").of(200);
    assert_eq!(feed["articles"][0]["author"]["following"], true);
    cat.delete("/profiles/Ben/follow").of(200);
    assert_eq!(cat.titles("/articles/feed"), (of_ann, 2));
    server.end();
}
