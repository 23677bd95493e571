//! A folder with a store, and the command in it.

use std::{
    cell::RefCell,
    fs,
    io::Write,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// How long something is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of its own for a test.
pub(crate) struct Folder(TempDir);

/// What a command has answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    fn of(output: &Output) -> Answer {
        Answer {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).expect("the answer is a text"),
            err: String::from_utf8(output.stderr.clone()).expect("the messages are a text"),
        }
    }

    /// The answer of a command that succeeds.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// The lines of JSON of a command that succeeds.
    #[track_caller]
    pub(crate) fn json(self) -> Vec<Value> {
        let out = self.done();
        out.lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }

    /// The messages of a command that ends with a code, and answers nothing.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        self.err
    }
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// A folder with the example in `shop.odm`.
    pub(crate) fn with_shop() -> Folder {
        let folder = Folder::new();
        folder.run(&["demo", "shop.odm"]).done();
        folder
    }

    /// A folder with the example and a wrong count in it.
    pub(crate) fn with_wrong_shop() -> Folder {
        let folder = Folder::new();
        folder.run(&["demo", "shop.odm", "--wrong"]).done();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file");
    }

    /// The names of all files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder");
        let names = entries.map(|entry| entry.expect("a file").file_name());
        let mut names: Vec<String> = names
            .map(|name| name.into_string().expect("a text"))
            .collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_odm"));
        command.args(arguments).current_dir(self.0.path());
        command.env("COLUMNS", "100").stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        Answer::of(&self.command(arguments).output().expect("it runs"))
    }

    /// Runs a command, and answers as on a terminal.
    #[track_caller]
    pub(crate) fn table(&self, arguments: &[&str]) -> String {
        let mut all = arguments.to_vec();
        all.push("--table");
        self.run(&all).done()
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Answer {
        let mut child = self.command(arguments);
        child
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().expect("it runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        Answer::of(&child.wait_with_output().expect("it ends"))
    }

    /// Runs a line of the shell, in which `odm` is the command.
    pub(crate) fn shell(&self, line: &str) -> Answer {
        let odm = env!("CARGO_BIN_EXE_odm");
        let line = format!("odm() {{ '{odm}' \"$@\"; }}; {line}");
        let mut shell = Command::new("bash");
        shell
            .args(["-c", &line])
            .current_dir(self.0.path())
            .env("COLUMNS", "100");
        Answer::of(&shell.stdin(Stdio::null()).output().expect("it runs"))
    }

    /// Starts a command that goes on.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Running(RefCell::new(Some(child.expect("it runs"))))
    }

    /// Starts a command that goes on, and waits until a file is there.
    pub(crate) fn start(&self, arguments: &[&str], until: &str) -> Running {
        let running = self.spawn(arguments);
        wait_until(|| self.path(until).exists());
        running
    }
}

/// An address of the loopback that nobody has.
pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Waits for something that happens soon.
#[track_caller]
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A command that goes on. It is killed with the test.
pub(crate) struct Running(RefCell<Option<Child>>);

impl Running {
    /// Interrupts it as Ctrl-C does, and waits for its end.
    pub(crate) fn interrupt(self) -> Answer {
        self.end("INT")
    }

    pub(crate) fn has_ended(&self) -> bool {
        let mut child = self.0.borrow_mut();
        let child = child.as_mut().expect("it runs");
        child.try_wait().expect("it is asked").is_some()
    }

    pub(crate) fn end(self, signal: &str) -> Answer {
        let child = self.0.take().expect("it runs");
        let kill = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(kill.expect("kill runs").success());
        Answer::of(&child.wait_with_output().expect("it ends"))
    }

    /// Waits for its end.
    pub(crate) fn wait(self) -> Answer {
        let child = self.0.take().expect("it runs");
        Answer::of(&child.wait_with_output().expect("it ends"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = self.0.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
