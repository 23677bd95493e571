//! The rules of `#[serde(rename_all = "..")]`, exactly as serde applies them.

/// How names are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseRule {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl CaseRule {
    /// The rule of this name. serde reports one that does not exist.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "lowercase" => CaseRule::Lower,
            "UPPERCASE" => CaseRule::Upper,
            "PascalCase" => CaseRule::Pascal,
            "camelCase" => CaseRule::Camel,
            "snake_case" => CaseRule::Snake,
            "SCREAMING_SNAKE_CASE" => CaseRule::ScreamingSnake,
            "kebab-case" => CaseRule::Kebab,
            "SCREAMING-KEBAB-CASE" => CaseRule::ScreamingKebab,
            _ => return None,
        })
    }

    /// The stored name of a field.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            // serde takes a field to be in snake case, and lower case, already.
            CaseRule::Lower | CaseRule::Snake => name.to_owned(),
            CaseRule::Upper | CaseRule::ScreamingSnake => name.to_ascii_uppercase(),
            CaseRule::Pascal => {
                let mut pascal = String::new();
                let mut capital = true;
                for c in name.chars() {
                    if c == '_' {
                        capital = true;
                    } else if capital {
                        pascal.push(c.to_ascii_uppercase());
                        capital = false;
                    } else {
                        pascal.push(c);
                    }
                }
                pascal
            }
            CaseRule::Camel => first_lower(&CaseRule::Pascal.field(name)),
            CaseRule::Kebab => name.replace('_', "-"),
            CaseRule::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// The stored name of a variant.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            CaseRule::Pascal => name.to_owned(),
            CaseRule::Lower => name.to_ascii_lowercase(),
            CaseRule::Upper => name.to_ascii_uppercase(),
            CaseRule::Camel => first_lower(name),
            CaseRule::Snake => {
                let mut snake = String::new();
                for (i, c) in name.char_indices() {
                    if i > 0 && c.is_uppercase() {
                        snake.push('_');
                    }
                    snake.push(c.to_ascii_lowercase());
                }
                snake
            }
            CaseRule::ScreamingSnake => CaseRule::Snake.variant(name).to_ascii_uppercase(),
            CaseRule::Kebab => CaseRule::Snake.variant(name).replace('_', "-"),
            CaseRule::ScreamingKebab => CaseRule::ScreamingSnake.variant(name).replace('_', "-"),
        }
    }
}

fn first_lower(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + chars.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::CaseRule;

    const RULES: [&str; 8] = [
        "lowercase",
        "UPPERCASE",
        "PascalCase",
        "camelCase",
        "snake_case",
        "SCREAMING_SNAKE_CASE",
        "kebab-case",
        "SCREAMING-KEBAB-CASE",
    ];

    fn all(apply: impl Fn(CaseRule) -> String) -> Vec<String> {
        RULES
            .iter()
            .map(|name| apply(CaseRule::of(name).unwrap()))
            .collect()
    }

    // `tests` compares the names with those of serde, which is at hand there.
    #[test]
    fn fields() {
        assert_eq!(
            all(|rule| rule.field("very_tasty")),
            [
                "very_tasty",
                "VERY_TASTY",
                "VeryTasty",
                "veryTasty",
                "very_tasty",
                "VERY_TASTY",
                "very-tasty",
                "VERY-TASTY"
            ]
        );
        assert_eq!(CaseRule::Camel.field("_id"), "id");
        assert_eq!(CaseRule::Pascal.field("a__b_2"), "AB2");
        assert_eq!(CaseRule::Camel.field("_"), "");
    }

    #[test]
    fn variants() {
        assert_eq!(
            all(|rule| rule.variant("VeryTasty")),
            [
                "verytasty",
                "VERYTASTY",
                "VeryTasty",
                "veryTasty",
                "very_tasty",
                "VERY_TASTY",
                "very-tasty",
                "VERY-TASTY"
            ]
        );
        assert_eq!(CaseRule::Snake.variant("Z42B"), "z42_b");
    }

    #[test]
    fn other_names_are_no_rules() {
        assert_eq!(CaseRule::of("Camel"), None);
    }
}
