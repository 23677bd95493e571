//! The warnings of the library on all threads. A unit of the embedded store runs on the thread of its writer, which has no
//! subscriber of its own, so that this one is that of the process.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex, OnceLock},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// The warnings from a moment on, each as the text of its fields. Those of tests that run at the same time are among them.
pub(crate) struct Warnings {
    all: Recorder,
    from: usize,
}

impl Warnings {
    /// Those from now on.
    pub(crate) fn begin() -> Self {
        static ALL: OnceLock<Recorder> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let all = Recorder::default();
            tracing::subscriber::set_global_default(all.clone()).expect("there is no other one");
            all
        });
        let from = all.0.lock().unwrap().len();
        Warnings { all: all.clone(), from }
    }

    /// Those with this text in them.
    pub(crate) fn with(&self, text: &str) -> Vec<String> {
        let all = self.all.0.lock().unwrap();
        all[self.from..].iter().filter(|warning| warning.contains(text)).cloned().collect()
    }
}

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<String>>>);

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "odm" && *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        struct Fields(String);
        impl Visit for Fields {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                self.0 += &format!("{}={value:?};", field.name());
            }
        }
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}
