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
    /// The fields of `Price`.
    pub struct PriceFields<P> {
        /// Stored as `value`.
        pub value: ::odm::derive::Field<
            f64,
            ::odm::derive::FieldPath<P, Price, 0>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for PriceFields<P> {
        const NEW: Self = Self {
            value: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Price {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "value",
                hash: 8999596768310594794u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = PriceFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Price",
                fields: &[
                    ::odm::derive::known(
                        "value",
                        ::odm::derive::Probe::<f64>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Price {}
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
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
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
    use ::odm::derive::Unknown as _;
    /// The fields of `Offer`.
    pub struct OfferFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Offer, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `title`.
        pub title: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Offer, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `until`.
        pub until: ::odm::derive::Field<
            Option<DateTime>,
            ::odm::derive::FieldPath<P, Offer, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `price`.
        pub price: ::odm::derive::Field<
            Price,
            ::odm::derive::FieldPath<P, Offer, 3>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for OfferFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            title: ::odm::derive::Field::NEW,
            until: ::odm::derive::Field::NEW,
            price: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Offer {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "title",
                hash: 15722393318163439657u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "until",
                hash: 2291359479729204271u64,
                optional: ::odm::derive::Probe::<Option<DateTime>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "price",
                hash: 3393610910270210282u64,
                optional: ::odm::derive::Probe::<Price>::OPTIONAL,
                defaulted: false,
            },
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
                ],
            }
        };
        type Fields<P: ::odm::derive::Path> = OfferFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Offer",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "title",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "until",
                        ::odm::derive::Probe::<Option<DateTime>>::DESCRIBED,
                        !::odm::derive::Probe::<Option<DateTime>>::FROM_NOTHING,
                    ),
                    ::odm::derive::embed::<Price>("price")
                        .of(::odm::derive::Probe::<Price>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Price>::FROM_NOTHING),
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            false
                || ::odm::derive::any_has_checks::<
                    Self,
                >(types, &[::odm::derive::Probe::<Price>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            ::odm::derive::Probe::<Price>::NEW
                .check(&self.price, &at.join("price"), found);
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Offer {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Offer {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "offers";
        const HASH: ::core::primitive::u64 = 12362409529559951434u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Offer",
                collection: "offers",
                shape: <Offer as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Offer>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Offer>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Offer>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Offer> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Offer> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Offer>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Offer
    where
        Price: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`title` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < DateTime > as ::odm::derive::Known > ::RELATED,
            "`until` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl<X, K> ::odm::derive::ChildOf<X, K, 0usize> for Offer
    where
        Price: ::odm::derive::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Price as ::odm::derive::ParentIn<
            X,
            K,
        >>::ParentPath<
            ::odm::derive::FieldPath<::odm::derive::Root<Offer>, Offer, 3>,
        > as ::odm::derive::Path>::TEXT;
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Offer {
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
