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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Part`.
    pub struct PartFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Part, 0>, _odm::Identity>,
        /// Stored as `weight`.
        pub weight: _odm::Field<Option<f64>, _odm::FieldPath<P, Part, 1>, _odm::Plain>,
        /// Stored as `product_names`.
        pub product_names: _odm::Field<
            Vec<String>,
            _odm::FieldPath<P, Part, 2>,
            _odm::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for PartFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            weight: _odm::TypedField::TYPED,
            product_names: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Part {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "weight",
                hash: 7571106081475641113u64,
                optional: _odm::Probe::<Option<f64>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "product_names",
                hash: 11560608118436480323u64,
                optional: _odm::Probe::<Vec<String>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(&'static str, ::core::primitive::u64, _odm::Copied)] = &[
            (
                "product_names",
                11560608118436480323u64,
                _odm::copied::<Product, _>(_odm::fields_of::<Product>().name)
                    .listed_as::<Vec<String>>()
                    .where_(
                        !_odm::Probe::<Vec<String>>::RELATED
                            || _odm::Probe::<Vec<String>>::EMBEDDED
                            || _odm::Probe::<Vec<String>>::SUBSET
                            || _odm::Probe::<Vec<String>>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !_odm::holds_references(_odm::Probe::<Vec<String>>::OUTLINE),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along_back(
                        _odm::back::<
                            Part,
                            Product,
                            Product,
                            _,
                            _,
                            _,
                        >(_odm::fields_of::<Product>().part),
                        _odm::Declared {
                            none: _odm::Probe::<Vec<String>>::NONE,
                            optional: _odm::Probe::<Vec<String>>::OPTIONAL,
                            frozen: false,
                            unchecked: false,
                            skipped: false,
                            deferred: false,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false,
                derived: &[
                    (
                        "product_names",
                        11560608118436480323u64,
                        _odm::copy_reads::<Part>(0usize),
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: _odm::Path> = PartFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Part",
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
                        name: "weight",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<Option<f64>>::DESCRIBED,
                        public: _odm::Some("weight"),
                        copied: _odm::None,
                        required: !_odm::Probe::<Option<f64>>::FROM_NOTHING,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Vec<String>>::DESCRIBED,
                        .._odm::copy::<Part>(0usize)
                            .copied(_odm::Probe::<Vec<String>>::INNER)
                    },
                ],
            };
            &ONE
        }
    }
    const _: () = {
        _odm::check::<Part>(0usize);
    };
    #[automatically_derived]
    impl _odm::Referable for Part {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Part {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Part";
        const COLLECTION: &'static str = "parts";
        const HASH: ::core::primitive::u64 = 887663944871270597u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Part> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Part> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Part>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Part
    where
        _odm::Ref<Product>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < Option < f64 > as _odm::Known > ::RELATED,
            "`weight` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Part {
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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Product`.
    pub struct ProductFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Product, 0>, _odm::Identity>,
        /// Stored as `name`.
        pub name: _odm::Field<String, _odm::FieldPath<P, Product, 1>, _odm::Plain>,
        /// Stored as `part`.
        pub part: _odm::Field<Ref<Part>, _odm::FieldPath<P, Product, 2>, _odm::Plain>,
        /// Stored as `part_weight`.
        pub part_weight: _odm::Field<
            Option<f64>,
            _odm::FieldPath<P, Product, 3>,
            _odm::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            name: _odm::TypedField::TYPED,
            part: _odm::TypedField::TYPED,
            part_weight: _odm::TypedField::TYPED,
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
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "part",
                hash: 266034594712014804u64,
                optional: _odm::Probe::<Ref<Part>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "part_weight",
                hash: 4566461233322394565u64,
                optional: _odm::Probe::<Option<f64>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(&'static str, ::core::primitive::u64, _odm::Copied)] = &[
            (
                "part_weight",
                4566461233322394565u64,
                _odm::copied::<Part, _>(_odm::fields_of::<Part>().weight)
                    .copied_as::<Option<f64>>()
                    .where_(
                        !_odm::Probe::<Option<f64>>::RELATED
                            || _odm::Probe::<Option<f64>>::EMBEDDED
                            || _odm::Probe::<Option<f64>>::SUBSET
                            || _odm::Probe::<Option<f64>>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !_odm::holds_references(_odm::Probe::<Option<f64>>::OUTLINE),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along(
                        _odm::beside::<Part, _, _, _>(_odm::fields_of::<Product>().part),
                        _odm::Declared {
                            none: _odm::Probe::<Option<f64>>::NONE,
                            optional: _odm::Probe::<Option<f64>>::OPTIONAL,
                            frozen: true,
                            unchecked: false,
                            skipped: false,
                            deferred: false,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: true,
                opaque: false,
                derived: &[
                    (
                        "part_weight",
                        4566461233322394565u64,
                        _odm::copy_reads::<Product>(0usize),
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
                        name: "name",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<String>::DESCRIBED,
                        public: _odm::Some("name"),
                        copied: _odm::None,
                        required: true,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Ref<Part>>::DESCRIBED,
                        required: !_odm::Probe::<Ref<Part>>::FROM_NOTHING,
                        .._odm::reference::<
                            Ref<Part>,
                        >(
                            "part",
                            _odm::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: false,
                                on_delete: _odm::None,
                                inverse: _odm::None,
                            },
                        )
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Option<f64>>::DESCRIBED,
                        .._odm::copy::<Product>(0usize)
                            .copied(_odm::Probe::<Option<f64>>::INNER)
                    },
                ],
            };
            &ONE
        }
    }
    const _: () = {
        _odm::check::<Product>(0usize);
    };
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
        Ref<Part>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Product {
        type Child = Product;
    }
};
