//! Mistakes in models and queries that the compiler must find, one file each, named after it. The
//! `.stderr` beside a file is what the user reads.

use std::{fmt::Write as _, fs, path::Path};

#[test]
fn each_mistake_is_refused_with_its_own_message() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile-fail/*.rs");
}

/// The search for cycles runs in the compiler, which warns of what takes long there.
#[test]
fn a_program_of_many_derived_fields_compiles_without_a_warning() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("many_derived_fields.rs");
    fs::write(&path, program(60)).expect("the folder for temporary files");
    trybuild::TestCases::new().pass(path);
}

/// A program of `models` models with ten derived fields each: copies of copies of the parent's, in
/// chains from the last model to the first, a subset that is sorted by a copy and shows one, and a
/// count.
fn program(models: usize) -> String {
    let mut text = "#![deny(warnings)]\n#![allow(dead_code)]\n\nuse odm::prelude::*;\n\
                    use serde::{Deserialize, Serialize};\n\n"
        .to_owned();
    for model in 0..models {
        text += &document(model, model + 1 == models);
    }
    text += "#[derive(Database)]\n#[database(name = \"many\", version = 1)]\nstruct Many {\n";
    for model in 0..models {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    model{model}: Repository<Model{model}>,");
    }
    text + "}\n\nfn main() {}\n"
}

fn document(model: usize, last: bool) -> String {
    let mut text = format!(
        "#[derive(Clone, Serialize, Deserialize, Document)]\n\
         #[document(collection = \"documents_of_model_{model}\")]\n\
         struct Model{model} {{\n    #[serde(rename = \"_id\")]\n    id: i64,\n    base: String,\n"
    );
    if let Some(parent) = model.checked_sub(1) {
        let _ = writeln!(
            text,
            "    #[reference(parent)]\n    parent: Ref<Model{parent}>,"
        );
        for copy in 0..8 {
            let source = match (parent, copy) {
                (0, _) | (_, 7) => "base".to_owned(),
                _ => format!("copied_field_{}", copy + 1),
            };
            let _ = writeln!(
                text,
                "    #[denormalize(from = \"Model{parent}.{source}\")]\n    \
                 copied_field_{copy}: String,"
            );
        }
    }
    if !last {
        let child = model + 1;
        let _ = writeln!(
            text,
            "    #[subset(limit = 10, sort = \"-copied_field_0, base\")]\n    \
             newest: Subset<Brief{child}>,\n    \
             #[count(of = \"Model{child}\")]\n    children: i64,"
        );
    }
    text += "}\n\n";
    if model > 0 {
        let _ = writeln!(
            text,
            "#[derive(Clone, Serialize, Deserialize, Projection)]\n\
             #[projection(of = \"Model{model}\")]\n\
             struct Brief{model} {{\n    base: String,\n    copied_field_1: String,\n}}\n"
        );
    }
    text
}
