//! Drives the pages in a real browser, without a window: `.ci/browser` installs one and runs this.

#[allow(
    dead_code,
    reason = "the tests of the page of odm-server use all of it"
)]
mod chrome;
#[path = "../http/harness.rs"]
#[allow(dead_code, reason = "the tests over HTTP use all of it")]
mod harness;

use chrome::{Browser, Look};
use conduit::auth::Auth;
use harness::{Client, SECRET, Server};
use serde_json::{Value, json};

const WIDE: u32 = 1180;
const NARROW: u32 = 390;

/// A server with articles by Ben, and a browser that looks at it.
fn start() -> (Server, Browser, Client) {
    let server = Server::start();
    let ben = server.user("Ben");
    for number in 1..=14 {
        let topic = ["rivers", "maps", "clocks"][number % 3];
        ben.publish(&format!("Part {number} of {topic}"), &[topic, "series"]);
    }
    let browser = server.runtime.block_on(Browser::start(server.address));
    (server, browser, ben)
}

/// A client of the API with the token of a user who has signed up in the browser.
fn client_of(server: &Server, name: &str) -> Client {
    let user = server.runtime.block_on(server.db.user_named(name)).unwrap();
    let token = Auth::new(SECRET).unwrap().token(&user).unwrap();
    server.anyone().with(token)
}

async fn sign_up(browser: &Browser, name: &str) {
    browser.open("/sign-up").await;
    browser.fill("username", name).await;
    browser.fill("email", &format!("{name}@x.org")).await;
    browser.fill("new-password", "password").await;
    browser.click("form.account button").await;
    browser.sees(".top nav", name).await;
}

async fn write(browser: &Browser, title: &str, body: &str) {
    browser.click("a[href='/editor']").await;
    browser.fill("title", title).await;
    browser.fill("description", "What it is about").await;
    browser.fill("body", body).await;
    browser.fill("tags", "me, series").await;
    browser.click("form.editor button").await;
    browser.sees("h1", title).await;
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn a_visitor_signs_up_writes_searches_pages_and_comments() {
    let (server, browser, _) = start();
    server.runtime.block_on(async {
        sign_up(&browser, "Ann").await;
        write(
            &browser,
            "About <me> & \"you\"",
            "One line.\n\nAnother one.",
        )
        .await;
        assert_eq!(
            browser.texts(".body p").await,
            ["One line.", "Another one."]
        );
        assert_eq!(browser.texts(".whole .tags a").await, ["me", "series"]);

        browser.open("/").await;
        let first = browser.texts(".card h2").await;
        assert_eq!(
            (first.len(), first[0].as_str()),
            (10, "About <me> & \"you\"")
        );
        browser.click("a[rel=next]").await;
        browser.sees(".card h2", "Part 5 of clocks").await;
        assert_eq!(browser.texts(".card h2").await.len(), 5);
        browser.click("a[rel=prev]").await;
        browser.sees(".card h2", "About <me>").await;
        assert_eq!(browser.texts(".card h2").await, first);

        browser.fill("q", "OF RIVERS").await;
        browser.click(".search button").await;
        browser.sees("h1", "with “OF RIVERS”").await;
        assert_eq!(
            browser.texts(".card h2").await,
            [12, 9, 6, 3].map(|number| format!("Part {number} of rivers"))
        );
        browser.open("/").await;
        browser.click("#tags a[href='/?tag=maps']").await;
        browser.sees("h1", "tagged “maps”").await;
        assert_eq!(browser.texts(".card h2").await.len(), 5);

        browser.click(".card h2 a").await;
        browser.sees("h1", "Part 13 of maps").await;
        browser.fill("body", "Thank you!").await;
        browser.click(".whole + section form button").await;
        browser.sees(".comment p", "Thank you!").await;
        browser.click("#favorite").await;
        browser
            .sees("#favorite[aria-pressed=true]", "★ Favorite 1")
            .await;
        browser.click(".comment button").await;
        browser.sees("#comments", "There are none yet.").await;
        browser.click(".whole .by a").await;
        browser.click("#follow").await;
        browser.sees("#profile", "1 follower").await;
        browser.open("/?feed=true").await;
        assert_eq!(browser.texts(".card h2").await.len(), 10);
        assert_eq!(browser.console().await, [] as [Value; 0]);
    });
    server.runtime.block_on(browser.close());
    server.end();
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn what_other_clients_write_is_shown_at_once() {
    let (server, browser, ben) = start();
    server.runtime.block_on(async {
        sign_up(&browser, "Ann").await;
        ben.publish("News of the day", &["news"]);
        browser.sees(".card h2", "News of the day").await;
        browser.sees("#tags", "news 1").await;
        browser
            .sees("#notice", "This page has just been updated.")
            .await;

        browser.open("/article/news-of-the-day").await;
        browser.fill("body", "Half a sent").await;
        ben.comment("news-of-the-day", "First!");
        browser.sees("#comments", "First!").await;
        // The visitor's draft stays, and so does the position of the cursor.
        browser.keys("ence").await;
        assert_eq!(browser.value("body").await, "Half a sentence");
        ben.post("/articles/news-of-the-day/favorite", json!({}))
            .of(200);
        browser.sees("#favorite", "☆ Favorite 1").await;
        ben.put("/user", json!({ "user": { "username": "Benjamin" } }))
            .of(200);
        browser.sees(".whole .by", "Benjamin").await;
        ben.put(
            "/articles/news-of-the-day",
            json!({ "article": { "title": "Old news" } }),
        )
        .of(200);
        browser.sees("#article h1", "Old news").await;
        assert_eq!(browser.path().await, "/article/old-news");
        browser.click(".whole + section form button").await;
        browser.sees("#comments", "Half a sentence").await;
        ben.delete("/articles/old-news").of(204);
        browser
            .sees("#notice", "This article has been deleted.")
            .await;
        assert_eq!(browser.console().await, [] as [Value; 0]);
    });
    server.runtime.block_on(browser.close());
    server.end();
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn an_edit_conflict_keeps_both_texts() {
    let (server, browser, _) = start();
    let ann = server.runtime.block_on(async {
        sign_up(&browser, "Ann").await;
        write(&browser, "About me", "First").await;
        browser.click("a[href='/editor/about-me']").await;
        browser.fill("body", "Mine").await;
        // A favorite does not change the text.
        tokio::task::block_in_place(|| client_of(&server, "Ann"))
    });
    ann.post("/articles/about-me/favorite", json!({})).of(200);
    server.runtime.block_on(async {
        assert_eq!(browser.texts("#notice").await, [""]);
        let change = json!({ "article": { "body": "By another client" } });
        ann.put("/articles/about-me", change).of(200);
        browser
            .sees("#notice", "This article has been changed meanwhile.")
            .await;
        browser.click("form.editor button").await;
        browser.sees("#conflict dd.body", "By another client").await;
        assert_eq!(browser.value("body").await, "Mine");
        shots(&browser, "conflict").await;
        // Chromium logs each answer from 400 on; this one is expected.
        let console = browser.console().await;
        assert!(
            console.iter().all(|entry| entry["source"] == "network"
                && entry["message"].as_str().unwrap().contains("412")),
            "{console:?}"
        );
        browser.fill("body", "Mine, and by another client").await;
        browser.click("form.editor button").await;
        browser
            .sees("#article .body", "Mine, and by another client")
            .await;
        assert_eq!(browser.console().await, [] as [Value; 0]);
    });
    server.runtime.block_on(browser.close());
    server.end();
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn the_keyboard_alone_leads_from_signing_in_to_a_comment() {
    let (server, browser, _) = start();
    server.user("Ann");
    server.runtime.block_on(async {
        browser.open("/").await;
        browser.keys(chrome::TAB).await;
        assert_eq!(browser.focused().await, "Skip to the content");
        browser.keys(chrome::ENTER).await;
        // The first link after the link to the content.
        browser.tab_to("Part 14 of clocks").await;
        browser.keys(chrome::ENTER).await;
        browser.sees("h1", "Part 14 of clocks").await;
        browser.tab_to("Sign in").await;
        browser.keys(chrome::ENTER).await;
        browser.sees("h1", "Sign in").await;
        browser.tab_to("E-mail").await;
        browser.keys("ann@x.org").await;
        browser.tab_to("Password").await;
        browser.keys("password").await;
        browser.keys(chrome::ENTER).await;
        browser.sees(".top nav", "Ann").await;
        browser
            .tab_to("Search titles and descriptions by words")
            .await;
        browser.keys("part 14").await;
        browser.keys(chrome::ENTER).await;
        browser.sees("h1", "with “part 14”").await;
        browser.tab_to("Part 14 of clocks").await;
        browser.keys(chrome::ENTER).await;
        browser.tab_to("☆ Favorite 0").await;
        browser.keys(chrome::ENTER).await;
        browser
            .sees("#favorite[aria-pressed=true]", "★ Favorite 1")
            .await;
        browser.tab_to("Your comment").await;
        browser.keys("By keyboard").await;
        browser.tab_to("Send").await;
        browser.keys(chrome::ENTER).await;
        browser.sees(".comment p", "By keyboard").await;
        assert_eq!(browser.console().await, [] as [Value; 0]);
    });
    server.runtime.block_on(browser.close());
    server.end();
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn pages_fit_into_wide_and_narrow_windows_in_light_and_dark() {
    let (server, browser, ben) = start();
    ben.comment(
        "part-14-of-clocks",
        "A comment that says something, at some length, about clocks and other things.",
    );
    server.runtime.block_on(async {
        browser.open("/sign-in").await;
        shots(&browser, "sign-in").await;
        sign_up(&browser, "Ann").await;
        for (path, name) in [
            ("/", "list"),
            ("/article/part-14-of-clocks", "article"),
            ("/editor", "editor"),
            ("/settings", "settings"),
            ("/profile/Ben", "profile"),
            ("/?q=nothing", "empty"),
        ] {
            browser.open(path).await;
            shots(&browser, name).await;
        }
        assert_eq!(browser.console().await, [] as [Value; 0]);
    });
    server.runtime.block_on(browser.close());
    server.end();
}

/// Takes screenshots of the page that is open, and checks that all of it fits and can be read.
async fn shots(browser: &Browser, name: &str) {
    for (width, size) in [(WIDE, "wide"), (NARROW, "narrow")] {
        for look in [Look::Light, Look::Dark] {
            browser.look(width, look).await;
            let (page, window) = browser.widths().await;
            assert!(
                page <= window,
                "{name} is {page} wide in a window of {window}"
            );
            let contrast = browser.least_contrast().await;
            assert!(
                contrast >= 4.5,
                "{name}, {look:?}: text with a contrast of {contrast}"
            );
            browser
                .shot(&format!("{name}-{size}-{}", look.name()))
                .await;
        }
    }
    browser.look(WIDE, Look::Light).await;
}
