//! How filters and sorts lie in the stored catalog.

/// A filter is stored as the bytes of its BSON form: its operators are no names of fields.
pub(super) mod filter {
    use bson::{Binary, Document, spec::BinarySubtype};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    use crate::mql::Filter;

    pub(in crate::catalog) fn serialize<S: Serializer>(
        filter: &Filter,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes = bson::serialize_to_vec(&filter.to_document()).map_err(ser::Error::custom)?;
        let subtype = BinarySubtype::Generic;
        Binary { subtype, bytes }.serialize(serializer)
    }

    pub(in crate::catalog) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Filter, D::Error> {
        let stored = Binary::deserialize(deserializer)?;
        let document: Document =
            bson::deserialize_from_slice(&stored.bytes).map_err(de::Error::custom)?;
        Filter::parse(&document).map_err(de::Error::custom)
    }
}

/// A sort is stored as a list of paths, each with whether it is descending: its paths are no names
/// of fields either.
pub(super) mod sort {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::mql::{Direction, Sort};

    pub(in crate::catalog) fn serialize<S: Serializer>(
        sort: &Sort,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = sort.keys().iter();
        let keys =
            keys.map(|(path, direction)| (path.as_ref(), *direction == Direction::Descending));
        serializer.collect_seq(keys)
    }

    pub(in crate::catalog) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Sort, D::Error> {
        let keys = Vec::<(String, bool)>::deserialize(deserializer)?;
        Ok(keys
            .into_iter()
            .fold(Sort::new(), |sort, (path, descending)| {
                let direction = match descending {
                    true => Direction::Descending,
                    false => Direction::Ascending,
                };
                sort.by(path, direction)
            }))
    }
}
