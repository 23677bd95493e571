//! Measures of the sources, for changes of their structure: `cargo test --workspace --all-features --test sources -- --ignored --nocapture
//! measures`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, mem,
    path::{Path, PathBuf},
};

use syn::{Attribute, Block, Item, ItemMod, UseTree, visit::Visit};

/// The crates of the library.
pub(super) const CRATES: [&str; 9] = [
    "odm",
    "odm-derive",
    "odm-embedded",
    "odm-mongodb",
    "odm-mql",
    "odm-pattern",
    "odm-server",
    "odm-store",
    "odm-store-suite",
];

/// Functions with more lines are counted.
const LONG: usize = 60;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
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
    /// The names of its types, without those within functions.
    types: Vec<String>,
    /// The modules of tests that are files of their own.
    tests: Vec<Vec<String>>,
    /// The paths that it names, from the root of the crate.
    paths: BTreeSet<Vec<String>>,
}

struct Reader<'s> {
    source: &'s mut Source,
    module: Vec<String>,
    is_in_function: bool,
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
            if let Item::Mod(ItemMod { ident, content: None, .. }) = item {
                self.source.tests.push([&self.module[..], &[ident.to_string()]].concat());
            }
            return;
        }
        let named = match item {
            Item::Struct(item) => Some((&item.attrs, &item.ident)),
            Item::Enum(item) => Some((&item.attrs, &item.ident)),
            Item::Trait(item) => Some((&item.attrs, &item.ident)),
            Item::Union(item) => Some((&item.attrs, &item.ident)),
            Item::Type(item) => Some((&item.attrs, &item.ident)),
            _ => None,
        };
        if let Some((attributes, name)) = named
            && !self.is_in_function
            && !is_test(attributes)
        {
            self.source.types.push(name.to_string());
        }
        if let Item::Use(item) = item {
            self.tree(&item.tree, &[]);
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_block(&mut self, block: &'a Block) {
        let was_in_function = mem::replace(&mut self.is_in_function, true);
        syn::visit::visit_block(self, block);
        self.is_in_function = was_in_function;
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

/// The files of a crate, without its tests.
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
            tests: Vec::new(),
            paths: BTreeSet::new(),
        };
        Reader { source: &mut source, module, is_in_function: false }.visit_file(&file);
        source
    };
    let mut sources: Vec<Source> = paths.into_iter().map(read).collect();
    let tests: Vec<Vec<String>> = sources.iter().flat_map(|source| source.tests.clone()).collect();
    sources.retain(|source| !tests.iter().any(|test| source.module.starts_with(test)));
    sources
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

/// The names that several types have, each with the modules of these.
fn doubled(sources: &[Source]) -> BTreeMap<String, Vec<String>> {
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources {
        for name in &source.types {
            named.entry(name.clone()).or_default().push(source.module.join("::"));
        }
    }
    named.retain(|_, modules| modules.len() > 1);
    named
}

/// The names that several types of a crate have, each with their modules.
pub(super) fn doubled_in(package: &str) -> BTreeMap<String, Vec<String>> {
    let sources = sources(package);
    assert!(!sources.is_empty(), "{package} has no sources");
    doubled(&sources)
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
        let doubled = doubled(&sources);
        println!(
            "| `{package}` | {} | {lines} | {longest} | {} | {} | {} | {} |",
            sources.len(),
            functions.len(),
            long.len(),
            circles.len(),
            doubled.len(),
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
        for (name, modules) in doubled {
            details += &format!("{package}: `{name}` is a type in {}\n", modules.join(", "));
        }
    }
    println!("\n{details}");
}
