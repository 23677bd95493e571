//! Holds the crates, and the sources of `odm` and of the derives, against the map in `ARCHITECTURE.md`, as far as their text
//! tells.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::{ExprLet, PatGuard, visit::Visit};

/// A source file without comments, string literals and test modules.
struct Source {
    /// Its crate.
    package: &'static str,
    /// Its path in the sources of the crate.
    path: String,
    code: String,
}

impl Source {
    /// The module at the root of the crate that the file belongs to.
    fn layer(&self) -> &str {
        let first = self.path.split('/').next().expect("a path has a first part");
        first.strip_suffix(".rs").unwrap_or(first)
    }

    fn is_in(&self, paths: &[&str]) -> bool {
        let is_at = |path: &&str| match path.strip_suffix('/') {
            Some(folder) => self.path == format!("{folder}.rs") || self.path.starts_with(*path),
            None => self.path == *path,
        };
        paths.iter().any(is_at)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All `.rs` files below a folder, tests included.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The crates of the library without the derives, which run in the compiler.
const CRATES: [&str; 8] = [
    "odm",
    "odm-cli",
    "odm-embedded",
    "odm-mongodb",
    "odm-mql",
    "odm-pattern",
    "odm-server",
    "odm-store",
];

/// The sources of the library without its tests.
fn sources() -> Vec<Source> {
    let sources: Vec<Source> = CRATES.into_iter().flat_map(sources_of).collect();
    assert!(sources.len() > 100, "only {} sources found", sources.len());
    sources
}

/// The sources of a crate without its tests.
fn sources_of(package: &'static str) -> Vec<Source> {
    let folder = root().join(package).join("src");
    let is_test =
        |part: &str| matches!(part, "tests" | "tests.rs" | "testing.rs" | "fuzz.rs" | "golden.rs");
    let mut sources = Vec::new();
    for file in files(&folder) {
        let path = file.strip_prefix(&folder).expect("the file is in the folder");
        let path = path.to_str().expect("the name is UTF-8").to_owned();
        if !path.split('/').any(is_test) {
            let code = without_tests(&without_comments(&read(&file)));
            sources.push(Source { package, path, code });
        }
    }
    sources
}

/// Blanks comments and the contents of strings.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if next == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|character| {
                let ends = character == '"' && !escaped;
                escaped = character == '\\' && !escaped;
                ends
            });
            rest = &rest[end.map_or(rest.len(), |end| end + 2)..];
            code.push_str("\"\"");
        } else if let Some(after) = rest.strip_prefix("'\"'") {
            rest = after;
            code.push_str("' '");
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    code
}

/// The block in braces that `text` begins with.
fn block(text: &str) -> &str {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return &text[..=at],
            '}' => depth -= 1,
            _ => {}
        }
    }
    panic!("a brace is not closed: {text}");
}

fn without_tests(code: &str) -> String {
    let Some((before, after)) = code.split_once("#[cfg(test)]") else {
        return code.to_owned();
    };
    let item = after.find(['{', ';']).expect("an item has an end");
    let end = match &after[item..=item] {
        "{" => item + block(&after[item..]).len(),
        _ => item + 1,
    };
    without_tests(&format!("{before}{}", &after[end..]))
}

fn quoted_by(text: &str, quote: char) -> impl Iterator<Item = &str> {
    text.split(quote).skip(1).step_by(2)
}

/// The words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    quoted_by(text, '`')
}

/// The rows of the table of the map whose first column has this name: each crate or module with the ones that it may use, from the lowest
/// up.
fn layers(first_column: &str) -> Vec<(String, BTreeSet<String>)> {
    let map = read(&root().join("ARCHITECTURE.md"));
    let head = format!("| {first_column} | content | may use |");
    let table = map.split_once(&head).expect("the map has such a table").1;
    let mut layers: Vec<(String, BTreeSet<String>)> = Vec::new();
    for row in table.lines().skip(2).take_while(|row| row.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let (&first, &last) = (cells.first().expect("a cell"), cells.last().expect("a cell"));
        let below = layers.iter().map(|(name, _)| name.clone()).collect();
        let may_use: BTreeSet<String> = match last.trim() {
            "all above" => below,
            modules => {
                let modules: BTreeSet<String> = quoted(modules).map(str::to_owned).collect();
                let higher: Vec<_> = modules.difference(&below).collect();
                assert!(higher.is_empty(), "{row}: {higher:?} is not above it in the table");
                modules
            }
        };
        for name in quoted(first) {
            let name = name.trim_end_matches('/').to_owned();
            layers.push((name, may_use.clone()));
        }
    }
    layers
}

/// The exports of the root of the crate, by the modules that they come from.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for item in root.split("pub use ").skip(1) {
        let item = &item[..item.find(';').expect("an item has an end")];
        if let Some((module, names)) = item.split_once("::") {
            for name in names.split(|character: char| !character.is_alphanumeric()) {
                exports.insert(name.to_owned(), module.to_owned());
            }
        }
    }
    exports
}

/// The first name of each path that follows a `crate::`.
fn imports(code: &str) -> BTreeSet<String> {
    let name = |text: &str| {
        let end = text.find(|character: char| !character.is_alphanumeric() && character != '_');
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let mut imports = BTreeSet::new();
    for (_, after) in
        code.match_indices("crate::").map(|(at, found)| (at, &code[at + found.len()..]))
    {
        if !after.starts_with('{') {
            imports.insert(name(after));
            continue;
        }
        let mut depth = 0;
        let group = block(after);
        for (at, character) in group.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 1 && matches!(character, '{' | ',') {
                imports.insert(name(group[at + 1..].trim_start()));
            }
        }
    }
    imports.retain(|name| !name.is_empty());
    imports
}

/// Compares the imports of a crate with the table of the map for its folder.
fn assert_layered(package: &'static str, is_free: impl Fn(&str, &str) -> bool) {
    let layers = layers(&format!("in `{package}/src`"));
    let sources = sources_of(package);
    let root = sources.iter().find(|source| source.path == "lib.rs");
    let root = &root.expect("the crate has a root").code;
    let exports = exports(root);
    let mut wrong = Vec::new();
    for source in &sources {
        if source.path == "lib.rs" {
            continue;
        }
        let layer = source.layer();
        let Some((_, may_use)) = layers.iter().find(|(name, _)| name == layer) else {
            wrong.push(format!("{}: the map has no layer `{layer}`", source.path));
            continue;
        };
        for import in imports(&source.code) {
            let module = exports.get(&import).unwrap_or(&import);
            let is_macro = source.code.contains(&format!("crate::{import}!"));
            let is_allowed = module == layer || may_use.contains(module) || is_free(layer, module);
            if !is_allowed && !is_macro {
                wrong.push(format!("{} uses `{import}` of `{module}`", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (name, _) in &layers {
        let is_there = sources.iter().any(|source| source.layer() == name);
        assert!(is_there, "`{name}` of the map does not exist");
    }
}

#[test]
fn each_layer_uses_only_what_the_map_allows() {
    assert_layered("odm", |_, _| false);
}

#[test]
fn each_stage_of_the_derives_uses_only_what_the_map_allows() {
    // The grammar asks for the names of all attributes, and for the list of derived fields: their kinds are in private modules.
    assert_layered("odm-derive", |layer, module| {
        layer == "attr" && matches!(module, "ATTRIBUTES" | "derived")
    });
}

/// The pages about the sources.
const MAPS: [&str; 6] = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/dev/conformance.md",
    "docs/dev/releasing.md",
    "docs/dev/remote.md",
    "docs/dev/write-path.md",
];

#[test]
fn the_map_is_under_250_lines() {
    let lines = read(&root().join("ARCHITECTURE.md")).lines().count();
    assert!(lines < 250, "{lines} lines: move what one module needs into its header");
}

#[test]
fn each_path_of_the_maps_is_there() {
    let crates = CRATES.into_iter().chain(["odm-derive", "odm-store-suite"]);
    let folders: Vec<PathBuf> = crates
        .map(|package| root().join(package).join("src"))
        .chain([root(), root().join("tests/suite")])
        .collect();
    let is_path = |word: &str| {
        let is_part = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '.' | '/');
        word.contains('/') && word.chars().all(is_part)
    };
    let mut wrong = Vec::new();
    for page in MAPS {
        let text = read(&root().join(page)).replace("```", "");
        let words = quoted(&text).map(|word| word.replace("KIND", "count"));
        for word in words.map(|word| word.replace("::", "/")).filter(|word| is_path(word)) {
            let path = word.trim_end_matches('/');
            let is_there = folders.iter().any(|folder| {
                folder.join(path).exists() || folder.join(format!("{path}.rs")).exists()
            });
            if !is_there {
                wrong.push(format!("{page}: `{word}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_a_unit_a_migration_and_records_of_the_library_write_to_a_transaction() {
    let writers = [
        "maintain/unit/",
        "catalog/stored.rs",
        "migration/run.rs",
        "migration/beside.rs",
        "session/lease.rs",
        "session/retries.rs",
        "session/users.rs",
        "staged.rs",
    ];
    let methods = ["insert", "update", "delete", "apply"];
    let mut wrong = Vec::new();
    for source in sources() {
        // A call may be broken after its receiver.
        let code: String = source.code.split_whitespace().collect();
        for method in methods {
            for receiver in ["transaction", "transaction()", "get_mut()"] {
                let call = format!("{receiver}.{method}(");
                let is_allowed = source.package != "odm" || source.is_in(&writers);
                if code.contains(&call) && !is_allowed {
                    wrong.push(format!("{}: `{call}`", source.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_is_over_600_lines_or_named_mod() {
    let mut long: Vec<String> = Vec::new();
    let others = ["odm-derive", "odm-store-suite", "benchmarks/src", "examples", "tests", "fuzz"];
    for folder in CRATES.into_iter().chain(others) {
        for file in files(&root().join(folder)) {
            assert!(!file.ends_with("mod.rs"), "{}", file.display());
            let lines = read(&file).lines().count();
            if lines > 600 {
                long.push(format!("{}: {lines} lines", file.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// The dependencies of a crate, without the dependencies of its tests.
fn dependencies(package: &str) -> BTreeSet<String> {
    let manifest = read(&root().join(package).join("Cargo.toml"));
    let table = manifest.split_once("\n[dependencies]\n").expect("a crate has dependencies").1;
    let lines = table.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ']).next());
    names.filter(|name| !name.is_empty() && *name != "#").map(str::to_owned).collect()
}

#[test]
fn each_crate_depends_only_on_what_the_map_allows() {
    let crates = layers("crate");
    let names: BTreeSet<&str> = crates.iter().map(|(name, _)| name.as_str()).collect();
    for (name, may_use) in &crates {
        let dependencies = dependencies(name);
        let uses: BTreeSet<&String> =
            dependencies.iter().filter(|name| names.contains(name.as_str())).collect();
        assert_eq!(uses, may_use.iter().collect(), "what `{name}` uses is not what the map says");
        // No type of them is in the API of another crate.
        assert_eq!(dependencies.contains("redb"), name == "odm-embedded", "{name}");
        let is_client = ["odm-mongodb", "odm-cli"].contains(&name.as_str());
        assert_eq!(dependencies.contains("mongodb"), is_client, "{name}");
    }
    let members = read(&root().join("Cargo.toml"));
    let members =
        quoted_by(&members, '"').filter(|name| *name == "odm" || name.starts_with("odm-"));
    for member in members.filter(|name| root().join(name).is_dir()) {
        assert!(names.contains(member), "the map has no crate `{member}`");
    }
}

#[test]
fn no_public_type_of_odm_has_the_name_of_another() {
    // In `odm::mql`: the form on BSON of a typed item, and the error of the language.
    let twins = ["Accumulator", "Error", "Filter", "Projection", "Sort", "Update"];
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in ["odm", "odm-embedded", "odm-mongodb", "odm-mql", "odm-store"] {
        for source in sources_of(package) {
            for kind in ["struct", "enum", "trait", "type"] {
                for item in source.code.split(&format!("pub {kind} ")).skip(1) {
                    let end = item.find(|c: char| !c.is_alphanumeric()).unwrap_or(item.len());
                    let place = format!("{package}/{}", source.path);
                    all.entry(item[..end].to_owned()).or_default().insert(place);
                }
            }
        }
    }
    for (name, places) in &all {
        assert!(places.len() == 1 || twins.contains(&&**name), "`{name}`: {places:?}");
    }
    for twin in twins {
        assert!(all[twin].len() > 1, "`{twin}` has one meaning");
    }
}

#[test]
fn no_guard_of_a_std_lock_is_held_across_an_await() {
    let mut wrong = Vec::new();
    for source in sources() {
        let guard_types = ["MutexGuard", "RwLockReadGuard", "RwLockWriteGuard"];
        let names_guard = guard_types.iter().any(|name| source.code.contains(name));
        let of_tokio = ["session/bound.rs", "session.rs", "session/transaction.rs"];
        // Its functions wait for nothing.
        let of_cursors = source.package == "odm-server" && source.path == "cursor.rs";
        let is_allowed = source.package == "odm-embedded" || source.is_in(&of_tokio) || of_cursors;
        if names_guard && !is_allowed {
            wrong.push(format!("{} names the type of a guard", source.path));
        }
        // A guard is bound by a statement that ends where the lock was taken.
        for (at, end) in source.code.match_indices("into_inner);") {
            let start = source.code[..at].rfind([';', '{', '}']).map_or(0, |at| at + 1);
            let statement = source.code[start..at].trim_start();
            if !statement.starts_with("let ") || statement.contains("into_inner)") {
                continue;
            }
            let mut depth = 0;
            let after = &source.code[at + end.len()..];
            let scope = after.find(|character| {
                depth += i32::from(character == '{') - i32::from(character == '}');
                depth < 0
            });
            if after[..scope.unwrap_or(after.len())].contains(".await") {
                wrong.push(format!("{}: {statement}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a `let` stands in a guard of a match.
#[derive(Default)]
struct LetInGuard {
    in_guard: bool,
    found: bool,
}

impl<'a> Visit<'a> for LetInGuard {
    fn visit_pat_guard(&mut self, guarded: &'a PatGuard) {
        self.in_guard = true;
        self.visit_expr(&guarded.guard);
        self.in_guard = false;
    }

    fn visit_expr_let(&mut self, _: &'a ExprLet) {
        self.found |= self.in_guard;
    }
}

/// Rust has it since 1.95, and the packages say 1.90. Clippy finds newer items of the standard library, but no other check finds newer
/// syntax.
#[test]
fn no_guard_of_a_match_has_a_let() {
    let crates = CRATES.into_iter().chain(["odm-derive", "odm-store-suite"]);
    for file in crates.flat_map(|package| files(&root().join(package).join("src"))) {
        let mut guards = LetInGuard::default();
        guards.visit_file(&syn::parse_file(&read(&file)).expect("the file is Rust"));
        assert!(!guards.found, "{}", file.display());
    }
}
