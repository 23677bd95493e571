//! The locales of MongoDB's collations.

/// The locales with the variants that the data of ICU4X has of them.
pub(super) const LOCALES: [(&str, &[&str]); 109] = [
    ("af", &[]),
    ("am", &[]),
    ("ar", &["compat"]),
    ("as", &[]),
    ("az", &[]),
    ("be", &[]),
    ("bg", &[]),
    ("bn", &["traditional"]),
    ("bo", &[]),
    ("bs", &[]),
    ("bs_Cyrl", &[]),
    ("ca", &[]),
    ("chr", &[]),
    ("cs", &[]),
    ("cy", &[]),
    ("da", &[]),
    ("de", &["eor", "phonebook"]),
    ("de_AT", &["phonebook"]),
    ("dsb", &[]),
    ("dz", &[]),
    ("ee", &[]),
    ("el", &[]),
    ("en", &[]),
    ("en_US", &[]),
    ("en_US_POSIX", &[]),
    ("eo", &[]),
    ("es", &["traditional"]),
    ("et", &[]),
    ("fa", &[]),
    ("fa_AF", &[]),
    ("fi", &["traditional"]),
    ("fil", &[]),
    ("fo", &[]),
    ("fr", &[]),
    ("fr_CA", &[]),
    ("ga", &[]),
    ("gl", &[]),
    ("gu", &[]),
    ("ha", &[]),
    ("haw", &[]),
    ("he", &[]),
    ("hi", &[]),
    ("hr", &[]),
    ("hsb", &[]),
    ("hu", &[]),
    ("hy", &[]),
    ("id", &[]),
    ("ig", &[]),
    ("is", &[]),
    ("it", &[]),
    ("ja", &["unihan"]),
    ("ka", &[]),
    ("kk", &[]),
    ("kl", &[]),
    ("km", &[]),
    ("kn", &["traditional"]),
    ("ko", &["unihan"]),
    ("kok", &[]),
    ("ky", &[]),
    ("lb", &[]),
    ("lkt", &[]),
    ("ln", &[]),
    ("lo", &[]),
    ("lt", &[]),
    ("lv", &[]),
    ("mk", &[]),
    ("ml", &[]),
    ("mn", &[]),
    ("mr", &[]),
    ("ms", &[]),
    ("mt", &[]),
    ("my", &[]),
    ("nb", &[]),
    ("ne", &[]),
    ("nl", &[]),
    ("nn", &[]),
    ("om", &[]),
    ("or", &[]),
    ("pa", &[]),
    ("pl", &[]),
    ("ps", &[]),
    ("pt", &[]),
    ("ro", &[]),
    ("ru", &[]),
    ("se", &[]),
    ("si", &["dictionary"]),
    ("sk", &[]),
    ("sl", &[]),
    ("smn", &[]),
    ("sq", &[]),
    ("sr", &[]),
    ("sr_Latn", &[]),
    ("sv", &[]),
    ("sw", &[]),
    ("ta", &[]),
    ("te", &[]),
    ("th", &[]),
    ("to", &[]),
    ("tr", &[]),
    ("ug", &[]),
    ("uk", &[]),
    ("ur", &[]),
    ("vi", &["traditional"]),
    ("wae", &[]),
    ("yi", &[]),
    ("yo", &[]),
    ("zh", &["pinyin", "stroke", "unihan", "zhuyin"]),
    ("zh_Hant", &["pinyin", "stroke"]),
    ("zu", &[]),
];

/// Variants that MongoDB has of some locales, and the data of ICU4X does not have.
const OTHER_VARIANTS: [&str; 5] = ["big5han", "gb2312han", "phonetic", "search", "searchjl"];

/// The kind of a locale that a request names.
pub(super) enum KnownLocale {
    /// One that can be used, with its name in the form of BCP 47.
    Supported(String),
    /// One that MongoDB may have, and this library does not.
    Unsupported,
    /// None of MongoDB's.
    Unknown,
}

/// Looks a locale up. Its name is the one that MongoDB accepts, letter for letter.
pub(super) fn find(name: &str) -> KnownLocale {
    let (base, variant) = match name.split_once("@collation=") {
        Some((base, variant)) => (base, Some(variant)),
        None => (name, None),
    };
    let Some((_, variants)) = LOCALES.iter().find(|(other, _)| *other == base) else {
        return KnownLocale::Unknown;
    };
    let tag = base.replace('_', "-");
    match variant {
        None => KnownLocale::Supported(tag),
        Some(variant) if variants.contains(&variant) => {
            let short = match variant {
                "dictionary" => "dict",
                "phonebook" => "phonebk",
                "traditional" => "trad",
                other => other,
            };
            KnownLocale::Supported(format!("{tag}-u-co-{short}"))
        }
        Some(variant) if OTHER_VARIANTS.contains(&variant) => KnownLocale::Unsupported,
        Some(_) => KnownLocale::Unknown,
    }
}
