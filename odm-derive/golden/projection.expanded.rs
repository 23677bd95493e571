// `Document` of `Review`

#[doc(hidden)]
#[allow(
    dead_code,
    deprecated,
    non_camel_case_types,
    non_snake_case,
    private_bounds,
    private_interfaces,
    unreachable_pub,
    unused_imports,
    unused_qualifications
)]
const _: () = {
    use ::odm::derive::Unknown as _;
    /// The fields of `Review`.
    pub struct ReviewFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Review, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `author`.
        pub author: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Review, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `rating`.
        pub stars: ::odm::derive::Field<
            i32,
            ::odm::derive::FieldPath<P, Review, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `text`.
        pub text: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Review, 3>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ReviewFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            author: ::odm::derive::Field::NEW,
            stars: ::odm::derive::Field::NEW,
            text: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Review {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "rating",
                hash: 5654811112196011216u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "text",
                hash: 18015793717152399486u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = ReviewFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Review",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "author",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "rating",
                        ::odm::derive::Probe::<i32>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "text",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Review {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Review {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "reviews";
        const HASH: ::core::primitive::u64 = 617722409064000982u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Review",
                collection: "reviews",
                shape: <Review as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Review>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Review>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Review>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Review> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Review> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Review>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Review {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`author` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Review {
        type Child = Review;
    }
};

// `Projection` of `Summary`

#[doc(hidden)]
#[allow(
    dead_code,
    deprecated,
    non_camel_case_types,
    non_snake_case,
    private_bounds,
    private_interfaces,
    unreachable_pub,
    unused_imports,
    unused_qualifications
)]
const _: () = {
    use ::odm::derive::Unknown as _;
    /// The fields of `Summary`.
    pub struct SummaryFields<P> {
        /// Stored as `author`.
        pub author: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Summary, 0>,
            ::odm::derive::Plain,
        >,
        /// Stored as `rating`.
        pub stars: ::odm::derive::Field<
            i32,
            ::odm::derive::FieldPath<P, Summary, 1>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for SummaryFields<P> {
        const NEW: Self = Self {
            author: ::odm::derive::Field::NEW,
            stars: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Summary {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "rating",
                hash: 5654811112196011216u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = SummaryFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Summary",
                fields: &[::odm::derive::plain("author"), ::odm::derive::plain("rating")],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Summary {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::Projection for Summary {
        type Of = Review;
    }
    const _: () = {
        let document = ::odm::derive::fields_of::<Review>();
        ::core::assert!(
            ::odm::derive::source(document.author).shown_as:: < String > ()
            .is_stored_as("author"),
            "`author` is stored as `author` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ::odm::derive::Probe:: < String > ::FROM_NOTHING || !
            ::odm::derive::is_defaulted:: < Review > ("author"),
            "`author` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
        );
        ::core::assert!(
            ::odm::derive::source(document.stars).shown_as:: < i32 > ()
            .is_stored_as("rating"),
            "`stars` is stored as `rating` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ::odm::derive::Probe:: < i32 > ::FROM_NOTHING || !
            ::odm::derive::is_defaulted:: < Review > ("rating"),
            "`stars` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Summary {
        type Child = Review;
        const SHOWN: ::core::option::Option<fn() -> &'static ::odm::derive::Shape> = ::core::option::Option::Some(
            <Self as ::odm::derive::Structure>::shape,
        );
    }
};
