//! Graphs of derived fields with and without cycles.

use std::thread;

use super::*;
use crate::model::{StoredName, fnv1a};

fn hash(path: &str) -> PathHash {
    let names = path.split('.');
    names.fold(PathHash::EMPTY, |path, name| path.then(fnv1a(name)))
}

type Derived = (&'static str, u64, DerivedReads);

fn copy(name: &'static str, source: &'static str, path: &'static str) -> Derived {
    let reads = DerivedReads {
        collection: fnv1a(source),
        paths: vec![hash(path)].leak(),
        names: Some(ShownNames::NONE),
    };
    (name, fnv1a(name), reads)
}

fn subset(
    name: &'static str,
    child: &'static str,
    sort: &[&'static str],
    shown: Option<&[&'static str]>,
) -> Derived {
    let reads = DerivedReads {
        collection: fnv1a(child),
        paths: sort
            .iter()
            .map(|path| hash(path))
            .collect::<Vec<_>>()
            .leak(),
        names: shown.map(|names| -> &'static ShownNames {
            // The last of the names belongs to a flattened value.
            let (last, own) = names.split_last().expect("a name");
            let leaf = |names: &[&str]| ShownNames {
                own: names
                    .iter()
                    .map(|&text| StoredName {
                        text: "",
                        hash: fnv1a(text),
                        optional: false,
                        defaulted: false,
                    })
                    .collect::<Vec<_>>()
                    .leak(),
                flattened: &[],
            };
            let inner: &'static ShownNames = Box::leak(Box::new(leaf(&[last])));
            let flattened = vec![inner].leak();
            Box::leak(Box::new(ShownNames {
                flattened,
                ..leaf(own)
            }))
        }),
    };
    (name, fnv1a(name), reads)
}

#[derive(Default)]
struct Fields {
    derived: Vec<Derived>,
    embedded: Vec<(&'static str, Fields)>,
}

fn outline(fields: Fields) -> &'static Outline {
    let embedded = fields.embedded.into_iter();
    let embedded = embedded.map(|(name, fields)| (name, fnv1a(name), outline(fields)));
    Box::leak(Box::new(Outline {
        opaque: false,
        references: true,
        derived: fields.derived.leak(),
        embedded: embedded.collect::<Vec<_>>().leak(),
    }))
}

fn cycle(models: Vec<(&'static str, Fields)>) -> Option<String> {
    let entries = models.into_iter().map(|(collection, fields)| ModelEntry {
        collection,
        hash: fnv1a(collection),
        outline: outline(fields),
    });
    let entries: Vec<ModelEntry> = entries.collect();
    // The arrays that the compiler would have on its heap are here on the stack.
    let search = thread::Builder::new().stack_size(64 << 20);
    let found = search.spawn(move || assert_acyclic(&entries));
    let panic = found.expect("a thread").join().err()?;
    let message = *panic.downcast::<String>().expect("a formatted message");
    let cycle = message.strip_prefix("cyclic derived fields: ")?;
    Some(cycle.split(';').next()?.to_owned())
}

fn derived(derived: Vec<Derived>) -> Fields {
    Fields {
        derived,
        ..Fields::default()
    }
}

#[test]
fn chains_end() {
    let link = derived(vec![copy("name", "parts", "name")]);
    let products = Fields {
        derived: vec![copy("label", "makers", "name")],
        embedded: vec![("parts", link)],
    };
    let parts = derived(vec![copy("name", "products", "parts.name2")]);
    assert_eq!(
        cycle(vec![
            ("products", products),
            ("parts", parts),
            ("makers", derived(vec![]))
        ]),
        None
    );
}

#[test]
fn chains_may_be_longer_than_the_stack_of_the_compiler() {
    const NAMES: [&str; 3] = ["a", "b", "c"];
    let collections: Vec<&'static str> = (0..400)
        .map(|n| -> &'static str { format!("c{n}").leak() })
        .collect();
    let model = |n: usize| {
        let next = collections[n + 1];
        derived(NAMES.iter().map(|name| copy(name, next, name)).collect())
    };
    let mut models: Vec<_> = (0..399).map(|n| (collections[n], model(n))).collect();
    models.push((collections[399], derived(vec![])));
    assert_eq!(cycle(models), None);
}

#[test]
fn a_copy_of_a_copy_of_itself_is_a_cycle() {
    let link = || Fields {
        embedded: vec![("parts", derived(vec![copy("name", "parts", "name")]))],
        ..Fields::default()
    };
    let found = |path| {
        let parts = derived(vec![copy("name", "products", path)]);
        cycle(vec![("products", link()), ("parts", parts)])
    };
    let text = "products.parts.name <- parts.name <- products.parts.name";
    assert_eq!(found("parts.name").unwrap(), text);
    // A value holds its parts.
    assert_eq!(found("parts").unwrap(), text);
    assert_eq!(found("parts.name.first").unwrap(), text);
    assert_eq!(found("part"), None);
}

#[test]
fn a_flattened_value_has_no_name_in_a_path() {
    let flat = Fields {
        embedded: vec![("", derived(vec![copy("label", "products", "label")]))],
        ..Fields::default()
    };
    let text = "products.label <- products.label";
    assert_eq!(cycle(vec![("products", flat)]).unwrap(), text);
}

#[test]
fn a_subset_that_shows_a_copy_of_itself_is_a_cycle() {
    let found = |shown: Option<&[&'static str]>| {
        let products = derived(vec![subset("reviews", "reviews", &["written"], shown)]);
        let reviews = derived(vec![copy("others", "products", "reviews")]);
        cycle(vec![("products", products), ("reviews", reviews)])
    };
    let text = Some("products.reviews <- reviews.others <- products.reviews".to_owned());
    assert_eq!(found(None), text);
    assert_eq!(found(Some(&["text", "others", "written"])), text);
    assert_eq!(found(Some(&["text", "others"])), text);
    assert_eq!(found(Some(&["text", "written"])), None);
}

#[test]
fn a_subset_that_is_sorted_by_what_is_copied_from_it_is_a_cycle() {
    let products = derived(vec![subset(
        "reviews",
        "reviews",
        &["-x", "info.rank"],
        Some(&["text"]),
    )]);
    let info = Fields {
        embedded: vec![(
            "info",
            derived(vec![copy("rank", "products", "reviews.0.rank")]),
        )],
        ..Fields::default()
    };
    assert_eq!(
        cycle(vec![("reviews", info), ("products", products)]).unwrap(),
        "reviews.info.rank <- products.reviews <- reviews.info.rank"
    );
}
