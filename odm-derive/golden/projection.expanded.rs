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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Review`.
    pub struct ReviewFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Review, 0>, _odm::Identity>,
        /// Stored as `author`.
        pub author: _odm::Field<String, _odm::FieldPath<P, Review, 1>, _odm::Plain>,
        /// Stored as `rating`.
        pub stars: _odm::Field<i32, _odm::FieldPath<P, Review, 2>, _odm::Plain>,
        /// Stored as `text`.
        pub text: _odm::Field<String, _odm::FieldPath<P, Review, 3>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ReviewFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            author: _odm::TypedField::TYPED,
            stars: _odm::TypedField::TYPED,
            text: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Review {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "rating",
                hash: 5654811112196011216u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "text",
                hash: 18015793717152399486u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = ReviewFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Review",
                    fields: &[
                        _odm::FieldShape {
                            name: "_id",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i64>::DESCRIBED,
                            public: _odm::Some("_id"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "author",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("author"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "rating",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i32>::DESCRIBED,
                            public: _odm::Some("rating"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "text",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("text"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                    ],
                }
            }
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Review {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Review {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Review";
        const COLLECTION: &'static str = "reviews";
        const HASH: ::core::primitive::u64 = 617722409064000982u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Review> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Review> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Review>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Review {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`author` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Review {
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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Summary`.
    pub struct SummaryFields<P> {
        /// Stored as `author`.
        pub author: _odm::Field<String, _odm::FieldPath<P, Summary, 0>, _odm::Plain>,
        /// Stored as `rating`.
        pub stars: _odm::Field<i32, _odm::FieldPath<P, Summary, 1>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for SummaryFields<P> {
        const NEW: Self = Self {
            author: _odm::TypedField::TYPED,
            stars: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Summary {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "rating",
                hash: 5654811112196011216u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = SummaryFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Summary",
                    fields: &[
                        _odm::FieldShape {
                            name: "author",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Described::UNKNOWN,
                            public: _odm::Some("author"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "rating",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Described::UNKNOWN,
                            public: _odm::Some("rating"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                    ],
                }
            }
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Summary {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::Projection for Summary {
        type Of = Review;
    }
    const _: () = {
        let document = _odm::fields_of::<Review>();
        ::core::assert!(
            _odm::source(document.author).shown_as:: < String > ()
            .is_stored_as("author"),
            "`author` is stored as `author` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ! _odm::is_defaulted:: < Review > ("author"),
            "`author` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
        );
        ::core::assert!(
            _odm::source(document.stars).shown_as:: < i32 > ().is_stored_as("rating"),
            "`stars` is stored as `rating` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ! _odm::is_defaulted:: < Review > ("rating"),
            "`stars` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Summary {
        type Child = Review;
        const SHOWN: ::core::option::Option<fn() -> &'static _odm::Shape> = _odm::Some(
            <Self as _odm::Structure>::shape,
        );
    }
};
