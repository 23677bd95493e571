//! The protocol of single writes, as a model of its own: an update checks the epoch and writes in two steps of the server, while a program
//! declares that the write has consequences.
//!
//! The model represents time by its constraints: a slow update knows it when its answer comes, and the wait after an announcement does not
//! end while an update that is not slow is under way.
//!
//! A message or its answer can be lost, once: the driver sends it again, and the server remembers that it has written, but not that it
//! has checked.

use stateright::{Checker, Model, Property};

/// The rules of the protocol.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// An update checks the epoch before it writes.
    checks: bool,
    /// A change of the declarations is announced before, and the announcement stops single writes.
    announces: bool,
    /// The declaration waits after the announcement.
    waits: bool,
    /// A slow update checks the epoch once more.
    checks_again: bool,
    /// If the second message finds another epoch, the call fails like one whose answer was lost, and is not run again.
    tells_the_first: bool,
}

const ALL: Rules =
    Rules { checks: true, announces: true, waits: true, checks_again: true, tells_the_first: true };

/// The catalog, in the store and as a writer has read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Catalog {
    epoch: u8,
    /// A change was announced.
    is_changing: bool,
    /// A copy follows from the source.
    has_copy: bool,
}

/// The progress of a writer, which gives the source a value of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Idle,
    /// It has sent its update.
    Sent,
    /// The server has checked the epoch.
    Checked,
    /// The server has written, and the answer is on its way.
    Written,
    /// The answer was slow, and the epoch is checked once more.
    Again,
    Ended,
    /// The call has failed with an error that says that the consequences are unknown.
    Reported,
    /// The call has failed with an error that says that it may be stored or not.
    Unconfirmed,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Writer {
    catalog: Catalog,
    step: Step,
    is_slow: bool,
    is_killed: bool,
    /// The message was sent again.
    is_again: bool,
    /// How often it was carried out.
    written: u8,
}

impl Writer {
    fn is_under_way(&self) -> bool {
        matches!(self.step, Step::Sent | Step::Checked)
    }
}

/// The progress of the program that declares the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Change {
    Idle,
    Announced,
    Waited,
    Declared,
    /// The copy was computed from the earlier documents.
    Complete,
    Killed,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    catalog: Catalog,
    source: u8,
    copy: u8,
    change: Change,
    writers: Vec<Writer>,
    /// A writer with a slow update was killed: the epoch is not checked once more.
    is_unknown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    /// A step of the changing program.
    Change,
    KillChange,
    /// A step of a writer, or of the server for it.
    Write(usize),
    Slow(usize),
    Kill(usize),
    /// The message of a writer, or its answer, is lost, and the driver sends it again.
    Lose(usize),
}

struct Alone(Rules);

impl Model for Alone {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let catalog = Catalog { epoch: 1, is_changing: false, has_copy: false };
        let writer = Writer {
            catalog,
            step: Step::Idle,
            is_slow: false,
            is_killed: false,
            is_again: false,
            written: 0,
        };
        vec![State {
            catalog,
            source: 0,
            copy: 0,
            change: Change::Idle,
            writers: vec![writer; 2],
            is_unknown: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let has_ended = matches!(state.change, Change::Complete | Change::Killed);
        let must_wait = self.0.waits
            && state.change == Change::Announced
            && state.writers.iter().any(|writer| writer.is_under_way() && !writer.is_slow);
        if !has_ended {
            actions.push(Action::KillChange);
        }
        if !has_ended && !must_wait {
            actions.push(Action::Change);
        }
        for (at, writer) in state.writers.iter().enumerate() {
            let is_at_server = writer.is_under_way();
            if matches!(writer.step, Step::Ended | Step::Reported | Step::Unconfirmed)
                || writer.is_killed && !is_at_server
            {
                continue;
            }
            actions.push(Action::Write(at));
            if matches!(writer.step, Step::Sent | Step::Written)
                && !(writer.is_again || writer.is_killed)
            {
                actions.push(Action::Lose(at));
            }
            if writer.step != Step::Idle && !writer.is_slow {
                actions.push(Action::Slow(at));
            }
            if !writer.is_killed {
                actions.push(Action::Kill(at));
            }
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::KillChange => state.change = Change::Killed,
            Action::Change => self.change(&mut state),
            Action::Slow(at) => {
                state.writers[at].is_slow = true;
                state.is_unknown |= state.writers[at].is_killed;
            }
            Action::Kill(at) => {
                let writer = &mut state.writers[at];
                // The effect of a message on the server does not depend on the caller.
                state.is_unknown |= writer.is_slow;
                writer.is_killed = true;
            }
            Action::Lose(at) => {
                let writer = &mut state.writers[at];
                (writer.step, writer.is_again) = (Step::Sent, true);
            }
            Action::Write(at) => self.write(&mut state, at),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always(
                "the copy is right, or an error says that it may not be",
                |_, state| {
                    let is_reported = |writer: &Writer| match writer.step {
                        // Its next step finds out that it is stale.
                        Step::Sent => writer.is_slow && writer.is_again,
                        // Only the error of a slow writer says so.
                        Step::Written | Step::Again | Step::Unconfirmed => writer.is_slow,
                        step => step == Step::Reported,
                    };
                    state.change != Change::Complete
                        || state.copy == state.source
                        || state.is_unknown
                        || state.writers.iter().any(is_reported)
                },
            ),
            Property::<Self>::always("nothing is carried out twice", |_, state| {
                state.writers.iter().all(|writer| writer.written <= 1)
            }),
            Property::<Self>::sometimes("it comes to its end", |_, state| {
                let has_ended = |writer: &Writer| writer.step == Step::Ended;
                state.change == Change::Complete && state.writers.iter().all(has_ended)
            }),
        ]
    }
}

impl Alone {
    fn change(&self, state: &mut State) {
        let catalog = &mut state.catalog;
        state.change = match state.change {
            Change::Idle if self.0.announces => {
                catalog.epoch += 1;
                catalog.is_changing = true;
                Change::Announced
            }
            Change::Idle | Change::Announced => Change::Waited,
            Change::Waited => {
                catalog.epoch += 1;
                catalog.is_changing = false;
                catalog.has_copy = true;
                Change::Declared
            }
            Change::Declared => {
                state.copy = state.source;
                Change::Complete
            }
            ended => ended,
        };
    }

    fn write(&self, state: &mut State, at: usize) {
        let value = at as u8 + 1;
        let stored = state.catalog;
        let writer = &mut state.writers[at];
        let is_current = writer.catalog.epoch == stored.epoch;
        writer.step = match writer.step {
            Step::Idle if writer.catalog.is_changing || writer.catalog.has_copy => {
                // A unit of work: it is stored as a whole, in its epoch, or not at all.
                if is_current {
                    state.source = value;
                    writer.written += 1;
                    if writer.catalog.has_copy {
                        state.copy = value;
                    }
                    Step::Ended
                } else {
                    writer.catalog = stored;
                    Step::Idle
                }
            }
            Step::Idle => Step::Sent,
            Step::Sent if is_current || !self.0.checks => Step::Checked,
            Step::Sent if writer.is_again && self.0.tells_the_first => Step::Unconfirmed,
            Step::Sent => {
                writer.catalog = stored;
                writer.is_slow = false;
                Step::Idle
            }
            Step::Checked if writer.written > 0 => Step::Written,
            Step::Checked => {
                state.source = value;
                writer.written += 1;
                Step::Written
            }
            Step::Written if writer.is_slow && self.0.checks_again => Step::Again,
            Step::Written => Step::Ended,
            Step::Again if is_current => Step::Ended,
            Step::Again => Step::Reported,
            ended => ended,
        };
    }
}

/// Whether the copy is right in every order, and how many states there are.
fn check(rules: Rules) -> (bool, usize) {
    let checker = Alone(rules).checker().spawn_bfs().join();
    assert!(checker.is_done());
    let found = checker.discoveries();
    assert!(found.contains_key("it comes to its end"));
    (found.len() == 1, checker.unique_state_count())
}

#[test]
fn single_writes_leave_no_copy_wrong_in_silence_in_any_order() {
    let (is_right, states) = check(ALL);
    assert!(is_right);
    assert!(states > 1000, "{states} states");
}

#[test]
fn without_one_of_its_rules_single_writes_leave_wrong_copies() {
    let without = [
        Rules { checks: false, ..ALL },
        Rules { announces: false, ..ALL },
        Rules { waits: false, ..ALL },
        Rules { checks_again: false, ..ALL },
        Rules { tells_the_first: false, ..ALL },
    ];
    for rules in without {
        assert!(!check(rules).0, "{rules:?}");
    }
}
