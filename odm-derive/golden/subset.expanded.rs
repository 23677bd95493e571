// `Document` of `Product`

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
    /// The fields of `Product`.
    pub struct ProductFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Product, 0>, _odm::Identity>,
        /// Stored as `reviews`.
        pub reviews: _odm::Field<
            Subset<Summary>,
            _odm::FieldPath<P, Product, 1>,
            _odm::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            reviews: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Product {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "reviews",
                hash: 617722409064000982u64,
                optional: _odm::Probe::<Subset<Summary>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false,
                derived: &[
                    (
                        "reviews",
                        617722409064000982u64,
                        _odm::DerivedReads {
                            collection: _odm::child::<Subset<Summary>>().collection,
                            paths: &[
                                _odm::sort_path(
                                    _odm::child::<Subset<Summary>>().fields.written,
                                ),
                                _odm::sort_path(
                                    _odm::child::<Subset<Summary>>().fields.stars,
                                ),
                            ],
                            names: _odm::child::<Subset<Summary>>().names,
                        },
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: _odm::Path> = ProductFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Product",
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
                        described: _odm::Probe::<Subset<Summary>>::DESCRIBED,
                        ..{
                            ::core::assert!(
                                ! _odm::child:: < Subset < Summary > > ().nested,
                                "a subset cannot be shown inside a subset: show a projection of the child without it"
                            );
                            _odm::subset::<
                                Subset<Summary>,
                            >(
                                "reviews",
                                _odm::DeclaredSubset {
                                    limit: 10i64,
                                    sort: const {
                                        &[
                                            {
                                                let field = _odm::child::<Subset<Summary>>().fields.written;
                                                ::core::assert!(
                                                    _odm::is_hot(field),
                                                    "a subset is sorted by a field of the child itself, and this one is in its cold part: move it to the child"
                                                );
                                                _odm::sort_key(field, _odm::Direction::Descending)
                                            },
                                            {
                                                let field = _odm::child::<Subset<Summary>>().fields.stars;
                                                ::core::assert!(
                                                    _odm::is_hot(field),
                                                    "a subset is sorted by a field of the child itself, and this one is in its cold part: move it to the child"
                                                );
                                                _odm::sort_key(field, _odm::Direction::Ascending)
                                            },
                                        ]
                                    },
                                    via: _odm::path_to::<
                                        Product,
                                        _,
                                        _,
                                        _,
                                    >(_odm::child::<Subset<Summary>>().fields.product),
                                    filter: _odm::Some(|| _odm::declared_filter::<
                                        <Subset<Summary> as _odm::SubsetField>::Child,
                                    >(published)),
                                    deferred: false,
                                },
                            )
                        }
                    },
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Product {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Product {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Product";
        const COLLECTION: &'static str = "products";
        const HASH: ::core::primitive::u64 = 17197288366239991341u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Product> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Product> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Product>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Product
    where
        Subset<Summary>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::SubsetItem for Product {
        type Child = Product;
        const NESTED: bool = true;
    }
    #[automatically_derived]
    impl<T> _odm::HasSubset<_odm::FieldPath<_odm::Root<Product>, Product, 1>, T>
    for Product
    where
        Subset<Summary>: _odm::SubsetOf<T>,
    {
        fn subset(&self) -> &_odm::Subset<T> {
            _odm::SubsetOf::subset(&self.reviews)
        }
    }
};

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
        pub id: _odm::Field<ObjectId, _odm::FieldPath<P, Review, 0>, _odm::Identity>,
        /// Stored as `product`.
        pub product: _odm::Field<
            Ref<Product>,
            _odm::FieldPath<P, Review, 1>,
            _odm::Plain,
        >,
        /// Stored as `stars`.
        pub stars: _odm::Field<i32, _odm::FieldPath<P, Review, 2>, _odm::Plain>,
        /// Stored as `written`.
        pub written: _odm::Field<DateTime, _odm::FieldPath<P, Review, 3>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ReviewFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            product: _odm::TypedField::TYPED,
            stars: _odm::TypedField::TYPED,
            written: _odm::TypedField::TYPED,
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
                text: "product",
                hash: 7067897761789831404u64,
                optional: _odm::Probe::<Ref<Product>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "stars",
                hash: 17176048025780166662u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "written",
                hash: 2713540799065099712u64,
                optional: false,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: true,
                opaque: false,
                derived: &[],
                embedded: &[],
            }
        };
        type Fields<P: _odm::Path> = ReviewFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Review",
                    fields: &[
                        _odm::FieldShape {
                            name: "_id",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<ObjectId>::DESCRIBED,
                            public: _odm::Some("_id"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            described: _odm::Probe::<Ref<Product>>::DESCRIBED,
                            required: !_odm::Probe::<Ref<Product>>::FROM_NOTHING,
                            .._odm::reference::<
                                Ref<Product>,
                            >(
                                "product",
                                _odm::DeclaredReference {
                                    parent: true,
                                    one: false,
                                    unchecked: false,
                                    on_delete: _odm::None,
                                    inverse: _odm::None,
                                },
                            )
                        },
                        _odm::FieldShape {
                            name: "stars",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i32>::DESCRIBED,
                            public: _odm::Some("stars"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "written",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<DateTime>::DESCRIBED,
                            public: _odm::Some("written"),
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
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: _odm::Described = _odm::Probe::<ObjectId>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Review {
        type Id = ObjectId;
        type Itself = Self;
        const NAME: &'static str = "Review";
        const COLLECTION: &'static str = "reviews";
        const HASH: ::core::primitive::u64 = 617722409064000982u64;
        fn id(&self) -> &ObjectId {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Review> for ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Review> for &ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            _odm::clone_id::<Review>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Review
    where
        Ref<Product>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as _odm::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < DateTime as _odm::Known > ::RELATED,
            "`written` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::ChildOf<Product, _odm::Any, 0usize> for Review {
        const PATH: &'static str = "product";
    }
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
        /// Stored as `stars`.
        pub stars: _odm::Field<i32, _odm::FieldPath<P, Summary, 0>, _odm::Plain>,
        /// Stored as `written`.
        pub written: _odm::Field<DateTime, _odm::FieldPath<P, Summary, 1>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for SummaryFields<P> {
        const NEW: Self = Self {
            stars: _odm::TypedField::TYPED,
            written: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Summary {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "stars",
                hash: 17176048025780166662u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "written",
                hash: 2713540799065099712u64,
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
                            name: "stars",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Described::UNKNOWN,
                            public: _odm::Some("stars"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "written",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Described::UNKNOWN,
                            public: _odm::Some("written"),
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
            _odm::source(document.stars).shown_as:: < i32 > ().is_stored_as("stars"),
            "`stars` is stored as `stars` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ! _odm::is_defaulted:: < Review > ("stars"),
            "`stars` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
        );
        ::core::assert!(
            _odm::source(document.written).shown_as:: < DateTime > ()
            .is_stored_as("written"),
            "`written` is stored as `written` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ! _odm::is_defaulted:: < Review > ("written"),
            "`written` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
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
