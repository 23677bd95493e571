//! Pages by key.

use odm::{
    ErrorKind,
    prelude::*,
    repository::{Cursor, Query},
    store::contract::Store as _,
};
use proptest::{collection::vec, option, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

use crate::repositories::items::{Item, Items, item};

/// Thirty items of four kinds, so that most keys of a sort are equal.
async fn with_ties(store: impl TestStore) -> Items {
    let db = Items::open(store).await.unwrap();
    let items = (0..30).map(|n| Item {
        note: (n % 3 > 0).then(|| format!("note {}", n % 3)),
        ..item(n, &format!("c{n:02}"), &format!("k{}", n % 4), 0)
    });
    db.items.insert_many(items).await.unwrap();
    db
}

/// All pages of a query, by their ids.
async fn pages(query: impl Fn() -> Query<Item>, size: u64) -> Vec<Vec<i64>> {
    let mut pages = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let query = match &after {
            None => query(),
            Some(cursor) => query().after(cursor),
        };
        let page = query.page(size).await.unwrap();
        pages.push(page.items.iter().map(|item| item.id).collect());
        match page.next {
            Some(next) => after = Some(next),
            None => return pages,
        }
        assert!(pages.len() < 100, "the pages have no end: {pages:?}");
    }
}

on_every_store! {
    async fn pages_are_the_whole_result_in_order_with_ties(store: AnyStore) {
        let db = with_ties(store).await;
        let item = Item::fields();
        let sorts: Vec<Option<Sort<Item>>> = vec![
            None,
            Some(item.id.desc()),
            Some(item.kind.asc()),
            Some(item.kind.desc()),
            Some(item.note.asc()),
            Some(item.note.desc()),
            Some(item.kind.asc().then(item.count.desc())),
            Some(item.kind.desc().then(item.note.asc()).then(item.code.desc())),
        ];
        for sort in sorts {
            let query = || match &sort {
                None => db.items.all(),
                Some(sort) => db.items.all().sort(sort.clone()),
            };
            let all: Vec<i64> = query().await.unwrap().iter().map(|item| item.id).collect();
            assert_eq!(all.len(), 30);
            for size in [1, 7, 10, 29, 30, 31] {
                let pages = pages(query, size).await;
                assert_eq!(pages.concat(), all, "pages of {size} by {sort:?}");
                let full = pages.len() as u64 - 1;
                assert_eq!(full, 29 / size, "no page is empty: {pages:?}");
            }
        }
    }

    async fn a_page_of_nothing_is_empty_and_the_last(store: AnyStore) {
        let db = with_ties(store).await;
        let page = db.items.find(Item::fields().kind.eq("none")).page(5).await.unwrap();
        assert!(page.items.is_empty() && page.next.is_none());
        let error = db.items.all().page(0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    }

    async fn pages_go_on_where_they_ended_whatever_is_inserted_or_deleted(store: AnyStore) {
        let db = with_ties(store).await;
        let query = || db.items.all().sort(Item::fields().kind.asc());
        let first = query().page(10).await.unwrap();
        let seen: Vec<i64> = first.items.iter().map(|item| item.id).collect();
        assert_eq!(seen, [0, 4, 8, 12, 16, 20, 24, 28, 1, 5]);
        let next = first.next.unwrap();

        // Before the position, after it, and the document at it.
        db.items.insert(item(100, "x", "a first kind", 0)).await.unwrap();
        db.items.insert(item(101, "y", "k0", 0)).await.unwrap();
        db.items.insert(item(2, "z", "k1", 0)).await.unwrap_err();
        db.items.insert(item(102, "z", "k1", 0)).await.unwrap();
        db.items.delete(5).await.unwrap();
        let second = query().after(&next).page(30).await.unwrap();
        let rest: Vec<i64> = second.items.iter().map(|item| item.id).collect();
        let expected =
            [9, 13, 17, 21, 25, 29, 102, 2, 6, 10, 14, 18, 22, 26, 3, 7, 11, 15, 19, 23, 27];
        assert_eq!(rest, expected);
        assert!(second.next.is_none());
    }

    async fn what_is_passed_over_lies_before_the_first_page(store: AnyStore) {
        let items = with_ties(store).await.items;
        let query = || items.all().skip(1);
        let all: Vec<i64> = query().await.unwrap().iter().map(|item| item.id).collect();
        let mut seen = Vec::new();
        let mut page = query().page(2).await.unwrap();
        loop {
            seen.extend(page.items.iter().map(|item| item.id));
            let Some(next) = page.next else { break };
            page = query().after(&next).page(2).await.unwrap();
        }
        assert_eq!(seen, all);
    }

    async fn a_limit_counts_for_the_page(store: AnyStore) {
        let db = with_ties(store).await;
        let page = db.items.all().limit(3).page(10).await.unwrap();
        assert_eq!(page.items.len(), 3);
        let page = db.items.all().limit(10).page(4).await.unwrap();
        assert_eq!(page.items.len(), 4);
        assert!(page.next.is_some());
    }

    async fn a_cursor_survives_text_and_json(store: AnyStore) {
        let db = with_ties(store).await;
        let query = || {
            let item = Item::fields();
            db.items.all().sort(item.note.desc()).sort(item.made.asc())
        };
        let next = query().page(17).await.unwrap().next.unwrap();
        let text = next.to_string();
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        assert!(text.bytes().all(is_safe), "no text for a URL: {text}");
        assert!(text.len() < 70, "{text} is long");
        assert_eq!(text.parse::<Cursor>().unwrap(), next);
        let json = serde_json::to_string(&next).unwrap();
        assert_eq!(json, format!("\"{text}\""));
        let again: Cursor = serde_json::from_str(&json).unwrap();
        let rest = query().after(&again).page(30).await.unwrap();
        assert_eq!(rest.items, query().skip(17).await.unwrap());
    }

    async fn a_cursor_of_another_query_is_refused(store: AnyStore) {
        let db = with_ties(store.clone()).await;
        let item = Item::fields();
        let sort = || item.kind.asc();
        let query = || db.items.find(item.count.eq(0)).sort(sort());
        let next = query().page(3).await.unwrap().next.unwrap();
        let others: [&dyn Fn() -> Query<Item>; 9] = [
            &|| db.items.all().sort(sort()),
            &|| db.items.find(item.count.eq(1)).sort(sort()),
            &|| db.items.find(item.count.gte(0)).sort(sort()),
            &|| query().filter(item.kind.ne("x")),
            &|| db.items.find(item.count.eq(0)),
            &|| db.items.find(item.count.eq(0)).sort(item.kind.desc()),
            &|| db.items.find(item.count.eq(0)).sort(item.code.asc()),
            &|| query().sort(item.code.asc()),
            &|| query().sort(item.id.desc()),
        ];
        for query in others {
            for error in [
                query().after(&next).page(3).await.unwrap_err(),
                query().before(&next).page(3).await.unwrap_err(),
            ] {
                assert!(error.is_invalid_request(), "{error}");
                let text = "position is not one in this query of `items`: use the filter and the sort";
                assert!(error.to_string().contains(text), "{error}");
            }
        }
        // The position is compared with the whole query, wherever it is set.
        let early = db.items.all().after(&next).sort(sort()).filter(item.count.eq(0));
        assert_eq!(early.await.unwrap(), query().skip(3).await.unwrap());
        // `_id` is the last key of every sort, and the form and the number of the documents are not a part of the query.
        let other = query().sort(item.id.asc()).after(&next).raw().page(2).await.unwrap();
        assert_eq!(other.items.len(), 2);

        // The same filter and sort in another collection, which has an index that ignores case.
        if store.capabilities().ignores_case {
            let of_items = db.items.all().page(3).await.unwrap().next.unwrap();
            let other = Walks::open(store).await.unwrap();
            let error = other.walked.all().after(&of_items).page(3).await.unwrap_err();
            assert!(error.to_string().contains("position is not one in this query of `walked`"), "{error}");
        }

        let text = next.to_string();
        for wrong in ["", "0", "zz", "é", &text[..text.len() - 2], &text[2..], "AQAAAAA", "Aw"] {
            let error = wrong.parse::<Cursor>().unwrap_err();
            assert!(error.is_invalid_request(), "{wrong}: {error}");
        }
        serde_json::from_str::<Cursor>("\"nonsense\"").unwrap_err();
    }

    async fn a_page_before_a_position_needs_a_query_without_another_start(store: AnyStore) {
        let items = with_ties(store).await.items;
        let second = items.all().after(&items.all().page(3).await.unwrap().next.unwrap());
        let previous = second.page(3).await.unwrap().previous.unwrap();
        let before = || items.all().before(&previous);
        let first = before().page(9).await.unwrap();
        assert_eq!(first.items.iter().map(|item| item.id).collect::<Vec<_>>(), [0, 1, 2]);
        let errors = [
            before().skip(1).page(3).await.unwrap_err(),
            before().await.unwrap_err(),
            before().count().await.unwrap_err(),
            before().stream().next().await.unwrap().unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
            assert!(error.to_string().contains("`before`"), "{error}");
        }
        // The last position that is set counts.
        let next = items.all().page(3).await.unwrap().next.unwrap();
        assert_eq!(before().after(&next).page(1).await.unwrap().items[0].id, 3);
    }

    async fn a_total_counts_all_pages(store: AnyStore) {
        let items = with_ties(store).await.items;
        let query = || items.find(Item::fields().kind.ne("k0")).sort(Item::fields().kind.asc());
        assert_eq!(query().page(4).await.unwrap().total, None);
        let first = query().with_total().page(4).await.unwrap();
        assert_eq!((first.items.len(), first.total), (4, Some(22)));
        let rest = query().after(&first.next.unwrap()).with_total().limit(3).page(30).await.unwrap();
        assert_eq!((rest.items.len(), rest.total), (3, Some(22)));
        let none = items.find(Item::fields().kind.eq("none")).with_total().page(4).await.unwrap();
        assert_eq!((none.total, none.next, none.previous), (Some(0), None, None));
    }

    async fn a_cursor_with_other_keys_is_an_error_and_no_panic(store: AnyStore) {
        let db = with_ties(store).await;
        let next = db.items.all().sort(Item::fields().kind.asc()).page(3).await.unwrap().next;
        let text = next.unwrap().to_string();
        // The holder of a cursor may change any digit of it.
        for position in 0..text.len() {
            for digit in ["A", "B", "7", "_"] {
                let mut changed = text.clone();
                changed.replace_range(position..=position, digit);
                if let Ok(cursor) = changed.parse::<Cursor>() {
                    let query = db.items.all().sort(Item::fields().kind.asc());
                    let _ = query.after(&cursor).page(3).await;
                }
            }
        }
    }
}

/// The documents that the property walks over: few different values in each sort key, some of which differ only in case, and null and
/// missing ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "walked", index(fields = "a, -b"))]
struct Walked {
    #[serde(rename = "_id")]
    id: i64,
    #[index(case_insensitive)]
    a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<i32>,
    c: i32,
}

#[derive(Database)]
#[database(name = "walked", version = 1)]
struct Walks {
    walked: Repository<Walked>,
}

fn any_walked() -> impl Strategy<Value = Vec<Walked>> {
    let text = prop_oneof!["a", "A", "b", "Ä", "ä"];
    let document = (option::of(text), option::of(0..3), 0..3_i32);
    vec(document, 0..25).prop_map(|documents| {
        let numbered = documents.into_iter().enumerate();
        let walked = numbered.map(|(id, (a, b, c))| Walked { id: id as i64 * 7 % 25, a, b, c });
        walked.collect()
    })
}

fn any_sort() -> impl Strategy<Value = Vec<usize>> {
    vec(0..10_usize, 0..4)
}

fn sorted(query: Query<Walked>, keys: &[usize]) -> Query<Walked> {
    let walked = Walked::fields();
    keys.iter().fold(query, |query, key| {
        query.sort(match key {
            0 => walked.a.asc(),
            1 => walked.a.desc(),
            2 => walked.b.asc(),
            3 => walked.b.desc(),
            4 => walked.c.asc(),
            5 => walked.c.desc(),
            6 => walked.id.asc(),
            7 => walked.id.desc(),
            8 => walked.a.asc().ignore_case(),
            _ => walked.a.desc().ignore_case(),
        })
    })
}

/// Walks from page to page and back again, with a size for each in turn, and compares all pages with one read.
async fn walk(store: impl TestStore, documents: Vec<Walked>, keys: &[usize], sizes: &[u64]) {
    let db = Walks::open(store).await.unwrap();
    db.walked.insert_many(documents).await.unwrap();
    let query = || sorted(db.walked.find(Walked::fields().c.lt(2)), keys);
    let all = query().await.unwrap();
    let mut sizes = sizes.iter().copied().cycle();
    let mut size = || sizes.next().unwrap();

    let mut forwards = Vec::new();
    let mut page = query().page(size()).await.unwrap();
    assert_eq!(page.previous, None);
    let last = loop {
        forwards.extend(page.items.iter().cloned());
        assert!(forwards.len() <= all.len(), "the pages have no end");
        let Some(next) = page.next.as_ref() else {
            break page;
        };
        page = query().after(next).page(size()).await.unwrap();
        assert!(!page.items.is_empty() && page.previous.is_some());
    };
    assert_eq!(forwards, all);

    let mut backwards = last.items.clone();
    let mut previous = last.previous;
    while let Some(position) = previous {
        let page = query().before(&position).page(size()).await.unwrap();
        assert!(!page.items.is_empty());
        // The next page of each page is the previous step of the walk.
        let after = query().after(&page.next.unwrap()).page(1).await.unwrap();
        assert_eq!(after.items.first(), backwards.first());
        backwards.splice(0..0, page.items);
        assert!(backwards.len() <= all.len(), "the pages have no start");
        previous = page.previous;
    }
    assert_eq!(backwards, all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_walk_forwards_and_backwards_visits_each_document_once_in_order(
        documents in any_walked(),
        keys in any_sort(),
        sizes in vec(1..9_u64, 1..5),
    ) {
        tests::in_memory(|store| walk(store, documents.clone(), &keys, &sizes));
        tests::in_maps(|store| walk(store, documents, &keys, &sizes));
    }
}
