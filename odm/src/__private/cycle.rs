//! Cycles of derived fields, which no order of computing could settle.
//!
//! Copies and subsets are the nodes, and an edge leads from each path that a definition reads to the
//! field that it defines. A count reads nothing but references, and references are never derived, so
//! neither counts nor the references that the others follow can close a cycle. Filters are functions,
//! and values that embed their own kind have no end of paths: the catalog looks for cycles through
//! these when it is built.
//!
//! The compiler runs this for each database, and slowly. So paths and collections are compared by
//! their hashes, collections are looked up in a table, and each definition is visited once, without
//! recursion: a chain may be longer than the compiler's stack for constants.

use crate::model::{Copied, Outline, PathHash, ShownFields, ShownNames};

/// A model of a database.
#[derive(Clone, Copy)]
pub struct Entry {
    pub(super) collection: &'static str,
    /// The hash of the collection.
    pub(super) hash: u64,
    pub(super) outline: &'static Outline,
}

impl Entry {
    /// The entry of a type that is no document.
    pub(super) const NONE: Entry = Entry {
        collection: "",
        hash: 0,
        outline: Outline::EMPTY,
    };
}

/// Checks that no derived field is computed from itself, by way of others.
#[track_caller]
pub const fn assert_acyclic(models: &[Entry]) {
    let mut count = 0;
    let mut i = 0;
    while i < models.len() {
        count += definitions_in(models[i].outline);
        i += 1;
    }
    // The smallest arrays that hold them: at compile time, a length cannot follow from a value.
    match count {
        0 => {}
        1..=16 => search::<16, 32>(models),
        17..=128 => search::<128, 256>(models),
        129..=1024 => search::<1024, 2048>(models),
        1025..=8192 => search::<8192, 16384>(models),
        8193..=65536 => search::<65536, 131072>(models),
        _ => panic!("a database has more than 65536 derived fields"),
    }
}

const fn definitions_in(outline: &Outline) -> usize {
    let mut count = outline.copies.len() + outline.subsets.len();
    let mut i = 0;
    while i < outline.embedded.len() {
        count += definitions_in(outline.embedded[i].2);
        i += 1;
    }
    count
}

#[track_caller]
const fn search<const N: usize, const T: usize>(models: &[Entry]) {
    let mut graph = Graph::<N, T>::new();
    let mut i = 0;
    while i < models.len() {
        let start = graph.len;
        graph.add(models[i].outline, PathHash::EMPTY);
        if graph.len > start {
            graph.enter(models[i].hash, start);
        }
        i += 1;
    }
    let mut trail = Trail {
        steps: [Step::START; N],
        len: 0,
    };
    let mut node = 0;
    while node < graph.len {
        if let Some(start) = graph.visit(&mut trail, node) {
            panic!("{}", message(models, &trail, start).as_str());
        }
        node += 1;
    }
}

/// What defines a derived field.
#[derive(Clone, Copy)]
enum Definition {
    Copy(&'static Copied),
    Subset(&'static ShownFields),
}

/// A path that a definition reads.
struct Read {
    /// The hash of the collection.
    collection: u64,
    path: PathHash,
}

impl Definition {
    /// The paths that it reads, by number.
    const fn read(&self, number: usize) -> Option<Read> {
        match self {
            Definition::Copy(copied) => match number {
                0 => Some(Read {
                    collection: copied.source,
                    path: copied.value,
                }),
                _ => None,
            },
            Definition::Subset(shown) => {
                let path = if number < shown.sort.len() {
                    shown.sort[number]
                } else {
                    match shown.names {
                        Some(names) => match name(names, number - shown.sort.len()) {
                            Ok(hash) => PathHash::EMPTY.then(hash),
                            Err(_) => return None,
                        },
                        // The whole document, which is all of its paths at once.
                        None if number == shown.sort.len() => PathHash::EMPTY,
                        None => return None,
                    }
                };
                Some(Read {
                    collection: shown.child,
                    path,
                })
            }
        }
    }
}

/// The hash of a stored name by its number, or the count of names if there are not as many.
const fn name(names: &ShownNames, number: usize) -> Result<u64, usize> {
    let mut before = names.own.len();
    if number < before {
        return Ok(names.own[number]);
    }
    let mut i = 0;
    while i < names.flattened.len() {
        match name(names.flattened[i], number - before) {
            Ok(hash) => return Ok(hash),
            Err(count) => before += count,
        }
        i += 1;
    }
    Err(before)
}

/// A derived field.
#[derive(Clone, Copy)]
struct Node {
    definition: Definition,
    path: PathHash,
    seen: Seen,
}

/// How far the search has come with a node.
#[derive(Clone, Copy)]
enum Seen {
    Never,
    /// It is on the trail.
    Now,
    /// It leads into no cycle.
    Done,
}

/// The nodes of one collection, in a table by its hash.
#[derive(Clone, Copy)]
struct Slot {
    hash: u64,
    start: usize,
    /// Zero in an empty slot.
    end: usize,
}

/// All derived fields, those of one model beside each other.
struct Graph<const N: usize, const T: usize> {
    nodes: [Node; N],
    len: usize,
    /// At most half full, and a power of two long.
    table: [Slot; T],
}

impl<const N: usize, const T: usize> Graph<N, T> {
    const fn new() -> Self {
        const NONE: &ShownFields = &ShownFields {
            child: 0,
            sort: &[],
            names: None,
        };
        Graph {
            nodes: [Node {
                definition: Definition::Subset(NONE),
                path: PathHash::EMPTY,
                seen: Seen::Never,
            }; N],
            len: 0,
            table: [Slot {
                hash: 0,
                start: 0,
                end: 0,
            }; T],
        }
    }

    const fn push(&mut self, definition: Definition, path: PathHash) {
        self.nodes[self.len].definition = definition;
        self.nodes[self.len].path = path;
        self.len += 1;
    }

    const fn add(&mut self, outline: &'static Outline, prefix: PathHash) {
        let mut i = 0;
        while i < outline.copies.len() {
            let (_, hash, copied) = &outline.copies[i];
            self.push(Definition::Copy(copied), prefix.then(*hash));
            i += 1;
        }
        let mut i = 0;
        while i < outline.subsets.len() {
            let (_, hash, shown) = &outline.subsets[i];
            self.push(Definition::Subset(shown), prefix.then(*hash));
            i += 1;
        }
        let mut i = 0;
        while i < outline.embedded.len() {
            let (name, hash, inner) = outline.embedded[i];
            let path = if name.is_empty() {
                prefix
            } else {
                prefix.then(hash)
            };
            self.add(inner, path);
            i += 1;
        }
    }

    /// Enters the nodes since `start` as those of a collection.
    const fn enter(&mut self, hash: u64, start: usize) {
        let mut at = hash as usize % T;
        while self.table[at].end > 0 {
            at = (at + 1) % T;
        }
        self.table[at] = Slot {
            hash,
            start,
            end: self.len,
        };
    }

    /// The nodes of a collection. One that the database lacks is reported elsewhere.
    const fn nodes_of(&self, hash: u64) -> (usize, usize) {
        let mut at = hash as usize % T;
        while self.table[at].end > 0 {
            if self.table[at].hash == hash {
                return (self.table[at].start, self.table[at].end);
            }
            at = (at + 1) % T;
        }
        (0, 0)
    }

    /// Follows what a node reads, and all that this reads. Returns the start of a cycle, which ends
    /// with the trail.
    const fn visit(&mut self, trail: &mut Trail<N>, node: usize) -> Option<usize> {
        if !matches!(self.nodes[node].seen, Seen::Never) {
            return None;
        }
        self.nodes[node].seen = Seen::Now;
        trail.len = 0;
        trail.push(node);
        while trail.len > 0 {
            let step = &mut trail.steps[trail.len - 1];
            let node = step.node;
            if step.next == step.end {
                let Some(read) = self.nodes[node].definition.read(step.read) else {
                    self.nodes[node].seen = Seen::Done;
                    trail.len -= 1;
                    continue;
                };
                step.read += 1;
                (step.next, step.end) = self.nodes_of(read.collection);
                step.path = read.path;
                continue;
            }
            let next = step.next;
            step.next += 1;
            if !step.path.overlaps(&self.nodes[next].path) {
                continue;
            }
            match self.nodes[next].seen {
                Seen::Never => {
                    self.nodes[next].seen = Seen::Now;
                    trail.push(next);
                }
                Seen::Now => {
                    let mut start = 0;
                    while trail.steps[start].node != next {
                        start += 1;
                    }
                    return Some(start);
                }
                Seen::Done => {}
            }
        }
        None
    }
}

/// The nodes from the start of a search, each followed by one that it reads.
struct Trail<const N: usize> {
    steps: [Step; N],
    len: usize,
}

#[derive(Clone, Copy)]
struct Step {
    node: usize,
    /// The next of the paths that the node reads.
    read: usize,
    /// The path before that, and the nodes that are still to be compared with it.
    path: PathHash,
    next: usize,
    end: usize,
}

impl Step {
    const START: Step = Step {
        node: 0,
        read: 0,
        path: PathHash::EMPTY,
        next: 0,
        end: 0,
    };
}

impl<const N: usize> Trail<N> {
    const fn push(&mut self, node: usize) {
        self.steps[self.len] = Step {
            node,
            ..Step::START
        };
        self.len += 1;
    }
}

/// `cyclic derived fields: products.label <- parts.name <- products.label; remove one of them`
///
/// A field may also read itself, in another document.
const fn message<const N: usize>(models: &[Entry], trail: &Trail<N>, start: usize) -> Text {
    let mut text = Text::EMPTY;
    text.push("cyclic derived fields: ");
    let mut i = start;
    while i <= trail.len {
        let at = if i == trail.len { start } else { i };
        text.push_node(models, trail.steps[at].node);
        if i < trail.len {
            text.push(" <- ");
        }
        i += 1;
    }
    text.push(if trail.len - start > 1 {
        "; remove one of them"
    } else {
        "; a cycle is one of fields, even where no document references itself: remove the field, or \
         derive it from a plain one"
    });
    text
}

/// The longest message, in bytes.
const MAX: usize = 2048;

/// A text that is put together at compile time. What is too long for it is cut off.
struct Text {
    bytes: [u8; MAX],
    len: usize,
}

impl Text {
    const EMPTY: Self = Text {
        bytes: [0; MAX],
        len: 0,
    };

    const fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() && self.len < MAX {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
    }

    /// Adds the name of a node, which has only been kept as a hash.
    const fn push_node(&mut self, models: &[Entry], mut node: usize) {
        let mut i = 0;
        while i < models.len() {
            let count = definitions_in(models[i].outline);
            if node < count {
                self.push(models[i].collection);
                self.push_path(models[i].outline, node);
                return;
            }
            node -= count;
            i += 1;
        }
    }

    /// Adds the path of a definition by its number in an outline.
    const fn push_path(&mut self, outline: &Outline, mut number: usize) {
        let copies = outline.copies.len();
        if number < copies + outline.subsets.len() {
            self.push(".");
            self.push(if number < copies {
                outline.copies[number].0
            } else {
                outline.subsets[number - copies].0
            });
            return;
        }
        number -= copies + outline.subsets.len();
        let mut i = 0;
        while i < outline.embedded.len() {
            let (name, _, inner) = outline.embedded[i];
            let count = definitions_in(inner);
            if number < count {
                if !name.is_empty() {
                    self.push(".");
                    self.push(name);
                }
                self.push_path(inner, number);
                return;
            }
            number -= count;
            i += 1;
        }
    }

    const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // A name was cut off within a character.
            Err(_) => "cyclic derived fields",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CopyShape, Via, fnv1a};

    fn hash(path: &str) -> PathHash {
        let names = path.split('.');
        names.fold(PathHash::EMPTY, |path, name| path.then(fnv1a(name)))
    }

    fn copy(
        name: &'static str,
        source: &'static str,
        path: &'static str,
    ) -> (&'static str, u64, Copied) {
        let shape = CopyShape {
            source,
            path,
            via: Via::Beside("of"),
            frozen: false,
            optional: false,
        };
        let copied = Copied {
            shape,
            source: fnv1a(source),
            value: hash(path),
            problem: None,
        };
        (name, fnv1a(name), copied)
    }

    type Subset = (&'static str, u64, ShownFields);

    fn subset(
        name: &'static str,
        child: &'static str,
        sort: &[&'static str],
        shown: Option<&[&'static str]>,
    ) -> Subset {
        let shown = ShownFields {
            child: fnv1a(child),
            sort: sort
                .iter()
                .map(|path| hash(path))
                .collect::<Vec<_>>()
                .leak(),
            names: shown.map(|names| -> &'static ShownNames {
                // The last of the names is one of a flattened value.
                let (last, own) = names.split_last().expect("a name");
                let leaf = |names: &[&str]| ShownNames {
                    own: names
                        .iter()
                        .map(|name| fnv1a(name))
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
        (name, fnv1a(name), shown)
    }

    #[derive(Default)]
    struct Fields {
        copies: Vec<(&'static str, u64, Copied)>,
        subsets: Vec<Subset>,
        embedded: Vec<(&'static str, Fields)>,
    }

    fn outline(fields: Fields) -> &'static Outline {
        let embedded = fields.embedded.into_iter();
        let embedded = embedded.map(|(name, fields)| (name, fnv1a(name), outline(fields)));
        Box::leak(Box::new(Outline {
            references: true,
            copies: fields.copies.leak(),
            subsets: fields.subsets.leak(),
            embedded: embedded.collect::<Vec<_>>().leak(),
        }))
    }

    fn cycle(models: Vec<(&'static str, Fields)>) -> Option<String> {
        let entries = models.into_iter().map(|(collection, fields)| Entry {
            collection,
            hash: fnv1a(collection),
            outline: outline(fields),
        });
        let entries: Vec<Entry> = entries.collect();
        let found = std::panic::catch_unwind(|| assert_acyclic(&entries));
        let panic = found.err()?;
        let message = *panic.downcast::<String>().expect("a formatted message");
        let cycle = message.strip_prefix("cyclic derived fields: ")?;
        Some(cycle.split(';').next()?.to_owned())
    }

    fn copies(copies: Vec<(&'static str, u64, Copied)>) -> Fields {
        Fields {
            copies,
            ..Fields::default()
        }
    }

    fn subsets(subsets: Vec<Subset>) -> Fields {
        Fields {
            subsets,
            ..Fields::default()
        }
    }

    #[test]
    fn chains_end() {
        let link = copies(vec![copy("name", "parts", "name")]);
        let products = Fields {
            copies: vec![copy("label", "makers", "name")],
            embedded: vec![("parts", link)],
            ..Fields::default()
        };
        let parts = copies(vec![copy("name", "products", "parts.name2")]);
        assert_eq!(
            cycle(vec![
                ("products", products),
                ("parts", parts),
                ("makers", copies(vec![]))
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
            copies(NAMES.iter().map(|name| copy(name, next, name)).collect())
        };
        let mut models: Vec<_> = (0..399).map(|n| (collections[n], model(n))).collect();
        models.push((collections[399], copies(vec![])));
        assert_eq!(cycle(models), None);
    }

    #[test]
    fn a_copy_of_a_copy_of_itself_is_a_cycle() {
        let link = || Fields {
            embedded: vec![("parts", copies(vec![copy("name", "parts", "name")]))],
            ..Fields::default()
        };
        let found = |path| {
            let parts = copies(vec![copy("name", "products", path)]);
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
            embedded: vec![("", copies(vec![copy("label", "products", "label")]))],
            ..Fields::default()
        };
        let text = "products.label <- products.label";
        assert_eq!(cycle(vec![("products", flat)]).unwrap(), text);
    }

    #[test]
    fn a_subset_that_shows_a_copy_of_itself_is_a_cycle() {
        let found = |shown: Option<&[&'static str]>| {
            let products = subsets(vec![subset("reviews", "reviews", &["written"], shown)]);
            let reviews = copies(vec![copy("others", "products", "reviews")]);
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
        let products = subsets(vec![subset(
            "reviews",
            "reviews",
            &["-x", "info.rank"],
            Some(&["text"]),
        )]);
        let info = Fields {
            embedded: vec![(
                "info",
                copies(vec![copy("rank", "products", "reviews.0.rank")]),
            )],
            ..Fields::default()
        };
        assert_eq!(
            cycle(vec![("reviews", info), ("products", products)]).unwrap(),
            "reviews.info.rank <- products.reviews <- reviews.info.rank"
        );
    }
}
