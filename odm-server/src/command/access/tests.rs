use crate::command::COMMANDS;

use super::Access;

/// The commands of everybody, as those of a MongoDB server.
const OF_ANYONE: [&str; 13] = [
    "authenticate",
    "buildInfo",
    "buildinfo",
    "connectionStatus",
    "hello",
    "isMaster",
    "ismaster",
    "listCommands",
    "logout",
    "ping",
    "saslContinue",
    "saslStart",
    "whatsmyuri",
];

/// The commands of every user, each of which shows or changes only what is their own, or is refused to all.
const OF_USERS: [&str; 20] = [
    "abortTransaction",
    "commitTransaction",
    "createUser",
    "currentOp",
    "dropAllUsersFromDatabase",
    "dropUser",
    "endSessions",
    "getMore",
    "grantRolesToUser",
    "killCursors",
    "killOp",
    "killSessions",
    "listCollections",
    "listDatabases",
    "refreshSessions",
    "revokeRolesFromUser",
    "rolesInfo",
    "startSession",
    "updateUser",
    "usersInfo",
];

#[test]
fn each_other_command_needs_a_right() {
    let named = |access: Access| {
        let all = COMMANDS.iter().copied().flatten();
        let mut names: Vec<&str> = all
            .filter(|command| command.access == access)
            .map(|command| command.name)
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(named(Access::Anyone), OF_ANYONE);
    assert_eq!(named(Access::User), OF_USERS);
}
