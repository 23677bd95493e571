//! Drives the page in a real browser, without a window: `.ci/browser` installs one and runs this.

mod chests;
#[path = "../../../examples/conduit/tests/browser/chrome.rs"]
#[allow(dead_code, reason = "the tests of conduit use all of it")]
mod chrome;

use std::{net::SocketAddr, time::Duration};

use chrome::{Browser, ENTER, Look};
use odm::{
    Collections, Database, Embedded,
    bson::{doc, rawdoc},
    derive::examples::{Part, Review, Shop, example},
    mql::{Filter, Update},
    prelude::*,
    store::contract::{CollectionWrites, DocumentWrite, Store, TransactionOptions},
};
use odm_server::{Right, Server, Users, http::Page};
use serde_json::Value;

const WIDE: u32 = 1280;
const NARROW: u32 = 390;
const DOWN: &str = "\u{e015}";
const ESCAPE: &str = "\u{e00c}";
const BACKSPACE: &str = "\u{e003}";

/// Serves the page of a shop, and starts a browser that looks at it.
async fn start(shop: &Shop) -> Browser {
    let builder = Server::builder().database("shop", Collections::of(shop));
    browse(
        builder
            .slow_operation(Duration::from_micros(1))
            .page()
            .await
            .unwrap(),
    )
    .await
}

async fn browse(page: Page) -> Browser {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().nest("/data", page.router());
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    Browser::start(address).await
}

/// Checks that nothing was refused, missing or wrong, and ends the browser.
async fn end(browser: Browser) {
    assert_eq!(browser.console().await, [] as [Value; 0]);
    browser.close().await;
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn references_lead_to_documents_and_back_and_derived_fields_to_their_sources() {
    example(async |shop| {
        let browser = start(&shop).await;
        browser.open("/data").await;
        browser.sees("#collections a", "warranties1").await;
        browser.click("#collections a[href*='in=warranties']").await;
        browser.sees("main td", "shelf").await;
        browser.click("main a[data-row]").await;

        // A copy leads to the very document that it comes from.
        browser
            .sees(
                "[data-path=product_name] .source",
                "copied from products.name, product = 1",
            )
            .await;
        browser.click("[data-path=product_name] .source a").await;
        browser.sees("h1", "products 1").await;
        assert_eq!(browser.texts("[data-path=version] .type").await, ["int64"]);
        browser
            .sees("[data-path=review_count] .source", "count of reviews")
            .await;
        browser
            .sees("[data-path=reviews] .source", "subset of reviews")
            .await;

        // A list of references, and who refers to this one.
        assert_eq!(
            browser.texts("[data-path=parts] .value a").await,
            ["1", "2"]
        );
        browser.sees(".referrers li", "reviews.product 3").await;
        browser
            .sees(".referrers li", "orders.lines.product 2")
            .await;
        browser.sees(".referrers li", "manuals.product 1").await;
        browser
            .click("[data-path=parts] .value a:nth-of-type(2)")
            .await;
        browser.sees("h1", "parts 2").await;
        browser.sees(".referrers li", "products.parts 2").await;

        // A count leads to what is counted.
        browser
            .open("/data#document?db=shop&in=products&id=1")
            .await;
        browser.click("[data-path=review_count] .source a").await;
        browser.sees("#range", "1–3 of 3 documents").await;
        assert_eq!(
            browser.value("filter").await,
            r#"{"product":{"$numberLong":"1"}}"#
        );
        browser
            .open("/data#document?db=shop&in=products&id=77")
            .await;
        browser
            .sees("main", "There is no such document in products.")
            .await;
        end(browser).await;
        Ok(())
    });
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn a_copy_in_a_list_leads_to_the_source_of_its_element() {
    example(async |_| {
        let chests = chests::filled().await?;
        let builder = Server::builder().database("chests", Collections::of(&chests));
        let browser = browse(builder.page().await?).await;
        browser
            .open("/data#document?db=chests&in=chests&id=1")
            .await;
        let copy = "[data-path='slots.tool_name'] .source";
        browser
            .sees(copy, "copied from tools.name, slots.tool = 1")
            .await;
        browser
            .sees(copy, "copied from tools.name, slots.tool = 2")
            .await;
        browser
            .sees("[data-path=size] .source", "computed from slots")
            .await;
        browser.click(&format!("{copy} a[href*='%222%22']")).await;
        browser.sees("h1", "tools 2").await;
        browser.sees("[data-path=name] .value", "saw").await;
        browser
            .sees("[data-path=most] .source", "greatest of uses.minutes")
            .await;
        // Of the two uses one counts for the sum.
        browser
            .sees(
                "[data-path=total] .source",
                "sum over uses.minutes where { minutes: { $gte: 10 } }",
            )
            .await;
        browser.click("[data-path=total] .source a").await;
        browser.sees("#range", "of 1 document").await;
        browser.sees("h1", "uses").await;
        browser.open("/data#diagram?db=chests").await;
        browser.sees(".diagram", "slots.tool").await;
        shots(&browser, "chests").await;
        end(browser).await;
        Ok(())
    });
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn documents_are_filtered_sorted_paged_and_explained() {
    example(async |shop| {
        let many = (100..160).map(|id| Review {
            id,
            product: Ref::new(1),
            stars: 2,
            text: format!("number {id}"),
            published: "2026-05-01".parse().unwrap(),
        });
        shop.reviews.insert_many(many).await?;
        let browser = start(&shop).await;
        browser.open("/data#documents?db=shop&in=reviews").await;
        browser.sees("#range", "1–25 of 64 documents").await;
        browser.click("a[rel=next]").await;
        browser.sees("#range", "26–50 of 64 documents").await;
        browser.fill("filter", "stars>=4 product=1").await;
        browser.fill("sort", "-stars").await;
        browser.fill("projection", "stars text").await;
        browser.keys(ENTER).await;
        browser.sees("#range", "1–2 of 2 documents").await;
        assert_eq!(
            browser.texts("tbody tr td:last-child").await,
            ["Solid", "Good"]
        );
        assert_eq!(browser.texts("thead th").await, ["_id", "stars", "text"]);

        // The same search again shows what is there now.
        let late = Review {
            id: 200,
            product: Ref::new(1),
            stars: 5,
            text: "Late".to_owned(),
            published: "2026-06-01".parse().unwrap(),
        };
        shop.reviews.insert(late).await?;
        browser.click("button.first").await;
        browser.sees("#range", "1–3 of 3 documents").await;

        // The address has all of it.
        browser
            .open("/data#documents?db=shop&in=parts&filter={qty:{$gt:50}}&sort=-qty")
            .await;
        browser.sees("#range", "1–2 of 2 documents").await;
        assert_eq!(browser.texts("tbody th").await, ["3", "1"]);
        browser.click("button[value=explain]").await;
        browser.sees(".explain", "COLLSCAN").await;
        browser.fill("filter", "name=nut").await;
        browser.click("button[value=explain]").await;
        browser.sees(".explain li", "IXSCAN").await;

        // Mistakes are told.
        browser.fill("filter", "{ broken").await;
        browser.click("button.first").await;
        browser.sees("[role=alert]", "expected at character").await;
        browser.fill("filter", "{ $wrong: 1 }").await;
        browser.click("button.first").await;
        browser.sees("[role=alert]", "$wrong").await;
        end(browser).await;
        Ok(())
    });
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn a_user_sees_what_they_may_read() {
    example(async |shop| {
        let collections = Collections::of(&shop);
        let rights = [Right::read("parts"), Right::read("products")];
        Users::of(&collections)
            .create("ann", "correct horse", rights)
            .await?;
        let builder = Server::builder()
            .database("shop", collections)
            .require_users();
        let browser = browse(builder.page().await?).await;
        browser.open_as("ann", "correct horse", "/data").await;
        browser.sees("#collections a", "products3").await;
        browser.sees(".diagram", "parts → parts").await;
        assert_eq!(
            browser.texts("#collections a").await,
            ["parts3", "products3"]
        );
        browser.click("#collections a[href*='in=parts']").await;
        browser.sees("#range", "of 3 documents").await;
        browser.open("/data#documents?db=shop&in=reviews").await;
        browser.sees("[role=alert]", "not authorized").await;
        end(browser).await;
        Ok(())
    });
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn data_is_shown_and_never_run() {
    example(async |shop| {
        let attack =
            "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";
        let notes = Collections::of(&shop).collection("notes");
        let mut evil = rawdoc! { "_id": attack, "text": attack, "big": i64::MAX, "list": [attack] };
        evil.append(odm::bson::raw::CString::try_from(attack).unwrap(), attack);
        evil.append(odm::bson::raw::cstr!("__proto__"), 1);
        evil.append(odm::bson::raw::cstr!("2"), 1.0);
        evil.append(
            odm::bson::raw::cstr!("1"),
            odm::bson::DateTime::from_millis(0),
        );
        notes.insert([evil]).await?;
        let browser = start(&shop).await;
        browser.open("/data#documents?db=shop&in=notes").await;
        browser.sees("tbody th", "<img src=x").await;
        browser.click("main a[data-row]").await;
        browser.sees("h1", "<img src=x").await;
        browser
            .sees("[data-path=big] .value", "9223372036854775807")
            .await;
        browser.sees("pre", "<img src=x").await;
        // The fields are in the order in which they are stored.
        let names = browser.texts(".field:not(:has(.index)) > .name").await;
        assert_eq!(
            names,
            ["_id", "text", "big", "list", attack, "__proto__", "2", "1"]
        );
        browser.sees(".field .value", "1970-01-01T00:00:00Z").await;
        assert_eq!(browser.texts("title").await, ["notes · shop · odm"]);
        end(browser).await;
        Ok(())
    });
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn an_audit_finds_a_fault_and_changes_are_seen_as_they_happen() {
    example(async |_| {
        let store = Embedded::memory().await?;
        let shop = Shop::open(store.clone()).await?;
        shop.parts.insert(part(1, "bolt")).await?;
        let browser = start(&shop).await;
        browser.open("/data#audit?db=shop").await;
        browser.sees("button#audit", "Audit").await;
        browser.click("button#audit").await;
        browser
            .sees("#audited", "1 document audited: no findings.")
            .await;

        // A quantity that is no number, which only a write past the library leaves.
        let mut beneath = store.begin(TransactionOptions::default()).await?;
        let wrong =
            rawdoc! { "_id": 2_i64, "name": "nut", "qty": "many", "price": 1.5, "tags": [] };
        let batch = CollectionWrites {
            collection: "parts",
            writes: vec![DocumentWrite::Insert(&wrong)],
        };
        beneath.apply(&[batch]).await?;
        beneath.commit().await?;
        browser.click("button#audit").await;
        browser
            .sees("#audited", "2 documents audited: 1 finding.")
            .await;
        browser.sees(".findings li", "`qty` must be").await;
        shots(&browser, "audit").await;
        browser.click(".findings a").await;
        browser.sees("h1", "parts 2").await;
        browser.sees("[data-path=qty] .type", "string").await;

        browser.open("/data#changes?db=shop&in=parts").await;
        browser.sees("#watching", "Waiting for changes.").await;
        let parts = Collections::of(&shop).collection("parts");
        let update = Update::parse(&doc! { "$set": { "qty": 7_i64 } }, &[])?;
        parts
            .update(Filter::parse(&doc! { "_id": 1_i64 })?, update)
            .await?;
        browser.sees("tbody tr", "qty: 7").await;
        browser.sees("tbody .operation", "update").await;
        browser.click("tbody a").await;
        browser.sees("h1", "parts 1").await;
        browser.sees("[data-path=qty]", "7").await;
        end(browser).await;
        Ok(())
    });
}

fn part(id: i64, name: &str) -> Part {
    Part {
        id,
        name: name.to_owned(),
        qty: 1,
        price: 1.0,
        tags: Vec::new(),
        note: None,
    }
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn the_keyboard_alone_leads_from_the_list_to_a_source() {
    example(async |shop| {
        let browser = start(&shop).await;
        browser.open("/data#documents?db=shop&in=parts").await;
        browser.sees("#range", "of 3 documents").await;
        browser.keys("/").await;
        assert_eq!(browser.focused().await, "Filter");
        browser.keys("name=nut").await;
        browser.keys(ENTER).await;
        browser.sees("#range", "of 1 document").await;
        assert_eq!(browser.focused().await, "Filter");
        for _ in 0.."name=nut".len() {
            browser.keys(BACKSPACE).await;
        }
        browser.keys(ENTER).await;
        browser.sees("#range", "of 3 documents").await;
        browser.keys(ESCAPE).await;
        browser.tab_to("1").await;
        browser.keys(DOWN).await;
        assert_eq!(browser.focused().await, "2");
        browser.keys(ENTER).await;
        browser.sees("h1", "parts 2").await;
        browser.sees(".referrers", "products.parts 2").await;
        browser.tab_to("products.parts").await;
        browser.keys(ENTER).await;
        browser.sees("#range", "of 2 documents").await;
        browser
            .open("/data#document?db=shop&in=products&id=1")
            .await;
        browser.sees("h1", "products 1").await;
        browser.sees(".referrers", "reviews.product").await;
        browser.keys(ESCAPE).await;
        browser.sees("#range", "of 3 documents").await;
        end(browser).await;
        Ok(())
    });
}

#[test]
#[ignore = "needs chromium and chromedriver: .ci/browser runs it"]
fn views_fit_into_wide_and_narrow_windows_in_light_and_dark() {
    example(async |shop| {
        let browser = start(&shop).await;
        for (address, selector, text, name) in [
            (
                "documents?db=shop&in=products",
                "#range",
                "of 3",
                "documents",
            ),
            (
                "documents?db=shop&in=parts&filter=name=nut&explain=1",
                ".explain",
                "IXSCAN",
                "explain",
            ),
            (
                "document?db=shop&in=products&id=1",
                ".referrers",
                "manuals.product 1",
                "document",
            ),
            (
                "document?db=shop&in=warranties&id=1",
                "[data-path=product_name]",
                "copied",
                "copy",
            ),
            ("diagram?db=shop", ".diagram", "reviews", "relations"),
            ("sizes?db=shop", "tbody", "reviews", "sizes"),
            (
                "operations?db=shop",
                "tbody",
                "listCollections",
                "operations",
            ),
            ("changes?db=shop", "#watching", "Waiting", "changes"),
            ("command?db=shop", "main", "A command of MongoDB", "command"),
            (
                "documents?db=shop&in=parts&filter=x",
                "[role=alert]",
                "expected",
                "mistake",
            ),
        ] {
            browser.open(&format!("/data#{address}")).await;
            browser.sees(selector, text).await;
            shots(&browser, name).await;
        }
        browser.open("/data#command?db=shop").await;
        browser
            .fill("command", "{ \"insert\": \"notes\", \"documents\": [{}] }")
            .await;
        browser.click("main button").await;
        browser
            .sees("#answer", "'insert' is refused: this page only reads")
            .await;
        end(browser).await;
        Ok(())
    });
}

/// Takes screenshots of the view that is open, and checks that all of it fits and can be read.
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
                .shot(&format!("page-{name}-{size}-{}", look.name()))
                .await;
        }
    }
    browser.look(WIDE, Look::Light).await;
}
