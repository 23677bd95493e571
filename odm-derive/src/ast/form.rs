//! The forms in which serde stores enums.

use super::Variant;
use crate::attr::serde;

/// How serde stores an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{ "Variant": content }`
    External,
    /// `{ "tag": "Variant", ..content }`
    Internal { tag: String },
    /// `{ "tag": "Variant", "content": content }`
    Adjacent { tag: String, content: String },
    /// `content`
    Untagged,
}

impl Form {
    pub(crate) fn of(serde: &serde::SerdeContainer) -> Self {
        match (&serde.tag, &serde.content) {
            _ if serde.untagged => Form::Untagged,
            (Some(tag), Some(content)) => Form::Adjacent {
                tag: tag.value(),
                content: content.value(),
            },
            (Some(tag), None) => Form::Internal { tag: tag.value() },
            (None, _) => Form::External,
        }
    }

    /// One variant can be without a tag where the others have one.
    pub(crate) fn of_variant(&self, variant: &Variant<'_>) -> Self {
        if variant.serde.untagged {
            Form::Untagged
        } else {
            self.clone()
        }
    }
}
