use std::net::{Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use odm::{
    Collections, Embedded,
    bson::doc,
    derive::examples::{Shop, example},
};
use odm_server::{Right, Server, Users, http::Page};
use serde_json::json;

use crate::client::{Served, find};

/// The header of a name and a password.
fn basic(name: &str, password: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let given = format!("{name}:{password}");
    let mut encoded = "Basic ".to_owned();
    for three in given.as_bytes().chunks(3) {
        let number = (0..3).fold(0, |number, at| {
            number << 8 | u32::from(three.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize];
            encoded.push(if at <= three.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    encoded
}

async fn secured(shop: &Shop) -> (Page, Users) {
    let collections = Collections::of(shop);
    let users = Users::of(&collections);
    let builder = Server::builder()
        .database("shop", collections)
        .require_users();
    (builder.page().await.unwrap(), users)
}

#[test]
fn users_have_their_rights_and_nobody_else_has_any() {
    example(async |shop| {
        let (page, users) = secured(&shop).await;
        users
            .create("ann", "pass:word ß", [Right::read("parts")])
            .await?;
        let served = Served::page(page.writable()).await;
        let ann = basic("ann", "pass:word ß");
        let ann = [("authorization", ann.as_str())];

        let nobody = served.command(find("parts")).await;
        assert_eq!((nobody.status, nobody.code()), (401, 18));
        assert!(nobody.head.contains("www-authenticate: basic realm="));
        for path in ["/", "/app.js"] {
            assert_eq!(served.get(path).await.status, 401);
            assert_eq!(
                served.send(&format!("GET {path}"), &ann, b"").await.status,
                200
            );
        }
        let found = served.command_with(&ann, find("parts")).await.json();
        assert_eq!(found["cursor"]["firstBatch"].as_array().unwrap().len(), 3);
        assert_eq!(served.command_with(&ann, find("reviews")).await.code(), 13);
        let insert = doc! { "insert": "parts", "documents": [{ "_id": 1 }], "$db": "shop" };
        assert_eq!(served.command_with(&ann, insert).await.code(), 13);

        // The relations are those of what they may read.
        let headers = [ann[0], ("content-type", "application/json")];
        let relations = served
            .send("POST /api/relations", &headers, br#"{"$db":"shop"}"#)
            .await
            .json();
        assert_eq!(relations["collections"], json!([{ "name": "parts" }]));
        assert_eq!(
            (&relations["references"], &relations["derived"]),
            (&json!([]), &json!([]))
        );

        users.set_rights("ann", [Right::read("reviews")]).await?;
        assert_eq!(served.command_with(&ann, find("parts")).await.code(), 13);
        // A changed password holds for the next request, and so does a removal.
        users.set_password("ann", "other").await?;
        assert_eq!(served.command_with(&ann, find("reviews")).await.status, 401);
        let other = basic("ann", "other");
        let other = [("authorization", other.as_str())];
        assert_eq!(
            served.command_with(&other, find("reviews")).await.status,
            200
        );
        users.remove("ann").await?;
        assert_eq!(
            served.command_with(&other, find("reviews")).await.status,
            401
        );
        Ok(())
    });
}

#[test]
fn attempts_are_bounded_and_known_passwords_go_on() {
    example(async |shop| {
        let (page, users) = secured(&shop).await;
        users.create("ann", "right", [Right::read_all()]).await?;
        let served = Served::page(page).await;
        let log_in = async |name: &str, password: &str| {
            let header = basic(name, password);
            served
                .command_with(&[("authorization", header.as_str())], find("parts"))
                .await
        };
        assert_eq!(log_in("ann", "right").await.status, 200);
        for number in 0..5 {
            let wrong = log_in(["ann", "nobody"][number % 2], "wrong").await;
            assert_eq!((wrong.status, wrong.code()), (401, 18));
        }
        assert_eq!(log_in("ann", "wrong").await.status, 429);
        assert_eq!(log_in("ann", "right").await.status, 200);
        let malformed = served
            .command_with(&[("authorization", "Basic ???")], find("parts"))
            .await;
        assert_eq!(malformed.status, 401);
        Ok(())
    });
}

#[test]
fn several_databases_are_named_with_their_users_and_a_page_of_another_site_is_refused() {
    example(async |shop| {
        let (collections, other) = (
            Collections::of(&shop),
            Collections::open(Embedded::memory().await?).await?,
        );
        Users::of(&collections)
            .create("ann", "secret", [Right::read_all()])
            .await?;
        let builder = Server::builder()
            .database("shop", collections)
            .database("other", other);
        let served = Served::page(builder.require_users().page().await?).await;
        let whole = basic("shop/ann", "secret");
        let whole = ("authorization", whole.as_str());
        assert_eq!(
            served.command_with(&[whole], find("parts")).await.status,
            200
        );
        for name in ["ann", "other/ann"] {
            let given = basic(name, "secret");
            let answer = served
                .command_with(&[("authorization", given.as_str())], find("parts"))
                .await;
            assert_eq!(answer.status, 401, "{name}");
        }
        // The browser would send the password by itself.
        let forged = served
            .command_with(&[whole, ("sec-fetch-site", "cross-site")], find("parts"))
            .await;
        assert_eq!(forged.status, 403);
        Ok(())
    });
}

#[test]
fn users_see_the_slow_commands_of_their_database() {
    example(async |shop| {
        let (collections, other) = (
            Collections::of(&shop),
            Collections::open(Embedded::memory().await?).await?,
        );
        Users::of(&collections)
            .create("ann", "secret", [Right::read_all()])
            .await?;
        Users::of(&collections)
            .create("ben", "secret", [Right::read("parts")])
            .await?;
        Users::of(&other)
            .create("cy", "secret", [Right::read_all()])
            .await?;
        let builder = Server::builder()
            .database("shop", collections)
            .database("other", other);
        let builder = builder
            .require_users()
            .slow_operation(std::time::Duration::ZERO);
        let served = Served::page(builder.page().await?).await;
        let run = async |name: &str, command| {
            let given = basic(name, "secret");
            served
                .command_with(&[("authorization", given.as_str())], command)
                .await
        };
        assert_eq!(run("shop/ann", find("parts")).await.status, 200);
        let log = || doc! { "getLog": "global", "$db": "admin" };
        assert!(run("shop/ann", log()).await.body.contains("shop.parts"));
        assert!(!run("other/cy", log()).await.body.contains("shop.parts"));
        assert_eq!(run("shop/ben", log()).await.code(), 13);
        Ok(())
    });
}

#[test]
fn users_beyond_the_machine_come_by_tls() {
    example(async |shop| {
        let far = ConnectInfo(SocketAddr::from((Ipv4Addr::new(10, 0, 0, 1), 1)));
        for (is_behind_tls, status) in [(false, 403), (true, 200)] {
            let (page, users) = secured(&shop).await;
            if !is_behind_tls {
                users.create("ann", "secret", [Right::read_all()]).await?;
            }
            let page = if is_behind_tls {
                page.behind_tls()
            } else {
                page
            };
            let served = Served::router(page.router().layer(axum::Extension(far))).await;
            let ann = basic("ann", "secret");
            let headers = [
                ("authorization", ann.as_str()),
                ("host", "data.example.com"),
            ];
            assert_eq!(
                served.command_with(&headers, find("parts")).await.status,
                status
            );
        }
        // Without users it says nothing.
        let builder = Server::builder().database("shop", Collections::of(&shop));
        let router = builder.page().await?.behind_tls().router();
        let served = Served::router(router.layer(axum::Extension(far))).await;
        assert_eq!(served.command(find("parts")).await.status, 403);
        Ok(())
    });
}
