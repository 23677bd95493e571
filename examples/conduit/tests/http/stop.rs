//! The end of a server.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use conduit::Settings;
use odm::Embedded;
use tokio::runtime::Runtime;

use crate::harness::Server;

#[test]
fn a_graceful_stop_ends_live_streams_and_keeps_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conduit.odm");
    let open = || {
        let runtime = Runtime::new().unwrap();
        let store = runtime
            .block_on(async { Embedded::open(&file).await })
            .unwrap();
        Server::start_on(runtime, store, Settings::default())
    };
    let server = open();
    let (ann, _) = server.blog();
    let mut live = TcpStream::connect(server.address).unwrap();
    write!(live, "GET /live HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut lines = BufReader::new(live).lines();
    let status = lines.next().unwrap().unwrap();
    assert!(status.ends_with("200 OK"), "{status}");
    let mut told = || {
        let event = lines.find(|line| line.as_ref().unwrap().starts_with("event: changed"));
        event.expect("the stream goes on").unwrap()
    };
    // One event for the changes before, and one for each commit.
    told();
    ann.publish("News", &[]);
    told();

    let before = Instant::now();
    server.stop();
    assert!(
        before.elapsed() < Duration::from_secs(5),
        "{:?}",
        before.elapsed()
    );
    assert_eq!(
        lines
            .map_while(Result::ok)
            .filter(|line| line.starts_with("event"))
            .count(),
        0
    );

    let server = open();
    assert_eq!(server.anyone().titles("/articles").1, 4);
    // The secret is the same, and so the token is still valid.
    let again = server.anyone().with(ann.token.unwrap());
    assert_eq!(again.get("/user").of(200)["user"]["username"], "Ann");
    server.end();
}
