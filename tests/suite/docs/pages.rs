//! The code and the links of the pages exist.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages in `docs`, by their paths there.
pub(crate) fn pages() -> BTreeSet<String> {
    let mut pages = BTreeSet::new();
    for folder in ["", "dev/", "guide/"] {
        let entries = fs::read_dir(root().join("docs").join(folder)).expect("there are docs");
        let names = entries.map(|entry| entry.expect("it can be read").file_name());
        let names = names.map(|name| name.into_string().expect("names are texts"));
        let names = names.filter(|name| name.ends_with(".md"));
        pages.extend(names.map(|name| format!("{folder}{name}")));
    }
    pages
}

/// The fenced blocks of a page: the text after the fence, and the lines within.
pub(crate) fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((language.to_owned(), block.join("\n")));
        }
    }
    found
}

/// The lines without their common indentation.
fn dedented(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let least = lines().map(indent).min().unwrap_or(0);
    let dedented = text.lines().map(|line| line.get(least..).unwrap_or("").trim_end());
    dedented.collect::<Vec<_>>().join("\n")
}

/// Whether the lines stand in the source, at any indentation.
pub(crate) fn stands_in(block: &str, source: &str) -> bool {
    let block = dedented(block);
    let length = block.lines().count();
    let lines: Vec<_> = source.lines().collect();
    lines.windows(length).any(|lines| dedented(&lines.join("\n")) == block)
}

/// The programs of the clients of a server, which `.ci/clients` runs.
const CLIENTS: [(&str, &str); 3] =
    [("python", "pymongo_client.py"), ("js", "node_client.js"), ("js", "shell_client.js")];

#[test]
fn each_block_of_another_language_is_in_a_program_that_runs() {
    let mut number = 0;
    for page in pages() {
        for (language, block) in blocks(&read(&root().join("docs").join(&page))) {
            let of_language = CLIENTS.iter().filter(|(of, _)| *of == language);
            let mut programs =
                of_language.map(|(_, name)| read(&root().join("odm-server/clients").join(name)));
            if ["python", "js"].contains(&&*language) {
                assert!(programs.any(|program| stands_in(&block, &program)), "{page}:\n{block}");
                number += 1;
            }
        }
    }
    assert!(number > 2);
}

#[test]
fn each_block_of_code_is_compiled_and_run() {
    // Doctests run all blocks of these.
    let doctests = read(&root().join("tests/src/lib.rs"));
    let mut missing = Vec::new();
    for page in pages() {
        let blocks = blocks(&read(&root().join("docs").join(&page)));
        let blocks: Vec<_> =
            blocks.into_iter().filter(|(language, _)| language == "rust").collect();
        if blocks.is_empty()
            || doctests.contains(&format!("docs/{page}"))
            || page.starts_with("guide/")
        {
            continue;
        }
        let name = page.replace(".md", ".rs").replace('-', "_");
        let source = read(&root().join("tests/suite/docs").join(&name));
        let absent = blocks.into_iter().filter(|(_, block)| !stands_in(block, &source));
        missing.extend(absent.map(|(_, block)| format!("{page}, not in {name}:\n{block}")));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n\n"));
}

/// The name of a heading in a link, as on GitHub and in mdBook.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

/// The text without its fenced blocks.
fn prose(text: &str) -> String {
    let mut code = false;
    let mut kept = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            kept.push(line);
        }
    }
    kept.join("\n")
}

#[test]
fn each_link_leads_somewhere() {
    let mut files: Vec<_> = pages().into_iter().map(|page| format!("docs/{page}")).collect();
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "examples/README.md",
        "examples/conduit/README.md",
        "odm-cli/README.md",
        "odm-derive/README.md",
        "odm-embedded/README.md",
        "odm-mongodb/README.md",
        "odm-mql/README.md",
        "odm-pattern/README.md",
        "odm-server/README.md",
        "odm-store/README.md",
        "odm-store-suite/README.md",
    ];
    files.extend(others.map(str::to_owned));
    let mut broken = Vec::new();
    for file in files {
        let path = root().join(&file);
        let text = prose(&read(&path));
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().expect("a split has a first part");
            if link.contains("://") {
                continue;
            }
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match target {
                "" => path.clone(),
                _ => path.parent().expect("it is in a folder").join(target),
            };
            let there = match heading {
                "" => target.exists(),
                _ => {
                    let text = prose(&read(&target));
                    let headings = text.lines().filter(|line| line.starts_with('#'));
                    let mut headings = headings.map(|line| anchor(line.trim_start_matches('#')));
                    headings.any(|there| there == heading)
                }
            };
            if !there {
                broken.push(format!("{file}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The pages in a folder, and in the folders in it.
fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let paths = paths.flat_map(|path| if path.is_dir() { pages_below(&path) } else { vec![path] });
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Whether the line ends the paragraph before it: it is empty, a heading, a row of a table, or the first one of an item.
fn ends_paragraph(line: &str) -> bool {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with(". ");
    line.is_empty() || is_numbered || ["#", "|", "- "].iter().any(|mark| line.starts_with(*mark))
}

#[test]
fn no_paragraph_of_a_page_has_more_than_a_hundred_words() {
    let mut long = Vec::new();
    let maps = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(|page| root().join(page));
    for page in pages_below(&root().join("docs")).into_iter().chain(maps) {
        let mut words = 0;
        for line in prose(&read(&page)).lines().map(str::trim) {
            words = if ends_paragraph(line) { 0 } else { words };
            words += if line.starts_with('|') { 0 } else { line.split_whitespace().count() };
            if words > 100 {
                long.push(format!("{}: {line}", page.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn each_word_has_one_row_in_the_glossary_or_in_the_words_of_the_code() {
    let mut words = BTreeSet::new();
    for (page, mark) in [("docs/glossary.md", "**"), ("docs/dev/words.md", "*")] {
        let text = read(&root().join(page));
        let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        for word in rows.flat_map(|row| row.split(mark).skip(1).step_by(2)) {
            assert!(words.insert(word.to_owned()), "{page}: `{word}` has two rows");
        }
    }
    assert!(words.len() > 90, "only {} words", words.len());
}

#[test]
fn the_index_of_the_book_lists_every_page() {
    let index = read(&root().join("docs/SUMMARY.md"));
    for page in pages().iter().filter(|page| *page != "SUMMARY.md") {
        assert!(index.contains(&format!("]({page})")), "`{page}` is not in docs/SUMMARY.md");
    }
}

/// An example of the package `examples`, which a page shows.
pub(crate) fn example(name: &str) -> Command {
    let test = env::current_exe().expect("this is a program");
    let profile = test.ancestors().nth(2).expect("it is in `target/PROFILE/deps`");
    let program = profile.join("examples").join(name).with_extension(env::consts::EXE_EXTENSION);
    if !program.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--workspace", "--all-features", "--example", name]);
        assert!(build.current_dir(root()).status().expect("cargo runs").success());
    }
    Command::new(program)
}

/// The output of an example, which runs in an empty folder.
pub(crate) fn output(name: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let run = example(name).current_dir(&folder).output().expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("it prints texts")
}

#[test]
fn the_readme_shows_its_programs_and_what_they_print() {
    let blocks = blocks(&read(&root().join("README.md")));
    let sources = ["first", "renamed", "renamed"];
    let shown: Vec<_> = blocks.iter().filter(|(language, _)| language == "rust").collect();
    assert_eq!(shown.len(), 3);
    for ((_, block), name) in shown.iter().zip(sources) {
        let source = &read(&root().join(format!("examples/readme/{name}.rs")));
        assert!(stands_in(block, source), "not in examples/readme/{name}.rs:\n{block}");
    }
    let printed: Vec<_> = blocks.iter().filter(|(language, _)| language == "text").collect();
    for ((_, block), name) in printed.iter().zip(["first", "renamed"]) {
        assert_eq!(*block, output(name).trim_end(), "the output of `{name}`");
    }
    assert_eq!(printed.len(), 2);
}
