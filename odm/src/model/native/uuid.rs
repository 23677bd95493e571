//! UUIDs, stored as binary data of subtype 4.

use odm_store::Result;
use uuid::Uuid;

use super::NativeForm;
use crate::model::AutoId;

impl NativeForm for Uuid {
    type Form = bson::Uuid;

    fn to_form(&self) -> bson::Uuid {
        bson::Uuid::from_bytes(self.into_bytes())
    }

    fn from_form(form: bson::Uuid) -> Result<Self> {
        Ok(Uuid::from_bytes(form.bytes()))
    }
}

impl AutoId for Uuid {
    fn make() -> Self {
        Uuid::from_bytes(bson::Uuid::new().bytes())
    }
}
