//! Random models: the derives answer with code or with errors, and never panic.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use syn::DeriveInput;

use crate::{derive::Derive, pipeline};

/// The parts of models: marks, keys, paths, types, and words that do not belong.
const WORDS: [&str; 80] = [
    "document",
    "embed",
    "reference",
    "index",
    "version",
    "subset",
    "split",
    "denormalize",
    "count",
    "exists",
    "max",
    "min",
    "sum",
    "computed",
    "ancestors",
    "sequence",
    "recompute",
    "projection",
    "database",
    "serde",
    "collection",
    "fields",
    "unique",
    "name",
    "crate",
    "parent",
    "child",
    "one",
    "inverse",
    "on_delete",
    "unchecked",
    "limit",
    "sort",
    "via",
    "within",
    "filter",
    "from",
    "freeze",
    "of",
    "key",
    "optional",
    "recursive",
    "rename",
    "rename_all",
    "flatten",
    "default",
    "skip",
    "tag",
    "content",
    "untagged",
    "transparent",
    "=",
    ",",
    "(",
    ")",
    "::",
    "-",
    "!",
    "+",
    ".",
    "a + b.c",
    "if a { 1 } else { 2 }",
    "a.iter().map(|b| b.c).sum::<i64>()",
    "format!(\"{a} {{{}}}\", b)",
    "words(&a)",
    "10",
    "-3",
    "0",
    "99999999999999999999999",
    "1.5",
    "true",
    "'a'",
    "\"Part.name\"",
    "\"-a, b.c\"",
    "\"parent\"",
    "\"\"",
    "\"cascade\"",
    "\"camelCase\"",
    "\"a..b\"",
    "\"_id\"",
];

const TEXTS: [&str; 22] = [
    "Part.name",
    "Part.links.id",
    "a",
    "-a, b.c",
    "",
    ".",
    "a.",
    "a b",
    "cascade",
    "nullify",
    "pull",
    "keep",
    "restrict",
    "camelCase",
    "kebab-case",
    "_id",
    "$a",
    "\\0",
    "crate::x",
    "é",
    "self",
    "Part",
];

const TYPES: [&str; 23] = [
    "i64",
    "String",
    "Ref<Part>",
    "Option<Ref<Part>>",
    "Vec<Ref<Part>>",
    "Ancestors<Line>",
    "Subset<Line>",
    "Cold<D>",
    "Option<i64>",
    "Vec<Link>",
    "Box<Link>",
    "(i32, Ref<Part>)",
    "[i32; 3]",
    "&'static str",
    "T",
    "fn(i32) -> i32",
    "dyn Any",
    "Repository<Part>",
    "HashMap<String, Link>",
    "impl Copy",
    "!",
    "_",
    "<T as Trait>::X",
];

const NAMES: [&str; 10] = [
    "id", "a", "b", "parent", "r#type", "name", "_x", "links", "Self_", "été",
];

struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        usize::from(*first) % bound
    }

    fn one_of<'b>(&mut self, of: &[&'b str]) -> &'b str {
        of[self.below(of.len())]
    }

    /// An attribute of ours or of serde, with its own keys, or with anything.
    fn attribute(&mut self) -> String {
        let mark = self.one_of(&WORDS[..16]);
        match self.below(8) {
            0 => format!("#[{mark}]"),
            1 => format!("#[{mark} = {:?}]", self.one_of(&TEXTS)),
            2 => {
                let words: Vec<&str> = (0..self.below(8)).map(|_| self.one_of(&WORDS)).collect();
                format!("#[{mark}({})]", words.join(" "))
            }
            _ => {
                let number = self.below(4);
                let arguments: Vec<String> = (0..number).map(|_| self.argument()).collect();
                format!("#[{mark}({})]", arguments.join(", "))
            }
        }
    }

    fn argument(&mut self) -> String {
        let key = self.one_of(&WORDS[16..42]);
        match self.below(6) {
            0 => key.to_owned(),
            1 => format!(
                "{key} = {}",
                self.one_of(&["10", "-3", "0", "1.5", "path::to", "a + 1"])
            ),
            2 => {
                let inner = self.one_of(&WORDS[16..42]);
                format!("{key}({inner} = \"{}\")", self.one_of(&TEXTS))
            }
            _ => format!("{key} = \"{}\"", self.one_of(&TEXTS)),
        }
    }

    fn attributes(&mut self) -> String {
        let number = self.below(3);
        (0..number).map(|_| self.attribute()).collect()
    }

    fn fields(&mut self) -> String {
        let number = self.below(5);
        let fields = (0..number).map(|at| {
            // The first is most often an id, so that later rules are met.
            let id = at == 0 && self.below(4) > 0;
            let attributes = self.attributes();
            let id = if id { "#[serde(rename = \"_id\")]" } else { "" };
            format!(
                "{id} {attributes} {}: {},",
                self.one_of(&NAMES),
                self.one_of(&TYPES)
            )
        });
        fields.collect()
    }

    fn item(&mut self) -> String {
        let heads = [
            "#[document(collection = \"parts\")]",
            "#[projection(of = \"Part\")]",
            "#[database(name = \"shop\", version = 1)]",
            "",
        ];
        let head = self.one_of(&heads);
        let attributes = self.attributes();
        let generics = self.one_of(&["", "", "", "<T>", "<'a, T: Copy>", "<const N: usize>"]);
        let item = match self.below(8) {
            0 => {
                let variants = (0..self.below(4)).map(|at| {
                    let attributes = self.attributes();
                    let body = match self.below(3) {
                        0 => String::new(),
                        1 => format!("({})", self.one_of(&TYPES)),
                        _ => format!("{{ {} }}", self.fields()),
                    };
                    format!("{attributes} V{at} {body},")
                });
                let variants: String = variants.collect();
                format!("enum Part{generics} {{ {variants} }}")
            }
            1 => format!("struct Part{generics}({});", self.one_of(&TYPES)),
            2 => format!("union Part{generics} {{ {} }}", self.fields()),
            3 => format!("struct Part{generics};"),
            _ => format!("struct Part{generics} {{ {} }}", self.fields()),
        };
        format!("{head} {attributes} {item}")
    }
}

#[test]
fn a_derive_answers_with_code_or_errors_whatever_the_model_is() {
    let seconds = env::var("FUZZ_SECONDS").ok();
    let seconds = seconds.map_or(2, |text| text.parse().expect("`FUZZ_SECONDS` is a number"));
    let start = Instant::now();
    let mut seed = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        seed += 1;
        answers(&random(seed));
    }
}

/// Bytes that a seed says (SplitMix64).
fn random(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95);
    let bytes = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) as u8
    });
    bytes.take(300).collect()
}

fn answers(bytes: &[u8]) {
    let text = Choices(bytes).item();
    let Ok(item) = syn::parse_str::<DeriveInput>(&text) else {
        return;
    };
    for derive in Derive::ALL {
        let tokens = catch_unwind(AssertUnwindSafe(|| pipeline::run(derive, &item)));
        let tokens = tokens.unwrap_or_else(|_| panic!("{derive:?} panics at {text}"));
        let code = syn::parse2::<syn::File>(tokens.clone());
        code.unwrap_or_else(|error| panic!("{error}: {tokens}, from {text}"));
        let is_missed = tokens.to_string().contains("let a mistake pass");
        assert!(!is_missed, "{derive:?} of {text}");
    }
}
