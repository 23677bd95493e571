use std::{collections::BTreeMap, future::poll_fn, pin::pin};

use odm::{
    Embedded,
    bson::{Timestamp, doc, rawdoc},
    mql::Variables,
};

use super::*;

type Databases = BTreeMap<String, Collections>;

async fn databases(names: &[&str]) -> Databases {
    let mut databases = Databases::new();
    for name in names {
        let store = Embedded::memory().await.unwrap();
        let collections = Collections::open(store).await.unwrap();
        databases.insert((*name).to_owned(), collections);
    }
    databases
}

async fn begin(databases: &Databases, start: Start) -> Result<ChangeStream> {
    let last = doc! { "$match": { "documentKey._id": { "$gte": 4_999 } } };
    let pipeline = Pipeline::parse(&[last], &Variables::default()).unwrap();
    let images = Images::default();
    let all = databases.iter();
    ChangeStream::begin(all, Scope::Deployment, images, start, (pipeline, false)).await
}

async fn insert(databases: &Databases, name: &str, ids: std::ops::Range<i32>) {
    let notes = databases[name].collection("notes");
    let documents = ids.map(|id| rawdoc! { "_id": id });
    notes.insert(documents).await.unwrap();
}

fn number(events: &Events) -> usize {
    events.documents.into_iter().count()
}

#[tokio::test]
async fn others_run_while_a_large_commit_is_looked_at_and_a_late_batch_ends_within_it() {
    let databases = databases(&["shop"]).await;
    let mut stream = begin(&databases, Start::Now).await.unwrap();
    insert(&databases, "shop", 0..5_000).await;
    let late = stream.batch(None, Some(Instant::now())).await.unwrap();
    assert_eq!(number(&late), 0);
    assert!(late.token.shown().is_some_and(|shown| shown < 2_000));

    let mut again = begin(&databases, Start::After(late.token)).await.unwrap();
    for (stream, expected) in [(&mut stream, 30), (&mut again, 30)] {
        let mut polls = 0;
        let mut batch = pin!(stream.batch(None, None));
        let events = poll_fn(|cx| {
            polls += 1;
            batch.as_mut().poll(cx)
        });
        assert_eq!(number(&events.await.unwrap()), 1);
        assert!(polls > expected, "{polls}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_place_at_which_a_stream_of_several_stores_begins_is_one_of_each() {
    for _ in 0..20 {
        let databases = Arc::new(databases(&["a", "b"]).await);
        let writes = databases.clone();
        let writer = tokio::spawn(async move {
            for id in 0..50 {
                insert(&writes, "a", id..id + 1).await;
                insert(&writes, "b", id..id + 1).await;
            }
        });
        let mut stream = begin(&databases, Start::Now).await.unwrap();
        let begun = stream.batch(Some(0), None).await.unwrap();
        let again = begin(&databases, Start::After(begun.token)).await;
        assert_eq!(again.unwrap().place, begun.token);
        writer.await.unwrap();
    }
}

#[tokio::test]
async fn an_event_that_is_larger_than_a_document_ends_the_stream_unless_it_is_made_smaller_or_split()
 {
    let databases = databases(&["shop"]).await;
    let begin = async |stages: &[odm::bson::Document], splits: bool, start: Start| {
        let pipeline = Pipeline::parse(stages, &Variables::default()).unwrap();
        let images = Images {
            after: true,
            before: true,
        };
        let all = databases.iter();
        ChangeStream::begin(all, Scope::Deployment, images, start, (pipeline, splits)).await
    };
    let mut whole = begin(&[], false, Start::Now).await.unwrap();
    let mut split = begin(&[], true, Start::Now).await.unwrap();
    let without = doc! { "$unset": ["fullDocumentBeforeChange", "updateDescription"] };
    let mut smaller = begin(&[without], false, Start::Now).await.unwrap();
    insert(&databases, "shop", 1..2).await;
    let notes = databases["shop"].collection("notes");
    for text in ["x", "y"] {
        let set = doc! { "$set": { "text": text.repeat(9 << 20) } };
        let update = odm::mql::Update::parse(&set, &[]).unwrap();
        notes
            .update(odm::mql::Filter::default(), update)
            .await
            .unwrap();
    }
    let refused = whole.batch(None, None).await.unwrap_err();
    assert_eq!(refused.code, code::BSON_OBJECT_TOO_LARGE);
    let mut shown = 0;
    while shown < 3 {
        shown += number(&smaller.batch(None, None).await.unwrap());
    }

    let mut all = Vec::new();
    while all.len() < 6 {
        let batch = split.batch(None, None).await.unwrap();
        all.extend(of_batch(&batch));
    }
    let fragments: Vec<_> = all
        .iter()
        .map(|event| event.get_document("splitEvent").ok().cloned())
        .collect();
    let part = |fragment: i32, of: i32| Some(doc! { "fragment": fragment, "of": of });
    assert_eq!(
        fragments,
        [
            None,
            part(1, 2),
            part(2, 2),
            part(1, 3),
            part(2, 3),
            part(3, 3)
        ]
    );
    assert_eq!(
        all[3].keys().collect::<Vec<_>>()[..2],
        ["_id", "splitEvent"]
    );
    let mut joined: Vec<&str> = all[3..]
        .iter()
        .flat_map(odm::bson::Document::keys)
        .map(String::as_str)
        .collect();
    joined.retain(|name| !["_id", "splitEvent"].contains(name));
    joined.sort_unstable();
    assert_eq!(
        joined,
        [
            "clusterTime",
            "documentKey",
            "fullDocument",
            "fullDocumentBeforeChange",
            "ns",
            "operationType",
            "updateDescription",
            "wallTime",
        ]
    );
    // It goes on after any fragment.
    for shown in 1..6 {
        let id =
            odm::bson::RawDocumentBuf::try_from(all[shown].get_document("_id").unwrap()).unwrap();
        let start = Start::After(Token::parse(&id).unwrap());
        let mut again = begin(&[], true, start).await.unwrap();
        let mut rest = Vec::new();
        while rest.len() < 5 - shown {
            rest.extend(of_batch(&again.batch(None, None).await.unwrap()));
        }
        assert!(rest == all[shown + 1..], "after {shown}");
        let end = again.batch(None, Some(Instant::now())).await.unwrap();
        assert_eq!(number(&end), 0);
    }
}

fn of_batch(events: &Events) -> Vec<odm::bson::Document> {
    let documents = events.documents.into_iter();
    let documents =
        documents.map(|event| event.unwrap().as_document().unwrap().try_into().unwrap());
    documents.collect()
}

#[tokio::test]
async fn a_commit_that_is_too_large_to_be_kept_is_one_that_streams_have_missed() {
    let databases = databases(&["shop"]).await;
    let mut stream = begin(&databases, Start::Now).await.unwrap();
    let begun = stream.batch(Some(0), None).await.unwrap().token;
    let notes = databases["shop"].collection("notes");
    let text = "x".repeat(1 << 20);
    let documents = (0..70).map(|id| rawdoc! { "_id": id, "text": text.as_str() });
    notes.insert(documents).await.unwrap();
    let missed = stream.batch(None, None).await.unwrap_err();
    assert_eq!(missed.code, code::CHANGE_STREAM_HISTORY_LOST);
    let missed = begin(&databases, Start::After(begun)).await.unwrap_err();
    assert_eq!(missed.code, code::CHANGE_STREAM_HISTORY_LOST);

    let mut stream = begin(&databases, Start::Now).await.unwrap();
    insert(&databases, "shop", 5_000..5_001).await;
    assert_eq!(number(&stream.batch(None, None).await.unwrap()), 1);
}

#[tokio::test]
async fn no_stream_begins_at_a_time_of_another_process() {
    let databases = databases(&["shop"]).await;
    let recorded = begin(&databases, Start::Now).await.unwrap();
    let own = CommitTime::next();
    let seen = CommitTime::from(Timestamp {
        time: own.seconds() + 1_000,
        increment: 7,
    });
    CommitTime::advance(seen);
    for time in [seen, seen.before()] {
        let refused = begin(&databases, Start::At(time)).await.unwrap_err();
        assert_eq!(refused.code, code::CHANGE_STREAM_HISTORY_LOST);
    }
    for time in [own, CommitTime::next()] {
        begin(&databases, Start::At(time)).await.unwrap();
    }
    drop(recorded);
}
