//! The methods and the types of numbers that expressions can have.

/// A method of Rust's standard library.
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) arguments: Arguments,
    /// The function of `odm_mql`; none if the value is that of the receiver.
    pub(super) function: Option<&'static str>,
    /// The function that requires the type of the receiver.
    pub(super) receiver: Receiver,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    None,
    One,
    Closure,
}

/// The receiver of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiver {
    /// A value of one of the types that this function takes by value.
    Value(&'static str),
    /// A value of one of the types that this function takes by reference.
    Borrowed(&'static str),
    /// An iterator.
    Iterator,
    /// A value of any type.
    Any,
}

pub(super) const METHODS: [Method; 32] = {
    use Arguments::{Closure, None as No, One};
    use Receiver::{Any, Borrowed, Iterator, Value};
    const fn method(
        name: &'static str,
        arguments: Arguments,
        function: &'static str,
        receiver: Receiver,
    ) -> Method {
        Method {
            name,
            arguments,
            function: if function.is_empty() {
                None
            } else {
                Some(function)
            },
            receiver,
        }
    }
    [
        method("abs", No, "Abs", Value("number")),
        method("min", One, "Min", Value("ordered")),
        method("max", One, "Max", Value("ordered")),
        method("round", No, "Round", Value("float")),
        method("floor", No, "Floor", Value("float")),
        method("ceil", No, "Ceil", Value("float")),
        method("unwrap_or", One, "UnwrapOr", Value("option")),
        method("is_some", No, "IsSome", Value("option")),
        method("is_none", No, "IsNone", Value("option")),
        method("len", No, "Len", Borrowed("measured")),
        method("is_empty", No, "IsEmpty", Borrowed("measured")),
        method("trim", No, "Trim", Borrowed("text")),
        method("to_lowercase", No, "ToLowercase", Borrowed("text")),
        method("to_uppercase", No, "ToUppercase", Borrowed("text")),
        method("starts_with", One, "StartsWith", Borrowed("text")),
        method("ends_with", One, "EndsWith", Borrowed("text")),
        method("contains", One, "Contains", Borrowed("text")),
        method("to_owned", No, "", Borrowed("text")),
        method("to_string", No, "Format", Value("shown")),
        method("clone", No, "", Any),
        method("iter", No, "", Borrowed("list")),
        method("map", Closure, "Map", Iterator),
        method("filter", Closure, "Filter", Iterator),
        method("filter_map", Closure, "FilterMap", Iterator),
        method("any", Closure, "Any", Iterator),
        method("all", Closure, "All", Iterator),
        method("copied", No, "", Any),
        method("cloned", No, "", Any),
        method("count", No, "Count", Iterator),
        method("min", No, "Least", Value("ordered_iterator")),
        method("max", No, "Greatest", Value("ordered_iterator")),
        method("chars", No, "", Borrowed("text")),
    ]
};

/// `.chars().count()`
pub(super) static COUNT_CHARS: Method = Method {
    name: "count",
    arguments: Arguments::None,
    function: Some("CountChars"),
    receiver: Receiver::Iterator,
};

/// The types of numbers, and their names in `odm_mql`.
pub(super) const NUMBERS: [(&str, &str); 12] = [
    ("i8", "I8"),
    ("i16", "I16"),
    ("i32", "I32"),
    ("i64", "I64"),
    ("isize", "Isize"),
    ("u8", "U8"),
    ("u16", "U16"),
    ("u32", "U32"),
    ("u64", "U64"),
    ("usize", "Usize"),
    ("f32", "F32"),
    ("f64", "F64"),
];
