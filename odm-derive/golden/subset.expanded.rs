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
    use ::odm::derive::Unknown as _;
    /// The fields of `Product`.
    pub struct ProductFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Product, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `reviews`.
        pub reviews: ::odm::derive::Field<
            Subset<Summary>,
            ::odm::derive::FieldPath<P, Product, 1>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            reviews: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Product {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "reviews",
                hash: 617722409064000982u64,
                optional: ::odm::derive::Probe::<Subset<Summary>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: false,
                opaque: false,
                derived: &[
                    (
                        "reviews",
                        617722409064000982u64,
                        ::odm::derive::DerivedReads {
                            collection: ::odm::derive::child::<Subset<Summary>>()
                                .collection,
                            paths: &[
                                ::odm::derive::sort_path(
                                    ::odm::derive::child::<Subset<Summary>>().fields.written,
                                ),
                                ::odm::derive::sort_path(
                                    ::odm::derive::child::<Subset<Summary>>().fields.stars,
                                ),
                            ],
                            names: ::odm::derive::child::<Subset<Summary>>().names,
                        },
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: ::odm::derive::Path> = ProductFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Product",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    {
                        ::core::assert!(
                            ! ::odm::derive::child:: < Subset < Summary > > ().nested,
                            "a subset cannot be shown inside a subset: show a projection of the child without it"
                        );
                        ::odm::derive::subset::<
                            Subset<Summary>,
                        >(
                            "reviews",
                            ::odm::derive::DeclaredSubset {
                                limit: 10i64,
                                sort: const {
                                    &[
                                        {
                                            let field = ::odm::derive::child::<Subset<Summary>>()
                                                .fields
                                                .written;
                                            ::core::assert!(
                                                ::odm::derive::is_hot(field),
                                                "a subset is sorted by a field of the child itself, and this one is in its cold part: move it to the child"
                                            );
                                            ::odm::derive::sort_key(
                                                field,
                                                ::odm::derive::Direction::Descending,
                                            )
                                        },
                                        {
                                            let field = ::odm::derive::child::<Subset<Summary>>()
                                                .fields
                                                .stars;
                                            ::core::assert!(
                                                ::odm::derive::is_hot(field),
                                                "a subset is sorted by a field of the child itself, and this one is in its cold part: move it to the child"
                                            );
                                            ::odm::derive::sort_key(
                                                field,
                                                ::odm::derive::Direction::Ascending,
                                            )
                                        },
                                    ]
                                },
                                via: ::odm::derive::path_to::<
                                    Product,
                                    _,
                                    _,
                                    _,
                                >(::odm::derive::child::<Subset<Summary>>().fields.product),
                                filter: ::core::option::Option::Some(|| ::odm::derive::declared_filter::<
                                    <Subset<Summary> as ::odm::derive::SubsetField>::Child,
                                >(published)),
                                deferred: false,
                            },
                        )
                    }
                        .of(::odm::derive::Probe::<Subset<Summary>>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Product {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Product {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "products";
        const HASH: ::core::primitive::u64 = 17197288366239991341u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Product",
                collection: "products",
                shape: <Product as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Product>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Product>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Product>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Product> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Product> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Product>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Product
    where
        Subset<Summary>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Product {
        type Child = Product;
        const NESTED: bool = true;
    }
    #[automatically_derived]
    impl<
        T,
    > ::odm::derive::HasSubset<
        ::odm::derive::FieldPath<::odm::derive::Root<Product>, Product, 1>,
        T,
    > for Product
    where
        Subset<Summary>: ::odm::derive::SubsetOf<T>,
    {
        fn subset(&self) -> &::odm::derive::Subset<T> {
            ::odm::derive::SubsetOf::subset(&self.reviews)
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
    use ::odm::derive::Unknown as _;
    /// The fields of `Review`.
    pub struct ReviewFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            ObjectId,
            ::odm::derive::FieldPath<P, Review, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `product`.
        pub product: ::odm::derive::Field<
            Ref<Product>,
            ::odm::derive::FieldPath<P, Review, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `stars`.
        pub stars: ::odm::derive::Field<
            i32,
            ::odm::derive::FieldPath<P, Review, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `written`.
        pub written: ::odm::derive::Field<
            DateTime,
            ::odm::derive::FieldPath<P, Review, 3>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ReviewFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            product: ::odm::derive::Field::NEW,
            stars: ::odm::derive::Field::NEW,
            written: ::odm::derive::Field::NEW,
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
                text: "product",
                hash: 7067897761789831404u64,
                optional: ::odm::derive::Probe::<Ref<Product>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "stars",
                hash: 17176048025780166662u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "written",
                hash: 2713540799065099712u64,
                optional: false,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: true,
                opaque: false,
                derived: &[],
                embedded: &[],
            }
        };
        type Fields<P: ::odm::derive::Path> = ReviewFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Review",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<ObjectId>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::reference::<
                        Ref<Product>,
                    >(
                            "product",
                            ::odm::derive::DeclaredReference {
                                parent: true,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Ref<Product>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Ref<Product>>::FROM_NOTHING),
                    ::odm::derive::known(
                        "stars",
                        ::odm::derive::Probe::<i32>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "written",
                        ::odm::derive::Probe::<DateTime>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Review {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<
            ObjectId,
        >::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Review {
        type Id = ObjectId;
        type Itself = Self;
        const COLLECTION: &'static str = "reviews";
        const HASH: ::core::primitive::u64 = 617722409064000982u64;
        fn id(&self) -> &ObjectId {
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
    impl ::odm::derive::IntoId<Review> for ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Review> for &ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            ::odm::derive::clone_id::<Review>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Review
    where
        Ref<Product>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as ::odm::derive::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < DateTime as ::odm::derive::Known > ::RELATED,
            "`written` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::ChildOf<Product, ::odm::derive::Any, 0usize> for Review {
        const PATH: &'static str = "product";
    }
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
        /// Stored as `stars`.
        pub stars: ::odm::derive::Field<
            i32,
            ::odm::derive::FieldPath<P, Summary, 0>,
            ::odm::derive::Plain,
        >,
        /// Stored as `written`.
        pub written: ::odm::derive::Field<
            DateTime,
            ::odm::derive::FieldPath<P, Summary, 1>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for SummaryFields<P> {
        const NEW: Self = Self {
            stars: ::odm::derive::Field::NEW,
            written: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Summary {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "stars",
                hash: 17176048025780166662u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "written",
                hash: 2713540799065099712u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = SummaryFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Summary",
                fields: &[::odm::derive::plain("stars"), ::odm::derive::plain("written")],
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
            ::odm::derive::source(document.stars).shown_as:: < i32 > ()
            .is_stored_as("stars"),
            "`stars` is stored as `stars` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ::odm::derive::Probe:: < i32 > ::FROM_NOTHING || !
            ::odm::derive::is_defaulted:: < Review > ("stars"),
            "`stars` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
        );
        ::core::assert!(
            ::odm::derive::source(document.written).shown_as:: < DateTime > ()
            .is_stored_as("written"),
            "`written` is stored as `written` here, and under another name in the document: give both the same `#[serde(rename = \"..\")]`"
        );
        ::core::assert!(
            ::odm::derive::Probe:: < DateTime > ::FROM_NOTHING || !
            ::odm::derive::is_defaulted:: < Review > ("written"),
            "`written` can be missing in the document, which has a default for it: add `#[serde(default)]` here too"
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
