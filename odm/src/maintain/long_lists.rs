//! A warning of lists that grow with the number of referrers of their document.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// A list with more members is long: each write of a member reads and writes the whole list.
pub(super) const LONG: usize = 1000;

/// The fields of which this process has warned, by collection and path.
static WARNED: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());

/// Warns of a long list, once for each field.
pub(super) fn warn_if_long(collection: &str, path: &str, members: usize) {
    if members <= LONG {
        return;
    }
    let field = (collection.to_owned(), path.to_owned());
    let is_new = WARNED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(field);
    if is_new {
        tracing::warn!(
            target: "odm",
            collection,
            path,
            members,
            "long list: each write of a member rewrites the whole list; keep the reference on the \
             members alone and query or join by it, or show the first ones by a subset"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use tracing::{Event, Level, Metadata, Subscriber, span};

    use super::*;

    /// Counts the warnings of the library.
    struct Warnings(Arc<AtomicUsize>);

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "odm" && *metadata.level() == Level::WARN
        }

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn a_long_list_is_warned_of_once_for_each_field() {
        let count = Arc::new(AtomicUsize::new(0));
        tracing::subscriber::with_default(Warnings(count.clone()), || {
            let mut warned = Vec::new();
            for (path, members) in [
                ("a", LONG),
                ("a", LONG + 1),
                ("a", LONG + 2),
                ("b", LONG),
                ("b", 2 * LONG),
            ] {
                warn_if_long("lists_of_this_test", path, members);
                warned.push(count.load(Ordering::Relaxed));
            }
            assert_eq!(warned, [0, 1, 1, 1, 2]);
        });
    }
}
