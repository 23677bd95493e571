//! Collections by their names, for programs without models.

mod declared;
mod manage;
mod transfers;

use std::time::Duration;

use futures_util::future::join_all;
use odm::{
    Collections, ErrorKind, OpenOptions,
    bson::{self, Bson, Document, RawBson, RawDocument, RawDocumentBuf, doc, rawdoc},
    collections::{DoneStatements, Retryable, Statement, WrittenDocuments},
    mql::{Direction, Filter, Pipeline, Projection, Sort, Update, UpdatePipeline, Variables},
    prelude::*,
    store::{Cause, contract::IndexSpec},
};
use serde::{Deserialize, Serialize};
use tests::{AnyStore, on_every_store, on_serializable_stores, on_watched_stores};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[count(of = "Book")]
    books: i64,
    #[subset(limit = 2, sort = "-year")]
    newest: Subset<Shown>,
    #[split(collection = "notes_of_shelves", key = "shelf", optional)]
    notes: Cold<Notes>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Notes {
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books", index(fields = "year"))]
struct Book {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    shelf: Ref<Shelf>,
    #[denormalize(from = "Shelf.name")]
    shelf_name: String,
    #[validate(min = 0)]
    year: i64,
    #[version]
    version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Book")]
struct Shown {
    year: i64,
}

#[derive(Debug, Database)]
#[database(name = "library", version = 1)]
struct Library {
    shelves: Repository<Shelf>,
    books: Repository<Book>,
}

fn filter(document: Document) -> Filter {
    Filter::parse(&document).expect("it is a filter")
}

fn update(document: Document) -> Update {
    Update::parse(&document, &[]).expect("it is an update")
}

fn sort(document: Document) -> Sort {
    Sort::parse(&document).expect("it is a sort")
}

fn id(document: &RawDocumentBuf) -> Bson {
    let id = document.get("_id").expect("it is BSON");
    Bson::try_from(id.expect("it has an `_id`")).expect("it is BSON")
}

/// A library with two shelves and four books, and its collections by a program without models.
async fn filled(store: AnyStore) -> (Library, Collections) {
    let library = Library::open(store.clone()).await.expect("it opens");
    let collections = Collections::open(store).await.expect("they open");
    let shelves = [1_i64, 2].map(
        |id| rawdoc! { "_id": id, "name": format!("shelf {id}"), "notes": { "text": "dusty" } },
    );
    let shelves = collections.collection("shelves").insert(shelves).await;
    assert_eq!(shelves.expect("they are stored"), [RawBson::Int64(1), RawBson::Int64(2)]);
    let books =
        [1_i64, 2, 3, 4].map(|id| rawdoc! { "_id": id, "shelf": 1 + id % 2, "year": 2000 + id });
    let books = collections.collection("books").insert(books).await;
    books.expect("they are stored");
    (library, collections)
}

fn stages(stages: &[Document]) -> UpdatePipeline {
    UpdatePipeline::parse(stages, &Variables::default()).expect("they are stages of an update")
}

/// Carries out a part of a command that updates all books.
async fn aged(
    collections: &Collections,
    part: Retryable,
    change: Document,
) -> odm::Result<DoneStatements> {
    let changed = |before: Option<&RawDocument>, written: &[WrittenDocuments]| {
        let before =
            before.map_or(0, |before| before.get_i64("changed").expect("it has the number"));
        Ok(rawdoc! { "changed": before + written[0].modified as i64 })
    };
    let books = collections.collection("books").update(Filter::default(), update(change));
    collections.once(part, vec![Statement::Update(books)], changed).await
}

async fn assert_right(library: &Library) {
    let findings = library.audit().await.expect("it can be audited");
    assert_eq!(findings, []);
}

on_every_store! {
    async fn writes_without_models_have_all_that_follows(store: AnyStore) {
        let (library, collections) = filled(store).await;
        assert_right(&library).await;
        let (shelves, books) = (collections.collection("shelves"), collections.collection("books"));
        let renamed = shelves.update(filter(doc! { "_id": 1 }), update(doc! { "$set": { "name": "top" } }));
        assert_eq!(renamed.await.expect("it is renamed").modified, 1);
        let moved = books.update(filter(doc! { "year": { "$gt": 2002 } }), update(doc! { "$set": { "shelf": 1_i64 } }));
        assert_eq!(moved.await.expect("they move").modified, 1);
        let removed = books.delete(filter(doc! { "_id": 2 })).await.expect("it is removed");
        assert_eq!(removed.matched, 1);

        let top = library.shelves.get(1).await.expect("it is there");
        assert_eq!((top.books, top.newest.iter().map(|book| book.year).collect()), (2, vec![2004, 2003]));
        let book = library.books.get(3).await.expect("it is there");
        assert_eq!((book.shelf_name.as_str(), book.version), ("top", 2));
        assert_right(&library).await;

        // A shelf with books stays, and no book is on a shelf that is not there.
        let refused = shelves.delete(filter(doc! { "_id": 1 })).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Restricted);
        let dangling = books.insert([rawdoc! { "_id": 9_i64, "shelf": 77_i64, "year": 1_i64 }]).await.unwrap_err();
        assert_eq!(dangling.kind(), ErrorKind::DanglingReference);
        // The schema of the models holds.
        let text = books.update(filter(doc! { "_id": 1 }), update(doc! { "$set": { "year": "old" } })).await.unwrap_err();
        assert_eq!(text.kind(), ErrorKind::Invalid);
        assert_right(&library).await;
    }

    async fn derived_fields_can_be_named_by_no_update_and_are_computed_in_a_replacement(store: AnyStore) {
        let (library, collections) = filled(store).await;
        let books = collections.collection("books");
        for lie in [
            doc! { "$set": { "shelf_name": "a lie" } },
            doc! { "$unset": { "shelf_name": 1 } },
            doc! { "$rename": { "shelf_name": "other" } },
            doc! { "$set": { "version": 7_i64 } },
        ] {
            let refused = books.update(Filter::default(), update(lie)).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidQuery);
        }
        let lie = rawdoc! { "shelf": 2_i64, "shelf_name": "a lie", "year": 1999_i64 };
        let written = books.update(filter(doc! { "year": 2001 }), lie).returning().await.expect("it is replaced");
        assert_eq!(written.documents[0].get_str("shelf_name").unwrap(), "shelf 2");
        assert_eq!((id(&written.documents[0]), written.modified), (Bson::Int64(1), 1));
        assert_right(&library).await;
    }

    async fn the_first_document_of_a_search_is_changed_replaced_or_removed_alone(store: AnyStore) {
        let (library, collections) = filled(store).await;
        let books = collections.collection("books");
        let late = update(doc! { "$inc": { "year": 100_i64 } });
        let all = filter(doc! { "year": { "$lt": 2100 } });
        let newest = books.update(all.clone(), late.clone()).sort(sort(doc! { "year": -1 })).returning_before();
        let written = newest.await.expect("it is changed");
        assert_eq!((written.matched, written.documents.len(), id(&written.documents[0])), (1, 1, Bson::Int64(4)));
        // Without an order it is the first by `_id`.
        let written = books.update(all.clone(), late).first().returning().await.expect("it is changed");
        assert_eq!((id(&written.documents[0]), written.documents[0].get_i64("year").unwrap()), (Bson::Int64(1), 2101));
        let removed = books.delete(all).sort(sort(doc! { "year": -1 })).returning().await.expect("it is removed");
        assert_eq!((removed.matched, id(&removed.documents[0])), (1, Bson::Int64(3)));
        let none = books.delete(filter(doc! { "year": 1 })).first().returning().await.expect("it runs");
        assert_eq!((none.matched, none.documents.len()), (0, 0));
        let years = library.books.all().sort(Book::fields().id.asc()).await.expect("they are read");
        assert_eq!(years.iter().map(|book| (book.id, book.year)).collect::<Vec<_>>(), [(1, 2101), (2, 2002), (4, 2104)]);
        assert_right(&library).await;
    }

    async fn a_replacement_keeps_the_id_and_refuses_another_one(store: AnyStore) {
        let (library, collections) = filled(store).await;
        let books = collections.collection("books");
        let of = |id: i64| rawdoc! { "_id": id, "shelf": 1_i64, "year": 1_i64 };
        let written = books.update(filter(doc! { "_id": 1 }), of(1)).await.expect("it is replaced");
        assert_eq!((written.matched, written.modified), (1, 1));
        let refused = books.update(filter(doc! { "_id": 1 }), of(2)).await.unwrap_err();
        assert_eq!(refused.code(), Some(66), "{refused}");
        assert_right(&library).await;
    }

    async fn an_upsert_inserts_one_document_with_the_values_of_its_filter(store: AnyStore) {
        let (_, collections) = filled(store).await;
        let visits = collections.collection("visits");
        let page = || filter(doc! { "page": "/", "n": { "$gt": 1 } });
        let visit = || update(doc! { "$inc": { "n": 5 }, "$setOnInsert": { "made": true } });
        let first = visits.update(page(), visit()).upsert().returning_before().await.expect("it is inserted");
        let made = first.inserted_id.expect("it has an `_id`");
        assert_eq!((first.matched, first.documents.len()), (0, 0));
        let second = visits.update(page(), visit()).first().upsert().returning().await.expect("it is changed");
        assert_eq!((second.inserted_id, second.matched, second.modified), (None, 1, 1));
        let expected = rawdoc! { "_id": made, "page": "/", "made": true, "n": 10 };
        let same = |a: &RawDocumentBuf| Document::try_from(&**a).expect("it is BSON");
        assert_eq!(same(&second.documents[0]), same(&expected));

        // The `_id` of a replacement is its own, or that of the filter, or new.
        let by_filter = visits.update(filter(doc! { "_id": 7 }), rawdoc! { "page": "x" }).upsert().await.expect("it is new");
        assert_eq!(by_filter.inserted_id, Some(RawBson::Int32(7)));
        let own = visits.update(filter(doc! { "page": "y" }), rawdoc! { "_id": 8, "page": "y" }).upsert().await.expect("it is new");
        assert_eq!(own.inserted_id, Some(RawBson::Int32(8)));
        let other = visits.update(filter(doc! { "_id": 7 }), rawdoc! { "_id": 9 });
        assert_eq!(other.upsert().await.unwrap_err().code(), Some(66));
        let other = visits.update(filter(doc! { "_id": 70 }), rawdoc! { "_id": 71 });
        assert_eq!(other.upsert().await.unwrap_err().code(), Some(66));
        let new = visits.update(filter(doc! { "page": "z" }), rawdoc! { "other": 1 }).upsert().returning().await.expect("it is new");
        assert!(matches!(new.inserted_id, Some(RawBson::ObjectId(_))));
        assert!(new.documents[0].get("page").unwrap().is_none());
        assert_eq!(visits.find(Filter::default()).count().await.expect("they are counted"), 4);
    }

    async fn collections_of_the_library_and_of_cold_parts_can_be_read_and_not_written(store: AnyStore) {
        let (library, collections) = filled(store).await;
        let number = collections.collection("_odm_catalog").find(Filter::default()).count().await;
        assert!(number.expect("it is read") > 0);
        let parts = collections.collection("notes_of_shelves");
        assert_eq!(parts.find(Filter::default()).await.expect("it is read").len(), 2);
        for name in ["_odm_catalog", "_odm_anything", "notes_of_shelves"] {
            let collection = collections.collection(name);
            let refused = [
                collection.insert([rawdoc! { "_id": 5 }]).await.map(drop),
                collection.update(Filter::default(), update(doc! { "$set": { "a": 1 } })).await.map(drop),
                collection.update(Filter::default(), rawdoc! { "a": 1 }).upsert().await.map(drop),
                collection.delete(Filter::default()).await.map(drop),
                collections.bulk(vec![collection.delete(Filter::default())]).await.map(drop),
                collection.delete(Filter::default()).plan().await.map(drop),
            ];
            for refused in refused {
                let error = refused.unwrap_err();
                assert!(error.to_string().contains(name), "{error}");
                assert_eq!(error.kind(), ErrorKind::InvalidQuery);
            }
        }
        // The cold part of a document is written with it, and stays if a replacement does not name it.
        let shelves = collections.collection("shelves");
        let written = shelves.update(filter(doc! { "_id": 1 }), update(doc! { "$set": { "notes.text": "clean" } }));
        assert_eq!(written.await.expect("it is written").modified, 1);
        shelves.update(filter(doc! { "_id": 2 }), rawdoc! { "name": "low" }).await.expect("it is replaced");
        let clean = shelves.find(filter(doc! { "notes.text": "clean" })).count().await;
        assert_eq!(clean.expect("they are counted"), 1);
        let removed = shelves.delete(filter(doc! { "notes.text": "clean" })).first().await.unwrap_err();
        assert_eq!(removed.kind(), ErrorKind::Restricted);
        assert_right(&library).await;
    }

    async fn relations_that_are_declared_later_hold_for_collections_that_are_open(store: AnyStore) {
        let collections = Collections::open(store.clone()).await.expect("they open");
        let books = collections.collection("books");
        let shelf = rawdoc! { "_id": 1_i64, "name": "low", "books": 0_i64, "newest": [] };
        collections.collection("shelves").insert([shelf]).await.expect("it is stored");
        let book = rawdoc! { "_id": 1_i64, "shelf": 1_i64, "shelf_name": "low", "year": 3_i64, "version": 1_i64 };
        books.insert([book]).await.expect("it is stored");
        let library = Library::open(store).await.expect("it opens");
        // Before a backfill a pending count reads as in a repository.
        let read = collections.collection("shelves").find(Filter::default()).one().await.expect("it is read");
        let typed = library.shelves.get(1).await.expect("it is read");
        assert_eq!(read.expect("it is there").get_i64("books").unwrap(), typed.books);
        let refused = books.update(Filter::default(), update(doc! { "$set": { "shelf_name": "x" } })).await.unwrap_err();
        assert!(refused.to_string().starts_with("derived field"), "{refused}");
        library.backfill().await.expect("it is computed");
        books.insert([rawdoc! { "_id": 2_i64, "shelf": 1_i64, "year": 4_i64 }]).await.expect("it is stored");
        assert_eq!(library.shelves.get(1).await.expect("it is read").books, 2);
        assert_right(&library).await;
    }

    async fn a_cursor_reads_all_documents_in_order_through_its_projection(store: AnyStore) {
        let (_, collections) = filled(store).await;
        let numbers = collections.collection("numbers");
        let document = |n: i32| rawdoc! { "_id": n, "by": -(n / 3), "text": "x" };
        numbers.insert((0..2500).map(document)).await.expect("they are stored");
        let find = numbers.find(filter(doc! { "_id": { "$gte": 10 } })).sort(sort(doc! { "by": 1 })).skip(5).limit(2000);
        let ids = Projection::parse(&doc! { "_id": 1 }).expect("it is a projection");
        let expected = find.clone().project(ids.clone()).await.expect("they are read");
        let mut cursor = find.project(ids).cursor();
        let mut read = Vec::new();
        while let Some(document) = cursor.try_next().await.expect("it is read") {
            read.push(document);
        }
        assert_eq!((read.len(), &read), (2000, &expected));
        assert!(read.iter().all(|document| document.iter().count() == 1));
    }

    async fn invalid_documents_are_refused_and_nothing_is_stored(store: AnyStore) {
        let (_, collections) = filled(store).await;
        let notes = collections.collection("notes");
        let mut malformed = rawdoc! { "_id": 1, "text": "abc" }.into_bytes();
        let last = malformed.len() - 6;
        malformed[last] = 0xff;
        let malformed = RawDocumentBuf::from_bytes(malformed).expect("only its length is checked");
        let mut deep = rawdoc! {};
        for _ in 0..200 {
            deep = rawdoc! { "a": deep };
        }
        deep.append(bson::raw::cstr!("_id"), 1);
        let long = rawdoc! { "_id": 1, "text": "x".repeat(17 << 20) };
        for (document, kind) in [
            (malformed, ErrorKind::Encode),
            (deep, ErrorKind::Limit),
            (long, ErrorKind::Limit),
            (rawdoc! { "_id": [1] }, ErrorKind::Encode),
        ] {
            let refused = notes.insert([rawdoc! { "_id": 5 }, document.clone()]).await.unwrap_err();
            assert_eq!(refused.kind(), kind, "{refused}");
            let replaced = notes.update(Filter::default(), document).upsert().await;
            assert!(replaced.is_err());
        }
        let twice = notes.insert([rawdoc! { "_id": 1 }, rawdoc! { "_id": 1.0 }]).await.unwrap_err();
        assert_eq!(twice.kind(), ErrorKind::DuplicateKey);
        assert_eq!(notes.insert([]).await.expect("there is nothing to store"), []);
        assert_eq!(notes.find(Filter::default()).count().await.expect("they are counted"), 0);
    }

    async fn null_is_an_id_where_no_model_declares_the_collection(store: AnyStore) {
        let (_, collections) = filled(store).await;
        let notes = collections.collection("notes");
        let null = || rawdoc! { "_id": null };
        notes.insert([null(), rawdoc! { "_id": 1 }]).await.expect("they are stored");
        assert_eq!(notes.insert([null()]).await.unwrap_err().kind(), ErrorKind::DuplicateKey);
        let of_null = notes.find(filter(doc! { "_id": null })).await.expect("it is read");
        assert_eq!(of_null, [null()]);
        let refused = collections.collection("books").insert([null()]).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Encode);
    }

    async fn a_transaction_of_collections_is_seen_by_nobody_before_its_commit(store: AnyStore) {
        let (library, collections) = filled(store).await;
        let unit = collections.begin().await.expect("it begins");
        let books = unit.collection("books");
        books.insert([rawdoc! { "_id": 9_i64, "shelf": 1_i64, "year": 2050_i64 }]).await.expect("it is written");
        let count = |of: &Collections| of.collection("books").find(Filter::default()).count();
        assert_eq!(count(&unit).await.expect("they are counted"), 5);
        assert_eq!(count(&collections).await.expect("they are counted"), 4);
        let index = IndexSpec::new("i", [("a", Direction::Ascending)]);
        assert_eq!(books.create_index(index).await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        assert_eq!(books.drop().await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        unit.commit().await.expect("it is committed");
        assert_eq!(count(&collections).await.expect("they are counted"), 5);
        drop(collections.begin().await.expect("it begins"));
        assert_eq!(library.shelves.get(1).await.expect("it is there").books, 3);
        assert_right(&library).await;
    }

    async fn collections_of_a_database_are_in_its_transaction_and_have_its_checks(store: AnyStore) {
        let (library, _) = filled(store).await;
        let failed = library.transaction(async |library| {
            let books = Collections::of(&library).collection("books");
            books.delete(filter(doc! { "_id": 1 })).await?;
            assert_eq!(library.books.get(1).optional().await?, None);
            books.insert([rawdoc! { "_id": 1_i64, "shelf": 1_i64, "year": -5_i64 }]).await.map(drop)
        });
        assert_eq!(failed.await.unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(library.books.get(1).await.expect("it is there").year, 2001);
        let refused = library.snapshot(async |library| {
            let books = Collections::of(&library).collection("books");
            assert_eq!(books.find(Filter::default()).count().await?, 4);
            books.delete(Filter::default()).await.map(drop)
        });
        assert_eq!(refused.await.unwrap_err().kind(), ErrorKind::ReadOnly);
    }

    async fn the_stages_of_an_update_compute_documents_whose_derived_fields_follow(store: AnyStore) {
        let (library, collections) = filled(store).await;
        let (books, shelves) = (collections.collection("books"), collections.collection("shelves"));
        let later = stages(&[doc! { "$set": { "year": { "$add": ["$year", "$_id"] }, "shelf": { "$literal": 2_i64 } } }]);
        let written = books.update(filter(doc! { "year": { "$gt": 2002 } }), later).await.expect("they are changed");
        assert_eq!((written.matched, written.modified), (2, 2));
        let low = library.shelves.get(2).await.expect("it is there");
        assert_eq!((low.books, low.newest.iter().map(|book| book.year).collect()), (3, vec![2008, 2006]));
        assert_eq!(library.books.get(4).await.expect("it is there").shelf_name, "shelf 2");
        // Nothing changes where the values are the same.
        let same = stages(&[doc! { "$set": { "year": "$year" } }]);
        assert_eq!(books.update(Filter::default(), same).await.expect("it runs").modified, 0);
        // A new document has its derived fields computed, and keeps its `_id`.
        let new = stages(&[doc! { "$replaceWith": { "shelf": "$shelf", "year": 7_i64, "shelf_name": "a lie" } }]);
        let written = books.update(filter(doc! { "year": 2001 }), new.clone()).returning().await.expect("it is changed");
        assert_eq!(written.documents[0].get_str("shelf_name").unwrap(), "shelf 2");
        assert_eq!(id(&written.documents[0]), Bson::Int64(1));
        let made = books.update(filter(doc! { "_id": 9_i64, "shelf": 1_i64 }), new).upsert().await.expect("it is inserted");
        assert_eq!(made.inserted_id, Some(RawBson::Int64(9)));
        assert_right(&library).await;

        for (stage, code) in [
            (doc! { "$set": { "shelf_name": "a lie" } }, None),
            (doc! { "$unset": "version" }, None),
            (doc! { "$set": { "_id": 5 } }, Some(66)),
            (doc! { "$set": { "year": { "$divide": [1, 0] } } }, Some(2)),
            (doc! { "$set": { "year": "$shelf_name" } }, Some(121)),
        ] {
            let error = books.update(Filter::default(), stages(std::slice::from_ref(&stage))).await.unwrap_err();
            assert!(code.is_none() || error.code() == code, "{stage}: {:?} {error}", error.code());
        }
        for stage in [
            doc! { "$set": { "notes": { "text": "x" } } },
            doc! { "$set": { "name": "$notes.text" } },
            doc! { "$replaceWith": { "$mergeObjects": ["$$ROOT", { "name": "x" }] } },
            doc! { "$project": { "name": 1 } },
        ] {
            let error = shelves.update(Filter::default(), stages(&[stage])).await.unwrap_err();
            assert!(error.to_string().contains("`shelves.notes` is a cold part"), "{error}");
        }
        assert_right(&library).await;
    }

    async fn a_pipeline_reads_several_collections(store: AnyStore) {
        let (_, collections) = filled(store).await;
        let aggregate = |from: &str, stages: &[Document]| {
            let pipeline = Pipeline::parse(stages, &Variables::default()).expect("it is a pipeline");
            collections.collection(from).aggregate(pipeline)
        };
        let by_shelf = [
            doc! { "$match": { "year": { "$gt": 2001 } } },
            doc! { "$sort": { "year": -1 } },
            doc! { "$lookup": { "from": "shelves", "localField": "shelf", "foreignField": "_id", "as": "on" } },
            doc! { "$unwind": "$on" },
            doc! { "$group": { "_id": "$on.name", "years": { "$push": "$year" }, "n": { "$sum": 1 } } },
            doc! { "$sort": { "_id": 1 } },
        ];
        let expected = [
            rawdoc! { "_id": "shelf 1", "years": [2004_i64, 2002_i64], "n": 2 },
            rawdoc! { "_id": "shelf 2", "years": [2003_i64], "n": 1 },
        ];
        assert_eq!(aggregate("books", &by_shelf).await.expect("it runs"), expected);
        let correlated = [
            doc! { "$lookup": {
                "from": "books",
                "let": { "shelf": "$_id" },
                "pipeline": [{ "$match": { "$expr": { "$eq": ["$shelf", "$$shelf"] } } }, { "$count": "n" }],
                "as": "counted",
            } },
            doc! { "$project": { "counted": 1 } },
        ];
        let counted = aggregate("shelves", &correlated).await.expect("it runs");
        assert_eq!(counted, [1_i64, 2].map(|id| rawdoc! { "_id": id, "counted": [{ "n": 2 }] }));
        assert_eq!(aggregate("nowhere", &[doc! { "$count": "n" }]).await.expect("it runs"), []);

        // More documents than one portion, and a stage that would hold too many.
        let numbers = collections.collection("numbers");
        numbers.insert((0..3000).map(|n| rawdoc! { "_id": n, "by": n % 7 })).await.expect("they are stored");
        let by = [doc! { "$sort": { "by": -1 } }, doc! { "$skip": 10 }, doc! { "$match": { "by": { "$lt": 3 } } }, doc! { "$count": "n" }];
        assert_eq!(aggregate("numbers", &by).await.expect("it runs"), [rawdoc! { "n": 1287 }]);
        let pushed = [doc! { "$group": { "_id": null, "all": { "$push": "$_id" } } }];
        let refused = aggregate("numbers", &pushed).memory_limit(10_000).await.unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Limit, Some(292)));
        let crossed = [doc! { "$lookup": { "from": "numbers", "pipeline": [], "as": "all" } }];
        let refused = aggregate("shelves", &crossed).memory_limit(10_000).await.unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Limit, Some(292)));
        let mut cursor = aggregate("numbers", &[doc! { "$unset": "by" }]).cursor().await.expect("it begins");
        let mut read = 0;
        while let Some(document) = cursor.try_next().await.expect("it is read") {
            assert_eq!(document, rawdoc! { "_id": read });
            read += 1;
        }
        assert_eq!(read, 3000);
    }

    async fn a_command_that_is_sent_again_is_carried_out_once(store: AnyStore) {
        let (library, collections) = filled(store.clone()).await;
        let part = |command, begin, end| Retryable { caller: "a client".into(), command, begin, end };
        let send = |part| aged(&collections, part, doc! { "$inc": { "year": 1_i64 } });
        let first = send(part(1, 0, 2)).await.expect("it is done");
        assert_eq!((first.number, first.answer), (2, rawdoc! { "changed": 4_i64 }));
        // Again, also by another process, in whole or from its beginning on.
        let other = Collections::open(store).await.expect("they open");
        for again in [part(1, 0, 2), part(1, 0, 1)] {
            let again = aged(&other, again, doc! { "$inc": { "year": 1_i64 } }).await.expect("it is answered");
            assert_eq!((again.number, again.answer), (2, rawdoc! { "changed": 4_i64 }));
        }
        let next = send(part(1, 2, 3)).await.expect("it goes on");
        assert_eq!((next.number, next.answer), (3, rawdoc! { "changed": 8_i64 }));
        assert_eq!(collections.done(&part(1, 0, 1)).await.expect("it is read").map(|done| done.number), Some(3));
        assert_eq!(collections.done(&part(2, 0, 1)).await.expect("it is read"), None);

        // Statements in between are missing, a failed part leaves nothing, and a later command ends an earlier one.
        assert_eq!(send(part(2, 1, 2)).await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        let failed = aged(&collections, part(2, 0, 1), doc! { "$set": { "year": "old" } }).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Invalid);
        assert_eq!(collections.done(&part(2, 0, 1)).await.expect("it is read"), None);
        send(part(2, 0, 1)).await.expect("it is done");
        assert_eq!(send(part(1, 3, 4)).await.unwrap_err().kind(), ErrorKind::Stale);
        assert_eq!(collections.done(&part(1, 0, 1)).await.unwrap_err().kind(), ErrorKind::Stale);
        assert_eq!(library.books.get(1).await.expect("it is there").year, 2004);

        // Who has sent nothing for long is forgotten.
        collections.forget_answers(Duration::from_secs(60)).await.expect("they are forgotten");
        assert!(collections.done(&part(2, 0, 1)).await.expect("it is read").is_some());
        tokio::time::sleep(Duration::from_millis(5)).await;
        collections.forget_answers(Duration::ZERO).await.expect("they are forgotten");
        assert_eq!(collections.done(&part(1, 0, 1)).await.expect("it is read"), None);
        assert_right(&library).await;
    }

    async fn a_command_that_is_sent_several_times_at_once_is_carried_out_once(store: AnyStore) {
        let (library, collections) = filled(store).await;
        for command in 0..5 {
            let part = || Retryable { caller: 7.into(), command, begin: 0, end: 1 };
            let sent = (0..4).map(|_| aged(&collections, part(), doc! { "$inc": { "year": 1_i64 } }));
            for done in join_all(sent).await {
                assert_eq!(done.expect("it is done").answer, rawdoc! { "changed": 4_i64 });
            }
        }
        assert_eq!(library.books.get(1).await.expect("it is there").year, 2006);
        assert_right(&library).await;
    }
}

on_watched_stores! {
    async fn a_watch_shows_what_relations_have_changed(store: AnyStore) {
        let (_, collections) = filled(store).await;
        let (shelves, books) = (collections.collection("shelves"), collections.collection("books"));
        let mut changes = shelves.watch(filter(doc! { "books": { "$gte": 2_i64 } })).await.expect("it begins");
        let begun = changes.token().clone();
        books.insert([rawdoc! { "_id": 9_i64, "shelf": 1_i64, "year": 1_i64 }]).await.expect("it is stored");
        let change = changes.try_next().await.expect("it is shown").expect("the store is open");
        assert_eq!((change.id, change.cause), (RawBson::Int64(1), Cause::Relation));
        assert_eq!(change.after.expect("it is there").get_i64("books").unwrap(), 3);
        let mut again = shelves.watch(Filter::default()).resume_after(begun).await.expect("it goes on");
        assert_eq!(again.try_next().await.expect("it is shown").expect("the store is open").token, change.token);
    }
}

on_serializable_stores! {
    async fn the_catalog_is_read_anew_if_a_database_of_another_version_opens(store: AnyStore) {
        let options = || OpenOptions::default().refresh_every(None);
        let collections = Collections::open_with(store.clone(), options()).await.expect("they open");
        assert!(!collections.relations().await.expect("they are read").mermaid().contains("books"));
        let library = Library::open_with(store, options()).await.expect("it opens");
        assert!(collections.relations().await.expect("they are read").mermaid().contains("books"));
        drop(library);
    }
}
