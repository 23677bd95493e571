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
    use ::odm::derive::Unknown as _;
    /// The fields of `Account`.
    pub struct AccountFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            ObjectId,
            ::odm::derive::FieldPath<P, Account, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `name`.
        pub name: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Account, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `email`.
        pub email: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Account, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `country`.
        pub country: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Account, 3>,
            ::odm::derive::Plain,
        >,
        /// Stored as `score`.
        pub score: ::odm::derive::Field<
            i32,
            ::odm::derive::FieldPath<P, Account, 4>,
            ::odm::derive::Plain,
        >,
        /// Stored as `tags`.
        pub tags: ::odm::derive::Field<
            Vec<String>,
            ::odm::derive::FieldPath<P, Account, 5>,
            ::odm::derive::Plain,
        >,
        /// Stored as `joined`.
        pub joined: ::odm::derive::Field<
            DateTime,
            ::odm::derive::FieldPath<P, Account, 6>,
            ::odm::derive::Plain,
        >,
        /// Stored as `seen`.
        pub seen: ::odm::derive::Field<
            DateTime,
            ::odm::derive::FieldPath<P, Account, 7>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for AccountFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            name: ::odm::derive::Field::NEW,
            email: ::odm::derive::Field::NEW,
            country: ::odm::derive::Field::NEW,
            score: ::odm::derive::Field::NEW,
            tags: ::odm::derive::Field::NEW,
            joined: ::odm::derive::Field::NEW,
            seen: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Account {
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
                text: "email",
                hash: 1311787414694181895u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "country",
                hash: 8607070979307499377u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "score",
                hash: 13911166232573650165u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "tags",
                hash: 15644445103386232192u64,
                optional: ::odm::derive::Probe::<Vec<String>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "joined",
                hash: 11298048307140238992u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "seen",
                hash: 3241143781527703850u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = AccountFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Account",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<ObjectId>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                            "name",
                            ::odm::derive::Probe::<String>::DESCRIBED,
                            true,
                        )
                        .rules(
                            &[
                                ::odm::derive::Rule {
                                    keyword: "minLength",
                                    value: ::odm::derive::RuleValue::Integer(1i64),
                                },
                                ::odm::derive::Rule {
                                    keyword: "maxLength",
                                    value: ::odm::derive::RuleValue::Integer(40i64),
                                },
                            ],
                        ),
                    ::odm::derive::known(
                            "email",
                            ::odm::derive::Probe::<String>::DESCRIBED,
                            true,
                        )
                        .rules(
                            &[
                                ::odm::derive::Rule {
                                    keyword: "pattern",
                                    value: ::odm::derive::RuleValue::Text("^[^@]+@[^@]+$"),
                                },
                            ],
                        ),
                    ::odm::derive::known(
                            "country",
                            ::odm::derive::Probe::<String>::DESCRIBED,
                            true,
                        )
                        .rules(
                            &[
                                ::odm::derive::Rule {
                                    keyword: "enum",
                                    value: ::odm::derive::RuleValue::List(
                                        &[
                                            ::odm::derive::RuleValue::Text("at"),
                                            ::odm::derive::RuleValue::Text("de"),
                                        ],
                                    ),
                                },
                            ],
                        ),
                    ::odm::derive::known(
                            "score",
                            ::odm::derive::Probe::<i32>::DESCRIBED,
                            true,
                        )
                        .rules(
                            &[
                                ::odm::derive::Rule {
                                    keyword: "minimum",
                                    value: ::odm::derive::RuleValue::Integer(0i64),
                                },
                                ::odm::derive::Rule {
                                    keyword: "maximum",
                                    value: ::odm::derive::RuleValue::Integer(100i64),
                                },
                                ::odm::derive::Rule {
                                    keyword: "exclusiveMaximum",
                                    value: ::odm::derive::RuleValue::Bool(true),
                                },
                            ],
                        ),
                    ::odm::derive::known(
                            "tags",
                            ::odm::derive::Probe::<Vec<String>>::DESCRIBED,
                            !::odm::derive::Probe::<Vec<String>>::FROM_NOTHING,
                        )
                        .rules(
                            &[
                                ::odm::derive::Rule {
                                    keyword: "maxItems",
                                    value: ::odm::derive::RuleValue::Integer(9i64),
                                },
                                ::odm::derive::Rule {
                                    keyword: "uniqueItems",
                                    value: ::odm::derive::RuleValue::Bool(true),
                                },
                            ],
                        ),
                    ::odm::derive::known(
                        "joined",
                        ::odm::derive::Probe::<DateTime>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "seen",
                        ::odm::derive::Probe::<DateTime>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    const _: () = ::odm::derive::validates_text::<String>();
    const _: () = ::odm::derive::validates_text::<String>();
    const _: () = ::odm::derive::validates_text::<String>();
    const _: () = ::odm::derive::validates_number::<i32>();
    const _: () = ::odm::derive::validates_list::<Vec<String>>();
    #[automatically_derived]
    impl ::odm::derive::Referable for Account {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<
            ObjectId,
        >::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Account {
        type Id = ObjectId;
        type Itself = Self;
        const COLLECTION: &'static str = "accounts";
        const HASH: ::core::primitive::u64 = 8546887068214823613u64;
        fn id(&self) -> &ObjectId {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Account",
                collection: "accounts",
                shape: <Account as ::odm::derive::Structure>::shape,
                indexes: &[
                    ::odm::derive::Index {
                        name: ::core::option::Option::None,
                        unique: true,
                        case_insensitive: false,
                        filter: ::core::option::Option::None,
                        fields: &[
                            ::odm::derive::index_field(
                                <<Account as ::odm::derive::Structure>::Fields<
                                    ::odm::derive::Root<Account>,
                                > as ::odm::derive::FieldSet>::NEW
                                    .email,
                                ::odm::derive::Direction::Ascending,
                            ),
                        ],
                    },
                    ::odm::derive::Index {
                        name: ::core::option::Option::Some("by_country"),
                        unique: false,
                        case_insensitive: false,
                        filter: ::core::option::Option::None,
                        fields: &[
                            ::odm::derive::index_field(
                                <<Account as ::odm::derive::Structure>::Fields<
                                    ::odm::derive::Root<Account>,
                                > as ::odm::derive::FieldSet>::NEW
                                    .country,
                                ::odm::derive::Direction::Ascending,
                            ),
                            ::odm::derive::index_field(
                                <<Account as ::odm::derive::Structure>::Fields<
                                    ::odm::derive::Root<Account>,
                                > as ::odm::derive::FieldSet>::NEW
                                    .joined,
                                ::odm::derive::Direction::Descending,
                            ),
                        ],
                    },
                    ::odm::derive::Index {
                        name: ::core::option::Option::None,
                        unique: true,
                        case_insensitive: true,
                        filter: ::core::option::Option::None,
                        fields: &[
                            {
                                let field = <<Account as ::odm::derive::Structure>::Fields<
                                    ::odm::derive::Root<Account>,
                                > as ::odm::derive::FieldSet>::NEW
                                    .name;
                                ::odm::derive::index_text(
                                    field,
                                    ::odm::derive::Direction::Ascending,
                                )
                            },
                        ],
                    },
                    ::odm::derive::Index {
                        name: ::core::option::Option::None,
                        unique: false,
                        case_insensitive: false,
                        filter: ::core::option::Option::Some(|| ::odm::derive::declared_filter::<
                            Account,
                        >(active)),
                        fields: &[
                            ::odm::derive::index_field(
                                <<Account as ::odm::derive::Structure>::Fields<
                                    ::odm::derive::Root<Account>,
                                > as ::odm::derive::FieldSet>::NEW
                                    .score,
                                ::odm::derive::Direction::Ascending,
                            ),
                        ],
                    },
                    ::odm::derive::Index {
                        name: ::core::option::Option::None,
                        unique: false,
                        case_insensitive: false,
                        filter: ::core::option::Option::None,
                        fields: &[
                            ::odm::derive::index_field(
                                <<Account as ::odm::derive::Structure>::Fields<
                                    ::odm::derive::Root<Account>,
                                > as ::odm::derive::FieldSet>::NEW
                                    .seen,
                                ::odm::derive::Direction::Ascending,
                            ),
                        ],
                    },
                ],
                expires: ::core::option::Option::Some(
                    ::odm::derive::expires(
                        <<Account as ::odm::derive::Structure>::Fields<
                            ::odm::derive::Root<Account>,
                        > as ::odm::derive::FieldSet>::NEW
                            .seen,
                        2592000u64,
                    ),
                ),
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Account>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Moderate,
                    action: ::odm::derive::ValidationAction::Warn,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Account>::CHECK,
                },
                renamed: &[
                    ::odm::derive::Renamed {
                        from: "mail",
                        to: "email",
                    },
                ],
                readable: ::odm::derive::Probe::<Account>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Account> for ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Account> for &ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            ::odm::derive::clone_id::<Account>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Account {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as ::odm::derive::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Vec < String > as ::odm::derive::Known > ::RELATED,
            "`tags` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < DateTime as ::odm::derive::Known > ::RELATED,
            "`joined` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Account {
        type Child = Account;
    }
    #[automatically_derived]
    impl ::odm::derive::HasUnique<
        (::odm::derive::FieldPath<::odm::derive::Root<Account>, Account, 1>,),
    > for Account {
        const IGNORES_CASE: bool = true;
    }
    #[automatically_derived]
    impl ::odm::derive::HasUnique<
        (::odm::derive::FieldPath<::odm::derive::Root<Account>, Account, 2>,),
    > for Account {
        const IGNORES_CASE: bool = false;
    }
};
