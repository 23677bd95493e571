use futures_util::TryStreamExt;
use mongodb::bson::{Document, doc};
use odm::derive::examples::example;

use crate::{Fields, Served};

/// Notes whose titles differ in case.
async fn notes(served: &Served) -> mongodb::Collection<Document> {
    let notes = served.collection("notes");
    let titles = ["b", "A", "a", "B", "c"];
    let documents = titles.iter().enumerate().map(|(id, title)| {
        doc! { "_id": id as i32, "title": *title, "tags": [title.to_lowercase()], "n": 0 }
    });
    notes.insert_many(documents).await.unwrap();
    notes
}

fn ignoring_case() -> Document {
    doc! { "locale": "en", "strength": 2 }
}

fn ids(documents: &[Document]) -> Vec<i64> {
    documents
        .iter()
        .map(|document| document.number("_id"))
        .collect()
}

#[test]
fn commands_that_read_compare_texts_by_their_collation() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        notes(&served).await;
        let find = |fields: Document| {
            let mut command = doc! { "find": "notes", "collation": ignoring_case() };
            command.extend(fields);
            served.run(command)
        };
        let batch = |reply: Document| -> Vec<Document> {
            let batch = reply.inner("cursor").list("firstBatch");
            batch
                .iter()
                .map(|one| one.as_document().unwrap().clone())
                .collect()
        };
        let found = batch(find(doc! { "filter": { "title": "A" } }).await.unwrap());
        assert_eq!(ids(&found), [1, 2]);
        let sorted = batch(
            find(doc! { "sort": { "title": -1, "_id": 1 } })
                .await
                .unwrap(),
        );
        assert_eq!(ids(&sorted), [4, 0, 3, 1, 2]);
        let projection =
            doc! { "is": { "$eq": ["$title", "b"] }, "tags": { "$elemMatch": { "$eq": "B" } } };
        let projected = batch(
            find(doc! { "filter": { "title": "b" }, "projection": projection })
                .await
                .unwrap(),
        );
        assert!(
            projected
                .iter()
                .all(|one| one.get_bool("is").unwrap() && one.contains_key("tags"))
        );

        let count =
            doc! { "count": "notes", "query": { "title": "a" }, "collation": ignoring_case() };
        assert_eq!(served.run(count).await.unwrap().number("n"), 2);
        let distinct = doc! { "distinct": "notes", "key": "title", "collation": ignoring_case() };
        assert_eq!(served.run(distinct).await.unwrap().list("values").len(), 3);
        let group = doc! { "$group": { "_id": "$title", "n": { "$sum": 1 } } };
        let aggregate = doc! {
            "aggregate": "notes", "pipeline": [group, { "$match": { "_id": "A" } }], "cursor": {}, "collation": ignoring_case(),
        };
        let groups = batch(served.run(aggregate).await.unwrap());
        assert_eq!(groups, [doc! { "_id": "A", "n": 2 }]);
        let explain = doc! { "explain": { "find": "notes", "filter": { "title": "a" }, "collation": ignoring_case() } };
        let explained = served.run(explain).await.unwrap();
        let shown = explained.inner("queryPlanner").inner("collation").clone();
        assert_eq!(
            (shown.number("strength"), shown.text("alternate")),
            (2, "non-ignorable")
        );
        Ok(())
    });
}

#[test]
fn a_cursor_passes_ids_that_a_collation_does_not_distinguish() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let words = served.collection("words");
        let all = (0..300).map(|n| format!("{:b}", n).replace('0', "a").replace('1', "A"));
        words
            .insert_many(all.map(|word| doc! { "_id": word }))
            .await
            .unwrap();
        let collation = mongodb::options::Collation::builder()
            .locale("en")
            .strength(mongodb::options::CollationStrength::Secondary)
            .build();
        let found = words
            .find(doc! {})
            .sort(doc! { "_id": 1 })
            .collation(collation)
            .batch_size(7);
        let found: Vec<Document> = found.await.unwrap().try_collect().await.unwrap();
        let texts: std::collections::BTreeSet<&str> =
            found.iter().map(|one| one.text("_id")).collect();
        assert_eq!((found.len(), texts.len()), (300, 300));
        assert!(found.is_sorted_by_key(|one| one.text("_id").to_lowercase()));
        Ok(())
    });
}

#[test]
fn commands_that_write_compare_texts_by_their_collation() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = notes(&served).await;
        let update = |q: Document, u: Document, fields: Document| {
            let mut statement = doc! { "q": q, "u": u, "collation": ignoring_case() };
            statement.extend(fields);
            served.run(doc! { "update": "notes", "updates": [statement] })
        };
        let both = update(
            doc! { "title": "A" },
            doc! { "$set": { "n": 1 } },
            doc! { "multi": true },
        );
        assert_eq!(both.await.unwrap().number("nModified"), 2);
        let pulled = update(
            doc! { "_id": 0 },
            doc! { "$pull": { "tags": "B" } },
            doc! {},
        );
        assert_eq!(pulled.await.unwrap().number("nModified"), 1);
        let added = update(
            doc! { "_id": 1 },
            doc! { "$addToSet": { "tags": "A" } },
            doc! {},
        );
        assert_eq!(added.await.unwrap().number("nModified"), 0);
        let filters = doc! { "arrayFilters": [{ "tag": "B" }] };
        let set = update(
            doc! { "_id": 3 },
            doc! { "$set": { "tags.$[tag]": "x" } },
            filters,
        );
        assert_eq!(set.await.unwrap().number("nModified"), 1);
        let positional = update(
            doc! { "_id": 3, "tags": "X" },
            doc! { "$set": { "tags.$": "y" } },
            doc! {},
        );
        assert_eq!(positional.await.unwrap().number("nModified"), 1);
        let stages =
            vec![doc! { "$set": { "n": { "$cond": [{ "$eq": ["$title", "C"] }, 7, 8] } } }];
        let by_pipeline = doc! { "q": { "title": "C" }, "u": stages, "collation": ignoring_case() };
        served
            .run(doc! { "update": "notes", "updates": [by_pipeline] })
            .await
            .unwrap();
        assert_eq!(
            notes
                .find_one(doc! { "_id": 4 })
                .await
                .unwrap()
                .unwrap()
                .number("n"),
            7
        );

        let modify = doc! {
            "findAndModify": "notes", "query": { "title": "B" }, "sort": { "title": 1, "_id": 1 }, "update": { "$set": { "n": 2 } },
            "collation": ignoring_case(),
        };
        assert_eq!(
            served
                .run(modify)
                .await
                .unwrap()
                .inner("value")
                .number("_id"),
            0
        );
        let delete = doc! { "q": { "title": "B" }, "limit": 0, "collation": ignoring_case() };
        let deleted = served
            .run(doc! { "delete": "notes", "deletes": [delete] })
            .await
            .unwrap();
        assert_eq!(deleted.number("n"), 2);
        let plain = doc! { "q": { "title": "A" }, "limit": 0 };
        let deleted = served
            .run(doc! { "delete": "notes", "deletes": [plain] })
            .await
            .unwrap();
        assert_eq!(deleted.number("n"), 1);
        Ok(())
    });
}

/// Each statement has its own collation.
#[test]
fn the_variables_of_a_write_are_evaluated_by_its_collation() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = notes(&served).await;
        let is_equal = doc! { "same": { "$eq": ["a", "A"] } };
        let marked = doc! { "$expr": "$$same" };
        let statement = |id: i32, collation: Option<Document>| {
            let filter = doc! { "$and": [{ "_id": id }, marked.clone()] };
            let mut statement = doc! { "q": filter };
            statement.extend(collation.map(|collation| ("collation".to_owned(), collation.into())));
            statement
        };
        let mut updates = [statement(0, None), statement(1, Some(ignoring_case()))];
        for update in &mut updates {
            update.insert("u", doc! { "$set": { "n": 1 } });
        }
        let command =
            doc! { "update": "notes", "updates": updates.to_vec(), "let": is_equal.clone() };
        let reply = served.run(command).await.unwrap();
        assert_eq!(reply.number("n"), 1);
        let changed = notes.find_one(doc! { "n": 1 }).await.unwrap().unwrap();
        assert_eq!(changed.number("_id"), 1);

        let mut deletes = [statement(2, None), statement(3, Some(ignoring_case()))];
        for delete in &mut deletes {
            delete.insert("limit", 1);
        }
        let command =
            doc! { "delete": "notes", "deletes": deletes.to_vec(), "let": is_equal.clone() };
        assert_eq!(served.run(command).await.unwrap().number("n"), 1);
        assert_eq!(notes.count_documents(doc! { "_id": 3 }).await.unwrap(), 0);

        for (collation, found) in [
            (doc! { "locale": "simple" }, false),
            (ignoring_case(), true),
        ] {
            let command = doc! {
                "findAndModify": "notes",
                "query": { "$and": [{ "_id": 4 }, marked.clone()] },
                "update": { "$set": { "n": 2 } },
                "let": is_equal.clone(),
                "collation": collation,
            };
            let reply = served.run(command).await.unwrap();
            assert_eq!(reply.get_document("value").is_ok(), found);
        }
        Ok(())
    });
}

#[test]
fn an_index_has_the_collation_that_it_is_made_with() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        notes(&served).await;
        let index = |key: Document, name: &str, fields: Document| {
            let mut index = doc! { "key": key, "name": name };
            index.extend(fields);
            doc! { "createIndexes": "notes", "indexes": [index] }
        };
        let by_title = || {
            index(
                doc! { "title": 1 },
                "by_title",
                doc! { "collation": ignoring_case() },
            )
        };
        served.run(by_title()).await.unwrap();
        assert_eq!(
            served
                .run(by_title())
                .await
                .unwrap()
                .number("numIndexesAfter"),
            2
        );
        served
            .run(index(doc! { "title": 1 }, "title_1", doc! {}))
            .await
            .unwrap();
        let listed = served.run(doc! { "listIndexes": "notes" }).await.unwrap();
        let listed = listed.inner("cursor").list("firstBatch").clone();
        let collation = listed[1].as_document().unwrap().inner("collation").clone();
        assert_eq!(
            (collation.text("locale"), collation.number("strength")),
            ("en", 2)
        );
        assert!(!collation.text("version").is_empty());
        // What is listed can be asked for again.
        let again = index(
            doc! { "title": 1 },
            "by_title",
            doc! { "collation": collation },
        );
        assert_eq!(
            served.run(again).await.unwrap().text("note"),
            "all indexes already exist"
        );

        let used = async |collation: Document| {
            let find = doc! { "find": "notes", "filter": { "title": "A" }, "collation": collation };
            let explained = served.run(doc! { "explain": find }).await.unwrap();
            let plan = explained.inner("queryPlanner").inner("winningPlan").clone();
            plan.get_document("inputStage")
                .map(|scan| scan.text("indexName").to_owned())
                .ok()
        };
        assert_eq!(used(ignoring_case()).await.as_deref(), Some("by_title"));
        assert_eq!(
            used(doc! { "locale": "simple" }).await.as_deref(),
            Some("title_1")
        );
        assert_eq!(used(doc! { "locale": "de" }).await, None);

        let unique = doc! { "unique": true, "collation": ignoring_case() };
        served
            .run(index(doc! { "nick": 1 }, "nick_1", unique))
            .await
            .unwrap_err();
        served
            .collection("people")
            .insert_one(doc! { "nick": "Ann" })
            .await
            .unwrap();
        let unique = doc! { "key": { "nick": 1 }, "name": "nick_1", "unique": true, "collation": ignoring_case() };
        served
            .run(doc! { "createIndexes": "people", "indexes": [unique] })
            .await
            .unwrap();
        let duplicate = served
            .collection("people")
            .insert_one(doc! { "nick": "ANN" })
            .await;
        assert_eq!(crate::error_of(duplicate.unwrap_err()).0, 11_000);
        let partial =
            doc! { "partialFilterExpression": { "title": "a" }, "collation": ignoring_case() };
        let partial = index(doc! { "title": 1 }, "partial", partial);
        assert_eq!(served.refused(partial).await.0, 238);
        Ok(())
    });
}

#[test]
fn commands_without_a_collation_have_the_default_one_of_their_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let create = |name: &str, collation: Document| {
            served.run(doc! { "create": name, "collation": collation })
        };
        create("notes", ignoring_case()).await.unwrap();
        let again = doc! { "create": "notes", "collation": { "locale": "de" } };
        assert_eq!(served.refused(again).await.0, 48);
        create("plain", doc! { "locale": "simple" }).await.unwrap();
        let bad = doc! { "create": "bad", "collation": { "locale": "xx" } };
        assert_eq!(served.refused(bad).await.0, 2);
        let options = async |name: &str| {
            let list = doc! { "listCollections": 1, "filter": { "name": name } };
            let listed = served.run(list).await.unwrap();
            let listed = listed.inner("cursor").list("firstBatch")[0].clone();
            listed.as_document().unwrap().inner("options").clone()
        };
        let collation = options("notes").await.inner("collation").clone();
        assert_eq!(
            (collation.text("locale"), collation.number("strength")),
            ("en", 2)
        );
        assert_eq!(options("plain").await, doc! {});
        notes(&served).await;

        let simple = || doc! { "locale": "simple" };
        let commands = [
            doc! { "find": "notes", "filter": { "title": "A" } },
            doc! { "aggregate": "notes", "pipeline": [{ "$match": { "title": "A" } }], "cursor": {} },
            doc! { "aggregate": "plain", "cursor": {}, "pipeline": [
                { "$lookup": { "from": "notes", "as": "of", "let": {}, "pipeline": [{ "$match": { "title": "A" } }] } },
                { "$unwind": "$of" },
            ] },
        ];
        served
            .collection("plain")
            .insert_one(doc! { "_id": 1 })
            .await
            .unwrap();
        // `$lookup` has the collation of its `aggregate`.
        for (command, expected) in commands.into_iter().zip([2, 2, 1]) {
            let number = async |command: Document| {
                let reply = served.run(command).await.unwrap();
                reply.inner("cursor").list("firstBatch").len()
            };
            assert_eq!(number(command.clone()).await, expected, "{command}");
            let mut other = command;
            other.insert("collation", simple());
            assert_eq!(number(other.clone()).await, 1, "{other}");
        }
        let count = |fields: Document| {
            let mut command = doc! { "count": "notes", "query": { "title": "A" } };
            command.extend(fields);
            served.run(command)
        };
        assert_eq!(count(doc! {}).await.unwrap().number("n"), 2);
        assert_eq!(
            count(doc! { "collation": simple() })
                .await
                .unwrap()
                .number("n"),
            1
        );
        let distinct = doc! { "distinct": "notes", "key": "title" };
        assert_eq!(served.run(distinct).await.unwrap().list("values").len(), 3);

        let update = doc! { "q": { "title": "A" }, "u": { "$inc": { "n": 1 } }, "multi": true };
        let update = doc! { "update": "notes", "updates": [update] };
        assert_eq!(served.run(update).await.unwrap().number("nModified"), 2);
        let found = doc! { "findAndModify": "notes", "query": { "title": "C" }, "remove": true };
        let found = served.run(found).await.unwrap();
        assert_eq!(found.inner("value").text("title"), "c");
        let delete = doc! { "q": { "title": "B" }, "limit": 0, "collation": simple() };
        let delete = doc! { "delete": "notes", "deletes": [delete] };
        assert_eq!(served.run(delete).await.unwrap().number("n"), 1);
        let delete = doc! { "delete": "notes", "deletes": [{ "q": { "title": "B" }, "limit": 0 }] };
        assert_eq!(served.run(delete).await.unwrap().number("n"), 1);

        let by_title = doc! { "key": { "title": 1 }, "name": "by_title" };
        let by_bytes = doc! { "key": { "title": 1 }, "name": "by_bytes", "collation": simple() };
        let indexes = doc! { "createIndexes": "notes", "indexes": [by_title, by_bytes] };
        served.run(indexes).await.unwrap();
        let rename = doc! { "renameCollection": "shop.notes", "to": "shop.renamed" };
        let admin = served.client.database("admin");
        admin.run_command(rename).await.unwrap();
        assert!(options("renamed").await.contains_key("collation"));
        let listed = served.run(doc! { "listIndexes": "renamed" }).await.unwrap();
        let indexes = listed.inner("cursor").list("firstBatch");
        let collated = |name: &str| {
            let mut indexes = indexes.iter().filter_map(|index| index.as_document());
            let index = indexes.find(|index| index.text("name") == name).unwrap();
            index.contains_key("collation")
        };
        assert!(collated("by_title") && !collated("by_bytes"));
        let find = doc! { "find": "renamed", "filter": { "title": "A" } };
        let explained = served.run(doc! { "explain": find }).await.unwrap();
        let planner = explained.inner("queryPlanner");
        assert_eq!(
            planner
                .inner("winningPlan")
                .inner("inputStage")
                .text("indexName"),
            "by_title"
        );
        assert_eq!(planner.inner("collation"), &collation);
        // A change stream has none.
        let watch =
            doc! { "aggregate": "renamed", "pipeline": [{ "$changeStream": {} }], "cursor": {} };
        served.run(watch).await.unwrap();
        Ok(())
    });
}
