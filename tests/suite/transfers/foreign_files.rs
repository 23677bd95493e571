//! The documents that an import of files of mongoexport and mongodump stores, and the place where it ends.

use std::sync::{Arc, Mutex};

use odm::{
    Embedded, ErrorKind, TransferProgress,
    bson::{RawDocumentBuf, rawdoc},
    prelude::*,
};
use tests::{on_every_store, stored};

use super::models::*;

const CATEGORY: &str = r#"{"_id":1,"name":"tools","created_at":{"$date":"2021-01-01T00:00:00Z"}}"#;
const PERSON: &str = r#"{"_id":1,"name":"Ann","tasks":[],"friends":[]}"#;
const ITEM: &str = r#"{"_id":{"$numberLong":"7"},"name":"a fence","price":9.5,"category":1,"seller":1,"detail":{"text":"of wood"}}"#;

fn category(id: i32, parent: &str) -> String {
    format!(
        r#"{{"_id":{id},"name":"category {id}","parent":{parent},"created_at":{{"$date":"2021-01-01T00:00:00Z"}}}}"#
    )
}

fn lines(documents: impl IntoIterator<Item = String>) -> String {
    let documents: Vec<String> = documents.into_iter().collect();
    documents.join("\n")
}

async fn in_memory() -> Market {
    Market::open(Embedded::memory().await.unwrap()).await.unwrap()
}

async fn import(market: &Market, categories: &str) -> odm::Result<u64> {
    market.import_files().file::<Category>(categories.as_bytes()).await
}

on_every_store! {
    async fn what_is_derived_in_a_file_is_computed_anew_and_right_after_it(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let person = PERSON.replace("\"tasks\":[]", "\"tasks\":[{\"$oid\":\"010000000000000000000000\"}]");
        let task = r#"{"_id":{"$oid":"010000000000000000000000"},"text":"paint","owner":null}"#;
        let item = ITEM.replace("\"category\"", "\"category_name\":\"wrong\",\"reviews\":99,\"best\":[{\"_id\":5}],\"category\"");
        let review = r#"{"_id":1,"stars":4,"item":{"$numberLong":"7"},"item_then":"as it was","by":1}
            {"_id":2,"stars":5,"item":7,"by":null}"#;
        // In the order of the files, no document can be stored at once.
        let number = market
            .import_files()
            .file::<Review>(review.as_bytes())
            .file_into("items", item.as_bytes())
            .file::<Person>(person.as_bytes())
            .file::<Task>(task.as_bytes())
            .file::<Category>(CATEGORY.as_bytes())
            .await
            .unwrap();
        assert_eq!(number, 6);
        assert_eq!(market.audit().await.unwrap(), []);
        let item = market.items.get(7).await.unwrap();
        assert_eq!((item.category_name.as_str(), item.reviews), ("tools", 2));
        let best: Vec<i32> = item.best.iter().map(|review| review.stars).collect();
        assert_eq!(best, [5, 4]);
        assert_eq!(market.tasks.all().await.unwrap()[0].owner, Some(Ref::new(1)));
        assert_eq!(market.reviews.get(1).await.unwrap().item_then.as_deref(), Some("as it was"));
        assert_eq!(market.reviews.get(2).await.unwrap().item_then.as_deref(), Some("a fence"));
        // The sequence continues after the greatest `_id`.
        assert_eq!(market.items.insert(super::models::item(1, 1, None)).await.unwrap().id, 8);
    }

    async fn versions_and_times_are_kept_and_where_there_are_none_a_version_is_one(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let kept = category(2, "null").replace("}}", "},\"updated_at\":{\"$date\":5},\"revision\":{\"$numberLong\":\"4\"}}");
        import(&market, &format!("{CATEGORY}\n{kept}")).await.unwrap();
        let first = market.categories.get(1).await.unwrap();
        assert_eq!((first.revision, first.updated_at), (1, None));
        assert_eq!(first.created_at.timestamp_millis(), 1_609_459_200_000);
        let second = market.categories.get(2).await.unwrap();
        assert_eq!((second.revision, second.updated_at), (4, Some(DateTime::from_millis(5))));
        // The model has no value for a document without the time.
        let error = import(&market, r#"{"_id":3,"name":"a"}"#).await.unwrap_err();
        assert!(error.to_string().starts_with("line 1: "), "{error}");
        assert!(error.to_string().contains("created_at"), "{error}");
    }

    async fn an_error_names_the_line_and_the_units_before_it_stay(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let good = |id: i32| category(id, "null");
        for (bad, kind, says) in [
            (good(7), ErrorKind::DuplicateKey, "line 601: duplicate key"),
            (good(900).replace("\"category 900\"", "5"), ErrorKind::Invalid, "line 601: invalid document: `categories` with `_id` = 900"),
            (good(900).replace(":900,", ":\"x\","), ErrorKind::Invalid, "line 601: invalid document: `categories` with `_id` = \"x\""),
            (good(900).replace("\"_id\":900,", ""), ErrorKind::Encode, "line 601: missing `_id`"),
            (category(900, "1000"), ErrorKind::DanglingReference, "line 601: dangling reference: `categories.parent` = 1000 is neither imported nor stored in `categories`"),
            (good(900).replace("\"parent\":null", "\"name\":\"b\""), ErrorKind::InvalidImport, "line 601: the document is no extended JSON: the name `name` is there twice in one object, at line 601"),
        ] {
            let file = lines((0..600).map(good).chain([bad]).chain((601..700).map(good)));
            let error = import(&market, &file).await.unwrap_err();
            assert!(error.to_string().starts_with(says), "{error}\n{says}");
            assert_eq!(error.kind(), kind, "{error}");
            let stored = market.categories.all().count().await.unwrap();
            let expected = match kind {
                // Only the end shows that the target is missing.
                ErrorKind::DanglingReference => 699,
                ErrorKind::InvalidImport => 500,
                _ => 600,
            };
            assert_eq!(stored, expected, "{error}");
            assert_eq!(market.audit().await.unwrap(), []);
            // A second import of the file meets the stored documents.
            let error = import(&market, &file).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DuplicateKey);
            assert!(error.to_string().starts_with("line 1: duplicate key"), "{error}");
            market.categories.delete_where(Filter::all()).await.unwrap();
        }
    }

    async fn a_unique_value_of_another_document_is_refused_with_its_line(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let twice = format!("{CATEGORY}\n{}", CATEGORY.replace(":1,", ":2,"));
        let error = import(&market, &twice).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        assert!(error.to_string().starts_with("line 2: "), "{error}");
    }

    async fn documents_refer_to_others_of_their_file_in_any_order(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        // Each refers to a later one.
        let file = lines((0..1_200).map(|id| category(id, &if id < 1_199 { (id + 1).to_string() } else { "null".to_owned() })));
        assert_eq!(import(&market, &file).await.unwrap(), 1_200);
        assert_eq!(market.audit().await.unwrap(), []);
        assert_eq!(market.categories.get(1_000).await.unwrap().children, 1);
    }

    async fn documents_of_a_file_that_comes_later_are_missing(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let items = format!("\n{ITEM}\n");
        let error = market.import_files().file::<Item>(items.as_bytes()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DanglingReference);
        assert!(error.to_string().starts_with("line 2: dangling reference: `items."), "{error}");
        let error = market
            .import_files()
            .file::<Item>(items.as_bytes())
            .file::<Category>(CATEGORY.as_bytes())
            .await
            .unwrap_err();
        assert!(error.to_string().starts_with("file 1, line 2: dangling reference: `items.seller` = 1 is neither"), "{error}");
        // It can also be imported before.
        market.import_files().file::<Person>(PERSON.as_bytes()).await.unwrap();
        market.import_files().file::<Item>(items.as_bytes()).await.unwrap();
        assert_eq!(market.audit().await.unwrap(), []);
    }

    async fn documents_of_two_files_that_refer_to_each_other_are_stored_together(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let person = PERSON.replace("\"friends\":[]", "\"friends\":[],\"favourite\":7");
        let files = |market: &Market, person: &str| {
            let [person, item, category] = [person, ITEM, CATEGORY].map(|text| std::io::Cursor::new(text.to_owned()));
            market.import_files().file::<Category>(category).file::<Item>(item).file::<Person>(person)
        };
        let error = files(&market, &person.replace("\"Ann\"", "5")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let message = error.to_string();
        assert!(message.starts_with("file 2, line 1 to file 3, line 1: ") || message.starts_with("file 3, line 1 to file 2, line 1: "), "{error}");
        market.categories.delete_where(Filter::all()).await.unwrap();
        assert_eq!(files(&market, &person).await.unwrap(), 3);
        assert_eq!(market.persons.get(1).await.unwrap().favourite, Some(Ref::new(7)));
        assert_eq!(market.audit().await.unwrap(), []);
    }

    async fn fields_of_another_program_are_kept(store: AnyStore) {
        let market = Market::open(store.clone()).await.unwrap();
        let file = PERSON.replace("\"name\"", "\"__v\":3,\"name\"");
        market.import_files().file::<Person>(file.as_bytes()).await.unwrap();
        assert_eq!(stored(&store, "persons").await[0].get_i32("__v").unwrap(), 3);
    }

    async fn an_import_of_files_in_a_transaction_stores_all_or_nothing(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let all = |last: i32| lines((0..700).chain([last]).map(|id| category(id, "null")));
        let import = async |file: String| {
            market.transaction(async |market| super::foreign_files::import(&market, &file).await).await
        };
        import(all(3)).await.unwrap_err();
        assert_eq!(market.categories.all().count().await.unwrap(), 0);
        assert_eq!(import(all(700)).await.unwrap(), 701);
    }
}

#[tokio::test]
async fn ten_thousand_documents_are_read_from_a_narrow_pipe_and_stored_in_units() {
    let categories = || {
        (0..10_000)
            .map(|id| category(id, &if id > 0 { (id / 2).to_string() } else { "null".to_owned() }))
    };
    let as_lines = lines(categories());
    let as_list = format!("[{}]\n", categories().collect::<Vec<_>>().join(","));
    for file in [as_lines, as_list] {
        let market = in_memory().await;
        let (mut writer, reader) = tokio::io::duplex(61);
        let reports: Arc<Mutex<Vec<TransferProgress>>> = Arc::default();
        let report = {
            let reports = reports.clone();
            move |progress| reports.lock().unwrap().push(progress)
        };
        let import = market
            .import_files()
            .file::<Category>(tokio::io::BufReader::with_capacity(37, reader))
            .on_progress(report);
        let write = async {
            use tokio::io::AsyncWriteExt;
            let (last, most) = file.as_bytes().split_last().unwrap();
            writer.write_all(most).await.unwrap();
            // The import has not waited for the end of the file.
            let stored = market.categories.all().count().await.unwrap();
            assert!(stored >= 9_000, "{stored}");
            writer.write_all(&[*last]).await.unwrap();
            drop(writer);
        };
        let (imported, ()) = tokio::join!(import.into_future(), write);
        assert_eq!(imported.unwrap(), 10_000);
        assert_eq!(market.audit().await.unwrap(), []);
        assert_eq!(market.categories.get(1).await.unwrap().children, 2);
        let reports = std::mem::take(&mut *reports.lock().unwrap());
        let (first, last) = (reports[0], *reports.last().unwrap());
        assert_eq!((first.documents, first.of), (500, 0));
        assert!(first.bytes * 15 < file.len() as u64, "{first:?}");
        assert_eq!(last.documents, 10_000);
        // The end of the list is read after the last unit.
        let left = file.len() as u64 - last.bytes;
        assert_eq!(left, if file.starts_with('[') { 2 } else { 0 });
    }
}

#[tokio::test]
async fn progress_counts_the_bytes_of_all_files() {
    let market = in_memory().await;
    let dump: Vec<u8> = [1, 2, 3]
        .iter()
        .flat_map(|id| {
            rawdoc! { "_id": *id, "name": "Ann", "tasks": [], "friends": [] }.into_bytes()
        })
        .collect();
    let last = Arc::new(Mutex::new(TransferProgress::default()));
    let report = {
        let last = last.clone();
        move |progress| *last.lock().unwrap() = progress
    };
    let files =
        market.import_files().file::<Person>(&dump[..]).file::<Category>(CATEGORY.as_bytes());
    files.on_progress(report).await.unwrap();
    let last = *last.lock().unwrap();
    assert_eq!((last.documents, last.bytes), (4, (dump.len() + CATEGORY.len()) as u64));
}

#[tokio::test]
async fn an_export_and_a_file_of_another_program_are_told_apart() {
    let market = in_memory().await;
    import(&market, CATEGORY).await.unwrap();
    let export = exported(&market).await;
    let copy = in_memory().await;
    let error = import(&copy, &export).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImport);
    assert_eq!(
        error.to_string(),
        "line 1: the file is an export of this library: read it by `import`"
    );
    let dump = rawdoc! { "_id": 1 };
    for foreign in [CATEGORY.as_bytes(), b"[{}]", dump.as_bytes()] {
        let error = copy.import(foreign).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImport);
        assert!(
            error
                .to_string()
                .ends_with("a file of mongoexport or mongodump is read by `import_files`"),
            "{error}"
        );
    }
    // A document of another program with these names is not an export.
    let named = r#"{"_id":1,"export":1,"database":1,"version":1,"documents":1,"name":"Ann","tasks":[],"friends":[]}"#;
    copy.import_files().file::<Person>(named.as_bytes()).await.unwrap();
}

#[tokio::test]
async fn an_export_with_a_byte_order_mark_is_read_and_one_with_a_name_twice_is_not() {
    let market = in_memory().await;
    import(&market, CATEGORY).await.unwrap();
    let export = exported(&market).await;
    let copy = imported(&format!("\u{feff}{export}")).await.unwrap();
    assert_eq!(exported(&copy).await, export);
    let twice = export.replace("\"name\":", "\"name\":\"a\",\"name\":");
    assert_ne!(twice, export);
    let error = imported(&twice).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidImport);
    assert!(
        error.to_string().starts_with("line 2: ")
            && error.to_string().contains("the name `name` is there twice"),
        "{error}"
    );
}

#[tokio::test]
async fn a_collection_without_a_model_is_refused_before_anything_is_read() {
    let market = in_memory().await;
    let error = market
        .import_files()
        .file::<Category>(CATEGORY.as_bytes())
        .file_into("item_details", &b"{}"[..])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImport);
    assert_eq!(
        error.to_string(),
        "file 2: unknown collection: no model of the database is stored in `item_details`"
    );
    assert_eq!(market.categories.all().count().await.unwrap(), 0);
}

#[tokio::test]
async fn a_damaged_dump_is_refused_with_the_offset_and_what_is_before_it_stays() {
    let person = |id: i32| rawdoc! { "_id": id, "name": "Ann", "tasks": [], "friends": [] };
    let one = person(1).into_bytes().len();
    let whole: Vec<u8> = (0..600).flat_map(|id| person(id).into_bytes()).collect();
    let at = 550 * one;
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        bytes
    };
    let insert = |document: RawDocumentBuf| {
        with(&|bytes| drop(bytes.splice(at..at, document.as_bytes().to_vec())))
    };
    let twice = rawdoc! { "_id": 1, "list": [{ "x": 1, "y": 2 }] };
    let twice = with_renamed(twice, b"y", b"x");
    let mut deep = rawdoc! {};
    for _ in 0..100_000 {
        let mut outer = rawdoc! {};
        outer.append(odm::bson::cstr!("a"), deep);
        deep = outer;
        if deep.as_bytes().len() > 2_000 {
            break;
        }
    }
    for (bytes, says) in [
        (with(&|bytes| bytes.truncate(at + 2)), "the file ends within the length of a document"),
        (
            with(&|bytes| bytes.truncate(at + 10)),
            "the file ends within the document, after 10 of its",
        ),
        (with(&|bytes| bytes[at + 3] = 0xff), "the length of the document is -"),
        (with(&|bytes| bytes[at + 3] = 0x02), "the length of the document is 33554"),
        (
            with(&|bytes| bytes[at..at + 4].copy_from_slice(&4_i32.to_le_bytes())),
            "the length of the document is 4 bytes",
        ),
        (with(&|bytes| bytes[at] += 1), "the document is no BSON: "),
        (with(&|bytes| bytes[at + 4] = 0x6e), "the document is no BSON: "),
        (with(&|bytes| bytes[at + one - 1] = 1), "the document is no BSON: "),
        (with_renamed_at(&whole, at, b"Ann", b"A\xffn"), "the document is no BSON: "),
        (with_renamed_at(&whole, at, b"name", b"na\xffe"), "the document is no BSON: "),
        (insert(twice), "the document is no BSON: the name `x` is there twice in one document"),
        (insert(deep), "the document is no BSON: it is nested deeper than 180 levels"),
    ] {
        let market = in_memory().await;
        let error = market.import_files().file::<Person>(&bytes[..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImport, "{error}");
        let says = format!("offset {at}: {says}");
        assert!(error.to_string().starts_with(&says), "{error}\n{says}");
        assert_eq!(market.persons.all().count().await.unwrap(), 500);
    }
    let trailing: Vec<u8> = whole.iter().copied().chain([0, 0, 0]).collect();
    let error = in_memory().await.import_files().file::<Person>(&trailing[..]).await.unwrap_err();
    let says = format!("offset {}: the file ends within the length", whole.len());
    assert!(error.to_string().starts_with(&says), "{error}");
    // A document that is valid BSON and violates the schema.
    let wrong = insert(rawdoc! { "_id": 900, "name": 5, "tasks": [], "friends": [] });
    let error = in_memory().await.import_files().file::<Person>(&wrong[..]).await.unwrap_err();
    let says = format!("offset {at}: invalid document: `persons` with `_id` = 900");
    assert!(error.to_string().starts_with(&says), "{error}");
}

/// The bytes with a part after a position replaced.
fn with_renamed_at(bytes: &[u8], from: usize, old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = bytes[from..].windows(old.len()).position(|part| part == old).unwrap();
    bytes[from + at..from + at + new.len()].copy_from_slice(new);
    bytes
}

fn with_renamed(document: RawDocumentBuf, old: &[u8], new: &[u8]) -> RawDocumentBuf {
    RawDocumentBuf::from_bytes(with_renamed_at(document.as_bytes(), 0, old, new)).unwrap()
}
