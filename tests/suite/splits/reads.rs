//! Reading with a cold part and without, and by fields of either.

use futures_util::TryStreamExt as _;
use odm::{ErrorKind, bson::doc, measure, prelude::*, query::count};
use tests::{TestStore, on_embedded_stores, on_every_store};

use super::{Movie, Movies, details, movie};

async fn movies(store: impl TestStore) -> Movies {
    let db = Movies::open(store).await.unwrap();
    db.movies.insert_many((1..=20).map(movie)).await.unwrap();
    db
}

fn ids(movies: &[Movie]) -> Vec<i32> {
    movies.iter().map(|movie| movie.id).collect()
}

on_every_store! {
    async fn a_cold_part_is_loaded_where_it_is_asked_for_by_one_query_for_all(store: AnyStore) {
        let db = movies(store).await;
        let fields = Movie::fields();
        let plain = db.movies.all().await.unwrap();
        assert!(plain.iter().all(|movie| !movie.details.is_loaded()));
        let (loaded, cost) = measure(async { db.movies.all().with(fields.details).await }).await;
        let loaded = loaded.unwrap();
        assert_eq!(cost.queries, 2);
        assert!(loaded.iter().all(|movie| movie.details == details(movie.id).into()));

        let mut later = plain.clone();
        let (result, cost) = measure(async { db.movies.load(&mut later, fields.details).await }).await;
        result.unwrap();
        assert_eq!((cost.queries, &later), (1, &loaded));
        let mut one = db.movies.get(3).await.unwrap();
        db.movies.load(&mut one, fields.details).await.unwrap();
        assert_eq!(one.details, details(3).into());
        db.movies.load(&mut one, fields.script).await.unwrap();
        assert_eq!(one.script.get(), None, "there is none");

        let many = db.movies.get_many([5, 2, 5]).with(fields.details).await.unwrap();
        assert_eq!(ids(&many), [5, 2, 5]);
        assert!(many.iter().all(|movie| movie.details == details(movie.id).into()));
        let streamed: Vec<Movie> =
            db.movies.all().with(fields.details).stream().try_collect().await.unwrap();
        assert_eq!(streamed, loaded);
        let page = db.movies.all().with(fields.details).page(3).await.unwrap();
        assert_eq!(page.items, loaded[..3]);
    }

    async fn a_condition_a_sort_or_a_write_that_mixes_cold_parts_is_refused(store: AnyStore) {
        let db = movies(store).await;
        let fields = Movie::fields();
        let mixed = fields.title.eq("movie 1") & fields.details.imdb.rating.gt(1.0);
        // A document as a whole consists of all of its parts.
        let whole = |variable: &str| {
            Filter::<Movie>::raw(doc! { "$expr": { "$ne": [variable, { "title": "x" }] } })
        };
        for result in [
            db.movies.find(fields.title.eq("x") | fields.details.plot.eq("y")).await.map(drop),
            db.movies.find(!mixed.clone()).count().await.map(drop),
            db.movies.find(!(fields.script.text.eq("x") & fields.details.plot.eq("y"))).await.map(drop),
            db.movies.all().sort(fields.title.asc().then(fields.details.plot.asc())).await.map(drop),
            db.movies.find(fields.title.eq("x")).sort(fields.script.text.asc().then(fields.details.plot.asc())).page(2).await.map(drop),
            db.movies.find(fields.details.exists(true)).await.map(drop),
            db.movies.delete_where(mixed.clone()).await.map(drop),
            db.movies.update_where(mixed).set(fields.title, "x").await.map(drop),
            db.movies.find(whole("$$ROOT")).await.map(drop),
            db.movies.find(whole("$$CURRENT")).count().await.map(drop),
            db.movies.find(whole("$$ROOT") & fields.details.plot.eq("y")).await.map(drop),
            db.movies.find(whole("$$ROOT")).explain().await.map(drop),
            db.movies.delete_where(whole("$$ROOT")).await.map(drop),
            db.movies.update_where(whole("$$ROOT")).set(fields.title, "x").await.map(drop),
            db.movies.find(Filter::raw(doc! { "$expr": "$cold" })).await.map(drop),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery);
            assert!(error.to_string().contains("movies"), "{error}");
        }
        assert_eq!(db.movies.all().count().await.unwrap(), 20);
        // A field reached through the whole document is in one part.
        let rating = doc! { "$expr": { "$eq": ["$$ROOT.cold.imdb.rating", 2.0] } };
        assert_eq!(db.movies.find(Filter::raw(rating)).count().await.unwrap(), 4);
    }

    async fn a_query_about_whole_documents_is_refused(store: AnyStore) {
        let db = movies(store).await;
        for filter in [
            odm::bson::doc! { "$jsonSchema": { "required": ["title", "cold"] } },
            odm::bson::doc! { "title": "movie 1", "$jsonSchema": { "required": ["title"] } },
            odm::bson::doc! { "$nor": [{ "$expr": { "$eq": ["$$ROOT", 1] } }] },
        ] {
            let filter = || Filter::raw(filter.clone());
            for result in [
                db.movies.find(filter()).await.map(drop),
                db.movies.find(filter()).count().await.map(drop),
                db.movies.delete_where(filter()).await.map(drop),
                db.movies.update_where(filter()).set(Movie::fields().title, "x").await.map(drop),
            ] {
                let error = result.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
                assert!(error.to_string().contains("movies"), "{error}");
            }
        }
        assert_eq!(db.movies.all().count().await.unwrap(), 20);
    }

    async fn aggregates_read_the_document_and_its_cold_part(store: AnyStore) {
        let db = movies(store).await;
        let (movie, details) = (Movie::fields(), Movie::fields().details);
        assert_eq!(db.movies.all().sum(details.imdb.votes).await.unwrap(), 210);
        // By a cold part, over the documents that a filter of the hot document finds.
        let late = db.movies.find(movie.release_year.gt(1910));
        let rows = late.group_by(details.imdb.rating)
            .select((count(), movie.release_year.max(), details.imdb.votes.sum()))
            .having(details.imdb.votes.sum().gt(29))
            .await
            .unwrap();
        assert_eq!(rows, [(0.0, (2, Some(1920), 35)), (3.0, (2, Some(1918), 31)), (4.0, (2, Some(1919), 33))]);
        // By the hot document, over the documents that a filter of the cold part finds.
        let good = db.movies.find(details.imdb.rating.gte(3.0));
        assert_eq!(good.sum(movie.release_year).await.unwrap(), 8 * 1900 + 3 + 4 + 8 + 9 + 13 + 14 + 18 + 19);
        let tags = db.movies.all().unwind(details.tags).count_by(details.tags.element()).await.unwrap();
        assert_eq!(tags, [("old".to_owned(), 20), ("tag 0".to_owned(), 10), ("tag 1".to_owned(), 10)]);
        let tags = db.movies.find(movie.id.lte(2)).distinct(details.tags).await.unwrap();
        assert_eq!(tags, ["old", "tag 0", "tag 1"]);
        let both = || db.movies.find(details.imdb.rating.gte(3.0) & movie.title.ne("movie 3"));
        assert_eq!(both().sum(movie.id).await.unwrap(), 4 + 8 + 9 + 13 + 14 + 18 + 19);
        assert_eq!(both().sum(details.imdb.votes).await.unwrap(), 4 + 8 + 9 + 13 + 14 + 18 + 19);
        assert_eq!(both().distinct(details.imdb.rating).await.unwrap(), [3.0, 4.0]);
    }

    async fn a_cold_part_that_is_not_loaded_is_null_in_json_and_comes_back_as_such(store: AnyStore) {
        let db = movies(store).await;
        let hot = db.movies.get(1).await.unwrap();
        let json = serde_json::to_value(&hot).unwrap();
        assert!(json["cold"].is_null());
        assert_eq!(serde_json::from_value::<Movie>(json).unwrap(), hot);
        let whole = db.movies.get(1).with(Movie::fields().details).await.unwrap();
        let json = serde_json::to_value(&whole).unwrap();
        assert_eq!(json["cold"]["plot"], "plot 1");
        assert_eq!(serde_json::from_value::<Movie>(json).unwrap(), whole);
    }
}

on_embedded_stores! {
    async fn a_query_by_a_cold_part_finds_the_documents_in_its_order_and_loads_them(store: AnyStore) {
        let db = movies(store).await;
        let fields = Movie::fields();
        let best = db.movies.find(fields.details.imdb.rating.gte(3.0))
            .sort(fields.details.imdb.rating.desc()).await.unwrap();
        assert_eq!(ids(&best), [4, 9, 14, 19, 3, 8, 13, 18]);
        assert!(best.iter().all(|movie| movie.details == details(movie.id).into()));
        let query = || db.movies.find(fields.details.imdb.rating.eq(2.0) & fields.id.gt(2));
        assert_eq!(ids(&query().await.unwrap()), [7, 12, 17], "the `_id` is in both parts");
        assert_eq!(query().count().await.unwrap(), 3);
        assert_eq!(query().explain().await.unwrap().index.unwrap(), "imdb.rating_1");
        assert_eq!(query().skip(1).first().await.unwrap().unwrap().id, 12);
        let tags = db.movies.all().distinct(fields.details.imdb.rating).await.unwrap();
        assert_eq!(tags, [0.0, 1.0, 2.0, 3.0, 4.0]);

        let mut after = None;
        let mut paged = Vec::new();
        loop {
            let mut find = db.movies.find(Filter::all()).sort(fields.details.imdb.rating.asc());
            if let Some(after) = &after {
                find = find.after(after);
            }
            let page = find.page(3).await.unwrap();
            paged.extend(ids(&page.items));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let mut expected: Vec<i32> = (1..=20).collect();
        expected.sort_by_key(|id| (id % 5, *id));
        assert_eq!(paged, expected);
    }
}
