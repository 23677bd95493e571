//! `expires(field = "seen", after = "30d")`.

use syn::{LitStr, Meta};

use super::{
    index::{Key, keys},
    value::{Once, nested, string, unknown},
};
use crate::ctxt::Ctxt;

/// The time at which documents expire.
#[derive(Clone)]
pub(crate) struct Expires {
    /// The literal in which the field is named.
    pub(crate) literal: LitStr,
    pub(crate) key: Key,
    /// The seconds from the date in the field until then.
    pub(crate) after: u64,
}

impl Expires {
    pub(super) fn new(cx: &Ctxt, meta: &Meta) -> Option<Self> {
        let mut field = Once::new("field");
        let mut after = Once::new("after");
        let before = cx.count();
        for (key, meta) in nested(cx, meta) {
            match key.as_str() {
                "field" => field.set(cx, &meta, string(cx, &meta)),
                "after" => after.set(cx, &meta, string(cx, &meta).and_then(|it| seconds(cx, &it))),
                _ => unknown(cx, &meta, "document(expires(..))", "`field` or `after`"),
            }
        }
        let Some(literal) = field.get() else {
            if cx.count() == before {
                let form = "`expires(field = \"seen\", after = \"30d\")`";
                cx.error(
                    meta,
                    format!("expiry without the field of its date: write {form}"),
                );
            }
            return None;
        };
        match keys(&literal, "an expiry", "expires(field = \"seen\")") {
            Ok(mut keys) if keys.len() == 1 && !keys[0].descending && keys[0].entry.is_none() => {
                Some(Expires {
                    key: keys.remove(0),
                    literal,
                    after: after.get().unwrap_or_default(),
                })
            }
            Ok(_) => {
                cx.error(
                    &literal,
                    "documents expire by one field, without a direction and without a key of a map",
                );
                None
            }
            Err(message) => {
                cx.error(&literal, message);
                None
            }
        }
    }
}

/// Reads a number of seconds, minutes, hours or days, such as `90m`.
fn seconds(cx: &Ctxt, literal: &LitStr) -> Option<u64> {
    /// A hundred years.
    const MOST: u64 = 36_525 * 86_400;
    let text = literal.value();
    let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
    let seconds = units.into_iter().find_map(|(unit, seconds)| {
        let number = text.trim().strip_suffix(unit)?.trim_end();
        number.parse::<u64>().ok()?.checked_mul(seconds)
    });
    match seconds.filter(|seconds| *seconds <= MOST) {
        Some(seconds) => Some(seconds),
        None => {
            let message = format!(
                "`{text}` is not a time up to a hundred years: write a number of seconds, minutes, hours or days, as \
                 \"90s\", \"15m\", \"12h\" or \"30d\""
            );
            cx.error(literal, message);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        let cases = [
            ("90s", Some(90)),
            ("15m", Some(900)),
            (" 12 h", Some(43_200)),
            ("30d", Some(2_592_000)),
            ("0s", Some(0)),
            ("36525d", Some(36_525 * 86_400)),
            ("36526d", None),
            ("30", None),
            ("d", None),
            ("", None),
            ("-1d", None),
            ("1.5h", None),
            ("1dd", None),
            ("1ds", None),
            ("1w", None),
            ("99999999999999999999d", None),
            ("300000000000000000d", None),
        ];
        for (text, expected) in cases {
            let cx = Ctxt::new();
            let seconds = seconds(&cx, &LitStr::new(text, Span::call_site()));
            assert_eq!(seconds, expected, "{text}");
            assert_eq!(cx.finish().is_err(), expected.is_none(), "{text}");
        }
    }
}
