//! Checks the errors of the compiler by the rules for them, and lists them in `tests/mistakes.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// Names that a user cannot have written or found in the documentation.
const HIDDEN: [&str; 12] = [
    "odm::derive",
    "Root<",
    "FieldPath<",
    "FlatPath<",
    "ColdPath<",
    "RefersWithin",
    "ParentOf",
    "HasSubset",
    "EmbedField",
    "ReferenceField",
    "RepositoryField",
    "Referable",
];

/// The cases in which the compiler has its own words for a type of the library.
const EXCEPTIONS: &[&str] = &[
    "copies/copy_of_a_field_that_does_not_exist",
    "copies/copy_of_a_misspelt_field_in_a_link",
    "databases/cyclic_embeds",
    "documents/expiry_by_a_missing_field",
    "indexes/index_of_a_missing_embedded_field",
    "patches/patch_field_missing",
    "projections/projection_field_missing",
    "queries/field_that_does_not_exist",
    "queries/filter_by_a_comparison",
    "queries/follow_a_plain_struct",
    "queries/follow_a_plain_value",
    "queries/follow_through_a_vec",
    "queries/load_a_field_that_is_not_split",
    "queries/load_a_plain_field",
    "queries/sort_by_a_field_without_a_direction",
    "references/inverse_that_does_not_exist",
    "subsets/subset_sorted_by_a_missing_field",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

struct Case {
    /// The message of the compiler.
    text: String,
    /// The right form, place by place.
    instead: Vec<String>,
}

/// The cases, by topic and name.
fn cases() -> BTreeMap<String, BTreeMap<String, Case>> {
    let mut topics = BTreeMap::<_, BTreeMap<_, _>>::new();
    for topic in fs::read_dir(root().join("tests/compile-fail")).expect("the folder is there") {
        let topic = topic.expect("the folder can be read").path();
        let name = |path: &Path| {
            let stem = path.file_stem().expect("a file has a name");
            stem.to_str().expect("the name is UTF-8").to_owned()
        };
        for file in fs::read_dir(&topic).expect("a topic is a folder") {
            let file = file.expect("the folder can be read").path();
            if file.extension().is_some_and(|extension| extension == "stderr") {
                let read = |file: &Path| fs::read_to_string(file).expect("the file can be read");
                let case =
                    Case { text: read(&file), instead: instead(&read(&file.with_extension("rs"))) };
                let cases = topics.entry(name(&topic)).or_default();
                cases.insert(name(&file), case);
            }
        }
    }
    let count: usize = topics.values().map(BTreeMap::len).sum();
    assert!(count > 200, "only {count} cases found");
    topics
}

/// The right form, place by place, from the end of a case; see `tests/passing/build.rs`.
fn instead(program: &str) -> Vec<String> {
    let changes = program.trim_end().rsplit("\n\n").next().unwrap_or(program);
    let place = |place: &str| {
        let lines = |mark| {
            let lines = place.lines().filter_map(|line| line.strip_prefix(mark));
            lines.map(str::trim).collect::<Vec<_>>().join(" ").replace('|', "\\|")
        };
        match lines("// + ") {
            added if added.is_empty() => format!("without `{}`", lines("// - ")),
            added => format!("`{added}`"),
        }
    };
    changes.split("\n//\n").map(place).collect()
}

/// The messages of the errors, without the lines below them.
fn messages(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("error")?;
        let rest = rest.strip_prefix(": ").or_else(|| {
            let (_, message) = rest.strip_prefix("[E")?.split_once("]: ")?;
            Some(message)
        })?;
        Some(rest.strip_prefix("evaluation panicked: ").unwrap_or(rest))
    })
}

/// The texts beside the marks under the source of the errors themselves, without the texts of notes and helps.
fn labels(text: &str) -> Vec<&str> {
    let mut labels = Vec::new();
    let mut in_error = false;
    for line in text.lines() {
        if line.starts_with("error") {
            in_error = true;
        } else if line.starts_with("note")
            || line.starts_with("help")
            || line.starts_with("warning")
        {
            in_error = false;
        }
        let marked = line.split_once('|').map(|(_, marked)| marked.trim_start());
        if let Some(marked) = marked.filter(|marked| in_error && marked.starts_with(['^', '-'])) {
            labels.push(marked.trim_start_matches(['^', '-', ' ', '|']));
        }
    }
    labels
}

#[test]
fn no_error_names_what_a_user_cannot_know() {
    let mut wrong = Vec::new();
    let mut found = Vec::new();
    for (topic, cases) in cases() {
        for (name, Case { text, .. }) in cases {
            let case = format!("{topic}/{name}");
            let shown = messages(&text).chain(labels(&text));
            let hidden = |text: &&str| HIDDEN.iter().any(|name| text.contains(name));
            let Some(text) = shown.filter(hidden).map(str::to_owned).next() else {
                continue;
            };
            if EXCEPTIONS.contains(&case.as_str()) {
                found.push(case);
            } else {
                wrong.push(format!("{case}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "hidden names:\n{}", wrong.join("\n"));
    assert_eq!(found, EXCEPTIONS, "an exception that is needed no more");
}

#[test]
fn the_table_of_errors_is_what_the_compiler_says() {
    let mut table = String::from(
        "# Mistakes that the compiler finds\n\nThe mistakes that are found before a program runs, what is said of them, and what \
         to write instead: the first\nlines of the answers to the programs in `tests/compile-fail`, and the lines \
         that these lack. This file is made by\n`UPDATE=1 cargo test --workspace --all-features --test ui errors`.\n",
    );
    for (topic, cases) in cases() {
        write!(table, "\n## {topic}\n\n| mistake | message | instead |\n|---|---|---|\n").unwrap();
        for (name, Case { text, instead }) in cases {
            let messages: Vec<_> =
                messages(&text).map(|message| message.replace('|', "\\|")).collect();
            assert!(!messages.is_empty(), "{topic}/{name} has no message");
            let mistake = name.replace('_', " ");
            let (messages, instead) = (messages.join("<br>"), instead.join("<br>"));
            writeln!(table, "| {mistake} | {messages} | {instead} |").unwrap();
        }
    }
    let path = root().join("tests/mistakes.md");
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &table).expect("the file can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == table,
        "tests/mistakes.md is stale: run `UPDATE=1 cargo test --workspace --all-features --test ui errors`"
    );
}

/// Texts of the derives that no program can provoke, or that are not errors.
const NO_CASE: &[&str] = &[
    "the errors of a derive were not checked",
    "odm-derive let a mistake pass",
    " The fields of `{}`.",
    " Its fields are stored in its place.",
    " The tag: which variant of `{}` it is.",
    " The fields of a new [`{name}`] that its caller gives; an insert sets the others, and returns the whole.",
];

/// The texts of several words in a source, without its comments and tests.
fn texts(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or(source);
    let lines = source.lines().map(str::trim_start);
    let code: Vec<_> = lines.filter(|line| !line.starts_with("//")).collect();
    let code = code.join("\n").replace("\\\n", "").replace("'\"'", "");
    let code = code.replace("\\\"", "\u{1}");
    let texts = code.split('"').skip(1).step_by(2);
    let texts = texts.map(|text| text.replace('\u{1}', "\""));
    texts.filter(|text| text.len() > 17 && text.contains(' ')).collect()
}

/// The longest part of a text that is constant in each error.
fn fixed(text: &str) -> &str {
    let parts = text.split('{').enumerate();
    let parts = parts.map(|(at, part)| match part.split_once('}') {
        Some((_, after)) if at > 0 => after,
        _ => part,
    });
    parts.max_by_key(|part| part.len()).unwrap_or(text)
}

fn sources(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            sources(&path, into);
        } else if !path.ends_with("fuzz.rs") && !path.ends_with("golden.rs") {
            into.push(fs::read_to_string(&path).expect("the file can be read"));
        }
    }
}

#[test]
fn each_error_of_the_derives_has_a_case() {
    let cases = cases();
    let answers: Vec<_> = cases.values().flat_map(BTreeMap::values).collect();
    let mut found = Vec::new();
    sources(&root().join("odm-derive/src"), &mut found);
    let texts: Vec<_> = found.iter().flat_map(|source| texts(source)).collect();
    assert!(texts.len() > 150, "only {} texts found", texts.len());
    let has_case = |text: &str| answers.iter().any(|case| case.text.contains(fixed(text)));
    let without = texts.iter().filter(|text| !has_case(text));
    let without: BTreeSet<_> = without.map(String::as_str).collect();
    assert_eq!(without, BTreeSet::from_iter(NO_CASE.iter().copied()));
}
