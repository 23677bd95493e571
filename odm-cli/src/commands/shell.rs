//! `completions` and `man`: files for shells, and pages of the manual.

use std::{io, path::Path};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    arguments::Arguments,
    error::{Exit, Failure, Result},
    output::Output,
};

/// Writes the completions of a shell.
pub(super) fn completions(shell: Shell, output: &mut Output) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "odm", &mut script);
    write(&script, output)
}

/// Writes the page of the manual, or those of all commands into a folder.
pub(super) fn man(folder: Option<&Path>, output: &mut Output) -> Result<Exit> {
    let cannot = |error: io::Error| Failure::io("cannot write the manual", &error);
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(cannot)?;
        clap_mangen::generate_to(Arguments::command(), folder).map_err(cannot)?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Arguments::command())
        .render(&mut page)
        .map_err(cannot)?;
    write(&page, output)
}

fn write(text: &[u8], output: &mut Output) -> Result<Exit> {
    output.text(String::from_utf8_lossy(text).trim_end())?;
    Ok(Exit::Done)
}
