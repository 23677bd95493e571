//! Bounds that two models are the same, each with the words for the place where they are not. An equality of
//! associated types would be reported in terms of these.

macro_rules! same {
    ($($(#[$attribute:meta])* $name:ident)*) => { $(
        $(#[$attribute])*
        #[doc(hidden)]
        pub trait $name<M> {
            /// The model. A type that is made of it is not looked at where there are two.
            type Model;
        }

        impl<M> $name<M> for M {
            type Model = M;
        }
    )* };
}

same! {
    /// The model of a field.
    #[diagnostic::on_unimplemented(
        message = "this is a field of `{Self}`, where one of `{M}` is expected",
        label = "not a field of `{M}`"
    )]
    Is

    /// The document of a projection.
    #[diagnostic::on_unimplemented(
        message = "this is a projection of `{Self}`, where one of `{M}` is expected",
        label = "not a projection of `{M}`"
    )]
    Shows

    /// The document that a reference names.
    #[diagnostic::on_unimplemented(
        message = "this references `{Self}`, where a reference to `{M}` is expected",
        label = "not a reference to `{M}`"
    )]
    Names
}
