//! The program: its arguments, and its start and end.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, Receiver, TryRecvError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

const SECRET: &str = "a secret of thirty-two characters";

/// How long a test waits for an immediate reaction of the program.
const PATIENCE: Duration = Duration::from_secs(60);

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
        "--proxy",
        "--account-attempts <NUMBER>",
        "--address-attempts <NUMBER>",
        "[default: 20]",
        "[default: 200]",
    ] {
        assert!(help.contains(name), "{help}");
    }
    assert!(!help.contains(SECRET), "{help}");
}

/// The running program. It is killed on drop, so also if a test fails.
#[cfg(unix)]
struct Running {
    child: Child,
    /// The address at which it serves, once it does.
    address: Receiver<String>,
    logs: Vec<JoinHandle<String>>,
}

#[cfg(unix)]
impl Running {
    fn start(arguments: &[&str], listen: &str) -> Running {
        let mut child = program(arguments)
            .args(["--listen", listen])
            .env("CONDUIT_SECRET", SECRET)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut errors = child.stderr.take().unwrap();
        let (told, address) = mpsc::channel();
        let output = thread::spawn(move || {
            let mut text = String::new();
            for line in output.lines() {
                let line = line.unwrap();
                if let Some(address) = line.strip_prefix("listening on ") {
                    // After a failure of the test, nobody waits for it.
                    let _ = told.send(address.to_owned());
                }
                text += &format!("{line}\n");
            }
            text
        });
        let errors = thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        Running {
            child,
            address,
            logs: vec![output, errors],
        }
    }

    /// The address at which it serves, as soon as it does.
    fn address(&self) -> String {
        self.address.recv_timeout(PATIENCE).expect("it serves")
    }

    /// Ends it by a signal, and waits until it has ended without an error.
    fn stop(mut self) {
        let killed = Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(killed.success());
        let status = self.child.wait().unwrap();
        let logs = std::mem::take(&mut self.logs).into_iter();
        let logs: String = logs.map(|log| log.join().unwrap()).collect();
        assert!(status.success(), "{status}: {logs}");
    }
}

#[cfg(unix)]
impl Drop for Running {
    fn drop(&mut self) {
        // No effect if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the program on a free port, asks it, and ends it by a signal.
#[cfg(unix)]
fn run(arguments: &[&str], ask: impl FnOnce(&str)) {
    let running = Running::start(arguments, "127.0.0.1:0");
    ask(&running.address());
    running.stop();
}

#[cfg(unix)]
fn get(url: String) -> Value {
    let answer = ureq::get(url).call().unwrap();
    let text = answer.into_body().read_to_string().unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The header of a sample user who signs in.
#[cfg(unix)]
fn signed_in(address: &str) -> String {
    let user = json!({ "user": { "email": "user0@example.com", "password": "password" } });
    let login = ureq::post(format!("{address}/api/users/login"));
    let answer = login
        .content_type("application/json")
        .send(user.to_string())
        .unwrap();
    let user: Value = serde_json::from_str(&answer.into_body().read_to_string().unwrap()).unwrap();
    format!("Token {}", user["user"]["token"].as_str().unwrap())
}

/// Publishes an article with a tag, and returns the status and the body of the answer. It is an error if there is no answer.
#[cfg(unix)]
fn publish(address: &str, token: &str, title: &str) -> Result<(u16, Value), ureq::Error> {
    let article = json!({ "article": { "title": title, "description": "d", "body": "b", "tagList": ["new"] } });
    let publish = ureq::post(format!("{address}/api/articles")).header("authorization", token);
    let publish = publish.config().http_status_as_error(false).build();
    let answer = publish
        .content_type("application/json")
        .send(article.to_string())?;
    let status = answer.status().as_u16();
    let text = answer.into_body().read_to_string()?;
    Ok((status, serde_json::from_str(&text).expect(&text)))
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_all_that_is_stored_and_samples_are_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conduit.odm");
    let arguments = ["--seed", "30", "--database", file.to_str().unwrap()];
    run(&arguments, |address| {
        let list = get(format!("{address}/api/articles?limit=1"));
        assert_eq!(list["articlesCount"], 30);
        let (status, body) = publish(address, &signed_in(address), "One more").unwrap();
        assert_eq!(status, 201, "{body}");
    });
    run(&arguments, |address| {
        let list = get(format!("{address}/api/articles?limit=1"));
        assert_eq!(
            (&list["articlesCount"], &list["articles"][0]["slug"]),
            (&json!(31), &json!("one-more"))
        );
    });
    // The store has merged its log into the file.
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn the_next_program_serves_at_the_same_address_when_the_one_before_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conduit.odm");
    let arguments = ["--seed", "30", "--database", file.to_str().unwrap()];
    let first = Running::start(&arguments, "127.0.0.1:0");
    let address = first.address();

    // A client publishes one article after another until `going_on` is dropped.
    let (going_on, ended) = mpsc::channel::<()>();
    let (told, answers) = mpsc::channel();
    let (asked, token) = (address.clone(), signed_in(&address));
    let author = thread::spawn(move || {
        let mut in_vain = 0;
        for number in 1.. {
            if ended.try_recv() == Err(TryRecvError::Disconnected) {
                break;
            }
            let title = format!("Article {number}");
            match publish(&asked, &token, &title) {
                Ok((status, body)) => {
                    assert_eq!((status, &body["article"]["title"]), (201, &json!(title)));
                    let _ = told.send((title, Instant::now()));
                }
                // Between the two programs, nobody listens.
                Err(_) => in_vain += 1,
            }
            thread::sleep(Duration::from_millis(2));
        }
        in_vain
    });
    let mut answered: Vec<(String, Instant)> = Vec::new();
    let mut goes_on = || {
        let now = Instant::now();
        while answered.last().is_none_or(|(_, at)| *at <= now) {
            answered.push(answers.recv_timeout(PATIENCE).expect("there are answers"));
        }
    };
    goes_on();

    let second = Running::start(&arguments, address.strip_prefix("http://").unwrap());
    // Long enough for it to meet the lock of the file; if it does not, it does not wait.
    thread::sleep(Duration::from_millis(300));
    goes_on();
    let early = second.address.try_recv();
    assert_eq!(
        early,
        Err(TryRecvError::Empty),
        "it waits, and has not ended"
    );
    first.stop();
    assert_eq!(second.address(), address);
    // The first program has ended, so these are answers of the second.
    goes_on();
    drop(going_on);
    let in_vain = author.join().unwrap();
    answered.extend(answers.try_iter());
    let gaps = answered.windows(2).map(|pair| pair[1].1 - pair[0].1);
    println!(
        "{} requests were answered, {in_vain} were not, and the longest time between two answers was {:?}",
        answered.len(),
        gaps.max().unwrap()
    );

    let mut stored = BTreeSet::new();
    loop {
        let part = format!("tag=new&limit=100&offset={}", stored.len());
        let list = get(format!("{address}/api/articles?{part}"));
        let articles = list["articles"].as_array().unwrap();
        let titles = articles.iter().map(|article| &article["title"]);
        stored.extend(titles.map(|title| title.as_str().unwrap().to_owned()));
        if articles.len() < 100 {
            break;
        }
    }
    for (title, _) in &answered {
        assert!(
            stored.contains(title),
            "`{title}` was answered, and is not there"
        );
    }
    second.stop();
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}
