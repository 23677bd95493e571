// `Embed` of `Money`

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
    /// The fields of `Money`.
    pub struct MoneyFields<P> {
        /// Stored as `value`.
        pub value: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Money, 0>,
            ::odm::derive::Plain,
        >,
        /// Stored as `currency`.
        pub currency: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Money, 1>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for MoneyFields<P> {
        const NEW: Self = Self {
            value: ::odm::derive::Field::NEW,
            currency: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Money {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "value",
                hash: 8999596768310594794u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "currency",
                hash: 8477458519032517654u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = MoneyFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Money",
                fields: &[
                    ::odm::derive::known(
                        "value",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "currency",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Money {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`currency` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::Through for Money {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Money {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Money {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Money {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Money {}
    #[automatically_derived]
    impl ::odm::derive::Known for Money {
        const RELATED: bool = true;
        fn schema(
            types: &mut ::odm::derive::SchemaTypes,
        ) -> ::odm::derive::BsonDocument {
            <Self as ::odm::derive::Structure>::schema(types)
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            <Self as ::odm::derive::Structure>::has_checks(types)
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            <Self as ::odm::derive::Structure>::check(self, at, found);
        }
    }
};

// `Embed` of `Price`

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
    #[automatically_derived]
    impl ::odm::derive::Structure for Price {
        const NAMES: &'static [::odm::derive::StoredName] = <Money as ::odm::derive::Structure>::NAMES;
        const FROM_NOTHING: bool = <Money as ::odm::derive::Structure>::FROM_NOTHING;
        const CLOSED: bool = <Money as ::odm::derive::Structure>::CLOSED;
        const OUTLINE: &'static ::odm::derive::Outline = ::odm::derive::outline::<
            Money,
        >();
        const FLATTENED: &'static [&'static ::odm::derive::ShownNames] = <Money as ::odm::derive::Structure>::FLATTENED;
        type Fields<P: ::odm::derive::Path> = <Money as ::odm::derive::Structure>::Fields<
            P,
        >;
        fn shape() -> &'static ::odm::derive::Shape {
            ::odm::derive::wrapped::<Money>()
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            ::odm::derive::any_has_checks::<
                Self,
            >(types, &[<Money as ::odm::derive::Structure>::has_checks])
        }
        fn schema(
            types: &mut ::odm::derive::SchemaTypes,
        ) -> ::odm::derive::BsonDocument {
            <Money as ::odm::derive::Structure>::schema(types)
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            <Money as ::odm::derive::Structure>::check(&self.0, at, found);
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Price
    where
        Money: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::Through for Price {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Price {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Price {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = <Money as ::odm::derive::EmbedField>::Parent;
        type ParentPath<P: ::odm::derive::Path> = <Money as ::odm::derive::EmbedField>::ParentPath<
            P,
        >;
        type ParentCardinality = <Money as ::odm::derive::EmbedField>::ParentCardinality;
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Price {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Price {}
    #[automatically_derived]
    impl ::odm::derive::Known for Price {
        const RELATED: bool = true;
        fn schema(
            types: &mut ::odm::derive::SchemaTypes,
        ) -> ::odm::derive::BsonDocument {
            <Self as ::odm::derive::Structure>::schema(types)
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            <Self as ::odm::derive::Structure>::has_checks(types)
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            <Self as ::odm::derive::Structure>::check(self, at, found);
        }
    }
};

// `Embed` of `Sku`

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
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Sku {}
    #[automatically_derived]
    impl ::odm::derive::Known for Sku {
        const RELATED: ::core::primitive::bool = <String as ::odm::derive::Known>::RELATED;
        const OPERAND: ::core::option::Option<::odm::derive::Operand> = <String as ::odm::derive::Known>::OPERAND;
        fn schema(
            types: &mut ::odm::derive::SchemaTypes,
        ) -> ::odm::derive::BsonDocument {
            <String as ::odm::derive::Known>::schema(types)
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Ordered for Sku
    where
        for<'__odm> String: ::odm::derive::Ordered,
    {
        type Present = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Text for Sku
    where
        for<'__odm> String: ::odm::derive::Text,
    {}
    #[automatically_derived]
    impl ::odm::derive::AutoId for Sku
    where
        for<'__odm> String: ::odm::derive::AutoId,
    {
        fn make() -> Self {
            Self {
                0: <String as ::odm::derive::AutoId>::make(),
            }
        }
    }
    #[automatically_derived]
    impl ::odm::derive::SequenceId for Sku
    where
        for<'__odm> String: ::odm::derive::SequenceId,
    {
        fn from_number(number: ::core::primitive::i64) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                0: <String as ::odm::derive::SequenceId>::from_number(number)?,
            })
        }
    }
    #[automatically_derived]
    impl ::odm::derive::MapKey for Sku
    where
        for<'__odm> String: ::odm::derive::MapKey,
    {}
    const _: () = ::core::assert!(
        ! < String as ::odm::derive::Known > ::RELATED,
        "`Sku` is stored as the value in it, which holds references or embedded values: mark that with `#[embed]`"
    );
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
        pub sku: ::odm::derive::Field<
            Sku,
            ::odm::derive::FieldPath<P, Product, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `price`.
        pub price: ::odm::derive::Field<
            Price,
            ::odm::derive::FieldPath<P, Product, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `past`.
        pub past: ::odm::derive::Field<
            Option<Vec<Money>>,
            ::odm::derive::FieldPath<P, Product, 2>,
            ::odm::derive::Plain,
        >,
        /// Its fields are stored in its place.
        pub cost: ::odm::derive::Flattened<
            Money,
            ::odm::derive::FlatPath<P, { ::odm::derive::Probe::<Money>::OPTIONAL }>,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            sku: ::odm::derive::Field::NEW,
            price: ::odm::derive::Field::NEW,
            past: ::odm::derive::Field::NEW,
            cost: ::odm::derive::Flattened::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Product {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: ::odm::derive::Probe::<Sku>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "price",
                hash: 3393610910270210282u64,
                optional: ::odm::derive::Probe::<Price>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "past",
                hash: 266885616712060893u64,
                optional: ::odm::derive::Probe::<Option<Vec<Money>>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const FROM_NOTHING: bool = true && ::odm::derive::Probe::<Sku>::FROM_NOTHING
            && ::odm::derive::Probe::<Price>::FROM_NOTHING
            && ::odm::derive::Probe::<Option<Vec<Money>>>::FROM_NOTHING
            && ::odm::derive::Probe::<Money>::FLAT_FROM_NOTHING;
        const FLATTENED: &'static [&'static ::odm::derive::ShownNames] = &[
            ::odm::derive::Probe::<Money>::SHOWN,
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: false,
                opaque: false,
                derived: &[],
                embedded: &[
                    (
                        "price",
                        3393610910270210282u64,
                        ::odm::derive::Probe::<Price>::OUTLINE,
                    ),
                    (
                        "past",
                        266885616712060893u64,
                        ::odm::derive::Probe::<Option<Vec<Money>>>::OUTLINE,
                    ),
                    ("", 14695981039346656037u64, ::odm::derive::Probe::<Money>::OUTLINE),
                ],
            }
        };
        type Fields<P: ::odm::derive::Path> = ProductFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Product",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<Sku>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::embed::<Price>("price")
                        .of(::odm::derive::Probe::<Price>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Price>::FROM_NOTHING),
                    ::odm::derive::embed::<Option<Vec<Money>>>("past")
                        .of(::odm::derive::Probe::<Option<Vec<Money>>>::DESCRIBED)
                        .required(
                            !::odm::derive::Probe::<Option<Vec<Money>>>::FROM_NOTHING,
                        ),
                    {
                        ::core::assert!(
                            ::odm::derive::is_flat:: < Money > (),
                            "only an embedded value, or an `Option` of one, can be flattened"
                        );
                        ::odm::derive::embed::<Money>("")
                    }
                        .schema(::odm::derive::Probe::<Money>::DESCRIBED.schema)
                        .required(true),
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            false
                || ::odm::derive::any_has_checks::<
                    Self,
                >(
                    types,
                    &[
                        ::odm::derive::Probe::<Price>::HAS_CHECKS,
                        ::odm::derive::Probe::<Option<Vec<Money>>>::HAS_CHECKS,
                        ::odm::derive::Probe::<Money>::HAS_CHECKS,
                    ],
                )
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            ::odm::derive::Probe::<Price>::NEW
                .check(&self.price, &at.join("price"), found);
            ::odm::derive::Probe::<Option<Vec<Money>>>::NEW
                .check(&self.past, &at.join("past"), found);
            ::odm::derive::Probe::<Money>::NEW.check(&self.cost, &at.join(""), found);
        }
    }
    const _: () = {
        ::core::assert!(
            ! ::odm::derive::Probe:: < Money > ::CLOSED,
            "what is flattened into `Product` is read from all of its fields, and this type refuses those that it does not know: remove its `deny_unknown_fields`"
        );
        ::core::assert!(
            ! ::odm::derive::Probe:: < Money > ::NEVER_ABSENT,
            "each field of `cost` can be missing, so that `None` would be read as a value without fields: remove the `Option`, or store `cost` under a name of its own"
        );
        ::odm::derive::assert_own_names::<
            Product,
        >("cost", ::odm::derive::Probe::<Money>::SHOWN, &[]);
    };
    #[automatically_derived]
    impl ::odm::derive::Referable for Product {
        type Key = Sku;
        type StoredKey = Sku;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<Sku>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Product {
        type Id = Sku;
        type Itself = Self;
        const COLLECTION: &'static str = "products";
        const HASH: ::core::primitive::u64 = 17197288366239991341u64;
        fn id(&self) -> &Sku {
            &self.sku
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
    const _: () = ::core::assert!(
        ! ::odm::derive::Probe:: < Sku > ::NONE,
        "an `_id` is always there, and cannot be an `Option`: make it before the document is inserted, as by `ObjectId::new()`"
    );
    #[automatically_derived]
    impl ::odm::derive::IntoId<Product> for Sku {
        type How = ::odm::derive::ById;
        fn into_id(self) -> Sku {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Product> for &Sku {
        type How = ::odm::derive::ById;
        fn into_id(self) -> Sku {
            ::odm::derive::clone_id::<Product>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Product
    where
        Price: ::odm::derive::RefersWithin<D>,
        Option<Vec<Money>>: ::odm::derive::RefersWithin<D>,
        Money: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < Sku as ::odm::derive::Known > ::RELATED,
            "`sku` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl<X, K> ::odm::derive::ChildOf<X, K, 0usize> for Product
    where
        Price: ::odm::derive::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Price as ::odm::derive::ParentIn<
            X,
            K,
        >>::ParentPath<
            ::odm::derive::FieldPath<::odm::derive::Root<Product>, Product, 1>,
        > as ::odm::derive::Path>::TEXT;
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Product {
        type Child = Product;
    }
};
