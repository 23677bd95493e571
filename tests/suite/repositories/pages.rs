//! Pages by key.

use odm::{ErrorKind, prelude::*, repository::Cursor, repository::Query};
use tests::{TestStore, on_every_store};

use crate::items::{Item, Items, item};

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
    async fn pages_are_the_whole_result_in_order_with_ties(store: impl TestStore) {
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

    async fn a_page_of_nothing_is_empty_and_the_last(store: impl TestStore) {
        let db = with_ties(store).await;
        let page = db.items.find(Item::fields().kind.eq("none")).page(5).await.unwrap();
        assert!(page.items.is_empty() && page.next.is_none());
        let error = db.items.all().page(0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    }

    async fn pages_go_on_where_they_ended_whatever_is_inserted_or_deleted(store: impl TestStore) {
        let db = with_ties(store).await;
        let query = || db.items.all().sort(Item::fields().kind.asc());
        let first = query().page(10).await.unwrap();
        let seen: Vec<i64> = first.items.iter().map(|item| item.id).collect();
        assert_eq!(seen, [0, 4, 8, 12, 16, 20, 24, 28, 1, 5]);
        let next = first.next.unwrap();

        // Before the position, after it, and what it stands at.
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

    async fn what_is_passed_over_lies_before_the_first_page(store: impl TestStore) {
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

    async fn a_limit_counts_for_the_page(store: impl TestStore) {
        let db = with_ties(store).await;
        let page = db.items.all().limit(3).page(10).await.unwrap();
        assert_eq!(page.items.len(), 3);
        let page = db.items.all().limit(10).page(4).await.unwrap();
        assert_eq!(page.items.len(), 4);
        assert!(page.next.is_some());
    }

    async fn a_cursor_survives_text_and_json(store: impl TestStore) {
        let db = with_ties(store).await;
        let query = || {
            let item = Item::fields();
            db.items.all().sort(item.note.desc()).sort(item.made.asc())
        };
        let next = query().page(17).await.unwrap().next.unwrap();
        let text = next.to_string();
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()), "no text for a URL: {text}");
        assert_eq!(text.parse::<Cursor>().unwrap(), next);
        let json = serde_json::to_string(&next).unwrap();
        assert_eq!(json, format!("\"{text}\""));
        let again: Cursor = serde_json::from_str(&json).unwrap();
        let rest = query().after(&again).page(30).await.unwrap();
        assert_eq!(rest.items, query().skip(17).await.unwrap());
    }

    async fn what_is_no_cursor_of_this_sort_is_refused(store: impl TestStore) {
        let db = with_ties(store).await;
        let item = Item::fields();
        let next = db.items.all().sort(item.kind.asc()).page(3).await.unwrap().next.unwrap();
        for query in [
            db.items.all(),
            db.items.all().sort(item.kind.desc()),
            db.items.all().sort(item.code.asc()),
            db.items.all().sort(item.kind.asc().then(item.code.asc())),
        ] {
            let error = query.after(&next).page(3).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
            assert!(error.to_string().contains("kind"), "{error}");
        }
        let text = next.to_string();
        for wrong in ["", "0", "zz", "é", &text[..text.len() - 2], &text[2..], "0500000000"] {
            let error = wrong.parse::<Cursor>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{wrong}: {error}");
        }
        serde_json::from_str::<Cursor>("\"nonsense\"").unwrap_err();
    }

    async fn a_cursor_with_other_keys_is_an_error_and_no_panic(store: impl TestStore) {
        let db = with_ties(store).await;
        let next = db.items.all().sort(Item::fields().kind.asc()).page(3).await.unwrap().next;
        let text = next.unwrap().to_string();
        // Whoever holds a cursor may change any digit of it.
        for position in 0..text.len() {
            for digit in ["0", "1", "7", "f"] {
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
