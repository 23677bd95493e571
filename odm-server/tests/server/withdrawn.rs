//! Rights that are withdrawn, and users that are removed, while clients are connected.

use std::time::Duration;

use mongodb::bson::{Document, doc};
use odm::{
    derive::examples::{Part, example},
    prelude::*,
};
use odm_server::{Limits, Right};

use crate::{Fields, Secured, part};

#[test]
fn a_transaction_ends_when_a_right_of_its_user_is_withdrawn() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let users = &secured.users;
        let rights = || [Right::read_write("parts"), Right::read("reviews")];
        users.create("ann", "x", rights()).await?;
        let mut ann = secured.raw().await;
        ann.log_in("ann", "x").await;
        let lsid = doc! { "id": mongodb::bson::Uuid::from_bytes([7; 16]) };
        let of = |number: i64, mut command: Document| {
            command.extend(doc! { "lsid": lsid.clone(), "txnNumber": number, "autocommit": false });
            command
        };
        let insert = |number: i64| {
            let id = 20 + number;
            let part = part(id, &format!("part {id}"));
            let command = doc! { "insert": "parts", "documents": [part], "startTransaction": true };
            of(number, command)
        };
        let commit = |number: i64| of(number, doc! { "commitTransaction": 1 });
        assert_eq!(ann.run(insert(1)).await.unwrap().number("n"), 1);
        users.set_rights("ann", [Right::read("parts")]).await?;
        let refused = ann.run(commit(1)).await.unwrap();
        assert_eq!(refused.number("code"), 13);
        assert!(refused.text("errmsg").contains("withdrawn"), "{refused}");
        users.set_rights("ann", rights()).await?;
        assert_eq!(ann.run(commit(1)).await.unwrap().number("code"), 251);

        // So does one whose next command needs another right.
        assert_eq!(ann.run(insert(2)).await.unwrap().number("n"), 1);
        users.set_rights("ann", [Right::read("reviews")]).await?;
        let find = of(2, doc! { "find": "reviews" });
        assert_eq!(ann.run(find).await.unwrap().number("code"), 13);
        users.set_rights("ann", rights()).await?;
        assert_eq!(ann.run(commit(2)).await.unwrap().number("code"), 251);

        // Further rights end nothing, and are rights of the transaction from then on.
        assert_eq!(ann.run(insert(3)).await.unwrap().number("n"), 1);
        users.set_rights("ann", [Right::read_write_all()]).await?;
        assert!(!ann.run(commit(3)).await.unwrap().contains_key("code"));
        users.set_rights("ann", [Right::read("parts")]).await?;
        assert!(!ann.run(commit(3)).await.unwrap().contains_key("code"));
        assert_eq!(shop.parts.all().count().await?, 4);
        Ok(())
    });
}

#[test]
fn a_change_stream_that_waits_shows_nothing_after_its_right_is_withdrawn() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let users = &secured.users;
        for removes in [false, true] {
            users.create("ann", "x", [Right::read("parts")]).await?;
            let mut ann = secured.raw().await;
            ann.log_in("ann", "x").await;
            let watch =
                doc! { "aggregate": "parts", "pipeline": [{ "$changeStream": {} }], "cursor": {} };
            let begun = ann.run(watch).await.unwrap();
            let id = begun.inner("cursor").number("id");
            let more = move || doc! { "getMore": id, "collection": "parts", "maxTimeMS": 60_000 };
            let waiting = tokio::spawn(async move { (ann.run(more()).await.unwrap(), ann) });
            tokio::time::sleep(Duration::from_millis(200)).await;
            if removes {
                assert!(users.remove("ann").await?);
            } else {
                users.set_rights("ann", [Right::read("reviews")]).await?;
            }
            shop.parts.update(1).inc(Part::fields().qty, 1).await?;
            let (reply, mut ann) = waiting.await.unwrap();
            assert_eq!(reply.number("code"), 13, "{reply}");
            if !removes {
                users.set_rights("ann", [Right::read("parts")]).await?;
                let closed = ann.run(more()).await.unwrap();
                assert_eq!(closed.number("code"), 43);
                users.remove("ann").await?;
            }
        }
        Ok(())
    });
}

#[test]
fn a_user_who_is_created_again_inherits_nothing() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let users = &secured.users;
        let all = [Right::read_write_all()];
        users.create("ann", "x", all.clone()).await?;
        let mut ann = secured.raw().await;
        ann.log_in("ann", "x").await;
        let lsid = doc! { "id": mongodb::bson::Uuid::from_bytes([7; 16]) };
        let insert = |id: i64| {
            doc! { "insert": "parts", "documents": [part(id, &format!("part {id}"))], "lsid": lsid.clone(), "txnNumber": 5_i64 }
        };
        ann.run(insert(30)).await.unwrap();
        let find = doc! { "find": "parts", "batchSize": 1 };
        let find = ann.run(find).await;
        let id = find.unwrap().inner("cursor").number("id");
        users.remove("ann").await?;
        users.create("ann", "x", all).await?;
        let mut again = secured.raw().await;
        again.log_in("ann", "x").await;
        let more = doc! { "getMore": id, "collection": "parts" };
        assert_eq!(again.run(more).await.unwrap().number("code"), 13);
        assert_eq!(again.run(insert(31)).await.unwrap().number("n"), 1);
        assert_eq!(shop.parts.all().count().await?, 5);
        Ok(())
    });
}

#[test]
fn a_removed_user_is_a_stranger() {
    example(async |shop| {
        let limits = Limits::default().unauthenticated(Duration::from_millis(300));
        let secured = Secured::with_limits(&shop, limits).await;
        let users = &secured.users;
        users.create("ann", "x", [Right::read("parts")]).await?;
        let mut ann = secured.raw().await;
        ann.log_in("ann", "x").await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(ann.is_served().await);
        users.remove("ann").await?;
        assert!(ann.is_served().await);
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(!ann.is_served().await);
        Ok(())
    });
}

#[test]
fn a_stored_answer_is_only_that_of_its_command_and_collection() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let users = &secured.users;
        let rights = ["parts", "reviews"].map(Right::read_write);
        users.create("ann", "x", rights).await?;
        let mut ann = secured.raw().await;
        ann.log_in("ann", "x").await;
        let sent = |mut command: Document| {
            let lsid = doc! { "id": mongodb::bson::Uuid::from_bytes([7; 16]) };
            command.extend(doc! { "lsid": lsid, "txnNumber": 5_i64 });
            command
        };
        let find = |collection: &str| {
            sent(
                doc! { "findAndModify": collection, "query": { "_id": 1 }, "update": { "$set": { "note": "x" } } },
            )
        };
        let answer = ann.run(find("parts")).await.unwrap();
        let repeated = ann.run(find("parts")).await.unwrap();
        assert_eq!(repeated.inner("value"), answer.inner("value"));
        users
            .set_rights("ann", [Right::read_write("reviews")])
            .await?;
        let delete = doc! { "delete": "reviews", "deletes": [{ "q": { "_id": 1 }, "limit": 1 }] };
        for other in [find("reviews"), sent(delete)] {
            let refused = ann.run(other).await.unwrap();
            assert_eq!(refused.number("code"), 40_606, "{refused}");
        }
        assert_eq!(shop.reviews.all().count().await?, 4);
        Ok(())
    });
}
