//! Mistakes in models and queries that the compiler must find, one file each, named after it, in a folder for each topic. The `.stderr`
//! beside a file has the message to the user.

#[test]
fn each_mistake_is_refused_with_its_own_message() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile-fail/*/*.rs");
}
