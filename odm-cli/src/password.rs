//! Passwords, which no argument shows to the other users of a machine.

use std::{io, path::Path};

use console::Term;

use crate::error::{Failure, Result};

/// The file that is the standard input.
const STANDARD_INPUT: &str = "-";

/// Whether somebody can be asked for a password.
pub(crate) fn is_at_terminal() -> bool {
    console::user_attended_stderr() && io::IsTerminal::is_terminal(&io::stdin())
}

/// The first line of a file, a line that is typed at a terminal, or the next line of the standard input.
pub(crate) fn read(file: Option<&Path>, of: &str) -> Result<String> {
    let failed = |error| Failure::io("cannot read the password", &error);
    let text = match file {
        Some(file) if file != Path::new(STANDARD_INPUT) => {
            std::fs::read_to_string(file).map_err(|error| {
                Failure::io(format_args!("cannot read `{}`", file.display()), &error)
            })?
        }
        None if is_at_terminal() => {
            let term = Term::stderr();
            let asked = term.write_str(&format!("Password of {of}: "));
            asked
                .and_then(|()| term.read_secure_line())
                .map_err(failed)?
        }
        Some(_) | None => {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map_err(failed)?;
            line
        }
    };
    let password = text.lines().next().unwrap_or_default();
    if password.is_empty() {
        return Err(Failure::usage("the password is empty")
            .with_advice("Type it, or name a file with it by --password-file."));
    }
    Ok(password.to_owned())
}
