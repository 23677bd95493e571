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
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for PartFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
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
        ];
        type Fields<P: _odm::Path> = PartFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
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
                    ],
                }
            }
        }
    }
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
    impl<D> _odm::RefersWithin<D> for Part {}
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
        /// Stored as `parts`.
        pub parts: _odm::Field<
            Vec<Ref<Part>>,
            _odm::FieldPath<P, Product, 1>,
            _odm::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            parts: _odm::TypedField::TYPED,
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
                text: "parts",
                hash: 887663944871270597u64,
                optional: _odm::Probe::<Vec<Ref<Part>>>::OPTIONAL,
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
        type Fields<P: _odm::Path> = ProductFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
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
                            described: _odm::Probe::<Vec<Ref<Part>>>::DESCRIBED,
                            required: !_odm::Probe::<Vec<Ref<Part>>>::FROM_NOTHING,
                            .._odm::reference::<
                                Vec<Ref<Part>>,
                            >(
                                "parts",
                                _odm::DeclaredReference {
                                    parent: false,
                                    one: false,
                                    unchecked: false,
                                    on_delete: _odm::None,
                                    inverse: _odm::None,
                                },
                            )
                        },
                    ],
                }
            }
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
        Vec<Ref<Part>>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::SubsetItem for Product {
        type Child = Product;
    }
};

// `Database` of `Shop`

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
    impl ::core::clone::Clone for Shop {
        fn clone(&self) -> Self {
            Self {
                products: ::core::clone::Clone::clone(&self.products),
                parts: ::core::clone::Clone::clone(&self.parts),
            }
        }
    }
    #[automatically_derived]
    impl _odm::Database for Shop {
        const NAME: &'static str = "shop";
        const VERSION: ::core::primitive::u32 = 2;
        fn models() -> ::std::vec::Vec<&'static _odm::Model> {
            _odm::models([
                _odm::describe(_odm::Probe::<Product>::DESCRIPTION),
                _odm::describe(_odm::Probe::<Part>::DESCRIPTION),
            ])
        }
        fn migrations() -> _odm::Migrations {
            _odm::migrations(migrations)
        }
        fn bind(session: &_odm::Session) -> Self {
            Self {
                products: _odm::RepositoryField::bind(session),
                parts: _odm::RepositoryField::bind(session),
            }
        }
        fn session(&self) -> &_odm::Session {
            _odm::RepositoryField::session(&self.products)
        }
    }
    #[automatically_derived]
    impl _odm::Has<Product> for Shop {}
    #[automatically_derived]
    impl _odm::Has<Part> for Shop {}
    const _: () = {
        let models: &[_odm::ModelEntry] = &[
            _odm::Probe::<Product>::MODEL,
            _odm::Probe::<Part>::MODEL,
        ];
        let names: &[&::core::primitive::str] = &["Product", "Part"];
        _odm::complete::<Shop, Product>();
        _odm::complete::<Shop, Part>();
        if !_odm::are_distinct(models) {
            _odm::assert_own_collection(models, names, 0usize);
            _odm::assert_own_collection(models, names, 1usize);
        }
        _odm::assert_acyclic(models);
    };
};
