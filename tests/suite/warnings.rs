//! The warnings of the library on all threads. A unit of the embedded store runs on the thread of its writer, which has no subscriber of
//! its own, so that the global subscriber of the process is used.

use std::sync::OnceLock;

use tests::told::Told;

/// The warnings from a moment on, each as the text of its fields. They include warnings of tests that run at the same time.
pub(crate) struct Warnings {
    all: Told,
    from: usize,
}

impl Warnings {
    /// Begins the recording of warnings.
    pub(crate) fn begin() -> Self {
        static ALL: OnceLock<Told> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let all = Told::default();
            tracing::subscriber::set_global_default(all.clone()).expect("there is no other one");
            all
        });
        Warnings { all: all.clone(), from: all.all().len() }
    }

    /// The warnings with this text in them.
    pub(crate) fn with(&self, text: &str) -> Vec<String> {
        let all = self.all.all().into_iter().skip(self.from);
        all.filter(|warning| warning.contains(text)).collect()
    }
}
