use mongodb::{
    Client,
    bson::{Bson, Document, doc},
};
use odm::{Collections, Embedded, derive::examples::example, prelude::*};
use odm_server::{Right, Server, Users};
use serde::{Deserialize, Serialize};

use crate::{Fields, Secured, assert_right, error_of, part, review};

/// The code and the message of a command of the database that must fail.
async fn refused(client: &Client, command: Document) -> (i32, String) {
    let run = client.database("shop").run_command(command.clone()).await;
    error_of(run.expect_err(&command.to_string()))
}

async fn run(client: &Client, command: Document) -> Document {
    let run = client.database("shop").run_command(command.clone()).await;
    run.unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// The code and the message of the first statement of a command, which must fail.
async fn refused_write(client: &Client, command: Document) -> (i64, String) {
    let reply = run(client, command).await;
    let error = reply.list("writeErrors")[0].as_document().unwrap();
    (error.number("code"), error.text("errmsg").to_owned())
}

fn delete(collection: &str, id: i64) -> Document {
    doc! { "delete": collection, "deletes": [{ "q": { "_id": id }, "limit": 1 }] }
}

/// Commands that are run in the database `admin` alone.
const OF_ADMIN: [&str; 5] = [
    "currentOp",
    "getLog",
    "top",
    "getCmdLineOpts",
    "getParameter",
];

#[test]
fn each_command_needs_its_right_and_has_no_effect_without_it() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        secured.users.create("none", "x", []).await?;
        secured
            .users
            .create("reader", "x", [Right::read("parts")])
            .await?;
        secured
            .users
            .create("writer", "x", [Right::read_write("parts")])
            .await?;
        secured
            .users
            .create("all", "x", [Right::read_all()])
            .await?;
        secured
            .users
            .create("owner", "x", [Right::read_write_all()])
            .await?;
        let names = ["none", "reader", "writer", "all", "owner"];
        let (read, write) = (
            ["reader", "writer", "all", "owner"].as_slice(),
            ["writer", "owner"].as_slice(),
        );
        let (all, owner) = (["all", "owner"].as_slice(), ["owner"].as_slice());
        let index = doc! { "key": { "price": 1 }, "name": "by_price" };
        let commands = [
            (doc! { "find": "parts" }, read),
            (doc! { "count": "parts" }, read),
            (doc! { "distinct": "parts", "key": "name" }, read),
            (
                doc! { "aggregate": "parts", "pipeline": [], "cursor": {} },
                read,
            ),
            (
                doc! { "aggregate": "parts", "pipeline": [{ "$collStats": { "count": {} } }], "cursor": {} },
                read,
            ),
            (
                doc! { "aggregate": 1, "pipeline": [{ "$currentOp": {} }], "cursor": {} },
                all,
            ),
            (doc! { "listIndexes": "parts" }, read),
            (doc! { "collStats": "parts" }, read),
            (doc! { "explain": { "find": "parts" } }, read),
            (
                doc! { "explain": { "delete": "parts", "deletes": [{ "q": {}, "limit": 0 }] } },
                write,
            ),
            (doc! { "dbStats": 1 }, all),
            (doc! { "serverStatus": 1 }, all),
            (doc! { "currentOp": 1 }, names.as_slice()),
            (doc! { "getLog": "global" }, all),
            (doc! { "top": 1 }, all),
            (doc! { "hostInfo": 1 }, all),
            (doc! { "getCmdLineOpts": 1 }, all),
            (
                doc! { "getParameter": 1, "featureCompatibilityVersion": 1 },
                all,
            ),
            (doc! { "insert": "parts", "documents": [] }, write),
            (
                doc! { "update": "parts", "updates": [{ "q": { "_id": 1 }, "u": { "$inc": { "qty": 1_i64 } } }] },
                write,
            ),
            (
                doc! { "findAndModify": "parts", "query": { "_id": 1 }, "update": { "$inc": { "qty": 1_i64 } } },
                write,
            ),
            (
                doc! { "delete": "parts", "deletes": [{ "q": { "_id": 77 }, "limit": 1 }] },
                write,
            ),
            (doc! { "createIndexes": "parts", "indexes": [index] }, write),
            (doc! { "dropIndexes": "parts", "index": "by_price" }, write),
            (doc! { "create": "notes" }, owner),
            (doc! { "drop": "notes" }, owner),
            (doc! { "dropDatabase": 1 }, owner),
        ];
        let mut clients = Vec::new();
        for name in names {
            clients.push((name, secured.client(name, "x").await));
        }
        for (command, allowed) in commands {
            for (name, client) in &clients {
                let before = shop.parts.get(1).await?.qty;
                let database = match OF_ADMIN.iter().any(|name| command.contains_key(*name))
                    || command.get_i32("aggregate").is_ok()
                {
                    true => "admin",
                    false => "shop",
                };
                let ran = client.database(database).run_command(command.clone()).await;
                let code = ran.err().map(|error| error_of(error).0);
                let is_refused = code == Some(13);
                assert_eq!(
                    !is_refused,
                    allowed.contains(name),
                    "{name}: {command}: {code:?}"
                );
                if is_refused {
                    assert_eq!(shop.parts.get(1).await?.qty, before);
                }
            }
        }
        for (name, client) in &clients {
            let running = doc! { "aggregate": 1, "pipeline": [{ "$currentOp": {} }], "cursor": {} };
            let ran = client.database("admin").run_command(running).await;
            assert_eq!(ran.is_ok(), all.contains(name));
        }
        let rename = doc! { "renameCollection": "shop.notes", "to": "shop.papers" };
        run(
            &secured.client("owner", "x").await,
            doc! { "create": "notes" },
        )
        .await;
        for (name, code) in [("none", 13), ("writer", 13), ("all", 13)] {
            let client = secured.client(name, "x").await;
            let error = client
                .database("admin")
                .run_command(rename.clone())
                .await
                .unwrap_err();
            assert_eq!(error_of(error).0, code);
        }
        let owner = secured.client("owner", "x").await;
        owner.database("admin").run_command(rename).await.unwrap();
        Ok(())
    });
}

#[test]
fn a_user_sees_the_readable_collections_and_their_database() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let rights = [
            Right::read("parts"),
            Right::read_write("reviews"),
            Right::read("absent"),
        ];
        secured.users.create("ann", "x", rights).await?;
        let ann = secured.client("ann", "x").await;
        let names = ann.database("shop").list_collection_names().await.unwrap();
        assert_eq!(names, ["parts", "reviews"]);
        assert_eq!(ann.list_database_names().await.unwrap(), ["shop"]);
        secured
            .users
            .create("all", "x", [Right::read_all()])
            .await?;
        let all = secured.client("all", "x").await;
        assert!(
            all.database("shop")
                .list_collection_names()
                .await
                .unwrap()
                .len()
                > 4
        );
        for secret in ["_odm_users", "_odm_retries"] {
            assert_eq!(refused(&all, doc! { "find": secret }).await.0, 13);
        }
        assert_eq!(
            refused(
                &all,
                doc! { "insert": "parts", "documents": [part(9, "pin")] }
            )
            .await
            .0,
            13
        );
        Ok(())
    });
}

#[test]
fn each_source_of_a_pipeline_must_be_readable() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let rights = [Right::read("reviews"), Right::read("products")];
        secured.users.create("ann", "x", rights).await?;
        let ann = secured.client("ann", "x").await;
        let lookup = |from: &str, pipeline: Vec<Document>| {
            doc! { "$lookup": { "from": from, "let": { "of": "$product" }, "pipeline": pipeline, "as": "found" } }
        };
        let plain = doc! { "$lookup": { "from": "orders", "localField": "_id", "foreignField": "_id", "as": "found" } };
        let aggregate = |stage: &Document| doc! { "aggregate": "reviews", "pipeline": [stage.clone()], "cursor": {} };
        for stage in [
            plain.clone(),
            lookup("orders", vec![]),
            lookup("products", vec![plain.clone()]),
            lookup("products", vec![lookup("parts", vec![])]),
            lookup(
                "products",
                vec![doc! { "$facet": { "a": [plain.clone()] } }],
            ),
            doc! { "$facet": { "a": [plain.clone()] } },
            lookup("_odm_users", vec![]),
        ] {
            let (code, message) = refused(&ann, aggregate(&stage)).await;
            assert_eq!(code, 13, "{stage}");
            assert!(message.contains("{ aggregate: "), "{message}");
            let explain = doc! { "explain": aggregate(&stage) };
            assert_eq!(refused(&ann, explain).await.0, 13, "{stage}");
        }
        let allowed = lookup(
            "products",
            vec![doc! { "$match": { "$expr": { "$eq": ["$_id", "$$of"] } } }],
        );
        run(&ann, aggregate(&allowed)).await;
        Ok(())
    });
}

#[test]
fn derived_fields_of_others_need_no_right() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        secured
            .users
            .create("ann", "x", [Right::read_write("reviews")])
            .await?;
        let ann = secured.client("ann", "x").await;
        let reviews = ann.database("shop").collection::<Document>("reviews");
        reviews.insert_one(review(20, 3)).await.unwrap();
        assert_eq!(shop.products.get(3).await?.review_count, 1);
        reviews
            .update_one(
                doc! { "_id": 20 },
                doc! { "$set": { "product": 2_i64, "text": "moved" } },
            )
            .await
            .unwrap();
        assert_eq!(shop.products.get(3).await?.review_count, 0);
        assert!(
            shop.products
                .get(2)
                .await?
                .reviews
                .iter()
                .any(|shown| shown.text == "moved")
        );
        reviews.delete_many(doc! {}).await.unwrap();
        assert_eq!(shop.products.get(1).await?.review_count, 0);

        secured
            .users
            .create("ben", "x", [Right::read_write("products")])
            .await?;
        let ben = secured.client("ben", "x").await;
        let rename = doc! { "q": { "_id": 1 }, "u": { "$set": { "name": "rack" } } };
        run(&ben, doc! { "update": "products", "updates": [rename] }).await;
        shop.wait_for_refreshes().await?;
        assert_eq!(shop.warranties.get(1).await?.product_name, "rack");
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn a_cascade_into_a_collection_without_the_right_is_refused_whole() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        shop.orders.delete_where(Filter::all()).await?;
        let rights = [Right::read_write("products"), Right::read("reviews")];
        secured.users.create("ann", "x", rights).await?;
        let ann = secured.client("ann", "x").await;
        let (code, message) = refused_write(&ann, delete("products", 1)).await;
        assert_eq!(code, 13);
        assert!(
            message.contains("not authorized to write `reviews`"),
            "{message}"
        );
        let many = doc! { "delete": "products", "deletes": [{ "q": {}, "limit": 0 }] };
        assert_eq!(refused_write(&ann, many).await.0, 13);
        let found = refused(
            &ann,
            doc! { "findAndModify": "products", "query": { "_id": 1 }, "remove": true },
        )
        .await;
        assert_eq!(found.0, 13);
        assert_eq!(
            (
                shop.products.all().count().await?,
                shop.reviews.all().count().await?
            ),
            (3, 4)
        );

        // In a transaction, too, which ends with it.
        let mut session = ann.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let products = ann.database("shop").collection::<Document>("products");
        let inside = products
            .delete_one(doc! { "_id": 1 })
            .session(&mut session)
            .await;
        assert_eq!(error_of(inside.unwrap_err()).0, 13);
        session.abort_transaction().await.unwrap();

        // Without an effect there, it is their own write. What is split from a document is a part of it.
        assert_eq!(run(&ann, delete("products", 3)).await.number("n"), 1);
        let all = [
            Right::read_write("products"),
            Right::read_write("reviews"),
            Right::read_write("warranties"),
        ];
        secured.users.set_rights("ann", all).await?;
        assert_eq!(run(&ann, delete("products", 1)).await.number("n"), 1);
        assert_eq!(shop.reviews.all().count().await?, 1);
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn an_error_about_documents_that_a_user_may_not_read_has_no_value_of_them() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let rights = ["products", "reviews", "warranties", "parts"].map(Right::read_write);
        secured.users.create("ann", "x", rights).await?;
        secured
            .users
            .create("ben", "x", [Right::read_write_all()])
            .await?;
        let (ann, ben) = (
            secured.client("ann", "x").await,
            secured.client("ben", "x").await,
        );
        let shown = refused_write(&ben, delete("products", 1)).await;
        assert!(
            shown.1.contains("of the document with `_id` = "),
            "{}",
            shown.1
        );
        let hidden = refused_write(&ann, delete("products", 1)).await;
        let message = "restricted delete: documents are referred to by `orders.lines.product`, which the user is not authorized to read";
        assert_eq!(hidden, (shown.0, message.to_owned()));
        // Where they may read, they are told.
        let parts = refused_write(&ann, delete("parts", 1)).await;
        assert!(
            parts.1.contains("of the document with `_id` = 1"),
            "{}",
            parts.1
        );

        let mut session = ann.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let products = ann.database("shop").collection::<Document>("products");
        for _ in 0..2 {
            let inside = products
                .delete_one(doc! { "_id": 1 })
                .session(&mut session)
                .await;
            let (_, message) = error_of(inside.unwrap_err());
            assert!(!message.contains("_id"), "{message}");
        }
        Ok(())
    });
}

#[test]
fn an_error_about_a_cold_part_is_shown_to_who_may_read_its_document() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let users = &secured.users;
        let all = [Right::read_write_all()];
        users.create("owner", "x", all).await?;
        let products = [Right::read_write("products")];
        users.create("ann", "x", products).await?;
        let index = doc! { "key": { "text": 1 }, "name": "by_text", "unique": true };
        let owner = secured.client("owner", "x").await;
        run(
            &owner,
            doc! { "createIndexes": "manuals", "indexes": [index] },
        )
        .await;
        let ann = secured.client("ann", "x").await;
        let update = |id: i64| {
            let manual = doc! { "$set": { "manual": { "text": "As shown.", "pages": 1 } } };
            doc! { "update": "products", "updates": [{ "q": { "_id": id }, "u": manual }] }
        };
        run(&ann, update(1)).await;
        let (code, message) = refused_write(&ann, update(2)).await;
        assert_eq!(code, 11_000);
        assert!(message.contains("As shown."), "{message}");
        Ok(())
    });
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "teams")]
struct Team {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child, inverse = "team")]
    members: Vec<Ref<Member>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "members")]
struct Member {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, inverse = "members", on_delete = "nullify")]
    team: Option<Ref<Team>>,
    name: String,
}

#[derive(Database)]
#[database(name = "club", version = 1)]
struct Club {
    teams: Repository<Team>,
    members: Repository<Member>,
}

#[test]
fn an_inverse_reference_and_a_cleared_one_need_the_right_on_their_collection() {
    example(async |_| {
        let club = Club::open(Embedded::memory().await?).await?;
        let team = |id: i64| Team {
            id,
            members: Vec::new(),
        };
        club.teams.insert_many([team(1), team(2), team(3)]).await?;
        let member = Member {
            id: 1,
            team: Some(Ref::new(1)),
            name: "Ann".into(),
        };
        club.members.insert(member).await?;
        let collections = Collections::of(&club);
        let users = Users::of(&collections);
        users
            .create("ann", "x", [Right::read_write("members")])
            .await?;
        users
            .create("ben", "x", [Right::read_write("teams")])
            .await?;
        let builder = Server::builder()
            .database("shop", collections)
            .require_users();
        let server = builder.listen("127.0.0.1:0").await?;
        let secured = Secured { server, users };
        let (ann, ben) = (
            secured.client("ann", "x").await,
            secured.client("ben", "x").await,
        );

        let update = |id: i64, set: Document| {
            doc! { "update": "members", "updates": [{ "q": { "_id": id }, "u": { "$set": set } }] }
        };
        run(&ann, update(1, doc! { "name": "Anne" })).await;
        let (code, message) = refused_write(&ann, update(1, doc! { "team": 2_i64 })).await;
        assert_eq!(code, 13);
        assert!(message.contains("`teams`"), "{message}");
        let free = doc! { "_id": 2_i64, "team": null, "name": "Ben" };
        let in_team = doc! { "_id": 3_i64, "team": 2_i64, "name": "Cat" };
        let insert =
            |document: &Document| doc! { "insert": "members", "documents": [document.clone()] };
        run(&ann, insert(&free)).await;
        assert_eq!(refused_write(&ann, insert(&in_team)).await.0, 13);

        assert_eq!(run(&ben, delete("teams", 3)).await.number("n"), 1);
        assert_eq!(refused_write(&ben, delete("teams", 1)).await.0, 13);
        assert_eq!(club.teams.all().count().await?, 2);
        assert_eq!(club.members.get(1).await?.team, Some(Ref::new(1)));

        secured
            .users
            .set_rights(
                "ben",
                [Right::read_write("teams"), Right::read_write("members")],
            )
            .await?;
        assert_eq!(run(&ben, delete("teams", 1)).await.number("n"), 1);
        assert_eq!(club.members.get(1).await?.team, None);
        assert_eq!(club.audit().await?, []);
        Ok(())
    });
}

#[test]
fn cursors_and_sessions_of_others_cannot_be_reached() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        for name in ["ann", "ben"] {
            secured
                .users
                .create(name, "x", [Right::read_write_all()])
                .await?;
        }
        let (mut ann, mut ben) = (secured.raw().await, secured.raw().await);
        ann.log_in("ann", "x").await;
        ben.log_in("ben", "x").await;
        let find = ann
            .run(doc! { "find": "parts", "batchSize": 1 })
            .await
            .unwrap();
        let id = find.inner("cursor").number("id");
        let get_more = || doc! { "getMore": id, "collection": "parts", "batchSize": 1 };
        let kill = || doc! { "killCursors": "parts", "cursors": [id] };
        assert_eq!(ben.run(get_more()).await.unwrap().number("code"), 13);
        assert_eq!(ben.run(kill()).await.unwrap().number("code"), 13);
        assert!(ann.run(get_more()).await.unwrap().contains_key("cursor"));
        // A right that is withdrawn holds for open cursors.
        secured
            .users
            .set_rights("ann", [Right::read_write("reviews")])
            .await?;
        assert_eq!(ann.run(get_more()).await.unwrap().number("code"), 13);
        secured
            .users
            .set_rights("ann", [Right::read_write_all()])
            .await?;
        assert_eq!(
            ann.run(kill()).await.unwrap().list("cursorsKilled"),
            &[Bson::Int64(id)]
        );

        let lsid = doc! { "id": mongodb::bson::Uuid::from_bytes([7; 16]) };
        let insert = |number: i64, id: i64, begins: bool| {
            let mut command =
                doc! { "insert": "parts", "documents": [part(id, &format!("part {id}"))] };
            command.extend(doc! { "lsid": lsid.clone(), "txnNumber": number, "autocommit": false });
            if begins {
                command.insert("startTransaction", true);
            }
            command
        };
        let commit = || doc! { "commitTransaction": 1, "lsid": lsid.clone(), "txnNumber": 1_i64, "autocommit": false };
        assert_eq!(ann.run(insert(1, 20, true)).await.unwrap().number("n"), 1);
        assert_eq!(
            ben.run(insert(1, 21, false)).await.unwrap().number("code"),
            251
        );
        assert_eq!(ben.run(commit()).await.unwrap().number("code"), 251);
        ben.run(doc! { "endSessions": [lsid.clone()] })
            .await
            .unwrap();
        assert_eq!(ben.run(insert(1, 22, true)).await.unwrap().number("n"), 1);
        assert!(!ann.run(commit()).await.unwrap().contains_key("code"));
        assert_eq!(shop.parts.all().count().await?, 4);

        // The stored answer of a write is that of its user.
        let retryable = |id: i64| {
            doc! { "insert": "parts", "documents": [part(id, &format!("part {id}"))], "lsid": lsid.clone(), "txnNumber": 5_i64 }
        };
        assert_eq!(ann.run(retryable(30)).await.unwrap().number("n"), 1);
        assert_eq!(ben.run(retryable(31)).await.unwrap().number("n"), 1);
        assert_eq!(ann.run(retryable(30)).await.unwrap().number("n"), 1);
        assert_eq!(shop.parts.all().count().await?, 6);
        Ok(())
    });
}
