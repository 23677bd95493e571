//! Bounds that two models are the same, each with its own message. The compiler would report an equality of associated types in terms of
//! these.

macro_rules! same {
    ($($(#[$attribute:meta])* $name:ident)*) => { $(
        $(#[$attribute])*
        #[doc(hidden)]
        pub trait $name<M> {
            /// `T`. It is unknown if there are two models, so that the compiler does not check more
            /// of a query with it.
            type With<T>;
            #[doc(hidden)]
            fn with<T>(value: T) -> Self::With<T>;
        }

        impl<M> $name<M> for M {
            type With<T> = T;

            fn with<T>(value: T) -> T {
                value
            }
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

    /// The document of a patch.
    #[diagnostic::on_unimplemented(
        message = "this is a patch of `{Self}`, where one of `{M}` is expected",
        label = "not a patch of `{M}`"
    )]
    Changes

    /// The children that a subset shows.
    #[diagnostic::on_unimplemented(
        message = "this is a subset of `{Self}`, where one of `{M}` is expected",
        label = "not a subset of `{M}`"
    )]
    IsOf

    /// The document that a reference names.
    #[diagnostic::on_unimplemented(
        message = "this references `{Self}`, where a reference to `{M}` is expected",
        label = "not a reference to `{M}`"
    )]
    Names
}
