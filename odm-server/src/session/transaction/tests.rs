use super::*;

#[test]
fn a_jump_of_the_wall_clock_ends_no_session() {
    let sessions = Sessions::new(1);
    let id = SessionId::new(None);
    sessions.touch(id).unwrap();
    sessions.with_all(|all| {
        for known in all.values_mut() {
            known.shown = DateTime::from_millis(0);
        }
    });
    sessions.sweep(Duration::from_secs(60));
    assert_eq!(sessions.list(None), [(id, DateTime::from_millis(0))]);
}
