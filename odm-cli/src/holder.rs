//! Which process has a file open.

use std::{fs, path::Path};

/// A process that has a file open.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    pub(crate) name: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the process {} ({})", self.pid, self.name)
    }
}

/// The other process that has a file open to write it, where the system tells it: Linux does, of processes of the same user.
pub(crate) fn of(path: &Path) -> Option<Holder> {
    let path = path.canonicalize().ok()?;
    let own = std::process::id();
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let pid = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != own) else {
            continue;
        };
        let Ok(open) = fs::read_dir(process.path().join("fd")) else {
            continue;
        };
        let is_holder = open.flatten().any(|file| {
            let is_same = fs::read_link(file.path()).is_ok_and(|open| open == path);
            is_same && is_writable(&process.path().join("fdinfo").join(file.file_name()))
        });
        if is_holder {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some(Holder {
                pid,
                name: name.trim().to_owned(),
            });
        }
    }
    None
}

/// Whether a file is open to be written, by what the system says of it: the last bits of its flags are the mode.
fn is_writable(info: &Path) -> bool {
    let info = fs::read_to_string(info).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 != 0)
}
