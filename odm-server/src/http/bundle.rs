//! The files of the page, as they are in the binary.

/// A file of the page.
pub(super) struct Asset {
    pub(super) path: &'static str,
    pub(super) kind: &'static str,
    pub(super) text: &'static str,
}

const fn asset(path: &'static str, kind: &'static str, text: &'static str) -> Asset {
    Asset { path, kind, text }
}

macro_rules! script {
    ($name:literal) => {
        asset(
            concat!("/", $name),
            "text/javascript; charset=utf-8",
            include_str!(concat!("page/", $name)),
        )
    };
}

/// The page, in which `{base}` stands for the path of the others.
pub(super) const INDEX: &str = include_str!("page/index.html");

/// The other files.
pub(super) const ASSETS: &[Asset] = &[
    asset(
        "/style.css",
        "text/css; charset=utf-8",
        include_str!("page/style.css"),
    ),
    asset("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    script!("app.js"),
    script!("server.js"),
    script!("values.js"),
    script!("elements.js"),
    script!("relations.js"),
    script!("documents.js"),
    script!("diagram.js"),
    script!("state.js"),
];
