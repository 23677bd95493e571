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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Money`.
    pub struct MoneyFields<P> {
        /// Stored as `value`.
        pub value: _odm::Field<i64, _odm::FieldPath<P, Money, 0>, _odm::Plain>,
        /// Stored as `currency`.
        pub currency: _odm::Field<String, _odm::FieldPath<P, Money, 1>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for MoneyFields<P> {
        const NEW: Self = Self {
            value: _odm::TypedField::TYPED,
            currency: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Money {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "value",
                hash: 8999596768310594794u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "currency",
                hash: 8477458519032517654u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = MoneyFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Money",
                    fields: &[
                        _odm::FieldShape {
                            name: "value",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i64>::DESCRIBED,
                            public: _odm::Some("value"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "currency",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("currency"),
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
    impl<D> _odm::RefersWithin<D> for Money {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`currency` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::Through for Money {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Money {}
    #[automatically_derived]
    impl _odm::EmbedField for Money {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for Money {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Money {}
    #[automatically_derived]
    impl _odm::Known for Money {
        const RELATED: bool = true;
        fn schema(types: &mut _odm::SchemaTypes) -> _odm::BsonDocument {
            <Self as _odm::Structure>::schema(types)
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            <Self as _odm::Structure>::has_checks(types)
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            <Self as _odm::Structure>::check(self, at, found);
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
    use ::odm::derive::{self as _odm, Unknown as _};
    #[automatically_derived]
    impl _odm::Structure for Price {
        const NAMES: &'static [_odm::StoredName] = <Money as _odm::Structure>::NAMES;
        const FROM_NOTHING: bool = <Money as _odm::Structure>::FROM_NOTHING;
        const CLOSED: bool = <Money as _odm::Structure>::CLOSED;
        const OUTLINE: &'static _odm::Outline = _odm::outline::<Money>();
        const FLATTENED: &'static [&'static _odm::ShownNames] = <Money as _odm::Structure>::FLATTENED;
        type Fields<P: _odm::Path> = <Money as _odm::Structure>::Fields<P>;
        fn shape() -> &'static _odm::Shape {
            _odm::wrapped::<Money>()
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            _odm::any_has_checks::<
                Self,
            >(types, &[<Money as _odm::Structure>::has_checks])
        }
        fn schema(types: &mut _odm::SchemaTypes) -> _odm::BsonDocument {
            <Money as _odm::Structure>::schema(types)
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            <Money as _odm::Structure>::check(&self.0, at, found);
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Price
    where
        Money: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::Through for Price {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Price {}
    #[automatically_derived]
    impl _odm::EmbedField for Price {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = <Money as _odm::EmbedField>::Parent;
        type ParentPath<P: _odm::Path> = <Money as _odm::EmbedField>::ParentPath<P>;
        type ParentCardinality = <Money as _odm::EmbedField>::ParentCardinality;
    }
    #[automatically_derived]
    impl _odm::Referable for Price {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Price {}
    #[automatically_derived]
    impl _odm::Known for Price {
        const RELATED: bool = true;
        fn schema(types: &mut _odm::SchemaTypes) -> _odm::BsonDocument {
            <Self as _odm::Structure>::schema(types)
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            <Self as _odm::Structure>::has_checks(types)
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            <Self as _odm::Structure>::check(self, at, found);
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
    use ::odm::derive::{self as _odm, Unknown as _};
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Sku {}
    #[automatically_derived]
    impl _odm::Known for Sku {
        const RELATED: ::core::primitive::bool = <String as _odm::Known>::RELATED;
        const OPERAND: ::core::option::Option<_odm::Operand> = <String as _odm::Known>::OPERAND;
        fn schema(types: &mut _odm::SchemaTypes) -> _odm::BsonDocument {
            <String as _odm::Known>::schema(types)
        }
    }
    #[automatically_derived]
    impl _odm::Ordered for Sku
    where
        for<'__odm> String: _odm::Ordered,
    {
        type Present = Self;
    }
    #[automatically_derived]
    impl _odm::Text for Sku
    where
        for<'__odm> String: _odm::Text,
    {}
    #[automatically_derived]
    impl _odm::AutoId for Sku
    where
        for<'__odm> String: _odm::AutoId,
    {
        fn make() -> Self {
            Self {
                0: <String as _odm::AutoId>::make(),
            }
        }
    }
    #[automatically_derived]
    impl _odm::SequenceId for Sku
    where
        for<'__odm> String: _odm::SequenceId,
    {
        fn from_number(number: ::core::primitive::i64) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                0: <String as _odm::SequenceId>::from_number(number)?,
            })
        }
    }
    #[automatically_derived]
    impl _odm::MapKey for Sku
    where
        for<'__odm> String: _odm::MapKey,
    {}
    const _: () = ::core::assert!(
        ! < String as _odm::Known > ::RELATED,
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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Product`.
    pub struct ProductFields<P> {
        /// Stored as `_id`.
        pub sku: _odm::Field<Sku, _odm::FieldPath<P, Product, 0>, _odm::Identity>,
        /// Stored as `price`.
        pub price: _odm::Field<Price, _odm::FieldPath<P, Product, 1>, _odm::Plain>,
        /// Stored as `past`.
        pub past: _odm::Field<
            Option<Vec<Money>>,
            _odm::FieldPath<P, Product, 2>,
            _odm::Plain,
        >,
        /// Its fields are stored in its place.
        pub cost: _odm::Flattened<
            Money,
            _odm::FlatPath<P, { _odm::Probe::<Money>::OPTIONAL }>,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ProductFields<P> {
        const NEW: Self = Self {
            sku: _odm::TypedField::TYPED,
            price: _odm::TypedField::TYPED,
            past: _odm::TypedField::TYPED,
            cost: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Product {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: _odm::Probe::<Sku>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "price",
                hash: 3393610910270210282u64,
                optional: _odm::Probe::<Price>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "past",
                hash: 266885616712060893u64,
                optional: _odm::Probe::<Option<Vec<Money>>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const FROM_NOTHING: bool = true && _odm::Probe::<Sku>::FROM_NOTHING
            && _odm::Probe::<Price>::FROM_NOTHING
            && _odm::Probe::<Option<Vec<Money>>>::FROM_NOTHING
            && _odm::Probe::<Money>::FLAT_FROM_NOTHING;
        const FLATTENED: &'static [&'static _odm::ShownNames] = &[
            _odm::Probe::<Money>::SHOWN,
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false,
                derived: &[],
                embedded: &[
                    ("price", 3393610910270210282u64, _odm::Probe::<Price>::OUTLINE),
                    (
                        "past",
                        266885616712060893u64,
                        _odm::Probe::<Option<Vec<Money>>>::OUTLINE,
                    ),
                    ("", 14695981039346656037u64, _odm::Probe::<Money>::OUTLINE),
                ],
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
                        described: _odm::Probe::<Sku>::DESCRIBED,
                        public: _odm::Some("_id"),
                        copied: _odm::None,
                        required: false,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Price>::DESCRIBED,
                        required: !_odm::Probe::<Price>::FROM_NOTHING,
                        .._odm::embed::<Price>("price")
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Option<Vec<Money>>>::DESCRIBED,
                        required: !_odm::Probe::<Option<Vec<Money>>>::FROM_NOTHING,
                        .._odm::embed::<Option<Vec<Money>>>("past")
                    },
                    _odm::FieldShape {
                        described: _odm::Described {
                            schema: _odm::Probe::<Money>::DESCRIBED.schema,
                            .._odm::Described::UNKNOWN
                        },
                        required: true,
                        ..{
                            ::core::assert!(
                                _odm::is_flat:: < Money > (),
                                "only an embedded value, or an `Option` of one, can be flattened"
                            );
                            _odm::embed::<Money>("")
                        }
                    },
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            false
                || _odm::any_has_checks::<
                    Self,
                >(
                    types,
                    &[
                        _odm::Probe::<Price>::HAS_CHECKS,
                        _odm::Probe::<Option<Vec<Money>>>::HAS_CHECKS,
                        _odm::Probe::<Money>::HAS_CHECKS,
                    ],
                )
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            _odm::Probe::<Price>::NEW.check(&self.price, &at.join("price"), found);
            _odm::Probe::<Option<Vec<Money>>>::NEW
                .check(&self.past, &at.join("past"), found);
            _odm::Probe::<Money>::NEW.check(&self.cost, &at.join(""), found);
        }
    }
    const _: () = {
        ::core::assert!(
            ! _odm::Probe:: < Money > ::CLOSED,
            "what is flattened into `Product` is read from all of its fields, and this type refuses those that it does not know: remove its `deny_unknown_fields`"
        );
        ::core::assert!(
            ! _odm::Probe:: < Money > ::NEVER_ABSENT,
            "each field of `cost` can be missing, so that `None` would be read as a value without fields: remove the `Option`, or store `cost` under a name of its own"
        );
        _odm::assert_own_names::<Product>("cost", _odm::Probe::<Money>::SHOWN, &[]);
    };
    #[automatically_derived]
    impl _odm::Referable for Product {
        type Key = Sku;
        type StoredKey = Sku;
        const KEY: _odm::Described = _odm::Probe::<Sku>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Product {
        type Id = Sku;
        type Itself = Self;
        const NAME: &'static str = "Product";
        const COLLECTION: &'static str = "products";
        const HASH: ::core::primitive::u64 = 17197288366239991341u64;
        fn id(&self) -> &Sku {
            &self.sku
        }
    }
    const _: () = ::core::assert!(
        ! _odm::Probe:: < Sku > ::NONE,
        "an `_id` is always there, and cannot be an `Option`: make it before the document is inserted, as by `ObjectId::new()`"
    );
    #[automatically_derived]
    impl _odm::IntoId<Product> for Sku {
        type How = _odm::ById;
        fn into_id(self) -> Sku {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Product> for &Sku {
        type How = _odm::ById;
        fn into_id(self) -> Sku {
            _odm::clone_id::<Product>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Product
    where
        Price: _odm::RefersWithin<D>,
        Option<Vec<Money>>: _odm::RefersWithin<D>,
        Money: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < Sku as _odm::Known > ::RELATED,
            "`sku` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl<X, K> _odm::ChildOf<X, K, 0usize> for Product
    where
        Price: _odm::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Price as _odm::ParentIn<
            X,
            K,
        >>::ParentPath<
            _odm::FieldPath<_odm::Root<Product>, Product, 1>,
        > as _odm::Path>::TEXT;
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Product {
        type Child = Product;
    }
};
