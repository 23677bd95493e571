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
    /// The fields of `Price`.
    pub struct PriceFields<P> {
        /// Stored as `value`.
        pub value: _odm::Field<f64, _odm::FieldPath<P, Price, 0>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for PriceFields<P> {
        const NEW: Self = Self {
            value: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Price {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "value",
                hash: 8999596768310594794u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = PriceFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Price",
                    fields: &[
                        _odm::FieldShape {
                            name: "value",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<f64>::DESCRIBED,
                            public: _odm::Some("value"),
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
    impl<D> _odm::RefersWithin<D> for Price {}
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
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
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

// `Document` of `Offer`

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
    /// The fields of `Offer`.
    pub struct OfferFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Offer, 0>, _odm::Identity>,
        /// Stored as `title`.
        pub title: _odm::Field<String, _odm::FieldPath<P, Offer, 1>, _odm::Plain>,
        /// Stored as `until`.
        pub until: _odm::Field<
            Option<DateTime>,
            _odm::FieldPath<P, Offer, 2>,
            _odm::Plain,
        >,
        /// Stored as `price`.
        pub price: _odm::Field<Price, _odm::FieldPath<P, Offer, 3>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for OfferFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            title: _odm::TypedField::TYPED,
            until: _odm::TypedField::TYPED,
            price: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Offer {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "title",
                hash: 15722393318163439657u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "until",
                hash: 2291359479729204271u64,
                optional: _odm::Probe::<Option<DateTime>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "price",
                hash: 3393610910270210282u64,
                optional: _odm::Probe::<Price>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false,
                derived: &[],
                embedded: &[
                    ("price", 3393610910270210282u64, _odm::Probe::<Price>::OUTLINE),
                ],
            }
        };
        type Fields<P: _odm::Path> = OfferFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Offer",
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
                        name: "title",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<String>::DESCRIBED,
                        public: _odm::Some("title"),
                        copied: _odm::None,
                        required: true,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        name: "until",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<Option<DateTime>>::DESCRIBED,
                        public: _odm::Some("until"),
                        copied: _odm::None,
                        required: !_odm::Probe::<Option<DateTime>>::FROM_NOTHING,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Price>::DESCRIBED,
                        required: !_odm::Probe::<Price>::FROM_NOTHING,
                        .._odm::embed::<Price>("price")
                    },
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            false
                || _odm::any_has_checks::<
                    Self,
                >(types, &[_odm::Probe::<Price>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            _odm::Probe::<Price>::NEW.check(&self.price, &at.join("price"), found);
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Offer {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Offer {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Offer";
        const COLLECTION: &'static str = "offers";
        const HASH: ::core::primitive::u64 = 12362409529559951434u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Offer> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Offer> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Offer>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Offer
    where
        Price: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`title` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < DateTime > as _odm::Known > ::RELATED,
            "`until` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl<X, K> _odm::ChildOf<X, K, 0usize> for Offer
    where
        Price: _odm::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Price as _odm::ParentIn<
            X,
            K,
        >>::ParentPath<
            _odm::FieldPath<_odm::Root<Offer>, Offer, 3>,
        > as _odm::Path>::TEXT;
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Offer {
        type Child = Offer;
    }
};

// `Patch` of `OfferPatch`

#[automatically_derived]
impl ::odm::derive::Patch for OfferPatch {
    type Of = Offer;
    fn changes(self) -> ::odm::derive::Update<Offer> {
        let fields = ::odm::derive::fields_of::<Offer>();
        ::odm::derive::Update::<Offer>::new()
            .set_if(fields.title, self.title)
            .set_if(fields.until, self.until)
            .set_if(fields.price.value, self.price)
    }
}
