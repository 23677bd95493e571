//! The layers of the store, read from its sources.

use std::{fs, path::Path};

/// The lines under `folder` that contain `word`, except those in `excepted` paths.
fn lines_with(word: &str, folder: &Path, excepted: &[&Path]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if excepted.contains(&path.as_path()) {
            continue;
        }
        if path.is_dir() {
            found.extend(lines_with(word, &path, excepted));
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a source file");
        let lines = source.lines().filter(|line| line.contains(word));
        found.extend(lines.map(|line| format!("{}: {line}", path.display())));
    }
    found
}

#[test]
fn only_the_engine_names_redb() {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let engine = [store.join("engine"), store.join("engine.rs")];
    let tests = store.join("tests");
    let excepted: Vec<&Path> = engine.iter().chain([&tests]).map(|path| &**path).collect();
    assert_eq!(lines_with("redb", &store, &excepted), Vec::<String>::new());
    // The search itself finds something.
    assert_ne!(lines_with("redb", &store, &[]), Vec::<String>::new());
}
