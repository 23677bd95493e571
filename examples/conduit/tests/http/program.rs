//! The program: its arguments, and its start and end.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

const SECRET: &str = "a secret of thirty-two characters";

fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_conduit"));
    program
        .args(arguments)
        .env_remove("CONDUIT_SECRET")
        .env_remove("RUST_LOG");
    program
}

fn refused(arguments: &[&str]) -> String {
    let Output {
        status,
        stderr,
        stdout,
    } = program(arguments).output().unwrap();
    assert!(!status.success(), "{arguments:?}");
    assert_eq!(String::from_utf8(stdout).unwrap(), "");
    String::from_utf8(stderr).unwrap()
}

#[test]
fn arguments_that_are_not_known_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conduit.odm");
    let file = file.to_str().unwrap();
    for (arguments, said) in [
        (
            &["--databse", "x", "--database", file][..],
            "unexpected argument '--databse'",
        ),
        (&[file], "unexpected argument"),
        (
            &["--listen", "nowhere", "--database", file],
            "invalid value 'nowhere'",
        ),
        (&["--seed", "x", "--database", file], "invalid value 'x'"),
        (
            &["--secret", "short", "--database", file],
            "it must have 32 characters or more",
        ),
        (&["--database", file], "needs --secret or CONDUIT_SECRET"),
    ] {
        let told = refused(arguments);
        assert!(told.contains(said), "{arguments:?}: {told}");
    }
    assert_eq!(
        folder.path().read_dir().unwrap().count(),
        0,
        "nothing is created"
    );
    let help = program(&["--help"])
        .env("CONDUIT_SECRET", SECRET)
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for name in [
        "--listen",
        "--database",
        "--secret",
        "CONDUIT_SECRET",
        "--seed",
        "--https",
    ] {
        assert!(help.contains(name), "{help}");
    }
    assert!(!help.contains(SECRET), "{help}");
}

/// Starts the program on a free port, asks it, and ends it by a signal.
#[cfg(unix)]
fn run(arguments: &[&str], ask: impl FnOnce(&str)) {
    let mut child = program(arguments)
        .args(["--listen", "127.0.0.1:0"])
        .env("CONDUIT_SECRET", SECRET)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = child.stderr.take().unwrap();
    let log = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).unwrap();
        text
    });
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().strip_prefix("listening on ").expect(&line);
    ask(address);
    let killed = Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}: {}", log.join().unwrap());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_all_that_is_stored_and_samples_are_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conduit.odm");
    let arguments = ["--seed", "30", "--database", file.to_str().unwrap()];
    let get = |url: String| -> Value {
        let text = ureq::get(url)
            .call()
            .unwrap()
            .into_body()
            .read_to_string()
            .unwrap();
        serde_json::from_str(&text).unwrap()
    };
    run(&arguments, |address| {
        let list = get(format!("{address}/api/articles?limit=1"));
        assert_eq!(list["articlesCount"], 30);
        let user = json!({ "user": { "email": "user0@example.com", "password": "password" } });
        let login = ureq::post(format!("{address}/api/users/login"));
        let answer = login
            .content_type("application/json")
            .send(user.to_string())
            .unwrap();
        let user: Value =
            serde_json::from_str(&answer.into_body().read_to_string().unwrap()).unwrap();
        let token = format!("Token {}", user["user"]["token"].as_str().unwrap());
        let article =
            json!({ "article": { "title": "One more", "description": "d", "body": "b" } });
        let publish = ureq::post(format!("{address}/api/articles")).header("authorization", token);
        let answer = publish
            .content_type("application/json")
            .send(article.to_string())
            .unwrap();
        assert_eq!(answer.status(), 201);
    });
    run(&arguments, |address| {
        let list = get(format!("{address}/api/articles?limit=1"));
        assert_eq!(
            (&list["articlesCount"], &list["articles"][0]["slug"]),
            (&json!(31), &json!("one-more"))
        );
    });
    // The log of the store is within the file again.
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}
