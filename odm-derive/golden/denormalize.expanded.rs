// `Document` of `Part`

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
    /// The fields of `Part`.
    pub struct PartFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Part, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `weight`.
        pub weight: ::odm::derive::Field<
            Option<f64>,
            ::odm::derive::FieldPath<P, Part, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `product_names`.
        pub product_names: ::odm::derive::Field<
            Vec<String>,
            ::odm::derive::FieldPath<P, Part, 2>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for PartFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            weight: ::odm::derive::Field::NEW,
            product_names: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Part {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "weight",
                hash: 7571106081475641113u64,
                optional: ::odm::derive::Probe::<Option<f64>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "product_names",
                hash: 11560608118436480323u64,
                optional: ::odm::derive::Probe::<Vec<String>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(
            &'static str,
            ::core::primitive::u64,
            ::odm::derive::Copied,
        )] = &[
            (
                "product_names",
                11560608118436480323u64,
                ::odm::derive::copied::<
                    Product,
                    _,
                >(::odm::derive::fields_of::<Product>().name)
                    .listed_as::<Vec<String>>()
                    .where_(
                        !::odm::derive::Probe::<Vec<String>>::RELATED
                            || ::odm::derive::Probe::<Vec<String>>::EMBEDDED
                            || ::odm::derive::Probe::<Vec<String>>::SUBSET
                            || ::odm::derive::Probe::<Vec<String>>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !::odm::derive::holds_references(
                            ::odm::derive::Probe::<Vec<String>>::OUTLINE,
                        ),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along_back(
                        ::odm::derive::back::<
                            Part,
                            Product,
                            Product,
                            _,
                            _,
                            _,
                        >(::odm::derive::fields_of::<Product>().part),
                        ::odm::derive::Declared {
                            none: ::odm::derive::Probe::<Vec<String>>::NONE,
                            optional: ::odm::derive::Probe::<Vec<String>>::OPTIONAL,
                            frozen: false,
                            unchecked: false,
                            skipped: false,
                            deferred: false,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: false,
                opaque: false,
                derived: &[
                    (
                        "product_names",
                        11560608118436480323u64,
                        ::odm::derive::copy_reads::<Part>(0usize),
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: ::odm::derive::Path> = PartFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Part",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "weight",
                        ::odm::derive::Probe::<Option<f64>>::DESCRIBED,
                        !::odm::derive::Probe::<Option<f64>>::FROM_NOTHING,
                    ),
                    ::odm::derive::copy::<Part>(0usize)
                        .copied(::odm::derive::Probe::<Vec<String>>::INNER)
                        .of(::odm::derive::Probe::<Vec<String>>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    const _: () = {
        ::odm::derive::check::<Part>(0usize);
    };
    #[automatically_derived]
    impl ::odm::derive::Referable for Part {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Part {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "parts";
        const HASH: ::core::primitive::u64 = 887663944871270597u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Part",
                collection: "parts",
                shape: <Part as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Part>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Part>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Part>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Part> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Part> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Part>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Part
    where
        ::odm::derive::Ref<Product>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < Option < f64 > as ::odm::derive::Known > ::RELATED,
            "`weight` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Part {
        type Child = Part;
    }
};

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
        /// Stored as `name`.
        pub name: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Product, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `part`.
        pub part: ::odm::derive::Field<
            Ref<Part>,
            ::odm::derive::FieldPath<P, Product, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `part_weight`.
        pub part_weight: ::odm::derive::Field<
            Option<f64>,
            ::odm::derive::FieldPath<P, Product, 3>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            name: ::odm::derive::Field::NEW,
            part: ::odm::derive::Field::NEW,
            part_weight: ::odm::derive::Field::NEW,
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
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "part",
                hash: 266034594712014804u64,
                optional: ::odm::derive::Probe::<Ref<Part>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "part_weight",
                hash: 4566461233322394565u64,
                optional: ::odm::derive::Probe::<Option<f64>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(
            &'static str,
            ::core::primitive::u64,
            ::odm::derive::Copied,
        )] = &[
            (
                "part_weight",
                4566461233322394565u64,
                ::odm::derive::copied::<
                    Part,
                    _,
                >(::odm::derive::fields_of::<Part>().weight)
                    .copied_as::<Option<f64>>()
                    .where_(
                        !::odm::derive::Probe::<Option<f64>>::RELATED
                            || ::odm::derive::Probe::<Option<f64>>::EMBEDDED
                            || ::odm::derive::Probe::<Option<f64>>::SUBSET
                            || ::odm::derive::Probe::<Option<f64>>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !::odm::derive::holds_references(
                            ::odm::derive::Probe::<Option<f64>>::OUTLINE,
                        ),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along(
                        ::odm::derive::beside::<
                            Part,
                            _,
                            _,
                            _,
                        >(::odm::derive::fields_of::<Product>().part),
                        ::odm::derive::Declared {
                            none: ::odm::derive::Probe::<Option<f64>>::NONE,
                            optional: ::odm::derive::Probe::<Option<f64>>::OPTIONAL,
                            frozen: true,
                            unchecked: false,
                            skipped: false,
                            deferred: false,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: true,
                opaque: false,
                derived: &[
                    (
                        "part_weight",
                        4566461233322394565u64,
                        ::odm::derive::copy_reads::<Product>(0usize),
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
                    ::odm::derive::known(
                        "name",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::reference::<
                        Ref<Part>,
                    >(
                            "part",
                            ::odm::derive::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Ref<Part>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Ref<Part>>::FROM_NOTHING),
                    ::odm::derive::copy::<Product>(0usize)
                        .copied(::odm::derive::Probe::<Option<f64>>::INNER)
                        .of(::odm::derive::Probe::<Option<f64>>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    const _: () = {
        ::odm::derive::check::<Product>(0usize);
    };
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
        Ref<Part>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Product {
        type Child = Product;
    }
};
