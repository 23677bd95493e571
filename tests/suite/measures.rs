//! Measures of the sources, for changes of their structure: `cargo test --workspace --all-features --test sources -- --ignored --nocapture
//! measures`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::{Attribute, Item, UseTree, visit::Visit};

/// The crates of the library.
const CRATES: [&str; 8] = [
    "odm",
    "odm-derive",
    "odm-embedded",
    "odm-mongodb",
    "odm-mql",
    "odm-pattern",
    "odm-store",
    "odm-store-suite",
];

/// Functions with more lines are counted.
const LONG: usize = 60;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match path.is_dir() {
            true if name != "tests" => files(&path, found),
            false if name.ends_with(".rs") && !matches!(name, "tests.rs" | "testing.rs") => {
                found.push(path)
            }
            _ => {}
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let tokens = attributes.iter().filter_map(|attribute| attribute.meta.require_list().ok());
    tokens.into_iter().any(|list| list.path.is_ident("cfg") && list.tokens.to_string() == "test")
}

/// The measures of a file of a crate.
struct Source {
    /// The path of its module, below the root of the crate.
    module: Vec<String>,
    lines: usize,
    functions: Vec<(String, usize)>,
    types: Vec<String>,
    /// The paths that it names, from the root of the crate.
    paths: BTreeSet<Vec<String>>,
}

struct Reader<'s> {
    source: &'s mut Source,
    module: Vec<String>,
}

impl Reader<'_> {
    fn path(&mut self, parts: &[String]) {
        let mut at = match parts.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            _ => return,
        };
        for part in parts {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(at.pop()),
                part => at.push(part.to_owned()),
            }
        }
        self.source.paths.insert(at);
    }

    fn tree(&mut self, tree: &UseTree, before: &[String]) {
        match tree {
            UseTree::Path(path) => {
                let before = [before, &[path.ident.to_string()]].concat();
                self.tree(&path.tree, &before);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before)),
            UseTree::Name(name) => self.path(&[before, &[name.ident.to_string()]].concat()),
            UseTree::Rename(name) => self.path(&[before, &[name.ident.to_string()]].concat()),
            UseTree::Glob(_) => self.path(before),
        }
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if is_test(attributes) {
            return;
        }
        match item {
            Item::Struct(item) => self.source.types.push(item.ident.to_string()),
            Item::Enum(item) => self.source.types.push(item.ident.to_string()),
            Item::Trait(item) => self.source.types.push(item.ident.to_string()),
            Item::Use(item) => self.tree(&item.tree, &[]),
            _ => {}
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.path(&parts);
        syn::visit::visit_path(self, path);
    }
}

/// The lines of a text without its modules of tests, as rustfmt leaves them: an item ends at the brace of its indentation.
fn without_tests(text: &str) -> Vec<&str> {
    let mut left = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            left.push(line);
            continue;
        }
        if lines.next().is_some_and(|item| item.ends_with('{')) {
            lines.by_ref().find(|line| *line == "}");
        }
    }
    left
}

fn is_code(line: &&str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with("//")
}

/// The functions with a body on lines of its own, each with the number of its lines.
fn functions(lines: &[&str]) -> Vec<(String, usize)> {
    let named = lines.iter().enumerate().filter_map(|(start, line)| {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let words = code.split(' ').take_while(|word| *word != "fn");
        let is_one = words.clone().all(|word| {
            word.starts_with("pub")
                || matches!(word, "async" | "const" | "unsafe" | "in" | "crate::mql)")
        });
        let name = code.split(' ').nth(words.count() + 1)?.split(['(', '<']).next()?;
        let end = lines[start..].iter().position(|line| *line == format!("{indent}}}"))?;
        let is_declared = lines[start..start + end].iter().any(|line| {
            line.ends_with(';')
                && line.starts_with(indent)
                && !line[indent.len()..].starts_with(' ')
        });
        (is_one && !is_declared).then(|| (name.to_owned(), end + 1))
    });
    named.collect()
}

fn sources(package: &str) -> Vec<Source> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("src");
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source can be read");
        let file = syn::parse_file(&text).expect("a source is Rust");
        let below = path.strip_prefix(&folder).expect("it is below").with_extension("");
        let module = below.iter().map(|part| part.to_string_lossy().into_owned());
        let module: Vec<String> = module.filter(|part| part != "lib" && part != "main").collect();
        let lines = without_tests(&text);
        let mut source = Source {
            module: module.clone(),
            lines: lines.iter().filter(|line| is_code(line)).count(),
            functions: functions(&lines),
            types: Vec::new(),
            paths: BTreeSet::new(),
        };
        Reader { source: &mut source, module }.visit_file(&file);
        source
    };
    paths.into_iter().map(read).collect()
}

/// The files that depend on each other, in groups of more than one.
fn circles(sources: &[Source]) -> Vec<Vec<String>> {
    let at = |path: &Vec<String>| {
        (0..=path.len())
            .rev()
            .find_map(|len| sources.iter().position(|source| source.module == path[..len]))
    };
    let edges: Vec<BTreeSet<usize>> = (sources.iter().enumerate())
        .map(|(from, source)| {
            let to = source.paths.iter().filter_map(at);
            // A module uses the modules within it, and its root, so that they form one unit.
            let is_within = |to: &usize| {
                let (from, to) = (&sources[from].module, &sources[*to].module);
                to.starts_with(from) || from.starts_with(to)
            };
            to.filter(|to| !is_within(to)).collect()
        })
        .collect();
    let reached = |from: usize| {
        let (mut found, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(next) = left.pop() {
            left.extend(edges[next].iter().filter(|to| found.insert(**to)));
        }
        found
    };
    let reached: Vec<BTreeSet<usize>> = (0..sources.len()).map(reached).collect();
    let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
    for from in 0..sources.len() {
        let both = reached[from].iter().filter(|to| reached[**to].contains(&from));
        let names: Vec<String> = both.map(|to| sources[*to].module.join("/")).collect();
        if names.len() > 1 {
            groups.insert(names);
        }
    }
    groups.into_iter().collect()
}

#[test]
#[ignore = "prints, and holds nothing"]
fn measures() {
    println!(
        "| crate | files | lines of code | longest file | functions | over {LONG} lines | circles of files | types named twice |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut details = String::new();
    for package in CRATES {
        let sources = sources(package);
        assert!(!sources.is_empty(), "{package} has no sources");
        let lines: usize = sources.iter().map(|source| source.lines).sum();
        let longest = sources.iter().map(|source| source.lines).max().unwrap_or_default();
        let functions: Vec<_> = sources.iter().flat_map(|source| &source.functions).collect();
        let long: Vec<_> = functions.iter().filter(|(_, lines)| *lines > LONG).collect();
        let circles = circles(&sources);
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for name in sources.iter().flat_map(|source| &source.types) {
            *named.entry(name).or_default() += 1;
        }
        named.retain(|_, times| *times > 1);
        println!(
            "| `{package}` | {} | {lines} | {longest} | {} | {} | {} | {} |",
            sources.len(),
            functions.len(),
            long.len(),
            circles.len(),
            named.len(),
        );
        for (name, lines) in long {
            details += &format!("{package}: `{name}` has {lines} lines\n");
        }
        for circle in circles {
            details += &format!(
                "{package}: {} files need each other: {}\n",
                circle.len(),
                circle.join(", ")
            );
        }
        for (name, times) in named {
            details += &format!("{package}: {times} types are named `{name}`\n");
        }
    }
    println!("\n{details}");
}
