//! A value is read back as it was, and BSON sorts values as their types do.

use std::fmt::Debug;

use ::chrono::{NaiveDate, SubsecRound, Utc};
use ::jiff::Timestamp;
use ::time::OffsetDateTime;
use ::uuid::Uuid;
use odm_mql as mql;
use proptest::prelude::*;
use rust_decimal::Decimal;

use super::{ByForm, Native, NativeForm};
use crate::model::{read, to_raw};

/// The stored form of a value, as BSON and as it is read back.
fn stored<T: NativeForm>(value: T) -> (bson::RawBson, T) {
    let form = to_raw(&Native(value)).unwrap();
    let mut document = bson::RawDocumentBuf::new();
    document.append(bson::cstr!("v"), form.clone());
    let holder: std::collections::BTreeMap<String, ByForm<T>> = read(&document).unwrap();
    (form, holder.into_values().next().unwrap().0)
}

/// Checks two values; `cut` truncates a value to the stored precision.
fn check<T: NativeForm + Ord + Debug + Clone>(one: &T, other: &T, cut: impl Fn(&T) -> T) {
    let (form, read) = stored(one.clone());
    assert_eq!(read, cut(one));
    let (second, _) = stored(other.clone());
    let by_store = mql::order::compare(form.as_raw_bson_ref(), second.as_raw_bson_ref());
    assert_eq!(by_store, cut(one).cmp(&cut(other)), "{one:?} {other:?}");
    let json = serde_json::to_string(&Native(one.clone())).unwrap();
    let read: ByForm<T> = serde_json::from_str(&json).unwrap();
    assert_eq!(read.0, cut(one), "{json}");
}

/// Nanoseconds around 1970, and all over the years.
fn nanos(most: i128) -> impl Strategy<Value = i128> {
    prop_oneof![-3_000_000..3_000_000_i128, -most..most]
}

fn decimals() -> impl Strategy<Value = Decimal> {
    let most = Decimal::MAX.mantissa();
    let mantissa = prop_oneof![-most..=most, -1000..1000_i128, Just(most), Just(-most)];
    (mantissa, 0..=Decimal::MAX_SCALE)
        .prop_map(|(mantissa, scale)| Decimal::from_i128_with_scale(mantissa, scale))
}

proptest! {
    #[test]
    fn dates_of_chrono(one in nanos(8_000_000_000_000_000_000_000), by in nanos(10_000_000_000)) {
        let date = |nanos: i128| {
            let (seconds, nanos) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
            ::chrono::DateTime::<Utc>::from_timestamp(seconds as i64, nanos as u32).unwrap()
        };
        let (one, other) = (date(one), date(one + by));
        check(&one, &other, |date| date.trunc_subsecs(3));
        check(&one.date_naive(), &other.date_naive(), NaiveDate::clone);
    }

    #[test]
    fn dates_of_time(one in nanos(200_000_000_000_000_000_000), by in nanos(10_000_000_000)) {
        let date = |nanos| OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap();
        let (one, other) = (date(one), date(one + by));
        check(&one, &other, |date| date.replace_millisecond(date.millisecond()).unwrap());
        check(&one.date(), &other.date(), ::time::Date::clone);
    }

    #[test]
    fn dates_of_jiff(one in nanos(200_000_000_000_000_000_000), by in nanos(10_000_000_000)) {
        let date = |nanos| Timestamp::from_nanosecond(nanos).unwrap();
        check(&date(one), &date(one + by), |date| {
            let nanos = date.as_nanosecond();
            Timestamp::from_nanosecond(nanos - nanos.rem_euclid(1_000_000)).unwrap()
        });
    }

    #[test]
    fn uuids(one: u128, other: u128) {
        check(&Uuid::from_u128(one), &Uuid::from_u128(other), Uuid::clone);
    }

    #[test]
    fn decimals_keep_their_digits(one in decimals(), other in decimals()) {
        check(&one, &other, Decimal::clone);
        let (_, read) = stored(one);
        prop_assert_eq!(read.to_string(), one.to_string());
    }
}

#[test]
fn lists_and_maps_are_stored_as_such() {
    let ids = vec![Some(Uuid::nil()), None];
    let (form, read) = stored(ids.clone());
    assert_eq!(read, ids);
    assert!(form.as_array().is_some(), "{form:?}");
    let set: std::collections::HashSet<Uuid> = [Uuid::max(), Uuid::nil()].into();
    assert_eq!(stored(set.clone()).1, set);
    let map: std::collections::HashMap<String, Uuid> = [("a".to_owned(), Uuid::max())].into();
    assert_eq!(stored(map.clone()).1, map);
}
