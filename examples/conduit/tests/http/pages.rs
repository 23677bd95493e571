//! The pages, as a browser without scripts sees them.

use conduit::{Settings, attempts::Limits};
use serde_json::json;

use crate::{harness::Server, visitor::Visitor};

/// The parts of a page between two texts.
fn between<'p>(page: &'p str, start: &str, end: &str) -> Vec<&'p str> {
    let parts = page.split(start).skip(1);
    parts.map(|part| &part[..part.find(end).unwrap()]).collect()
}

/// The titles of a list.
fn titles(page: &str) -> Vec<&str> {
    let links = between(page, "<article class=\"card\"><h2><a href=\"", "</a>");
    links
        .into_iter()
        .map(|link| &link[link.find('>').unwrap() + 1..])
        .collect()
}

#[test]
fn whoever_signs_up_is_signed_in_by_a_cookie_that_scripts_cannot_read() {
    let server = Server::start();
    let visitor = Visitor::new(&server);
    let fields = [
        ("username", "Ann"),
        ("email", "ann@x.org"),
        ("new-password", "password"),
    ];
    let cookie = visitor.post("/sign-up", &fields).cookie.unwrap();
    assert!(cookie.starts_with("session=ey"), "{cookie}");
    for part in [
        "; HttpOnly",
        "; SameSite=Lax",
        "; Path=/",
        "; Max-Age=2592000",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let fields = [
        ("username", "ANN"),
        ("email", "other@x.org"),
        ("new-password", "password"),
    ];
    let again = visitor.post("/sign-up", &fields);
    let text = again.of(422);
    assert!(
        text.contains("username has already been taken") && text.contains("value=\"other@x.org\""),
        "{text}"
    );
    assert!(!text.contains("value=\"password\""));
    let wrong = visitor.post(
        "/sign-in",
        &[("email", "ann@x.org"), ("password", "passwort")],
    );
    assert!(wrong.of(422).contains("email or password is wrong"));
    let page = visitor.post(
        "/sign-in",
        &[("email", "ann@x.org"), ("password", "password")],
    );
    let cookie = page.cookie.clone().unwrap();
    assert_eq!(page.leads(), "/");
    let ann = Visitor {
        cookie: Some(cookie),
        ..visitor
    };
    assert!(ann.get("/").of(200).contains("Sign out"));
    let out = ann.post("/sign-out", &[]).cookie.unwrap();
    assert!(
        out.starts_with("session=;") && out.contains("Max-Age=0"),
        "{out}"
    );
    server.end();
}

#[test]
fn forms_of_other_sites_are_refused() {
    let server = Server::start();
    let ann = Visitor::named(&server, "Ann");
    let host = server.address.to_string();
    let own = format!("http://{host}");
    let article = [
        ("title", "t"),
        ("description", "d"),
        ("body", "b"),
        ("tags", ""),
    ];
    for from in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "cross-site"), ("origin", &own)],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
    ] {
        ann.post_from(from, "/editor", &article).of(403);
        ann.post_from(from, "/sign-out", &[]).of(403);
    }
    assert_eq!(server.anyone().titles("/articles").1, 0);
    ann.post_from(&[("sec-fetch-site", "same-origin")], "/editor", &article)
        .leads();
    ann.post_from(
        &[("origin", &own)],
        "/editor",
        &[
            ("title", "u"),
            ("description", "d"),
            ("body", "b"),
            ("tags", ""),
        ],
    )
    .leads();
    // The API ignores the cookie.
    let cookie = ann.cookie.clone().unwrap();
    let answer = server
        .anyone()
        .send("GET", "/user", &[("cookie", &cookie)], "");
    answer.refused(401);
    server.end();
}

#[test]
fn what_only_users_can_do_leads_others_to_sign_in() {
    let server = Server::start();
    Visitor::named(&server, "Ann").publish("About me", "b", "");
    let visitor = Visitor::new(&server);
    for path in ["/editor", "/editor/about-me", "/settings", "/?feed=true"] {
        assert_eq!(visitor.get(path).leads(), "/sign-in", "{path}");
    }
    for path in [
        "/editor",
        "/editor/about-me",
        "/article/about-me/delete",
        "/article/about-me/favorite",
        "/article/about-me",
        "/profile/Ann/follow",
        "/settings",
    ] {
        assert_eq!(
            visitor.post(path, &[("on", "true")]).leads(),
            "/sign-in",
            "{path}"
        );
    }
    let expired = Visitor {
        cookie: Some("session=x".into()),
        ..visitor
    };
    assert!(expired.get("/").of(200).contains("Sign in"));
    server.end();
}

#[test]
fn all_text_of_users_is_escaped() {
    let server = Server::start();
    let ann = Visitor::named(&server, "Ann");
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;";
    let place = ann.publish(evil, evil, "<i>\"x");
    let fields = [
        ("username", "Ann"),
        ("email", "ann@x.org"),
        ("bio", evil),
        ("new-password", ""),
    ];
    assert_eq!(ann.post("/settings", &fields).leads(), "/profile/Ann");
    ann.post(&place, &[("body", evil)]).leads();
    let slug = place.strip_prefix("/article/").unwrap();
    let query = "%3Cscript%3E%22";
    for path in [
        "/".to_owned(),
        format!("/?q={query}"),
        format!("/?tag={query}"),
        place.clone(),
        format!("/editor/{slug}"),
        "/profile/Ann".to_owned(),
        "/settings".to_owned(),
        format!("/profile/{query}"),
    ] {
        let text = ann.get(&path).text;
        // The page's own script is the only one.
        assert_eq!(text.matches("<script").count(), 1, "{path}: {text}");
        assert!(
            !text.contains("<img") && !text.contains("<i>"),
            "{path}: {text}"
        );
        assert!(!text.contains("\"'>"), "{path}: {text}");
    }
    server.end();
}

#[test]
fn pages_load_nothing_from_elsewhere() {
    let server = Server::start();
    let ann = Visitor::named(&server, "Ann");
    ann.publish("About me", "b", "t");
    for path in [
        "/",
        "/article/about-me",
        "/editor",
        "/nothing",
        "/style.css",
        "/live.js",
        "/icon.svg",
    ] {
        let url = format!("http://{}{path}", server.address);
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let response = ureq::Agent::new_with_config(config.build())
            .get(url)
            .call()
            .unwrap();
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        let text = response.into_body().read_to_string().unwrap();
        let links = between(&text, "src=\"", "\"")
            .into_iter()
            .chain(between(&text, "href=\"", "\""));
        for link in links {
            assert!(
                link.starts_with('/') || link.starts_with('#'),
                "{path}: {link}"
            );
        }
    }
    server.end();
}

#[test]
fn lists_are_searched_filtered_and_paged() {
    let server = Server::start();
    let ann = Visitor::named(&server, "Ann");
    for number in 1..=23 {
        std::thread::sleep(std::time::Duration::from_millis(2));
        let tags = if number % 2 == 0 { "even, all" } else { "all" };
        ann.publish(&format!("Article {number}"), "b", tags);
    }
    ann.publish("100% \\E (sic", "b", "odd one");
    let visitor = Visitor::new(&server);
    let mut seen = Vec::new();
    let mut path = "/?tag=all".to_owned();
    let mut back = Vec::new();
    loop {
        let page = visitor.get(&path).of(200);
        seen.extend(titles(&page).into_iter().map(str::to_owned));
        back.push(path);
        match between(&page, "rel=\"next\" href=\"", "\"").first() {
            Some(next) => path = next.replace("&amp;", "&"),
            None => break,
        }
    }
    let expected: Vec<String> = (1..=23)
        .rev()
        .map(|number| format!("Article {number}"))
        .collect();
    assert_eq!((seen, back.len()), (expected, 3));
    let last = visitor.get(&back[2]).of(200);
    let newer = between(&last, "rel=\"prev\" href=\"", "\"")[0].replace("&amp;", "&");
    assert_eq!(
        titles(&visitor.get(&newer).of(200)),
        titles(&visitor.get(&back[1]).of(200))
    );

    for (query, found) in [
        (
            "q=2*+ARTICLE",
            vec![
                "Article 23",
                "Article 22",
                "Article 21",
                "Article 20",
                "Article 2",
            ],
        ),
        ("q=article+2", vec!["Article 2"]),
        (
            "q=article+2*&tag=even",
            vec!["Article 22", "Article 20", "Article 2"],
        ),
        ("q=(SIC", vec!["100% \\E (sic"]),
        ("q=%5CE", vec!["100% \\E (sic"]),
        ("q=100%25", vec!["100% \\E (sic"]),
        ("q=icle", vec![]),
        ("tag=odd%20one", vec!["100% \\E (sic"]),
        ("tag=nothing", vec![]),
    ] {
        assert_eq!(
            titles(&visitor.get(&format!("/?{query}")).of(200)),
            found,
            "{query}"
        );
    }
    // A cursor of another list leads to the start of this one.
    let position = &back[1][back[1].find("after=").unwrap()..];
    assert_eq!(visitor.get(&format!("/?q=x&{position}")).leads(), "/?q=x");
    visitor.get("/?after=nonsense").of(422);
    visitor.get("/nothing").of(404);
    visitor.get("/article/nothing").of(404);
    visitor.get("/profile/nothing").of(404);
    server.end();
}

#[test]
fn an_edit_conflict_shows_both_texts_and_can_be_resolved() {
    let server = Server::start();
    let ann = Visitor::named(&server, "Ann");
    ann.publish("About me", "First", "me");
    let form = ann.get("/editor/about-me").of(200);
    let revision = |page: &str| between(page, "name=\"revision\" value=\"", "\"")[0].to_owned();
    let seen = revision(&form);
    let user = server
        .runtime
        .block_on(server.db.user_named("Ann"))
        .unwrap();
    let token = conduit::auth::Auth::new(crate::harness::SECRET)
        .unwrap()
        .token(&user)
        .unwrap();
    let client = server.anyone().with(token);
    client
        .put(
            "/articles/about-me",
            json!({ "article": { "body": "By another client" } }),
        )
        .of(200);

    let mine = |revision: &str| {
        let fields = [
            ("title", "About me"),
            ("description", "d"),
            ("body", "Mine\r\nand more"),
            ("tags", "me, too"),
            ("revision", revision),
        ];
        ann.post("/editor/about-me", &fields)
    };
    let conflict = mine(&seen).of(412);
    assert!(
        conflict.contains("has been changed meanwhile"),
        "{conflict}"
    );
    assert!(
        conflict.contains("<dd class=\"body\">By another client</dd>"),
        "{conflict}"
    );
    assert!(
        conflict.contains(">\nMine\r\nand more</textarea>"),
        "{conflict}"
    );
    assert!(conflict.contains("value=\"me, too\""));
    assert_eq!(client.article("about-me")["body"], "By another client");
    assert_ne!(revision(&conflict), seen);
    assert_eq!(mine(&revision(&conflict)).leads(), "/article/about-me");
    let article = client.article("about-me");
    assert_eq!(
        (&article["body"], &article["tagList"]),
        (&json!("Mine\nand more"), &json!(["me", "too"]))
    );
    server.end();
}

#[test]
fn forms_that_are_refused_keep_what_was_written() {
    let server = Server::start();
    let ann = Visitor::named(&server, "Ann");
    let fields = [
        ("title", " "),
        ("description", "Kept"),
        ("body", "Kept too"),
        ("tags", "a,b"),
    ];
    let form = ann.post("/editor", &fields).of(422);
    assert!(
        form.contains("title is empty or malformed")
            && form.contains("value=\"Kept\"")
            && form.contains("Kept too</textarea>"),
        "{form}"
    );
    let place = ann.publish("About me", "b", "");
    let form = ann.post(&place, &[("body", "  ")]).of(422);
    assert!(form.contains("body is empty or malformed"), "{form}");
    let form = ann
        .post(
            "/editor/about-me",
            &[
                ("title", "x"),
                ("description", ""),
                ("body", "Kept"),
                ("tags", ""),
                ("revision", "1"),
            ],
        )
        .of(422);
    assert!(form.contains("Kept</textarea>"), "{form}");
    let form = ann
        .post(
            "/settings",
            &[
                ("username", "a b"),
                ("email", "ann@x.org"),
                ("bio", "Kept"),
                ("new-password", ""),
            ],
        )
        .of(422);
    assert!(
        form.contains("Kept</textarea>") && form.contains("username is"),
        "{form}"
    );
    ann.post("/editor", &[("title", "no other field")]).of(422);
    server.end();
}

#[test]
fn a_new_password_signs_out_all_other_browsers() {
    let server = Server::start();
    let ann = Visitor::named(&server, "Ann");
    let fields = [
        ("username", "Ann"),
        ("email", "ann@x.org"),
        ("bio", ""),
        ("new-password", "another one"),
    ];
    let saved = ann.post("/settings", &fields);
    let cookie = saved.cookie.clone().unwrap();
    assert_eq!(saved.leads(), "/profile/Ann");
    assert_eq!(ann.get("/settings").leads(), "/sign-in");
    let here = Visitor {
        cookie: Some(cookie[..cookie.find(';').unwrap()].to_owned()),
        ..ann
    };
    here.get("/settings").of(200);
    server.end();
}

#[test]
fn too_many_attempts_are_told_in_the_form() {
    let server = Server::start_as(Settings {
        limits: Limits {
            account: 2,
            address: 0,
        },
        ..Settings::default()
    });
    let visitor = Visitor::named(&server, "Ann");
    let sign_in = |password| {
        let fields = [("email", "ANN@x.org"), ("password", password)];
        visitor.post("/sign-in", &fields)
    };
    let form = sign_in("wrong one").of(422);
    assert!(form.contains("email or password is wrong"), "{form}");
    let form = sign_in("password").of(429);
    assert!(form.contains("too many attempts"), "{form}");
    assert!(form.contains("value=\"ANN@x.org\""), "{form}");
    server.end();
}

#[test]
fn marks_follow_the_forms_of_a_page() {
    let server = Server::start();
    let (ann, ben) = (
        Visitor::named(&server, "Ann"),
        Visitor::named(&server, "Ben"),
    );
    let place = ann.publish("About me", "b", "");
    let mark = |path: &str, on: &str| ben.post(path, &[("on", on)]).leads();
    for _ in 0..2 {
        assert_eq!(mark(&format!("{place}/favorite"), "true"), place);
        assert_eq!(mark("/profile/ann/follow", "true"), "/profile/Ann");
    }
    assert!(ben.get(&place).of(200).contains("aria-pressed=\"true\""));
    assert!(ben.get("/profile/Ann").of(200).contains("1 follower "));
    assert_eq!(titles(&ben.get("/?feed=true").of(200)), ["About me"]);
    assert!(ann.get(&place).of(200).contains("aria-pressed=\"false\""));
    mark(&format!("{place}/favorite"), "false");
    mark("/profile/Ann/follow", "false");
    assert_eq!(titles(&ben.get("/?feed=true").of(200)), [] as [&str; 0]);
    let comment = ben.post(&place, &[("body", "Hi\r\nthere")]).leads();
    assert_eq!(comment, format!("{place}#comment-1"));
    let comments = server.anyone().get("/articles/about-me/comments").of(200);
    assert_eq!(comments["comments"][0]["body"], "Hi\nthere");
    ann.post(&format!("{place}/comments/1/delete"), &[]).of(403);
    assert_eq!(
        ben.post(&format!("{place}/comments/1/delete"), &[]).leads(),
        place
    );
    ben.post(&format!("{place}/delete"), &[]).of(403);
    ben.get("/editor/about-me").of(403);
    assert_eq!(ann.post(&format!("{place}/delete"), &[]).leads(), "/");
    ann.get(&place).of(404);
    server.end();
}
