//! `$unwind`: a document for each element of an array.

use bson::{RawBson, RawBsonRef, RawDocumentBuf};

use super::nested::with_value;
use crate::{
    Error,
    path::{self, Lookup},
    write::{elements, malformed},
};

/// The stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnwindStage {
    /// The path of the array, which leads through documents only.
    pub(super) path: String,
    /// The path at which the position of the element is written.
    pub(super) index: Option<String>,
    /// Whether a document without elements stays.
    pub(super) preserves: bool,
}

/// The documents that one document becomes.
pub(super) enum Unwound {
    /// None, or one that has no element of an array.
    Whole(Option<RawDocumentBuf>),
    Elements(UnwoundElements),
}

/// The elements of an array that have not been taken yet, with the document that has the array.
pub(super) struct UnwoundElements {
    stage: UnwindStage,
    document: RawDocumentBuf,
    elements: std::iter::Enumerate<std::vec::IntoIter<RawBson>>,
}

impl UnwindStage {
    pub(super) fn unwind(&self, document: RawDocumentBuf) -> Result<Unwound, Error> {
        let kept = match path::lookup(&document, &self.path) {
            Lookup::Array(array, None) => {
                let elements = elements(array).map(|element| Ok(element?.value()?.into()));
                let elements = elements.collect::<Result<Vec<RawBson>, Error>>()?;
                if !elements.is_empty() {
                    return Ok(Unwound::Elements(UnwoundElements {
                        stage: self.clone(),
                        elements: elements.into_iter().enumerate(),
                        document,
                    }));
                }
                match self.preserves {
                    true => Some(with_value(&document, &self.path, None)?),
                    false => None,
                }
            }
            Lookup::Value(RawBsonRef::Null | RawBsonRef::Undefined)
            | Lookup::Missing
            | Lookup::Array(_, Some(_)) => self.preserves.then_some(document),
            Lookup::Value(_) => Some(document),
        };
        let kept = kept.map(|document| self.with_index(document, RawBsonRef::Null));
        Ok(Unwound::Whole(kept.transpose()?))
    }

    fn with_index(
        &self,
        document: RawDocumentBuf,
        index: RawBsonRef<'_>,
    ) -> Result<RawDocumentBuf, Error> {
        match &self.index {
            Some(path) => with_value(&document, path, Some(index)),
            None => Ok(document),
        }
    }
}

impl Iterator for UnwoundElements {
    type Item = Result<RawDocumentBuf, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (at, element) = self.elements.next()?;
        let stage = &self.stage;
        let element = element.as_raw_bson_ref();
        let unwound = with_value(&self.document, &stage.path, Some(element));
        Some(unwound.and_then(|document| {
            let at = i64::try_from(at).map_err(malformed)?;
            stage.with_index(document, RawBsonRef::Int64(at))
        }))
    }
}
