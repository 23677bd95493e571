// `Document` of `Task`

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
    /// The fields of `Task`.
    pub struct TaskFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<ObjectId, _odm::FieldPath<P, Task, 0>, _odm::Identity>,
        /// The title in one line.
        pub title_text: _odm::Field<String, _odm::FieldPath<P, Task, 1>, _odm::Plain>,
        /// Stored as `due`.
        pub due: _odm::Field<Option<DateTime>, _odm::FieldPath<P, Task, 2>, _odm::Plain>,
        /// Stored as `tags`.
        pub tags: _odm::Field<Vec<String>, _odm::FieldPath<P, Task, 3>, _odm::Plain>,
        /// Stored as `priority`.
        pub priority: _odm::Field<i32, _odm::FieldPath<P, Task, 4>, _odm::Plain>,
        /// Stored as `note`.
        pub note: _odm::Field<Option<String>, _odm::FieldPath<P, Task, 5>, _odm::Plain>,
        /// Stored as `revision`.
        pub revision: _odm::Field<i64, _odm::FieldPath<P, Task, 6>, _odm::Version>,
        /// Stored as `created`.
        pub created: _odm::Field<DateTime, _odm::FieldPath<P, Task, 7>, _odm::WriteTime>,
        /// Stored as `updated`.
        pub updated: _odm::Field<
            Option<DateTime>,
            _odm::FieldPath<P, Task, 8>,
            _odm::WriteTime,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for TaskFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            title_text: _odm::TypedField::TYPED,
            due: _odm::TypedField::TYPED,
            tags: _odm::TypedField::TYPED,
            priority: _odm::TypedField::TYPED,
            note: _odm::TypedField::TYPED,
            revision: _odm::TypedField::TYPED,
            created: _odm::TypedField::TYPED,
            updated: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Task {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "titleText",
                hash: 14312967458638945866u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "due",
                hash: 14583848670718103765u64,
                optional: _odm::Probe::<Option<DateTime>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "tags",
                hash: 15644445103386232192u64,
                optional: true,
                defaulted: true,
            },
            _odm::StoredName {
                text: "priority",
                hash: 17705596872970477193u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "note",
                hash: 4321480622256717021u64,
                optional: _odm::Probe::<Option<String>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "revision",
                hash: 15466728656978478680u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "created",
                hash: 16258158586571091195u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "updated",
                hash: 4876337963743452560u64,
                optional: _odm::Probe::<Option<DateTime>>::OPTIONAL,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = TaskFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Task",
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
                            name: "titleText",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("titleText"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "due",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<Option<DateTime>>::DESCRIBED,
                            public: _odm::Some("due"),
                            copied: _odm::None,
                            required: !_odm::Probe::<Option<DateTime>>::FROM_NOTHING,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "tags",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<Vec<String>>::DESCRIBED,
                            public: _odm::Some("tags"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "priority",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i32>::DESCRIBED,
                            public: _odm::Some("weight"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "note",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<Option<String>>::DESCRIBED,
                            public: _odm::None,
                            copied: _odm::None,
                            required: !_odm::Probe::<Option<String>>::FROM_NOTHING,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "revision",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i64>::DESCRIBED,
                            public: _odm::Some("revision"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "created",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<DateTime>::DESCRIBED,
                            public: _odm::Some("created"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "updated",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<Option<DateTime>>::DESCRIBED,
                            public: _odm::Some("updated"),
                            copied: _odm::None,
                            required: !_odm::Probe::<Option<DateTime>>::FROM_NOTHING,
                            rules: &[],
                        },
                    ],
                }
            }
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Task {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: _odm::Described = _odm::Probe::<ObjectId>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Task {
        type Id = ObjectId;
        type Itself = Self;
        const NAME: &'static str = "Task";
        const COLLECTION: &'static str = "tasks";
        const HASH: ::core::primitive::u64 = 565226122958520589u64;
        fn id(&self) -> &ObjectId {
            &self.id
        }
        fn model() -> &'static _odm::Model {
            static ONE: _odm::Model = _odm::Model {
                version: _odm::Some("revision"),
                created_at: _odm::Some("created"),
                updated_at: _odm::Some("updated"),
                .._odm::Probe::<Task>::BARE_MODEL
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Task> for ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Task> for &ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            _odm::clone_id::<Task>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Task {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as _odm::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`title_text` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < DateTime > as _odm::Known > ::RELATED,
            "`due` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Vec < String > as _odm::Known > ::RELATED,
            "`tags` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < String > as _odm::Known > ::RELATED,
            "`note` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < DateTime as _odm::Known > ::RELATED,
            "`created` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::Versioned for Task {
        type Version = i64;
    }
    const _: () = _odm::write_time::<DateTime>();
    const _: () = _odm::write_time::<Option<DateTime>>();
    #[automatically_derived]
    impl _odm::SubsetItem for Task {
        type Child = Task;
    }
};
