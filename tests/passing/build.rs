//! Makes one program of the right forms of the mistakes in `tests/compile-fail`, with a module for each.
//!
//! A case ends with comments that state the right form as a diff: a line of it begins with `// - ` if the right form does not have it, with
//! `// + ` if the mistake does not, and with three spaces after `//` if both have it. A line `//` is between two places. Indentation is not
//! compared.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

fn main() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compile-fail");
    println!("cargo::rerun-if-changed={}", cases.display());
    let mut program = String::from("```no_run,standalone_crate\nfn main() {}\n");
    for topic in entries(&cases) {
        writeln!(program, "mod {} {{", name(&topic)).unwrap();
        for case in entries(&topic) {
            if case.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&case).expect("the case can be read");
                let right =
                    right_form(&text).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
                writeln!(program, "mod {} {{\n{right}}}", name(&case)).unwrap();
            }
        }
        program.push_str("}\n");
    }
    program.push_str("```\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    fs::write(out.join("passing.md"), program).expect("the program can be written");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    let stem = path.file_stem().expect("a file has a name");
    stem.to_str().expect("the name is UTF-8")
}

/// The program of a case with the changes in its last lines.
fn right_form(text: &str) -> Result<String, String> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let end = lines
        .iter()
        .rposition(|line| !line.starts_with("//"))
        .ok_or("no program")?;
    let (program, changes) = lines.split_at(end + 1);
    let mut program = program.to_vec();
    if changes.is_empty() {
        return Err(
            "the right form is missing: end the file with `// - wrong` and `// + right`".into(),
        );
    }
    for change in changes.split(|line| *line == "//") {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for line in change {
            let (mark, rest) = line
                .split_at_checked(5)
                .ok_or_else(|| format!("`{line}` is no line of a change"))?;
            match mark {
                "// - " => before.push(rest),
                "// + " => after.push(rest),
                "//   " => {
                    before.push(rest);
                    after.push(rest);
                }
                _ => return Err(format!("`{line}` is no line of a change")),
            }
        }
        if before == after {
            return Err(format!("`{}` changes nothing", change.join("\n")));
        }
        let is_there = |lines: &[&str]| {
            let mut pairs = lines.iter().zip(&before);
            pairs.all(|(a, b)| a.trim() == b.trim())
        };
        let mut places = (0..program.len())
            .filter(|&at| program.get(at..at + before.len()).is_some_and(is_there));
        let (Some(at), None) = (places.next(), places.next()) else {
            return Err(format!("the lines are not there once: {before:?}"));
        };
        program.splice(at..at + before.len(), after);
    }
    Ok(program.join("\n") + "\n")
}
