//! The code that the derives emit for the models in `golden`, as text, so that a review shows each change of it.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{DeriveInput, Item, Meta};

use crate::{derive::Derive, pipeline};

/// The files with models, in the order of their names.
fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut models: Vec<PathBuf> = paths
        .filter(|path| !path.to_string_lossy().ends_with(".expanded.rs"))
        .collect();
    models.sort();
    models
}

/// Takes the derives of this crate off an item, as the compiler does.
fn derives(item: &mut DeriveInput) -> Vec<Derive> {
    let mut derives = Vec::new();
    item.attrs.retain(|attr| {
        let Meta::List(list) = &attr.meta else {
            return true;
        };
        if !list.path.is_ident("derive") {
            return true;
        }
        let names = list.tokens.clone().into_iter();
        let of = |name: TokenTree| {
            let name = name.to_string();
            Derive::ALL.into_iter().find(|derive| derive.name() == name)
        };
        derives.extend(names.filter_map(of));
        false
    });
    derives
}

fn formatted(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("the derives emit Rust"))
}

/// The code for all derives in a file.
fn expanded(model: &Path) -> String {
    let text = fs::read_to_string(model).expect("the model can be read");
    let file = syn::parse_file(&text).expect("the model is Rust");
    let mut expanded = String::new();
    for item in file.items {
        let mut item: DeriveInput = match item {
            Item::Struct(item) => item.into(),
            Item::Enum(item) => item.into(),
            _ => continue,
        };
        for derive in derives(&mut item) {
            let code = formatted(pipeline::run(derive, &item));
            let (derive, ident) = (derive.name(), &item.ident);
            if !expanded.is_empty() {
                expanded.push('\n');
            }
            writeln!(expanded, "// `{derive}` of `{ident}`\n\n{code}").expect("a text takes all");
            expanded.truncate(expanded.trim_end().len());
            expanded.push('\n');
        }
    }
    expanded
}

#[test]
fn the_golden_files_hold_the_code_of_the_models() {
    let models = models();
    assert!(models.len() > 9, "only {} models found", models.len());
    let mut stale = Vec::new();
    for model in models {
        let name = model.display();
        let expanded = expanded(&model);
        assert!(!expanded.is_empty(), "{name} derives nothing");
        assert!(!expanded.contains("compile_error!"), "{name}: {expanded}");
        let golden = model.with_extension("expanded.rs");
        if env::var_os("UPDATE").is_some() {
            fs::write(&golden, &expanded).expect("the file can be written");
        }
        if fs::read_to_string(&golden).ok() != Some(expanded) {
            stale.push(golden);
        }
    }
    assert!(
        stale.is_empty(),
        "review `UPDATE=1 cargo test -p typed-odm-derive --lib golden`: {stale:?}"
    );
}
