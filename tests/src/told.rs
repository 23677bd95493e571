//! The events of the library.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// The warnings and errors of the library, each as the text of its fields, as a subscriber of its events.
#[derive(Debug, Clone, Default)]
pub struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    /// Whether one of them has a text.
    ///
    /// # Panics
    ///
    /// If another thread has.
    pub fn has(&self, text: &str) -> bool {
        self.all().iter().any(|told| told.contains(text))
    }

    /// All of them, in their order.
    ///
    /// # Panics
    ///
    /// If another thread has.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!("{}={value:?};", field.name());
    }
}

impl Subscriber for Told {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "odm" && *metadata.level() <= tracing::Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
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
