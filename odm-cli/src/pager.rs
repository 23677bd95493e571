//! The standard output, and the pager behind which an answer goes that is longer than the screen.

use std::{
    io::{self, BufWriter, Write},
    process::{Child, Command, Stdio},
};

use console::Term;

/// Where lines go.
pub(crate) enum Lines {
    Direct(BufWriter<io::Stdout>),
    /// Lines that still fit on the screen.
    Held {
        lines: Vec<String>,
        height: usize,
    },
    Paged(Child),
}

impl Lines {
    /// Writes to the standard output, on a terminal through a pager if the text is longer than it.
    pub(crate) fn new(is_paged: bool) -> Lines {
        match Term::stdout().size_checked() {
            Some((height, _)) if is_paged => Lines::Held {
                lines: Vec::new(),
                height: usize::from(height).saturating_sub(1),
            },
            _ => Lines::direct(),
        }
    }

    fn direct() -> Lines {
        Lines::Direct(BufWriter::new(io::stdout()))
    }

    pub(crate) fn write(&mut self, line: &str) -> io::Result<()> {
        match self {
            Lines::Direct(stdout) => writeln!(stdout, "{line}"),
            Lines::Paged(pager) => writeln!(input(pager)?, "{line}"),
            Lines::Held { lines, height } => {
                lines.push(line.to_owned());
                if lines.len() <= *height {
                    return Ok(());
                }
                let held = std::mem::take(lines);
                *self = pager().unwrap_or_else(Lines::direct);
                held.iter().try_for_each(|line| self.write(line))
            }
        }
    }

    /// Shows the output until now.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Lines::Direct(stdout) => stdout.flush(),
            Lines::Paged(pager) => input(pager)?.flush(),
            Lines::Held { lines, .. } => {
                let held = std::mem::take(lines);
                *self = Lines::direct();
                held.iter().try_for_each(|line| self.write(line))?;
                self.flush()
            }
        }
    }

    /// Writes the rest, and waits until the pager is left.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self {
            Lines::Paged(pager) => {
                drop(pager.stdin.take());
                pager.wait().map(drop)
            }
            _ => self.flush(),
        }
    }
}

fn input(pager: &mut Child) -> io::Result<&mut impl Write> {
    pager
        .stdin
        .as_mut()
        .ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

/// Starts the program that `PAGER` names, by default `less`. `None` if it is empty, or cannot be started.
fn pager() -> Option<Lines> {
    let program = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let mut words = program.split_whitespace();
    let mut pager = Command::new(words.next()?);
    pager.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", "-RS");
    }
    pager.spawn().ok().map(Lines::Paged)
}
