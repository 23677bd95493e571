// `Document` of `Account`

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
    /// The fields of `Account`.
    pub struct AccountFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<ObjectId, _odm::FieldPath<P, Account, 0>, _odm::Identity>,
        /// Stored as `name`.
        pub name: _odm::Field<String, _odm::FieldPath<P, Account, 1>, _odm::Plain>,
        /// Stored as `email`.
        pub email: _odm::Field<String, _odm::FieldPath<P, Account, 2>, _odm::Plain>,
        /// Stored as `country`.
        pub country: _odm::Field<String, _odm::FieldPath<P, Account, 3>, _odm::Plain>,
        /// Stored as `score`.
        pub score: _odm::Field<i32, _odm::FieldPath<P, Account, 4>, _odm::Plain>,
        /// Stored as `tags`.
        pub tags: _odm::Field<Vec<String>, _odm::FieldPath<P, Account, 5>, _odm::Plain>,
        /// Stored as `joined`.
        pub joined: _odm::Field<DateTime, _odm::FieldPath<P, Account, 6>, _odm::Plain>,
        /// Stored as `seen`.
        pub seen: _odm::Field<DateTime, _odm::FieldPath<P, Account, 7>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for AccountFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            name: _odm::TypedField::TYPED,
            email: _odm::TypedField::TYPED,
            country: _odm::TypedField::TYPED,
            score: _odm::TypedField::TYPED,
            tags: _odm::TypedField::TYPED,
            joined: _odm::TypedField::TYPED,
            seen: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Account {
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
                text: "email",
                hash: 1311787414694181895u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "country",
                hash: 8607070979307499377u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "score",
                hash: 13911166232573650165u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "tags",
                hash: 15644445103386232192u64,
                optional: _odm::Probe::<Vec<String>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "joined",
                hash: 11298048307140238992u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "seen",
                hash: 3241143781527703850u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = AccountFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Account",
                    fields: &[
                        _odm::FieldShape {
                            name: "_id",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<ObjectId>::DESCRIBED,
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
                            rules: &[
                                _odm::Rule {
                                    keyword: "minLength",
                                    value: _odm::RuleValue::Integer(1i64),
                                },
                                _odm::Rule {
                                    keyword: "maxLength",
                                    value: _odm::RuleValue::Integer(40i64),
                                },
                            ],
                        },
                        _odm::FieldShape {
                            name: "email",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("email"),
                            copied: _odm::None,
                            required: true,
                            rules: &[
                                _odm::Rule {
                                    keyword: "pattern",
                                    value: _odm::RuleValue::Text("^[^@]+@[^@]+$"),
                                },
                            ],
                        },
                        _odm::FieldShape {
                            name: "country",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("country"),
                            copied: _odm::None,
                            required: true,
                            rules: &[
                                _odm::Rule {
                                    keyword: "enum",
                                    value: _odm::RuleValue::List(
                                        &[_odm::RuleValue::Text("at"), _odm::RuleValue::Text("de")],
                                    ),
                                },
                            ],
                        },
                        _odm::FieldShape {
                            name: "score",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i32>::DESCRIBED,
                            public: _odm::Some("score"),
                            copied: _odm::None,
                            required: true,
                            rules: &[
                                _odm::Rule {
                                    keyword: "minimum",
                                    value: _odm::RuleValue::Integer(0i64),
                                },
                                _odm::Rule {
                                    keyword: "maximum",
                                    value: _odm::RuleValue::Integer(100i64),
                                },
                                _odm::Rule {
                                    keyword: "exclusiveMaximum",
                                    value: _odm::RuleValue::Bool(true),
                                },
                            ],
                        },
                        _odm::FieldShape {
                            name: "tags",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<Vec<String>>::DESCRIBED,
                            public: _odm::Some("tags"),
                            copied: _odm::None,
                            required: !_odm::Probe::<Vec<String>>::FROM_NOTHING,
                            rules: &[
                                _odm::Rule {
                                    keyword: "maxItems",
                                    value: _odm::RuleValue::Integer(9i64),
                                },
                                _odm::Rule {
                                    keyword: "uniqueItems",
                                    value: _odm::RuleValue::Bool(true),
                                },
                            ],
                        },
                        _odm::FieldShape {
                            name: "joined",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<DateTime>::DESCRIBED,
                            public: _odm::Some("joined"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "seen",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<DateTime>::DESCRIBED,
                            public: _odm::Some("seen"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                    ],
                }
            }
        }
    }
    const _: () = _odm::validates_text::<String>();
    const _: () = _odm::validates_text::<String>();
    const _: () = _odm::validates_text::<String>();
    const _: () = _odm::validates_number::<i32>();
    const _: () = _odm::validates_list::<Vec<String>>();
    #[automatically_derived]
    impl _odm::Referable for Account {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: _odm::Described = _odm::Probe::<ObjectId>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Account {
        type Id = ObjectId;
        type Itself = Self;
        const NAME: &'static str = "Account";
        const COLLECTION: &'static str = "accounts";
        const HASH: ::core::primitive::u64 = 8546887068214823613u64;
        fn id(&self) -> &ObjectId {
            &self.id
        }
        fn model() -> &'static _odm::Model {
            static ONE: _odm::Model = _odm::Model {
                indexes: &[
                    _odm::Index {
                        name: _odm::None,
                        unique: true,
                        case_insensitive: false,
                        filter: _odm::None,
                        fields: &[
                            _odm::index_field(
                                <<Account as _odm::Structure>::Fields<
                                    _odm::Root<Account>,
                                > as _odm::FieldSet>::NEW
                                    .email,
                                _odm::Direction::Ascending,
                            ),
                        ],
                    },
                    _odm::Index {
                        name: _odm::Some("by_country"),
                        unique: false,
                        case_insensitive: false,
                        filter: _odm::None,
                        fields: &[
                            _odm::index_field(
                                <<Account as _odm::Structure>::Fields<
                                    _odm::Root<Account>,
                                > as _odm::FieldSet>::NEW
                                    .country,
                                _odm::Direction::Ascending,
                            ),
                            _odm::index_field(
                                <<Account as _odm::Structure>::Fields<
                                    _odm::Root<Account>,
                                > as _odm::FieldSet>::NEW
                                    .joined,
                                _odm::Direction::Descending,
                            ),
                        ],
                    },
                    _odm::Index {
                        name: _odm::None,
                        unique: true,
                        case_insensitive: true,
                        filter: _odm::None,
                        fields: &[
                            {
                                let field = <<Account as _odm::Structure>::Fields<
                                    _odm::Root<Account>,
                                > as _odm::FieldSet>::NEW
                                    .name;
                                _odm::index_text(field, _odm::Direction::Ascending)
                            },
                        ],
                    },
                    _odm::Index {
                        name: _odm::None,
                        unique: false,
                        case_insensitive: false,
                        filter: _odm::Some(|| _odm::declared_filter::<Account>(active)),
                        fields: &[
                            _odm::index_field(
                                <<Account as _odm::Structure>::Fields<
                                    _odm::Root<Account>,
                                > as _odm::FieldSet>::NEW
                                    .score,
                                _odm::Direction::Ascending,
                            ),
                        ],
                    },
                    _odm::Index {
                        name: _odm::None,
                        unique: false,
                        case_insensitive: false,
                        filter: _odm::None,
                        fields: &[
                            _odm::index_field(
                                <<Account as _odm::Structure>::Fields<
                                    _odm::Root<Account>,
                                > as _odm::FieldSet>::NEW
                                    .seen,
                                _odm::Direction::Ascending,
                            ),
                        ],
                    },
                ],
                expires: _odm::Some(
                    _odm::expires(
                        <<Account as _odm::Structure>::Fields<
                            _odm::Root<Account>,
                        > as _odm::FieldSet>::NEW
                            .seen,
                        2592000u64,
                    ),
                ),
                validation: _odm::Validation {
                    level: _odm::ValidationLevel::Moderate,
                    action: _odm::ValidationAction::Warn,
                    schema: _odm::None,
                    check: _odm::Probe::<Account>::CHECK,
                },
                renamed: &[
                    _odm::Renamed {
                        from: "mail",
                        to: "email",
                    },
                ],
                .._odm::Probe::<Account>::BARE_MODEL
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Account> for ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Account> for &ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            _odm::clone_id::<Account>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Account {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as _odm::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Vec < String > as _odm::Known > ::RELATED,
            "`tags` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < DateTime as _odm::Known > ::RELATED,
            "`joined` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Account {
        type Child = Account;
    }
    #[automatically_derived]
    impl _odm::HasUnique<(_odm::FieldPath<_odm::Root<Account>, Account, 1>,)>
    for Account {
        const IGNORES_CASE: bool = true;
    }
    #[automatically_derived]
    impl _odm::HasUnique<(_odm::FieldPath<_odm::Root<Account>, Account, 2>,)>
    for Account {
        const IGNORES_CASE: bool = false;
    }
};
