// `Document` of `Order`

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
    /// The fields of `Order`.
    pub struct OrderFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Order, 0>, _odm::Identity>,
        /// Stored as `cents`.
        pub cents: _odm::Field<i64, _odm::FieldPath<P, Order, 1>, _odm::Plain>,
        /// Stored as `discount`.
        pub discount: _odm::Field<i64, _odm::FieldPath<P, Order, 2>, _odm::Plain>,
        /// Stored as `notes`.
        pub notes: _odm::Field<Vec<Note>, _odm::FieldPath<P, Order, 3>, _odm::Plain>,
        /// Stored as `due`.
        pub due: _odm::Field<i64, _odm::FieldPath<P, Order, 4>, _odm::Derived>,
        /// Stored as `urgent`.
        pub urgent: _odm::Field<bool, _odm::FieldPath<P, Order, 5>, _odm::Derived>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for OrderFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            cents: _odm::TypedField::TYPED,
            discount: _odm::TypedField::TYPED,
            notes: _odm::TypedField::TYPED,
            due: _odm::TypedField::TYPED,
            urgent: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Order {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "cents",
                hash: 2179065326846402292u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "discount",
                hash: 13847152100568682270u64,
                optional: false,
                defaulted: true,
            },
            _odm::StoredName {
                text: "notes",
                hash: 4652337650770631594u64,
                optional: _odm::Probe::<Vec<Note>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "due",
                hash: 14583848670718103765u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "urgent",
                hash: 9500078418517557744u64,
                optional: false,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false,
                derived: &[
                    (
                        "due",
                        14583848670718103765u64,
                        _odm::DerivedReads {
                            paths: &[
                                _odm::sort_path(_odm::fields_of::<Order>().cents),
                                _odm::sort_path(_odm::fields_of::<Order>().discount),
                            ],
                            .._odm::child_reads::<Order>()
                        },
                    ),
                    (
                        "urgent",
                        9500078418517557744u64,
                        _odm::DerivedReads {
                            paths: &[_odm::sort_path(_odm::fields_of::<Order>().notes)],
                            .._odm::child_reads::<Order>()
                        },
                    ),
                ],
                embedded: &[
                    ("notes", 4652337650770631594u64, _odm::Probe::<Vec<Note>>::OUTLINE),
                ],
            }
        };
        type Fields<P: _odm::Path> = OrderFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Order",
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
                        name: "cents",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<i64>::DESCRIBED,
                        public: _odm::Some("cents"),
                        copied: _odm::None,
                        required: true,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        name: "discount",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<i64>::DESCRIBED,
                        public: _odm::Some("discount"),
                        copied: _odm::None,
                        required: false,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Vec<Note>>::DESCRIBED,
                        required: !_odm::Probe::<Vec<Note>>::FROM_NOTHING,
                        .._odm::embed::<Vec<Note>>("notes")
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<i64>::DESCRIBED,
                        .._odm::computed::<
                            i64,
                            _,
                            _,
                        >(
                            "due",
                            |__document: &Order| -> i64 {
                                _odm::formula::number(
                                    _odm::formula::copied(&__document.cents),
                                )
                                    - _odm::formula::number(
                                        _odm::formula::ordered(
                                                _odm::formula::copied(&__document.discount),
                                            )
                                            .min(
                                                _odm::formula::number(
                                                    _odm::formula::copied(&__document.cents),
                                                ) / _odm::formula::number(2),
                                            ),
                                    )
                            },
                            || _odm::formula::Expression::Call(
                                _odm::formula::Function::Subtract,
                                ::std::vec![
                                    _odm::formula::field(_odm::fields_of:: < Order > ().cents),
                                    _odm::formula::Expression::Call(_odm::formula::Function::Min,
                                    ::std::vec![_odm::formula::defaulted_field(_odm::fields_of::
                                    < Order > ().discount, ::core::default::Default::default),
                                    _odm::formula::Expression::Call(_odm::formula::Function::Divide,
                                    ::std::vec![_odm::formula::field(_odm::fields_of:: < Order >
                                    ().cents), _odm::formula::Expression::Integer(2i64,
                                    _odm::None)],)],)
                                ],
                            ),
                        )
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<bool>::DESCRIBED,
                        .._odm::computed::<
                            bool,
                            _,
                            _,
                        >(
                            "urgent",
                            |__document: &Order| -> bool {
                                _odm::formula::iterator(
                                        _odm::formula::list(&__document.notes).iter(),
                                    )
                                    .any(|note| {
                                        _odm::formula::boolean(_odm::formula::copied(&note.urgent))
                                            && _odm::formula::boolean(
                                                *_odm::formula::equated(&note.text)
                                                    != *_odm::formula::equated(&"done"),
                                            )
                                    })
                            },
                            || _odm::formula::Expression::Call(
                                _odm::formula::Function::Any,
                                ::std::vec![
                                    _odm::formula::field(_odm::fields_of:: < Order > ().notes),
                                    _odm::formula::Expression::Call(_odm::formula::Function::And,
                                    ::std::vec![_odm::formula::field_of(0usize,
                                    _odm::fields_of:: < Order > ().notes,
                                    _odm::step(_odm::fields_of:: < Order > ().notes).urgent),
                                    _odm::formula::Expression::Call(_odm::formula::Function::NotEqual,
                                    ::std::vec![_odm::formula::field_of(0usize,
                                    _odm::fields_of:: < Order > ().notes,
                                    _odm::step(_odm::fields_of:: < Order > ().notes).text),
                                    _odm::formula::constant(& "done")],)],)
                                ],
                            ),
                        )
                    },
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            false
                || _odm::any_has_checks::<
                    Self,
                >(types, &[_odm::Probe::<Vec<Note>>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            _odm::Probe::<Vec<Note>>::NEW.check(&self.notes, &at.join("notes"), found);
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Order {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Order {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Order";
        const COLLECTION: &'static str = "orders";
        const HASH: ::core::primitive::u64 = 5169432582064972u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Order> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Order> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Order>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Order
    where
        Vec<Note>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl<X, K> _odm::ChildOf<X, K, 0usize> for Order
    where
        Vec<Note>: _odm::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Vec<
            Note,
        > as _odm::ParentIn<
            X,
            K,
        >>::ParentPath<
            _odm::FieldPath<_odm::Root<Order>, Order, 3>,
        > as _odm::Path>::TEXT;
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Order {
        type Child = Order;
    }
};

// `Embed` of `Note`

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
    /// The fields of `Note`.
    pub struct NoteFields<P> {
        /// Stored as `text`.
        pub text: _odm::Field<String, _odm::FieldPath<P, Note, 0>, _odm::Plain>,
        /// Stored as `urgent`.
        pub urgent: _odm::Field<bool, _odm::FieldPath<P, Note, 1>, _odm::Derived>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for NoteFields<P> {
        const NEW: Self = Self {
            text: _odm::TypedField::TYPED,
            urgent: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Note {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "text",
                hash: 18015793717152399486u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "urgent",
                hash: 9500078418517557744u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = NoteFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Note",
                fields: &[
                    _odm::FieldShape {
                        name: "text",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<String>::DESCRIBED,
                        public: _odm::Some("text"),
                        copied: _odm::None,
                        required: true,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<bool>::DESCRIBED,
                        .._odm::computed::<
                            bool,
                            _,
                            _,
                        >(
                            "urgent",
                            |__document: &Note| -> bool {
                                _odm::formula::text(&__document.text)
                                    .starts_with(_odm::formula::pattern("!"))
                            },
                            || _odm::formula::Expression::Call(
                                _odm::formula::Function::StartsWith,
                                ::std::vec![
                                    _odm::formula::field(_odm::fields_of:: < Note > ().text),
                                    _odm::formula::constant(& "!")
                                ],
                            ),
                        )
                    },
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Note {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`text` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::Through for Note {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Note {}
    #[automatically_derived]
    impl _odm::EmbedField for Note {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for Note {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Note {}
    #[automatically_derived]
    impl _odm::Known for Note {
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
