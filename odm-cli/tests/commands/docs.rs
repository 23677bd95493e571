//! What the documentation shows of the command is what it answers.

use std::{fs, path::Path};

use crate::support::Folder;

/// A command that is shown, with the lines that it answers.
struct Shown {
    command: String,
    answer: Vec<String>,
}

/// The commands in the blocks of a page.
fn shown(page: &str) -> Vec<Shown> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(path).expect("the page");
    let mut all: Vec<Shown> = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => is_console = language == "console",
            None if !is_console => {}
            None => match line.strip_prefix("$ ") {
                Some(command) => all.push(Shown {
                    command: command.to_owned(),
                    answer: Vec::new(),
                }),
                None => all
                    .last_mut()
                    .expect("a command")
                    .answer
                    .push(line.to_owned()),
            },
        }
    }
    all
}

/// Whether a text is shown so, with `..` for whatever differs.
fn is_shown_as(text: &str, shown: &str) -> bool {
    let mut parts = shown.split("..");
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last.is_some_and(|last| last.is_empty() || text.ends_with(last))
}

/// Whether lines are shown so, with a line `..` for any lines.
fn are_shown_as(lines: &[&str], shown: &[String]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == ".." => {
            (0..=lines.len()).any(|at| are_shown_as(&lines[at..], rest))
        }
        Some((first, rest)) => match lines.split_first() {
            Some((line, lines)) => is_shown_as(line, first) && are_shown_as(lines, rest),
            None => false,
        },
    }
}

#[test]
fn the_pages_show_what_the_command_answers() {
    for page in [
        "README.md",
        "../docs/operating.md",
        "../docs/guide/looking.md",
    ] {
        let folder = Folder::new();
        let mut running = Vec::new();
        let all = shown(page);
        assert!(all.len() > 1, "{page}");
        for Shown { command, answer } in all {
            if let Some(file) = command
                .strip_prefix("odm serve ")
                .and_then(|rest| rest.strip_suffix(" &"))
            {
                running.push(folder.start(&["serve", file], &format!("{file}.sock")));
                continue;
            }
            // As on a terminal.
            let line = command.replacen("odm ", "odm --table ", 1);
            let answered = folder.shell(&format!("{line} 2>&1")).out;
            let lines: Vec<&str> = answered.lines().collect();
            let answer: Vec<String> = answer
                .iter()
                .map(|line| line.trim_end().to_owned())
                .collect();
            let wanted = match answer.iter().rposition(|line| !line.is_empty()) {
                Some(last) => &answer[..=last],
                None => &[],
            };
            assert!(
                are_shown_as(&lines, wanted),
                "{page}: {command}\n{answered}"
            );
        }
    }
}
