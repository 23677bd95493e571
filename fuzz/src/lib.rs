//! What the fuzz targets share: the loop that runs one, and structured values that are made of the bytes
//! of a case, so that a changed byte is a small change of the case.
//!
//! `FUZZ_SECONDS=3600 FUZZ_SEED=7000000 cargo test -p fuzz` runs each target for an hour on cases of its own.
//! Without a seed the cases are the same in every run, so that a failure is one of the change.

mod expression;
mod schema;

use std::{
    env,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    process,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use odm::bson::{
    Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, RawDocumentBuf, Regex,
    Timestamp, oid::ObjectId, raw::CString, spec::BinarySubtype,
};

/// The time after which a case counts as one that does not end.
const STUCK: Duration = Duration::from_secs(30);

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("`{name}` is not a number: {text}")),
    )
}

/// Runs a target on random bytes, at most so many, for `FUZZ_SECONDS`, or 2, from `FUZZ_SEED` on, or 1.
///
/// # Panics
///
/// If a case panics: with the fewest of its bytes that still do. A case that does not end ends the process
/// with its bytes.
pub fn check(most: usize, case: impl Fn(&[u8])) {
    let time = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(2));
    let first = number("FUZZ_SEED").unwrap_or(1);
    let running = watched();
    let panics = |bytes: &[u8]| {
        *running.lock().expect("nothing panics with it") = Some((Instant::now(), bytes.to_vec()));
        let result = catch_unwind(AssertUnwindSafe(|| case(bytes)));
        *running.lock().expect("nothing panics with it") = None;
        result.is_err()
    };
    let (start, mut seed) = (Instant::now(), first);
    while start.elapsed() < time || seed == first {
        let bytes = random(seed, most);
        if panics(&bytes) {
            let fewer = shrunk(bytes, panics);
            panic!("a case of `FUZZ_SEED={seed}` panics, and so do its bytes {fewer:?}");
        }
        seed += 1;
    }
    eprintln!("{} cases", seed - first);
}

type Running = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// The case that runs, which is watched as long as the result lives.
fn watched() -> Running {
    let running = Running::default();
    let weak = Arc::downgrade(&running);
    thread::spawn(move || {
        while let Some(running) = weak.upgrade() {
            if let Some((since, bytes)) = &*running.lock().expect("nothing panics with it")
                && since.elapsed() > STUCK
            {
                // Past the test harness, which would keep it to itself.
                let message = format!("a case does not end: {bytes:?}\n");
                io::stderr().write_all(message.as_bytes()).ok();
                process::abort();
            }
            drop(running);
            thread::sleep(Duration::from_millis(200));
        }
    });
    running
}

/// Bytes that a seed says (SplitMix64).
fn random(seed: u64, most: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let len = next() as usize % (most + 1);
    (0..len).map(|_| next() as u8).collect()
}

/// Leaves out, and makes zero, what is not needed for a panic.
fn shrunk(mut bytes: Vec<u8>, panics: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut len = bytes.len();
    while len > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let mut fewer = bytes.clone();
            fewer.drain(at..(at + len).min(bytes.len()));
            match panics(&fewer) {
                true => bytes = fewer,
                false => at += len,
            }
        }
        len /= 2;
    }
    for at in 0..bytes.len() {
        let held = std::mem::take(&mut bytes[at]);
        if held != 0 && !panics(&bytes) {
            bytes[at] = held;
        }
    }
    bytes
}

/// The bytes of a case, which are read as choices.
#[derive(Debug)]
pub struct Choices<'a>(&'a [u8]);

/// Few names, so that paths meet what is there, and those that mean something.
const NAMES: [&str; 25] = [
    "a",
    "b",
    "c",
    "a",
    "b",
    "_id",
    "0",
    "1",
    "a.b",
    "a.0",
    "a.b.c",
    "a.0.b",
    "a.$[]",
    "a.$[x].b",
    "a.$",
    "",
    ".",
    "a.",
    "$a",
    "99999999999999999999",
    "-1",
    "a.3000",
    "a.15000000",
    "parent",
    "shown.0.a",
];

const FILTERS: [&str; 25] = [
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$in",
    "$nin",
    "$and",
    "$or",
    "$nor",
    "$not",
    "$exists",
    "$type",
    "$regex",
    "$options",
    "$all",
    "$elemMatch",
    "$size",
    "$mod",
    "$bitsAllSet",
    "$expr",
    "$jsonSchema",
    "$where",
    "$comment",
];

const UPDATES: [&str; 17] = [
    "$set",
    "$unset",
    "$inc",
    "$mul",
    "$min",
    "$max",
    "$rename",
    "$setOnInsert",
    "$push",
    "$addToSet",
    "$pop",
    "$pull",
    "$pullAll",
    "$pushAll",
    "$currentDate",
    "$bit",
    "$set",
];

const TEXTS: [&str; 12] = [
    "",
    "a",
    "b",
    "(",
    "a*",
    "[[:alpha:]]",
    "(?i)a{1,9}",
    "double",
    "\u{0}",
    "\u{10ffff}",
    "date",
    "^a.b$",
];

impl<'a> Choices<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices(bytes)
    }

    /// Whether there are bytes left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// A number below another.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0..=256 => usize::from(self.byte()) % bound.max(1),
            _ => u32::from_le_bytes(self.array()) as usize % bound,
        }
    }

    /// One of some texts.
    pub fn one_of<'b>(&mut self, of: &[&'b str]) -> &'b str {
        of[self.below(of.len())]
    }

    /// The rest of the bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// The name of a field, or a path.
    pub fn name(&mut self) -> String {
        self.one_of(&NAMES).to_owned()
    }

    fn text(&mut self) -> String {
        self.one_of(&TEXTS).to_owned()
    }

    fn number(&mut self) -> i64 {
        const EDGES: [i64; 10] = [
            0,
            1,
            2,
            -1,
            i64::MAX,
            i64::MIN,
            i32::MAX as i64,
            i32::MIN as i64,
            1 << 53,
            1_500_000,
        ];
        match self.below(4) {
            0 => EDGES[self.below(EDGES.len())],
            1 => i64::from_le_bytes(self.array()),
            _ => self.below(4) as i64,
        }
    }

    fn cstring(&mut self) -> CString {
        let text = self.text().replace('\0', "");
        CString::try_from(text).expect("it has no NUL")
    }

    /// A value of any type.
    pub fn value(&mut self, depth: usize) -> Bson {
        if depth > 0 && !self.is_empty() {
            match self.below(5) {
                0 => return Bson::Document(self.document(depth - 1)),
                1 => {
                    let number = self.below(5);
                    return Bson::Array((0..number).map(|_| self.value(depth - 1)).collect());
                }
                _ => {}
            }
        }
        match self.below(26) {
            0..4 => Bson::Int32(self.number() as i32),
            4..7 => Bson::Int64(self.number()),
            7 => Bson::Double(f64::from_bits(u64::from_le_bytes(self.array()))),
            8..10 => Bson::Double(self.number() as f64 / 2.0),
            10 => Bson::Decimal128(Decimal128::from_bytes(self.array())),
            11..14 => Bson::String(self.text()),
            14 => Bson::Symbol(self.text()),
            15 => Bson::JavaScriptCode(self.text()),
            16 => Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                code: self.text(),
                scope: Document::new(),
            }),
            17 => Bson::Binary(Binary {
                subtype: BinarySubtype::from(self.byte()),
                bytes: self.array::<3>().to_vec(),
            }),
            18 => Bson::Boolean(self.below(2) == 0),
            19 => Bson::DateTime(DateTime::from_millis(self.number())),
            20 => Bson::Timestamp(Timestamp {
                time: self.number() as u32,
                increment: self.number() as u32,
            }),
            21 => Bson::ObjectId(ObjectId::from_bytes(self.array())),
            22 => Bson::RegularExpression(Regex {
                pattern: self.cstring(),
                // In the order of letters, in which `bson` puts them.
                options: CString::try_from(self.one_of(&["", "i", "im", "z"])).expect("no NUL"),
            }),
            23 => Bson::Undefined,
            24 => Bson::MinKey,
            25 => Bson::MaxKey,
            _ => Bson::Null,
        }
    }

    /// A document of any values.
    pub fn document(&mut self, depth: usize) -> Document {
        let number = self.below(5);
        let fields = (0..number).map(|_| (self.name(), self.value(depth)));
        fields.collect()
    }

    /// A document as it can be stored.
    pub fn stored(&mut self, id: i64) -> RawDocumentBuf {
        let mut document = odm::bson::doc! { "_id": id };
        for name in ["a", "b", "c", "0"] {
            if self.below(3) > 0 {
                document.insert(name, self.value(3));
            }
        }
        RawDocumentBuf::try_from(&document).expect("values of all types are BSON")
    }

    /// Something that looks like a filter.
    pub fn filter(&mut self, depth: usize) -> Document {
        let number = 1 + self.below(3);
        let mut filter = Document::new();
        for _ in 0..number {
            if self.below(4) == 0 {
                let operator = self.one_of(&FILTERS);
                filter.insert(operator, self.operand(operator, depth));
            } else {
                let test = match self.below(3) {
                    0 => self.value(2),
                    _ => Bson::Document(self.tests(depth)),
                };
                filter.insert(self.name(), test);
            }
        }
        filter
    }

    fn tests(&mut self, depth: usize) -> Document {
        let number = 1 + self.below(2);
        let mut tests = Document::new();
        for _ in 0..number {
            let operator = self.one_of(&FILTERS);
            tests.insert(operator, self.operand(operator, depth));
        }
        tests
    }

    fn operand(&mut self, operator: &str, depth: usize) -> Bson {
        if depth == 0 || self.below(8) == 0 {
            return self.value(1);
        }
        let several = 1 + self.below(3);
        match operator {
            "$and" | "$or" | "$nor" => {
                let filters = (0..several).map(|_| Bson::Document(self.filter(depth - 1)));
                Bson::Array(filters.collect())
            }
            "$in" | "$nin" | "$all" => Bson::Array((0..several).map(|_| self.value(1)).collect()),
            "$not" => Bson::Document(self.tests(depth - 1)),
            "$elemMatch" => match self.below(2) {
                0 => Bson::Document(self.tests(depth - 1)),
                _ => Bson::Document(self.filter(depth - 1)),
            },
            "$mod" => Bson::Array(vec![self.number().into(), self.number().into()]),
            "$regex" => Bson::String(self.text()),
            "$size" => Bson::Int64(self.number()),
            "$jsonSchema" => Bson::Document(self.schema(depth)),
            "$expr" => self.expression(depth),
            _ => self.value(2),
        }
    }

    /// Something that looks like an update, with its array filters.
    pub fn update(&mut self) -> (Document, Vec<Document>) {
        let number = 1 + self.below(3);
        let mut update = Document::new();
        for _ in 0..number {
            let operator = self.one_of(&UPDATES);
            let fields = 1 + self.below(2);
            let fields = (0..fields).map(|_| (self.name(), self.argument(operator)));
            let fields: Document = fields.collect();
            update.insert(operator, fields);
        }
        let filters = match self.below(3) {
            0 => vec![odm::bson::doc! { "x.b": self.value(1) }],
            1 => vec![odm::bson::doc! { "x": Bson::Document(self.tests(1)) }],
            _ => Vec::new(),
        };
        (update, filters)
    }

    fn argument(&mut self, operator: &str) -> Bson {
        match (operator, self.below(4)) {
            (_, 0) => self.value(2),
            ("$inc" | "$mul" | "$pop", _) => self.number().into(),
            ("$rename", _) => self.name().into(),
            ("$currentDate", _) => true.into(),
            ("$push", _) => {
                let mut push = odm::bson::doc! { "$each": [self.value(1), self.value(1)] };
                for modifier in ["$slice", "$position"] {
                    if self.below(2) == 0 {
                        push.insert(modifier, self.number());
                    }
                }
                if self.below(2) == 0 {
                    push.insert("$sort", odm::bson::doc! { self.name(): -1 });
                }
                push.into()
            }
            ("$addToSet", _) => odm::bson::doc! { "$each": [self.value(1), self.value(1)] }.into(),
            ("$pull", 1) => Bson::Document(self.tests(1)),
            ("$pull", 2) => Bson::Document(self.filter(1)),
            ("$pullAll", _) => vec![self.value(1), self.value(1)].into(),
            _ => self.value(3),
        }
    }

    /// Bytes with the frame of a document around them, whatever they are.
    pub fn framed(&mut self) -> Vec<u8> {
        let inner = self.rest();
        let mut framed = (inner.len() as u32 + 5).to_le_bytes().to_vec();
        framed.extend(inner);
        framed.push(0);
        framed
    }
}
