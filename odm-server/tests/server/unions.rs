//! `$unionWith`.

use mongodb::bson::{Bson, Document, doc};
use odm::derive::examples::example;
use odm_server::Right;

use crate::{Fields, Secured, Served, error_of};

/// As many documents with a number, and a text that is as long as each of them.
async fn fill(served: &Served, collection: &str, numbers: std::ops::Range<i32>, long: usize) {
    let text = "x".repeat(long);
    let all = numbers
        .map(|n| doc! { "_id": n, "kind": if n % 2 == 0 { "even" } else { "odd" }, "text": &text });
    served
        .collection(collection)
        .insert_many(all)
        .await
        .unwrap();
}

fn ids_of(reply: &Document) -> Vec<i64> {
    let batch = reply.inner("cursor").list("firstBatch").iter();
    batch
        .map(|one| one.as_document().unwrap().number("_id"))
        .collect()
}

fn aggregate(collection: impl Into<Bson>, pipeline: &[Document]) -> Document {
    doc! { "aggregate": collection, "pipeline": pipeline.to_vec(), "cursor": {} }
}

#[test]
fn a_union_has_the_documents_of_both_collections() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        fill(&served, "a", 0..3, 0).await;
        fill(&served, "b", 10..15, 0).await;
        let view =
            doc! { "create": "odd", "viewOn": "b", "pipeline": [{ "$match": { "kind": "odd" } }] };
        served.run(view).await.unwrap();
        let both = doc! { "$unionWith": { "coll": "b", "pipeline": [{ "$unionWith": "a" }, { "$skip": 4 }] } };
        let of = |union: Document| doc! { "$unionWith": union };
        for (stages, expected) in [
            (
                vec![doc! { "$unionWith": "b" }],
                vec![0, 1, 2, 10, 11, 12, 13, 14],
            ),
            (vec![doc! { "$unionWith": "none" }], vec![0, 1, 2]),
            (vec![doc! { "$unionWith": "odd" }], vec![0, 1, 2, 11, 13]),
            (
                vec![of(
                    doc! { "coll": "odd", "pipeline": [{ "$match": { "_id": 13 } }] },
                )],
                vec![0, 1, 2, 13],
            ),
            (
                vec![doc! { "$match": { "_id": 1 } }, both.clone()],
                vec![1, 14, 0, 1, 2],
            ),
            (
                vec![
                    doc! { "$unionWith": "b" },
                    doc! { "$sort": { "_id": -1 } },
                    doc! { "$limit": 2 },
                ],
                vec![14, 13],
            ),
            (
                vec![
                    doc! { "$facet": { "x": [both.clone()] } },
                    doc! { "$unwind": "$x" },
                    doc! { "$replaceWith": "$x" },
                ],
                vec![0, 1, 2, 14, 0, 1, 2],
            ),
        ] {
            let reply = served.run(aggregate("a", &stages)).await.unwrap();
            assert_eq!(ids_of(&reply), expected, "{stages:?}");
        }
        // A view can be a union, and a collection that is not there has no documents before it.
        let view = doc! { "create": "all", "viewOn": "none", "pipeline": [both] };
        served.run(view).await.unwrap();
        assert_eq!(
            ids_of(&served.run(doc! { "find": "all" }).await.unwrap()),
            [14, 0, 1, 2]
        );
        let documents = [
            doc! { "$documents": [{ "_id": 7 }] },
            doc! { "$unionWith": "odd" },
        ];
        let reply = served.run(aggregate(1, &documents)).await.unwrap();
        assert_eq!(ids_of(&reply), [7, 11, 13]);
        let join = doc! { "$lookup": { "from": "a", "let": { "n": { "$add": ["$_id", 10] } }, "as": "found", "pipeline": [
            { "$match": { "_id": 2 } },
            { "$unionWith": { "coll": "b", "pipeline": [{ "$match": { "$expr": { "$eq": ["$_id", "$$n"] } } }] } },
        ] } };
        let stages = [
            join,
            doc! { "$unwind": "$found" },
            doc! { "$replaceWith": "$found" },
        ];
        let reply = served.run(aggregate("a", &stages)).await.unwrap();
        assert_eq!(ids_of(&reply), [2, 10, 2, 11, 2, 12]);
        Ok(())
    });
}

#[test]
fn a_union_can_be_larger_than_the_memory_of_a_stage() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        for at in 0..5 {
            fill(&served, "large", at * 50..(at + 1) * 50, 500_000).await;
        }
        let pipeline = [
            doc! { "$unionWith": "large" },
            doc! { "$group": { "_id": null, "n": { "$sum": 1 }, "bytes": { "$sum": { "$strLenBytes": "$text" } } } },
        ];
        let reply = served.run(aggregate("large", &pipeline)).await.unwrap();
        let group = reply.inner("cursor").list("firstBatch");
        assert_eq!(
            *group,
            [doc! { "_id": null, "n": 500, "bytes": 250_000_000 }.into()]
        );
        Ok(())
    });
}

#[test]
fn a_union_is_in_no_transaction_and_no_change_stream() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let union = doc! { "$unionWith": "parts" };
        let join =
            doc! { "$lookup": { "from": "parts", "pipeline": [union.clone()], "as": "all" } };
        let facet = doc! { "$facet": { "all": [join.clone()] } };
        let mut session = served.client.start_session().await.unwrap();
        for stage in [union.clone(), join, facet] {
            session.start_transaction().await.unwrap();
            let refused = served
                .collection("parts")
                .aggregate([stage])
                .session(&mut session)
                .await;
            let (code, message) = error_of(refused.unwrap_err());
            assert_eq!(code, 263, "{message}");
            session.abort_transaction().await.unwrap();
        }
        let changes = [doc! { "$changeStream": {} }, union.clone()];
        assert_eq!(served.refused(aggregate("parts", &changes)).await.0, 20);
        let view = doc! { "create": "v", "viewOn": "parts", "pipeline": [{ "$unionWith": "v" }] };
        assert_eq!(served.refused(view).await.0, 5);
        Ok(())
    });
}

#[test]
fn each_source_of_a_union_must_be_readable() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let rights = [Right::read("reviews"), Right::read("products")];
        secured.users.create("ann", "x", rights).await?;
        let ann = secured.client("ann", "x").await;
        let union = |coll: &str, pipeline: Vec<Document>| doc! { "$unionWith": { "coll": coll, "pipeline": pipeline } };
        let join = |pipeline: Vec<Document>| doc! { "$lookup": { "from": "products", "pipeline": pipeline, "as": "found" } };
        let run = async |stage: &Document| {
            let command = aggregate("reviews", std::slice::from_ref(stage));
            ann.database("shop").run_command(command).await
        };
        for stage in [
            union("orders", vec![]),
            union("products", vec![union("parts", vec![])]),
            join(vec![union("parts", vec![])]),
            doc! { "$facet": { "a": [{ "$unionWith": "parts" }] } },
            doc! { "$unionWith": "_odm_users" },
        ] {
            assert_eq!(error_of(run(&stage).await.unwrap_err()).0, 13, "{stage}");
        }
        run(&union("products", vec![join(vec![])])).await.unwrap();
        Ok(())
    });
}
