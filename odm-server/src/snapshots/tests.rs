use super::*;

/// Has the newest time stand still, as after a client that has seen a later one, or after a clock that was set back.
fn stand_still() {
    let Timestamp { time, increment } = CommitTime::newest().into();
    let time = time + 3_600;
    CommitTime::advance(Timestamp { time, increment }.into());
}

#[tokio::test]
async fn a_newest_read_is_answered_while_the_newest_time_stands_still() {
    stand_still();
    let snapshots = Snapshots::new(10, Duration::from_millis(1));
    let databases = BTreeMap::new();
    let newest = async || snapshots.get(AskedSnapshot::Newest, None, &databases).await;
    let first = newest().await.unwrap();
    tokio::time::sleep(Duration::from_millis(10)).await;
    let at = snapshots.get(AskedSnapshot::At(first.time), None, &databases);
    assert_eq!(at.await.unwrap_err().code, code::SNAPSHOT_TOO_OLD);
    let second = newest().await.unwrap();
    assert_eq!(second.time, first.time);
    assert!(second.begun > first.begun);
}
