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
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for PartFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
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
        ];
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
                ],
            };
            &ONE
        }
    }
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
    impl<D> ::odm::derive::RefersWithin<D> for Part {}
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
        /// Stored as `parts`.
        pub parts: ::odm::derive::Field<
            Vec<Ref<Part>>,
            ::odm::derive::FieldPath<P, Product, 1>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            parts: ::odm::derive::Field::NEW,
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
                text: "parts",
                hash: 887663944871270597u64,
                optional: ::odm::derive::Probe::<Vec<Ref<Part>>>::OPTIONAL,
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
                    ::odm::derive::reference::<
                        Vec<Ref<Part>>,
                    >(
                            "parts",
                            ::odm::derive::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Vec<Ref<Part>>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Vec<Ref<Part>>>::FROM_NOTHING),
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
        Vec<Ref<Part>>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Product {
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
    use ::odm::derive::Unknown as _;
    impl ::core::clone::Clone for Shop {
        fn clone(&self) -> Self {
            Self {
                products: ::core::clone::Clone::clone(&self.products),
                parts: ::core::clone::Clone::clone(&self.parts),
            }
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Database for Shop {
        const NAME: &'static str = "shop";
        const VERSION: ::core::primitive::u32 = 2;
        fn models() -> ::std::vec::Vec<&'static ::odm::derive::Model> {
            ::odm::derive::models([
                ::odm::derive::describe(::odm::derive::Probe::<Product>::DESCRIPTION),
                ::odm::derive::describe(::odm::derive::Probe::<Part>::DESCRIPTION),
            ])
        }
        fn migrations() -> ::odm::derive::Migrations {
            ::odm::derive::migrations(migrations)
        }
        fn bind(session: &::odm::derive::Session) -> Self {
            Self {
                products: ::odm::derive::RepositoryField::bind(session),
                parts: ::odm::derive::RepositoryField::bind(session),
            }
        }
        fn session(&self) -> &::odm::derive::Session {
            ::odm::derive::RepositoryField::session(&self.products)
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Has<Product> for Shop {}
    #[automatically_derived]
    impl ::odm::derive::Has<Part> for Shop {}
    const _: () = {
        let models: &[::odm::derive::ModelEntry] = &[
            ::odm::derive::Probe::<Product>::MODEL,
            ::odm::derive::Probe::<Part>::MODEL,
        ];
        let names: &[&::core::primitive::str] = &["Product", "Part"];
        ::odm::derive::complete::<Shop, Product>();
        ::odm::derive::complete::<Shop, Part>();
        if !::odm::derive::are_distinct(models) {
            ::odm::derive::assert_own_collection(models, names, 0usize);
            ::odm::derive::assert_own_collection(models, names, 1usize);
        }
        ::odm::derive::assert_acyclic(models);
    };
};
