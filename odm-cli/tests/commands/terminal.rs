//! What a person at a terminal sees: the program `script` makes one.

use std::process::{Command, Stdio};

use crate::support::Folder;

/// Runs a line of the shell on a terminal. `None` where `script` is missing, or another one than that of Linux.
fn on_terminal(folder: &Folder, line: &str) -> Option<String> {
    let odm = env!("CARGO_BIN_EXE_odm");
    let line = format!("stty rows 8 cols 60; odm() {{ '{odm}' \"$@\"; }}; {line}");
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder.path(""));
    script
        .env("SHELL", "/bin/bash")
        .env_remove("NO_COLOR")
        .env_remove("LESS")
        .stdin(Stdio::null());
    let output = script
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(
        String::from_utf8(output.stdout)
            .expect("a text")
            .replace("\r\n", "\n"),
    )
}

#[test]
fn a_terminal_gets_tables_with_colours_as_wide_as_itself() {
    let folder = Folder::with_shop();
    let Some(table) = on_terminal(&folder, "odm find shop.odm products name=shelf") else {
        return;
    };
    let (head, row) = table.split_once('\n').expect("two lines");
    assert!(head.starts_with("\u{1b}[4m_id  name"), "{table}");
    assert!(
        row.trim_end().chars().count() <= 60 && row.contains('…'),
        "{table}"
    );
    let plain = on_terminal(&folder, "NO_COLOR=1 odm find shop.odm products name=shelf").unwrap();
    assert!(plain.starts_with("_id  name"), "{plain}");
    let json = on_terminal(&folder, "odm find shop.odm customers city=York --json").unwrap();
    assert_eq!(
        json,
        "{\"_id\":\"ben\",\"name\":\"Ben Baker\",\"city\":\"York\",\"orders\":1}\n"
    );
}

#[test]
fn only_an_answer_that_is_longer_than_the_terminal_is_paged() {
    let folder = Folder::with_shop();
    let pager = "export PAGER='sed s/^/paged:/';";
    let Some(long) = on_terminal(&folder, &format!("{pager} odm diagram shop.odm")) else {
        return;
    };
    assert!(
        long.lines().count() > 8 && long.lines().all(|line| line.starts_with("paged:")),
        "{long}"
    );
    for line in [
        "odm customers",
        "odm diagram shop.odm --no-pager",
        "odm find shop.odm customers",
    ] {
        let short = on_terminal(&folder, &format!("{pager} {line} || true")).unwrap();
        assert!(!short.contains("paged:"), "{line}: {short}");
    }
}
