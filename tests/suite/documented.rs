//! Compares the documentation of `odm` with its sources: each item that a program names has an example.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ImplItem, Item, ItemUse, Lit, Meta, TraitItem, Type, UseTree, Visibility,
};

/// The reason why an item needs no example, by its path.
fn exception(path: &str) -> Option<&'static str> {
    let is_in = |module: &str| path.starts_with(&format!("{module}::"));
    let is_named = |names: &[&str]| {
        let mut names = names.iter();
        names.any(|name| path == *name || is_in(name))
    };
    if is_named(BOUNDS) {
        return Some("only bounds name it, and the compiler says what it asks for");
    }
    if is_in("model::bounds") {
        return Some("only bounds name it: the page of the module has an example");
    }
    if path == "mql" || is_in("mql") {
        return Some("the query language on BSON is for the author of a store");
    }
    if is_named(&["store::contract"]) {
        return Some("the contract of a store is for its author");
    }
    None
}

/// The types and traits that only bounds name, outside of `model::bounds`.
const BOUNDS: &[&str] = &[
    "query::In",
    "query::Rows",
    "query::SortsGroups",
    "repository::Aggregates",
    "repository::ChildCardinality",
    "repository::GroupKeys",
    "repository::Refs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The crates whose items `odm` re-exports: the path of the root of each, and its folder.
const CRATES: [(&str, &str); 5] = [
    ("", "odm"),
    ("odm_embedded", "odm-embedded"),
    ("odm_mongodb", "odm-mongodb"),
    ("odm_mql", "odm-mql"),
    ("odm_store", "odm-store"),
];

/// The root of the crate that a module is in.
fn crate_of(module: &str) -> &str {
    let first = module.split("::").next().unwrap_or_default();
    if CRATES.iter().any(|(path, _)| *path == first) { first } else { "" }
}

/// A module, by its path from the root of `odm`, or from the name of another crate.
struct Module {
    file: PathBuf,
    attributes: Vec<Attribute>,
    items: Vec<Item>,
}

type Modules = BTreeMap<String, Module>;

/// The path of a name in a module.
fn join(module: &str, name: &str) -> String {
    match module {
        "" => name.to_owned(),
        module => format!("{module}::{name}"),
    }
}

/// Reads a module, and the modules within it except its tests. `folder` is the folder of their files.
fn load(modules: &mut Modules, path: &str, module: Module, folder: &Path) {
    for item in &module.items {
        let Item::Mod(inner) = item else { continue };
        if is_test(&inner.attrs) {
            continue;
        }
        let name = inner.ident.to_string();
        let within = join(path, &name);
        let mut attributes = inner.attrs.clone();
        let folder = folder.join(&name);
        let loaded = match &inner.content {
            Some((_, items)) => {
                Module { file: module.file.clone(), attributes, items: items.clone() }
            }
            None => {
                let file = folder.with_extension("rs");
                let parsed = parse(&file);
                attributes.extend(parsed.attrs);
                Module { file, attributes, items: parsed.items }
            }
        };
        load(modules, &within, loaded, &folder);
    }
    modules.insert(path.to_owned(), module);
}

fn parse(file: &Path) -> syn::File {
    syn::parse_file(&read(file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn modules() -> Modules {
    let mut modules = Modules::new();
    for (path, package) in CRATES {
        let folder = root().join(package).join("src");
        let file = folder.join("lib.rs");
        let parsed = parse(&file);
        let module = Module { file, attributes: parsed.attrs, items: parsed.items };
        load(&mut modules, path, module, &folder);
    }
    assert!(modules.len() > 100, "only {} modules", modules.len());
    modules
}

/// Whether an attribute of this name has this text in its parentheses.
fn lists(attributes: &[Attribute], name: &str, what: &str) -> bool {
    attributes.iter().any(|attribute| {
        matches!(&attribute.meta, Meta::List(list) if list.path.is_ident(name) && list.tokens.to_string() == what)
    })
}

fn is_test(attributes: &[Attribute]) -> bool {
    lists(attributes, "cfg", "test")
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    lists(attributes, "doc", "hidden")
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The text of the documentation. A file that is included counts as a line.
fn docs(attributes: &[Attribute]) -> Vec<String> {
    let text = |attribute: &Attribute| {
        let Meta::NameValue(doc) = &attribute.meta else {
            return None;
        };
        let is_doc = doc.path.is_ident("doc");
        is_doc.then(|| match &doc.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => text.value(),
                _ => String::new(),
            },
            _ => String::new(),
        })
    };
    attributes.iter().filter_map(text).collect()
}

/// Whether there is code in the documentation, which its tests compile.
fn has_example(docs: &[String]) -> bool {
    let fences = docs.iter().filter_map(|line| line.trim().strip_prefix("```"));
    let mut languages = fences.step_by(2);
    languages.any(|language| matches!(language, "" | "no_run"))
}

/// The definition of a name in a module.
fn definition<'a>(module: &'a Module, name: &str) -> Option<&'a Item> {
    module.items.iter().find(|item| match item {
        Item::Struct(item) => item.ident == name,
        Item::Enum(item) => item.ident == name,
        Item::Trait(item) => item.ident == name,
        Item::Type(item) => item.ident == name,
        Item::Fn(item) => item.sig.ident == name,
        _ => false,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

fn visibility(item: &Item) -> Option<(&Visibility, String)> {
    Some(match item {
        Item::Struct(item) => (&item.vis, item.ident.to_string()),
        Item::Enum(item) => (&item.vis, item.ident.to_string()),
        Item::Trait(item) => (&item.vis, item.ident.to_string()),
        Item::Type(item) => (&item.vis, item.ident.to_string()),
        Item::Fn(item) => (&item.vis, item.sig.ident.to_string()),
        _ => return None,
    })
}

/// The names that a `use` imports: the path of each, and its name here.
fn imports(item: &ItemUse) -> Vec<(Vec<String>, String)> {
    fn walk(tree: &UseTree, before: &[String], found: &mut Vec<(Vec<String>, String)>) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => walk(&path.tree, &with(path.ident.to_string()), found),
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                found.push((with(name.clone()), name));
            }
            UseTree::Rename(renamed) => {
                found.push((with(renamed.ident.to_string()), renamed.rename.to_string()));
            }
            UseTree::Glob(_) => {}
            UseTree::Group(group) => {
                for tree in &group.items {
                    walk(tree, before, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    walk(&item.tree, &[], &mut found);
    found
}

/// The module and the name of the item that a name in a module stands for, if it is of this crate.
fn resolve(modules: &Modules, module: &str, name: &str) -> Option<(String, String)> {
    let here = modules.get(module)?;
    if definition(here, name).is_some() {
        return Some((module.to_owned(), name.to_owned()));
    }
    let uses = here.items.iter().filter_map(|item| match item {
        Item::Use(item) => Some(item),
        _ => None,
    });
    for (path, local) in uses.flat_map(imports) {
        if local == name
            && let Some(found) = follow(modules, module, &path)
        {
            return Some(found);
        }
    }
    None
}

fn follow(modules: &Modules, module: &str, path: &[String]) -> Option<(String, String)> {
    let (name, steps) = path.split_last()?;
    let mut at = module.to_owned();
    for (position, step) in steps.iter().enumerate() {
        at = match (step.as_str(), position) {
            ("crate", 0) => crate_of(module).to_owned(),
            (step, 0) if !crate_of(step).is_empty() => step.to_owned(),
            ("self", 0) => at,
            ("super", _) => at.rsplit_once("::").map_or("", |(outer, _)| outer).to_owned(),
            (step, _) => join(&at, step),
        };
    }
    let is_itself = at == module && steps.is_empty();
    if is_itself || !modules.contains_key(&at) {
        return None;
    }
    resolve(modules, &at, name)
}

/// The items that a program can name: the modules and names of the definitions, each with its shortest path.
fn reachable(modules: &Modules) -> BTreeMap<(String, String), String> {
    let mut found: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut left = vec![(String::new(), String::new())];
    while let Some((module, public)) = left.pop() {
        for item in &modules[&module].items {
            let mut add = |definition: (String, String), name: &str| {
                let path = join(&public, name);
                let known = found.entry(definition).or_insert_with(|| path.clone());
                if path.len() < known.len() {
                    *known = path;
                }
            };
            match item {
                Item::Use(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    for (path, name) in imports(item) {
                        match path.as_slice() {
                            [root] if !crate_of(root).is_empty() => {
                                left.push((root.clone(), join(&public, &name)));
                                add((root.clone(), String::new()), &name);
                            }
                            path => {
                                if let Some(definition) = follow(modules, &module, path) {
                                    add(definition, &name);
                                }
                            }
                        }
                    }
                }
                Item::Mod(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    let name = item.ident.to_string();
                    left.push((join(&module, &name), join(&public, &name)));
                    add((join(&module, &name), String::new()), &name);
                }
                item => {
                    if let Some((visibility, name)) = visibility(item)
                        && is_public(visibility)
                        && !is_hidden(attributes(item))
                    {
                        add((module.clone(), name.clone()), &name);
                    }
                }
            }
        }
    }
    found
}

/// The items that lack an example, each as its path and its file.
struct Undocumented(BTreeSet<String>);

impl Undocumented {
    fn check(&mut self, path: &str, attributes: &[Attribute], file: &Path) {
        if !is_hidden(attributes) && exception(path).is_none() && !has_example(&docs(attributes)) {
            let file = file.strip_prefix(root()).unwrap_or(file);
            self.0.insert(format!("`{path}` in {}", file.display()));
        }
    }

    /// The public functions that a macro makes, such as those for several types.
    fn check_macro(&mut self, tokens: TokenStream, file: &Path) {
        let mut docs: Vec<String> = Vec::new();
        let mut is_public = false;
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let Some(TokenTree::Group(attribute)) = tokens.peek() else {
                        continue;
                    };
                    let attribute = attribute.stream().to_string();
                    if let Some(text) = attribute.strip_prefix("doc = ") {
                        docs.push(text.trim_matches(['r', '"']).to_owned());
                    }
                    if attribute == "doc (hidden)" {
                        docs.push("```".to_owned());
                        docs.push("```".to_owned());
                    }
                    tokens.next();
                }
                TokenTree::Ident(ident) if ident == "pub" => is_public = true,
                TokenTree::Ident(ident) if ident == "fn" && is_public => {
                    let name = tokens.peek().map(ToString::to_string).unwrap_or_default();
                    // The documentation of `$name` comes with each use of the macro.
                    if name != "$" && !has_example(&docs) {
                        let file = file.strip_prefix(root()).unwrap_or(file).display();
                        self.0.insert(format!("`{name}` of a macro in {file}"));
                    }
                    (docs, is_public) = (Vec::new(), false);
                }
                TokenTree::Ident(ident) if ident == "async" || ident == "const" => {}
                TokenTree::Group(group) => {
                    if group.delimiter() != Delimiter::None {
                        self.check_macro(group.stream(), file);
                    }
                    (docs, is_public) = (Vec::new(), false);
                }
                _ => is_public = false,
            }
        }
    }
}

/// The name of the type of an `impl`.
fn self_type(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

#[test]
fn what_a_program_names_has_an_example() {
    let modules = modules();
    let reachable = reachable(&modules);
    assert!(reachable.len() > 100, "only {} names", reachable.len());
    let mut undocumented = Undocumented(BTreeSet::new());
    for ((module, name), path) in &reachable {
        let file = &modules[module].file;
        if name.is_empty() {
            undocumented.check(path, &modules[module].attributes, file);
            continue;
        }
        let item = definition(&modules[module], name).expect("it was found");
        undocumented.check(path, attributes(item), file);
        let Item::Trait(item) = item else { continue };
        for method in &item.items {
            if let TraitItem::Fn(method) = method {
                let path = join(path, &method.sig.ident.to_string());
                undocumented.check(&path, &method.attrs, file);
            }
        }
    }
    let mut methods = 0;
    for (module, loaded) in &modules {
        if module.starts_with("derive") {
            continue;
        }
        for item in &loaded.items {
            match item {
                Item::Impl(item) if item.trait_.is_none() => {
                    let public = self_type(&item.self_ty)
                        .and_then(|name| resolve(&modules, module, &name))
                        .and_then(|definition| reachable.get(&definition));
                    let Some(public) = public else { continue };
                    for method in &item.items {
                        if let ImplItem::Fn(method) = method
                            && is_public(&method.vis)
                        {
                            let path = join(public, &method.sig.ident.to_string());
                            undocumented.check(&path, &method.attrs, &loaded.file);
                            methods += 1;
                        }
                    }
                }
                Item::Macro(item) if item.mac.path.is_ident("macro_rules") => {
                    if item.attrs.iter().any(|one| one.path().is_ident("macro_export")) {
                        let name = item.ident.as_ref().expect("a macro has a name");
                        undocumented.check(&name.to_string(), &item.attrs, &loaded.file);
                    }
                    let is_public = ["query", "repository", "model", "odm_", "database"];
                    if is_public.iter().any(|layer| module.starts_with(layer)) {
                        undocumented.check_macro(item.mac.tokens.clone(), &loaded.file);
                    }
                }
                _ => {}
            }
        }
    }
    assert!(methods > 200, "only {methods} methods");
    let names: Vec<String> = undocumented.0.into_iter().collect();
    assert!(names.is_empty(), "without an example:\n{}", names.join("\n"));
    for name in BOUNDS {
        let is_there = reachable.values().any(|path| path == name);
        assert!(is_there, "`{name}`, an exception, does not exist");
    }
}

/// The blocks of code in the documentation of a file, with their languages.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let Some(line) = line.trim_start().strip_prefix("///") else {
            continue;
        };
        let line = line.strip_prefix(' ').unwrap_or(line);
        match (line.strip_prefix("```"), is_open) {
            (Some(language), false) => {
                blocks.push((language.to_owned(), Vec::new()));
                is_open = true;
            }
            (Some(_), true) => is_open = false,
            (None, true) => {
                let shown = line
                    .strip_prefix("# ")
                    .or(line.strip_prefix('#').filter(|rest| rest.is_empty()));
                let (_, code) = blocks.last_mut().expect("one was begun");
                code.push(shown.unwrap_or(line).to_owned());
            }
            (None, false) => {}
        }
    }
    blocks
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        match path.is_dir() {
            true => found.extend(programs(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                found.push(path)
            }
            false => {}
        }
    }
    found
}

#[test]
fn a_mistake_on_the_page_of_a_derive_is_a_tested_one_with_its_message() {
    let text = read(&root().join("odm-derive/src/lib.rs"));
    let blocks = blocks(&text);
    let programs = programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("compile-fail"));
    let mut mistakes = 0;
    for (position, (language, code)) in blocks.iter().enumerate() {
        if language != "compile_fail" {
            continue;
        }
        mistakes += 1;
        let code = code.join("\n");
        let is_same = |program: &&PathBuf| {
            let program = read(program);
            let items = program.split("\nfn main() {}").next().unwrap_or_default();
            items.trim() == code.trim()
        };
        let program = programs.iter().find(is_same);
        let program = program.unwrap_or_else(|| panic!("no program of `compile-fail` is\n{code}"));
        let said = read(&program.with_extension("stderr"));
        let (language, message) = blocks.get(position + 1).expect("the message follows");
        assert_eq!(language, "text", "the message follows\n{code}");
        for line in message {
            let is_said = said.lines().any(|other| other == line);
            assert!(is_said, "not said of {}: {line}", program.display());
        }
    }
    assert_eq!(mistakes, 5, "each derive shows a mistake");
}
