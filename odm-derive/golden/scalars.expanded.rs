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
        const NAMES: &'static [&'static str] = &[
            "_id",
            "titleText",
            "due",
            "tags",
            "priority",
            "note",
            "revision",
            "created",
            "updated",
        ];
        const HASHES: &'static [::core::primitive::u64] = &[
            13334660529758004755u64, 14312967458638945866u64, 14583848670718103765u64,
            15644445103386232192u64, 17705596872970477193u64, 4321480622256717021u64,
            15466728656978478680u64, 16258158586571091195u64, 4876337963743452560u64,
        ];
        const OPTIONAL: &'static [bool] = &[
            ::odm::derive::Probe::<ObjectId>::OPTIONAL,
            ::odm::derive::Probe::<String>::OPTIONAL,
            ::odm::derive::Probe::<Option<DateTime>>::OPTIONAL,
            true,
            ::odm::derive::Probe::<i32>::OPTIONAL,
            ::odm::derive::Probe::<Option<String>>::OPTIONAL,
            ::odm::derive::Probe::<i64>::OPTIONAL,
            ::odm::derive::Probe::<DateTime>::OPTIONAL,
            ::odm::derive::Probe::<Option<DateTime>>::OPTIONAL,
        ];
        const DEFAULTED: &'static [bool] = &[
            false, false, false, true, false, false, false, false, false,
        ];
        type Fields<P: ::odm::derive::Path> = TaskFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Task",
                fields: &[
                    ::odm::derive::plain("_id")
                        .of(::odm::derive::Probe::<ObjectId>::DESCRIBED),
                    ::odm::derive::plain("titleText")
                        .of(::odm::derive::Probe::<String>::DESCRIBED)
                        .required(true),
                    ::odm::derive::plain("due")
                        .of(::odm::derive::Probe::<Option<DateTime>>::DESCRIBED)
                        .required(
                            !::odm::derive::Probe::<Option<DateTime>>::FROM_NOTHING,
                        ),
                    ::odm::derive::plain("tags")
                        .of(::odm::derive::Probe::<Vec<String>>::DESCRIBED),
                    ::odm::derive::plain("priority")
                        .shown_as("weight")
                        .of(::odm::derive::Probe::<i32>::DESCRIBED)
                        .required(true),
                    ::odm::derive::plain("note")
                        .hidden()
                        .of(::odm::derive::Probe::<Option<String>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Option<String>>::FROM_NOTHING),
                    ::odm::derive::plain("revision")
                        .of(::odm::derive::Probe::<i64>::DESCRIBED),
                    ::odm::derive::plain("created")
                        .of(::odm::derive::Probe::<DateTime>::DESCRIBED)
                        .required(true),
                    ::odm::derive::plain("updated")
                        .of(::odm::derive::Probe::<Option<DateTime>>::DESCRIBED)
                        .required(
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
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`title_text` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < DateTime > as ::odm::derive::Known > ::RELATED,
            "`due` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Vec < String > as ::odm::derive::Known > ::RELATED,
            "`tags` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < i32 as ::odm::derive::Known > ::RELATED,
            "`priority` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < Option < String > as ::odm::derive::Known > ::RELATED,
            "`note` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < i64 as ::odm::derive::Known > ::RELATED,
            "`revision` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
        );
        ::core::assert!(
            ! < DateTime as ::odm::derive::Known > ::RELATED,
            "`created` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]` or `#[split(..)]`"
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
        const SHOWN: ::core::option::Option<fn() -> &'static ::odm::derive::Shape> = ::core::option::Option::None;
        const NESTED: bool = false;
        const NAMES: &'static ::odm::derive::ShownNames = <Self as ::odm::derive::Structure>::SHOWN;
    }
};
