//! The page and the commands over HTTP, by requests as a browser sends them, and as it never would.

mod client;
mod users;

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use axum::{Router, extract::ConnectInfo};
use client::{Served, find};
use odm::{
    Collections,
    bson::doc,
    derive::examples::{Shop, example},
};
use odm_server::{Server, http::Page};
use serde_json::json;

async fn page(shop: &Shop) -> Page {
    let builder = Server::builder().database("shop", Collections::of(shop));
    builder.page().await.unwrap()
}

#[test]
fn a_command_is_answered_with_the_types_of_its_values() {
    example(async |shop| {
        let served = Served::page(page(&shop).await).await;
        let command = doc! { "find": "parts", "filter": { "name": "nut" }, "projection": { "tags": 0 }, "$db": "shop" };
        let answer = served.command(command).await;
        assert_eq!(answer.status, 200);
        assert!(answer.head.contains("content-type: application/json"));
        let expected = r#"{"_id":{"$numberLong":"2"},"name":"nut","qty":{"$numberLong":"5"},"price":{"$numberDouble":"0.05"},"note":"M4"}"#;
        assert!(answer.body.contains(expected), "{}", answer.body);

        // A command that fails is an answer, as for a driver.
        let wrong = served
            .command(doc! { "find": "parts", "filter": { "$wrong": 1 }, "$db": "shop" })
            .await;
        assert_eq!((wrong.status, wrong.code()), (200, 2));
        assert_eq!(
            served
                .command(doc! { "nothing": 1, "$db": "shop" })
                .await
                .code(),
            59
        );
        assert_eq!(served.command(doc! { "find": "parts" }).await.code(), 40414);
        Ok(())
    });
}

#[test]
fn a_cursor_is_read_by_several_requests() {
    example(async |shop| {
        let served = Served::page(page(&shop).await).await;
        let first = served
            .command(doc! { "find": "parts", "batchSize": 2, "$db": "shop" })
            .await
            .json();
        let id: i64 = first["cursor"]["id"]["$numberLong"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(first["cursor"]["firstBatch"].as_array().unwrap().len(), 2);
        let more = doc! { "getMore": id, "collection": "parts", "$db": "shop" };
        let next = served.command(more).await.json();
        assert_eq!(next["cursor"]["nextBatch"].as_array().unwrap().len(), 1);
        Ok(())
    });
}

#[test]
fn a_page_only_reads_unless_it_is_writable() {
    example(async |shop| {
        let served = Served::page(page(&shop).await).await;
        let delete =
            || doc! { "delete": "orders", "deletes": [{ "q": {}, "limit": 0 }], "$db": "shop" };
        for command in [
            delete(),
            doc! { "insert": "notes", "documents": [{ "_id": 1 }], "$db": "shop" },
            doc! { "update": "parts", "updates": [{ "q": {}, "u": { "$set": { "note": "x" } } }], "$db": "shop" },
            doc! { "findAndModify": "parts", "remove": true, "$db": "shop" },
            doc! { "drop": "carts", "$db": "shop" },
            doc! { "create": "notes", "$db": "shop" },
            doc! { "createIndexes": "parts", "indexes": [{ "key": { "qty": 1 }, "name": "qty" }], "$db": "shop" },
            doc! { "renameCollection": "shop.carts", "to": "shop.c", "$db": "admin" },
            doc! { "dropDatabase": 1, "$db": "shop" },
            doc! { "killOp": 1, "op": 1, "$db": "admin" },
            doc! { "killSessions": [], "$db": "admin" },
            doc! { "commitTransaction": 1, "$db": "admin" },
        ] {
            let answer = served.command(command.clone()).await;
            assert_eq!(answer.code(), 20, "{command}");
            let says = answer.json()["errmsg"].as_str().unwrap().to_owned();
            assert!(says.ends_with("is refused: this page only reads"), "{says}");
        }
        let staged = doc! { "aggregate": "parts", "pipeline": [{ "$out": "copy" }], "cursor": {}, "$db": "shop" };
        assert_ne!(served.command(staged).await.code(), 0);
        assert_eq!(shop.orders.all().count().await?, 3);

        let writable = Served::page(page(&shop).await.writable()).await;
        let done = writable.command(delete()).await.json();
        assert_eq!(done["n"]["$numberInt"], "3", "{done}");
        assert_eq!(shop.orders.all().count().await?, 0);
        // What the models derive cannot be made wrong here either.
        let lie = doc! { "update": "products", "updates": [{ "q": {}, "u": { "$set": { "review_count": 9 } } }], "$db": "shop" };
        let refused = writable.command(lie).await.json();
        assert!(
            refused["writeErrors"][0]["errmsg"]
                .as_str()
                .unwrap()
                .contains("derived field"),
            "{refused}"
        );
        Ok(())
    });
}

#[test]
fn other_hosts_and_pages_of_other_sites_are_refused() {
    example(async |shop| {
        let served = Served::page(page(&shop).await).await;
        let own = format!("http://{}", served.address);
        let port = served.address.port();
        let localhost = format!("localhost:{port}");
        for headers in [
            vec![("origin", own.as_str())],
            vec![("sec-fetch-site", "same-origin"), ("origin", own.as_str())],
            vec![("sec-fetch-site", "none")],
            vec![("host", localhost.as_str())],
            vec![("host", "[::1]")],
        ] {
            let answer = served.command_with(&headers, find("parts")).await;
            assert_eq!(answer.status, 200, "{headers:?}: {answer:?}");
        }
        for headers in [
            vec![("origin", "http://evil.example")],
            vec![("origin", "null")],
            vec![("sec-fetch-site", "cross-site"), ("origin", own.as_str())],
            vec![("sec-fetch-site", "same-site")],
            vec![("host", "evil.example")],
            vec![("host", "127.0.0.1.evil.example")],
            vec![("x-forwarded-for", "1.2.3.4")],
            vec![("forwarded", "for=1.2.3.4")],
        ] {
            let answer = served.command_with(&headers, find("parts")).await;
            assert_eq!((answer.status, answer.code()), (403, 13), "{headers:?}");
        }
        let rebound = served.send("GET /", &[("host", "evil.example")], b"").await;
        assert_eq!(rebound.status, 403);
        Ok(())
    });
}

#[test]
fn clients_beyond_the_machine_and_of_unknown_addresses_are_refused() {
    example(async |shop| {
        let far = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 1), 1));
        let router = page(&shop).await.router();
        let router = router.layer(axum::Extension(ConnectInfo(far)));
        let served = Served::router(router).await;
        let answer = served.command(find("parts")).await;
        assert_eq!((answer.status, answer.code()), (403, 13));
        assert_eq!(served.get("/").await.status, 403);

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = page(&shop).await.router();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let answer = Served { address }.command(find("parts")).await;
        assert_eq!(answer.status, 403);
        assert!(
            answer.body.contains("into_make_service_with_connect_info"),
            "{answer:?}"
        );
        Ok(())
    });
}

#[test]
fn only_documents_of_json_up_to_a_length_are_read() {
    example(async |shop| {
        let served = Served::page(page(&shop).await).await;
        let send = async |kind: &str, body: &[u8]| {
            served
                .send("POST /api/command", &[("content-type", kind)], body)
                .await
        };
        let command = br#"{"find":"parts","$db":"shop"}"#;
        assert_eq!(
            send("application/json; charset=utf-8", command)
                .await
                .status,
            200
        );
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "",
        ] {
            let answer = send(kind, command).await;
            assert_eq!((answer.status, answer.code()), (415, 2), "{kind}");
        }
        for body in [
            "",
            "{",
            "[]",
            "nonsense",
            r#"{"a":1,"a":2}"#,
            r#"{"a":{"$oid":"x"}}"#,
        ] {
            let answer = send("application/json", body.as_bytes()).await;
            assert_eq!((answer.status, answer.code()), (400, 9), "{body}");
        }
        let deep = format!("{}1{}", r#"{"a":"#.repeat(500), "}".repeat(500));
        assert_eq!(send("application/json", deep.as_bytes()).await.status, 400);
        let long = format!(
            r#"{{"find":"parts","comment":"{}","$db":"shop"}}"#,
            "x".repeat(1 << 20)
        );
        let answer = send("application/json", long.as_bytes()).await;
        assert!(answer.status == 413 || answer.status == 0, "{answer:?}");
        assert_eq!(served.send("GET /api/command", &[], b"").await.status, 405);
        Ok(())
    });
}

#[test]
fn the_command_of_a_client_that_goes_away_ends() {
    example(async |shop| {
        let served = Served::page(page(&shop).await).await;
        let watch = doc! { "aggregate": "parts", "pipeline": [{ "$changeStream": {} }], "cursor": {}, "$db": "shop" };
        let begun = served.command(watch).await.json();
        let id = begun["cursor"]["id"]["$numberLong"]
            .as_str()
            .unwrap()
            .to_owned();
        let more = doc! { "getMore": id.parse::<i64>().unwrap(), "collection": "parts", "maxTimeMS": 60_000, "$db": "shop" };
        let more = serde_json::to_vec(&more).unwrap();
        let headers = [("content-type", "application/json")];
        let waiting = served.begin("POST /api/command", &headers, &more).await;
        let running = async || {
            let reply = served
                .command(doc! { "currentOp": 1, "op": "getmore", "$db": "admin" })
                .await
                .json();
            reply["inprog"].as_array().unwrap().len()
        };
        let becomes = async |number: usize| {
            for _ in 0..200 {
                if running().await == number {
                    return true;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            false
        };
        assert!(becomes(1).await);
        drop(waiting);
        assert!(becomes(0).await);
        Ok(())
    });
}

#[test]
fn the_relations_of_a_database_are_shown() {
    example(async |shop| {
        let served = Served::page(page(&shop).await).await;
        let headers = [("content-type", "application/json")];
        let ask = async |body: &str| {
            served
                .send("POST /api/relations", &headers, body.as_bytes())
                .await
        };
        let relations = ask(r#"{"$db":"shop"}"#).await.json();
        let derived = relations["derived"].as_array().unwrap();
        let copy = derived
            .iter()
            .find(|field| field["path"] == "product_name")
            .unwrap();
        assert_eq!(
            (&copy["kind"], &copy["source"], &copy["via"]),
            (&json!("copy"), &json!("products"), &json!("product"))
        );
        assert!(
            relations["references"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["path"] == "lines.product")
        );
        assert_eq!(
            ask(r#"{"$db":"other"}"#).await.json()["ok"]["$numberDouble"],
            "1.0"
        );
        assert_eq!(ask("{}").await.code(), 2);
        Ok(())
    });
}

#[test]
fn the_files_of_the_page_may_do_nothing_but_show_it() {
    example(async |shop| {
        let served =
            Served::router(Router::new().nest("/ops/data", page(&shop).await.router())).await;
        let index = served.get("/ops/data").await;
        assert_eq!(index.status, 200);
        assert!(
            index
                .head
                .contains("content-security-policy: default-src 'none'; script-src 'self'")
        );
        for header in [
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
        ] {
            assert!(index.head.contains(header), "{header}");
        }
        assert!(
            !index.body.contains("{base}") && !index.body.contains("://"),
            "{}",
            index.body
        );
        let mut files: Vec<&str> = Vec::new();
        for part in index.body.split("\"./").skip(1) {
            files.push(part.split('"').next().unwrap());
        }
        assert_eq!(files.len(), 3);
        for file in files {
            let file = served.get(&format!("/ops/{file}")).await;
            assert_eq!(file.status, 200);
            assert!(file.head.contains("nosniff"));
        }
        assert_eq!(served.get("/ops/data/values.js").await.status, 200);
        assert_eq!(served.get("/ops/data/secret.js").await.status, 404);

        let slash = Served::router(Router::new().nest("/data/", page(&shop).await.router())).await;
        assert!(slash.get("/data/").await.body.contains("\"./app.js\""));
        Ok(())
    });
}

#[test]
fn a_page_of_a_server_shows_its_slow_commands_and_ends_with_it() {
    example(async |shop| {
        let builder = Server::builder().database("shop", Collections::of(&shop));
        let server = builder
            .slow_operation(Duration::ZERO)
            .listen("127.0.0.1:0")
            .await?;
        let served = Served::page(server.page()?).await;
        let uri = format!("mongodb://{}", server.local_addr().unwrap());
        let driver = mongodb::Client::with_uri_str(uri).await.unwrap();
        let parts = driver
            .database("shop")
            .collection::<odm::bson::Document>("parts");
        parts.find_one(doc! { "name": "nut" }).await.unwrap();

        let log = served
            .command(doc! { "getLog": "global", "$db": "admin" })
            .await
            .json();
        let lines = log["log"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap());
        let line = lines
            .into_iter()
            .find(|line| line.contains("\"find\":\"parts\""))
            .unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["msg"], "Slow query");
        assert_eq!(line["attr"]["ns"], "shop.parts");
        assert_eq!(line["attr"]["command"]["filter"], json!({ "name": "?" }));

        server.shutdown().await;
        assert_eq!(served.command(find("parts")).await.status, 503);
        Ok(())
    });
}
