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
    use ::odm::derive::Unknown as _;
    /// The fields of `Task`.
    pub struct TaskFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            ObjectId,
            ::odm::derive::FieldPath<P, Task, 0>,
            ::odm::derive::Identity,
        >,
        /// The title in one line.
        pub title_text: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Task, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `due`.
        pub due: ::odm::derive::Field<
            Option<DateTime>,
            ::odm::derive::FieldPath<P, Task, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `tags`.
        pub tags: ::odm::derive::Field<
            Vec<String>,
            ::odm::derive::FieldPath<P, Task, 3>,
            ::odm::derive::Plain,
        >,
        /// Stored as `priority`.
        pub priority: ::odm::derive::Field<
            i32,
            ::odm::derive::FieldPath<P, Task, 4>,
            ::odm::derive::Plain,
        >,
        /// Stored as `note`.
        pub note: ::odm::derive::Field<
            Option<String>,
            ::odm::derive::FieldPath<P, Task, 5>,
            ::odm::derive::Plain,
        >,
        /// Stored as `revision`.
        pub revision: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Task, 6>,
            ::odm::derive::Version,
        >,
        /// Stored as `created`.
        pub created: ::odm::derive::Field<
            DateTime,
            ::odm::derive::FieldPath<P, Task, 7>,
            ::odm::derive::WriteTime,
        >,
        /// Stored as `updated`.
        pub updated: ::odm::derive::Field<
            Option<DateTime>,
            ::odm::derive::FieldPath<P, Task, 8>,
            ::odm::derive::WriteTime,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for TaskFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            title_text: ::odm::derive::Field::NEW,
            due: ::odm::derive::Field::NEW,
            tags: ::odm::derive::Field::NEW,
            priority: ::odm::derive::Field::NEW,
            note: ::odm::derive::Field::NEW,
            revision: ::odm::derive::Field::NEW,
            created: ::odm::derive::Field::NEW,
            updated: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Task {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "titleText",
                hash: 14312967458638945866u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "due",
                hash: 14583848670718103765u64,
                optional: ::odm::derive::Probe::<Option<DateTime>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "tags",
                hash: 15644445103386232192u64,
                optional: true,
                defaulted: true,
            },
            ::odm::derive::StoredName {
                text: "priority",
                hash: 17705596872970477193u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "note",
                hash: 4321480622256717021u64,
                optional: ::odm::derive::Probe::<Option<String>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "revision",
                hash: 15466728656978478680u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "created",
                hash: 16258158586571091195u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "updated",
                hash: 4876337963743452560u64,
                optional: ::odm::derive::Probe::<Option<DateTime>>::OPTIONAL,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = TaskFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Task",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<ObjectId>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "titleText",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "due",
                        ::odm::derive::Probe::<Option<DateTime>>::DESCRIBED,
                        !::odm::derive::Probe::<Option<DateTime>>::FROM_NOTHING,
                    ),
                    ::odm::derive::known(
                        "tags",
                        ::odm::derive::Probe::<Vec<String>>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                            "priority",
                            ::odm::derive::Probe::<i32>::DESCRIBED,
                            true,
                        )
                        .shown_as("weight"),
                    ::odm::derive::known(
                            "note",
                            ::odm::derive::Probe::<Option<String>>::DESCRIBED,
                            !::odm::derive::Probe::<Option<String>>::FROM_NOTHING,
                        )
                        .hidden(),
                    ::odm::derive::known(
                        "revision",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "created",
                        ::odm::derive::Probe::<DateTime>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "updated",
                        ::odm::derive::Probe::<Option<DateTime>>::DESCRIBED,
                        !::odm::derive::Probe::<Option<DateTime>>::FROM_NOTHING,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Task {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<
            ObjectId,
        >::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Task {
        type Id = ObjectId;
        type Itself = Self;
        const COLLECTION: &'static str = "tasks";
        const HASH: ::core::primitive::u64 = 565226122958520589u64;
        fn id(&self) -> &ObjectId {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Task",
                collection: "tasks",
                shape: <Task as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::Some("revision"),
                created_at: ::core::option::Option::Some("created"),
                updated_at: ::core::option::Option::Some("updated"),
                schema: ::odm::derive::schema_of::<Task>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Task>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Task>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Task> for ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Task> for &ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            ::odm::derive::clone_id::<Task>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Task {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as ::odm::derive::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`title_text` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < DateTime > as ::odm::derive::Known > ::RELATED,
            "`due` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Vec < String > as ::odm::derive::Known > ::RELATED,
            "`tags` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < String > as ::odm::derive::Known > ::RELATED,
            "`note` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < DateTime as ::odm::derive::Known > ::RELATED,
            "`created` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::Versioned for Task {
        type Version = i64;
    }
    const _: () = ::odm::derive::write_time::<DateTime>();
    const _: () = ::odm::derive::write_time::<Option<DateTime>>();
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Task {
        type Child = Task;
    }
};
