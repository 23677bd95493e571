//! Which process has a file open.

use std::path::Path;

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

/// The other process that has a file open, where the system tells it: Linux does, of processes of the same user.
pub(crate) fn of(path: &Path) -> Option<Holder> {
    let path = path.canonicalize().ok()?;
    let own = std::process::id();
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let pid = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != own) else {
            continue;
        };
        let Ok(open) = std::fs::read_dir(process.path().join("fd")) else {
            continue;
        };
        let mut open = open.flatten();
        if open.any(|file| std::fs::read_link(file.path()).is_ok_and(|open| open == path)) {
            let name = std::fs::read_to_string(process.path().join("comm"));
            let name = name.unwrap_or_default().trim().to_owned();
            return Some(Holder { pid, name });
        }
    }
    None
}
