use std::{io, time::Duration};

use tokio::{
    io::{AsyncWriteExt, duplex},
    time::{Instant, sleep},
};

use super::{CHUNK, receive_rest};

/// Receives a message of a length, of which its client sends a part after each pause.
async fn receive_in_parts(length: usize, part: usize, pause: Duration) -> io::Result<usize> {
    let (mut client, mut server) = duplex(CHUNK);
    let sending = tokio::spawn(async move {
        let part = vec![1; part];
        while client.write_all(&part).await.is_ok() {
            sleep(pause).await;
        }
    });
    let mut bytes = Vec::new();
    let received = receive_rest(&mut server, &mut bytes, length).await;
    sending.abort();
    received.map(|()| bytes.len())
}

#[tokio::test(start_paused = true)]
async fn a_message_of_which_a_byte_comes_now_and_then_is_refused_in_the_end() {
    let begun = Instant::now();
    let refused = receive_in_parts(48 << 20, 1, Duration::from_secs(29)).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("does not come in time"), "{refused}");
    assert!(begun.elapsed() < Duration::from_secs(80));
}

#[tokio::test(start_paused = true)]
async fn a_long_message_of_a_slow_client_is_received() {
    let received = receive_in_parts(48 << 20, CHUNK, Duration::from_millis(1_500)).await;
    assert_eq!(received.unwrap(), 48 << 20);
}
