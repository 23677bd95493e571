use proptest::prelude::*;

use super::*;

/// The challenge of the example of RFC 7677, with the password `pencil`.
fn example() -> Challenge {
    let salt = BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
    let credentials = Credentials::with_salt("pencil", &salt, 4096).unwrap();
    let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
    Challenge {
        signed: format!(
            "n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
        ),
        head: BASE64.encode("n,,"),
        nonce: nonce.to_owned(),
        credentials,
    }
}

const PROOF: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

#[test]
fn the_example_of_the_standard_is_proven_and_answered() {
    let answer = example().answer(PROOF.as_bytes());
    assert_eq!(
        answer.as_deref(),
        Some("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    );
}

#[test]
fn a_first_message_names_the_user_and_a_nonce() {
    let first = ClientFirst::parse(b"n,,n=a=2Cb=3Dc,r=xyz").unwrap();
    assert_eq!(
        (first.user.as_str(), first.nonce, first.head),
        ("a,b=c", "xyz", "n,,")
    );
    assert_eq!(first.bare, "n=a=2Cb=3Dc,r=xyz");
    let named = ClientFirst::parse(b"y,a=ann,n=ann,r=xyz,ext=1").unwrap();
    assert_eq!((named.head, named.nonce), ("y,a=ann,", "xyz"));
}

#[test]
fn a_first_message_that_wants_more_than_there_is_or_is_malformed_is_refused() {
    for message in [
        "",
        "n",
        "n,",
        "n,,",
        "n,,n=ann",
        "n,,r=xyz",
        "n,,n=ann,r=",
        "n,,n=,r=xyz",
        "n,,n=a=,r=xyz",
        "n,,n=a=2c,r=xyz",
        "n,,n=ann,r=x\u{7f}z",
        "n,,n=ann,r=x z",
        "n,,m=ext,n=ann,r=xyz",
        "n,a=ben,n=ann,r=xyz",
        "n,ann,n=ann,r=xyz",
        "p=tls-unique,,n=ann,r=xyz",
    ] {
        assert!(
            ClientFirst::parse(message.as_bytes()).is_none(),
            "{message}"
        );
    }
    let long = format!("n,,n=ann,r={}", "x".repeat(MAX_NONCE + 1));
    assert!(ClientFirst::parse(long.as_bytes()).is_none());
}

#[test]
fn a_proof_for_other_messages_is_none() {
    let challenge = example();
    for (part, other) in [
        ("biws", "eSws"),
        ("r=r", "r=R"),
        ("k0,", "k0k0,"),
        ("k0,", "k,"),
        ("p=d", "p=e"),
        ("VQ=", "VQ"),
        (",p=", ",q="),
        ("k0,", "k0,x=1,"),
    ] {
        let message = PROOF.replacen(part, other, 1);
        assert_ne!(message, PROOF);
        assert_eq!(challenge.answer(message.as_bytes()), None, "{message}");
    }
}

#[test]
fn a_password_is_prepared_and_never_empty_or_prohibited() {
    let salt = [7; SALT];
    let of = |password: &str| Credentials::with_salt(password, &salt, 1);
    // By SASLprep a soft hyphen is nothing, and a roman number is its letters.
    assert_eq!(
        of("I\u{ad}X").unwrap().stored_key,
        of("IX").unwrap().stored_key
    );
    assert_eq!(
        of("\u{2168}").unwrap().stored_key,
        of("IX").unwrap().stored_key
    );
    for password in ["", "\u{ad}", "\u{7}", "\u{627}\u{31}"] {
        assert_eq!(
            of(password).unwrap_err().kind(),
            ErrorKind::InvalidQuery,
            "{password:?}"
        );
    }
}

#[test]
fn a_name_without_a_user_has_the_same_salt_each_time_and_another_one_than_others() {
    let salt = |secret: u8, database: &str, name: &str| {
        Credentials::of_nobody(&[secret; 32], database, name)
            .unwrap()
            .salt
    };
    assert_eq!(salt(1, "shop", "ann"), salt(1, "shop", "ann"));
    assert_eq!(
        salt(1, "shop", "ann").len(),
        Credentials::of_password("x").unwrap().salt.len()
    );
    for other in [
        salt(2, "shop", "ann"),
        salt(1, "shop", "ben"),
        salt(1, "other", "ann"),
    ] {
        assert_ne!(salt(1, "shop", "ann"), other);
    }
}

proptest! {
    #[test]
    fn no_bytes_are_a_proof(bytes in proptest::collection::vec(any::<u8>(), 0..200), proof in any::<[u8; 32]>()) {
        let challenge = example();
        prop_assert_eq!(challenge.answer(&bytes), None);
        let (without, _) = PROOF.rsplit_once(",p=").unwrap();
        let message = format!("{without},p={}", BASE64.encode(proof));
        prop_assert_eq!(challenge.answer(message.as_bytes()), None);
    }

    #[test]
    fn a_first_message_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60), text in "[nyp=,armx2C3D]{0,24}") {
        for payload in [bytes.as_slice(), text.as_bytes()] {
            if let Some(first) = ClientFirst::parse(payload) {
                let whole = format!("{}{}", first.head, first.bare);
                prop_assert_eq!(whole.as_bytes(), payload);
                prop_assert!(!first.user.is_empty());
            }
        }
    }
}
