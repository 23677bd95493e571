//! Each type in all places: an `_id`, a field with a unique index, an `Option`, a list, a reference, a copy, a
//! filter, an update, a sort key, and the order of a subset.

use std::{
    marker::PhantomData,
    num::{NonZeroI16, NonZeroU64},
    sync::Arc,
    time::{Duration, SystemTime},
};

use chrono::{NaiveDate, Utc};
use jiff::Timestamp;
use odm::prelude::*;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};
use time::{OffsetDateTime, UtcDateTime};
use url::Url;
use uuid::Uuid;

/// A test for each type, of values in the order of the type.
macro_rules! in_all_places {
    ($($(#[$mark:meta])? $name:ident: $type:ty = [$($value:expr),+ $(,)?];)+) => { $(
        mod $name {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "parents")]
            struct Parent {
                #[serde(rename = "_id")]
                $(#[$mark])?
                id: $type,
                #[index(unique)]
                $(#[$mark])?
                value: $type,
                $(#[$mark])?
                option: Option<$type>,
                $(#[$mark])?
                list: Vec<$type>,
                #[subset(limit = -2, sort = "key")]
                last: Subset<Child>,
            }

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "children")]
            struct Child {
                #[serde(rename = "_id")]
                id: i64,
                #[reference(parent)]
                parent: Ref<Parent>,
                #[denormalize(from = "Parent.value")]
                $(#[$mark])?
                copy: $type,
                #[denormalize(from = "Parent.option")]
                $(#[$mark])?
                copied_option: Option<$type>,
                #[index]
                $(#[$mark])?
                key: $type,
                #[embed]
                links: Vec<Link>,
            }

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
            struct Link {
                #[reference(child)]
                parent: Ref<Parent>,
                #[denormalize(from = "Parent.value")]
                $(#[$mark])?
                value: $type,
                #[denormalize(from = "Parent.option")]
                $(#[$mark])?
                option: Option<$type>,
            }

            #[derive(Database)]
            #[database(name = "types", version = 1)]
            struct Types {
                parents: Repository<Parent>,
                children: Repository<Child>,
            }

            fn values() -> Vec<$type> {
                vec![$($value),+]
            }

            /// One parent of each value, inserted in another order.
            async fn filled(store: impl TestStore) -> (Types, Vec<Parent>) {
                let db = Types::open(store).await.unwrap();
                let mut parents: Vec<Parent> = values().into_iter().map(parent).collect();
                parents.reverse();
                let stored = db.parents.insert_many(parents.clone()).await.unwrap();
                assert_eq!(stored, parents);
                parents.reverse();
                (db, parents)
            }

            fn parent(value: $type) -> Parent {
                Parent {
                    id: value.clone(),
                    value: value.clone(),
                    option: Some(value.clone()),
                    list: vec![value],
                    last: Subset::new(),
                }
            }

            #[tokio::test]
            async fn values_are_watched_upserted_by_and_transferred() {
                let (db, parents) = filled(odm::Embedded::memory().await.unwrap()).await;
                let mut changes = db.parents.watch(Filter::all()).await.unwrap();
                for parent in &parents {
                    let upsert = db.parents.upsert_by(Parent::fields().value, parent.clone());
                    assert_eq!(upsert.keep().await.unwrap().id, parent.id);
                    db.parents.delete(parent).await.unwrap();
                    let change = changes.try_next().await.unwrap().unwrap();
                    let seen = (&change.id, change.before.as_ref(), change.after.as_ref());
                    assert_eq!(seen, (&parent.id, Some(parent), None));
                }
                db.parents.insert_many(parents.clone()).await.unwrap();
                let mut lines = Vec::new();
                db.export(&mut lines).await.unwrap();
                let other = Types::open(odm::Embedded::memory().await.unwrap()).await.unwrap();
                other.import(lines.as_slice()).await.unwrap();
                let imported = other.parents.all().sort(Parent::fields().value.asc()).await.unwrap();
                assert_eq!(imported, parents);
            }

            on_every_store! {
                async fn values_are_found_and_sorted_in_their_order(store: AnyStore) {
                    let (db, parents) = filled(store).await;
                    let (repository, fields) = (&db.parents, Parent::fields());
                    assert_eq!(repository.all().await.unwrap(), parents);
                    assert_eq!(repository.all().sort(fields.option.asc()).await.unwrap(), parents);
                    let mut down = repository.all().sort(fields.value.desc()).await.unwrap();
                    down.reverse();
                    assert_eq!(down, parents);
                    for (at, parent) in parents.iter().enumerate() {
                        let value = || parent.value.clone();
                        assert_eq!(repository.get(&parent.id).await.unwrap(), *parent);
                        for (filter, expected) in [
                            (fields.value.eq(value()), at..at + 1),
                            (fields.option.eq(value()), at..at + 1),
                            (fields.option.eq(Some(value())), at..at + 1),
                            (fields.list.contains(value()), at..at + 1),
                            (fields.value.in_([value()]), at..at + 1),
                            (fields.id.lt(value()), 0..at),
                            (fields.value.lte(value()), 0..at + 1),
                            (fields.option.gt(value()), at + 1..parents.len()),
                            (fields.value.gte(value()), at..parents.len()),
                        ] {
                            let text = format!("{filter:?}");
                            let found = repository.find(filter).await.unwrap();
                            assert_eq!(found, parents[expected], "{text}");
                        }
                    }
                }

                async fn what_follows_from_values_is_exact(store: AnyStore) {
                    let (db, parents) = filled(store).await;
                    let parent = &parents[0];
                    for (id, key) in values().into_iter().enumerate() {
                        let child = Child {
                            id: id as i64,
                            parent: Ref::from(parent),
                            copy: key.clone(),
                            copied_option: None,
                            key,
                            links: vec![Link::from(parent)],
                        };
                        let stored = db.children.insert(child).await.unwrap();
                        assert_eq!(stored.copy, parent.value);
                        assert_eq!(stored.copied_option, parent.option);
                        assert_eq!(stored.links, [Link::from(parent)]);
                    }
                    let children = db.children.of(parent).await.unwrap();
                    assert_eq!(children.len(), parents.len());
                    let read = db.parents.get(&parent.id).await.unwrap();
                    assert_eq!(read.last[..], children[children.len() - 2..]);
                    let joined = db.children.all().join(Child::fields().parent).await.unwrap();
                    assert!(joined.iter().all(|(_, of)| of.id == parent.id));

                    // A value changes, and its copies and the subset with it.
                    let (least, greatest) = (&values()[0], values().pop().unwrap());
                    db.parents.delete(&greatest).await.unwrap();
                    let update = db.parents.update(&parent.id).set(Parent::fields().value, greatest.clone());
                    update.set(Parent::fields().option, None).await.unwrap();
                    let last = children.last().unwrap();
                    db.children.update(last).set(Child::fields().key, least.clone()).await.unwrap();
                    let read = db.parents.get(&parent.id).await.unwrap();
                    assert_eq!(read.last[1].id, last.id - 1);
                    assert_eq!((&read.last[1].copy, &read.last[1].copied_option), (&greatest, &None));
                    assert_eq!(db.audit().await.unwrap(), []);
                }

                async fn an_index_tells_values_apart(store: AnyStore) {
                    let (db, parents) = filled(store).await;
                    let (first, second) = (&parents[0], &parents[1]);
                    let again = Parent { value: second.value.clone(), ..first.clone() };
                    let error = db.parents.replace(again.clone()).await.unwrap_err();
                    assert!(error.is_duplicate_key(), "{error}");
                    db.parents.delete(second).await.unwrap();
                    assert_eq!(db.parents.replace(again.clone()).await.unwrap(), again);
                    assert!(db.parents.insert(again).await.unwrap_err().is_duplicate_key());
                }
            }
        }
    )+ };
}

in_all_places! {
    shared_text: Arc<str> = ["".into(), "A".into(), "a".into(), "aß".into(), "\u{ffff}".into(), "😀".into()];
    boxed_text: Box<str> = ["".into(), "A".into(), "a".into(), "aß".into()];
    nonzero: NonZeroI16 = [NonZeroI16::MIN, nonzero(-1), nonzero(1), nonzero(300)];
    long: u64 = [0, 1, 1 << 40, i64::MAX as u64];
    nonzero_long: NonZeroU64 = [NonZeroU64::MIN, NonZeroU64::new(1 << 53).unwrap(), NonZeroU64::new(i64::MAX as u64).unwrap()];
    duration: Duration = [
        Duration::ZERO,
        Duration::from_nanos(1),
        Duration::new(0, 999_999_999),
        Duration::from_secs(1),
        Duration::from_secs(i64::MAX as u64),
    ];
    system_time: SystemTime = [
        SystemTime::UNIX_EPOCH,
        SystemTime::UNIX_EPOCH + Duration::from_nanos(999_999_999),
        SystemTime::UNIX_EPOCH + Duration::from_secs(1),
    ];
    web_address: Url = [address("a:b"), address("http://example.com/"), address("https://example.com/?q=%C3%9F")];
    #[serde(with = "odm::native")] unique_id: Uuid = [
        Uuid::nil(),
        Uuid::from_u128(1),
        Uuid::from_u128(0x80 << 120),
        Uuid::max(),
    ];
    #[serde(with = "odm::native")] chrono_date: chrono::DateTime<Utc> = [
        chrono::DateTime::<Utc>::MIN_UTC,
        chrono_at(-62_135_596_800_001),
        chrono_at(-1),
        chrono_at(0),
        chrono_at(1_395_999_761_382),
        chrono_at(8_210_266_876_799_999),
    ];
    #[serde(with = "odm::native")] chrono_day: NaiveDate = [
        NaiveDate::MIN,
        NaiveDate::from_ymd_opt(1969, 12, 31).unwrap(),
        NaiveDate::from_ymd_opt(1970, 1, 1).unwrap(),
        NaiveDate::from_ymd_opt(2024, 2, 29).unwrap(),
        NaiveDate::MAX,
    ];
    #[serde(with = "odm::native")] time_date: OffsetDateTime = [
        time_at(-377_705_116_800_000),
        time_at(-1),
        time_at(0).to_offset(time::UtcOffset::from_hms(2, 0, 0).unwrap()),
        time_at(253_402_300_799_999),
    ];
    #[serde(with = "odm::native")] time_utc_date: UtcDateTime = [time_at(-1).into(), time_at(0).into(), time_at(1).into()];
    #[serde(with = "odm::native")] time_day: time::Date = [
        time::Date::MIN,
        time_at(-1).date(),
        time_at(0).date(),
        time::Date::MAX,
    ];
    #[serde(with = "odm::native")] jiff_date: Timestamp = [
        Timestamp::MIN,
        Timestamp::from_millisecond(-1).unwrap(),
        Timestamp::UNIX_EPOCH,
        Timestamp::from_nanosecond(253_402_207_200_999_000_000).unwrap(),
    ];
    #[serde(with = "odm::native")] jiff_day: jiff::civil::Date = [
        jiff::civil::Date::MIN,
        jiff::civil::date(1969, 12, 31),
        jiff::civil::date(1970, 1, 1),
        jiff::civil::date(2024, 2, 29),
        jiff::civil::Date::MAX,
    ];
    #[serde(with = "odm::native")] decimal: Decimal = [
        Decimal::MIN,
        decimal("-1.5"),
        decimal("-0.0000000000000000000000000001"),
        decimal("0.00"),
        decimal("0.1"),
        decimal("1.500"),
        decimal("79228162514264337593543950334"),
        Decimal::MAX,
    ];
    newtype: Email = [Email("".into()), Email("A".into()), Email("a".into())];
    newtype_of_native: Token = [Token(Uuid::nil()), Token(Uuid::from_u128(1)), Token(Uuid::max())];
    generic_newtype: Id<Email> = [Id::of(-1), Id::of(0), Id::of(i64::MAX)];
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Email(String);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Token(#[serde(with = "odm::native")] Uuid);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(transparent)]
struct Id<T> {
    number: i64,
    of: PhantomData<T>,
}

impl<T> Id<T> {
    fn of(number: i64) -> Self {
        Id { number, of: PhantomData }
    }
}

fn address(text: &str) -> Url {
    text.parse().expect("the text is a URL")
}

fn chrono_at(millis: i64) -> chrono::DateTime<Utc> {
    chrono::DateTime::from_timestamp_millis(millis).expect("`chrono` has the date")
}

fn time_at(millis: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000)
        .expect("`time` has the date")
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("the text is a decimal")
}

fn nonzero(value: i16) -> NonZeroI16 {
    NonZeroI16::new(value).expect("it is not zero")
}
