//! The number of lines that the README states.

#[cfg(unix)]
#[test]
fn models_and_queries_are_shorter_than_350_lines() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/lines");
    let counted = std::process::Command::new(script).output().unwrap();
    let counted = String::from_utf8(counted.stdout).unwrap();
    let line = counted.lines().find(|line| line.contains("persistence"));
    let lines = line.unwrap().split_whitespace().next().unwrap();
    assert!(lines.parse::<u32>().unwrap() < 350, "{counted}");
}
