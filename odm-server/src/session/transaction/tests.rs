use super::*;

#[test]
fn a_jump_of_the_wall_clock_ends_no_session() {
    let sessions = Sessions::new(1);
    let id = SessionId::new(None);
    sessions.touch(id).unwrap();
    sessions.with_all(|all| {
        for known in all.values_mut().flat_map(KnownOfUser::values_mut) {
            known.shown = DateTime::from_millis(0);
        }
    });
    sessions.sweep(Duration::from_secs(60));
    assert_eq!(sessions.list(None), [(id, DateTime::from_millis(0))]);
}

#[test]
fn a_user_takes_a_bounded_part_of_all_sessions() {
    let sessions = Sessions::new(1);
    let [ann, ben] = [1, 2].map(|user| Some(UserDigest([user; 32])));
    let first = SessionId::new(ann);
    sessions.touch(first).unwrap();
    for _ in 1..MAX_SESSIONS_OF_USER {
        sessions.touch(SessionId::new(ann)).unwrap();
    }
    let refused = sessions.touch(SessionId::new(ann)).unwrap_err();
    assert_eq!(refused.code, code::TOO_MANY_SESSIONS);
    sessions.touch(first).unwrap();
    sessions.touch(SessionId::new(ben)).unwrap();
    sessions.end(first);
    sessions.touch(SessionId::new(ann)).unwrap();
}
