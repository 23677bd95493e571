//! Passwords and certificates, which no list of processes shows.

use crate::support::{Folder, free_address, wait_until};

/// A certificate of `localhost` and of 127.0.0.1 by an authority of its own.
const TLS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../odm-server/tests/server/tls"
);

#[test]
fn a_user_comes_by_tls_with_a_password_from_a_file() {
    let folder = Folder::with_shop();
    folder.write("password", "correct horse\n");
    folder.write("wrong", "battery staple\n");
    let add = [
        "users",
        "add",
        "shop.odm",
        "ann",
        "--read-all",
        "--password-file",
        "password",
    ];
    folder.run(&add).done();
    let address = free_address();
    let (certificate, key) = (format!("{TLS}/server.pem"), format!("{TLS}/server.key"));
    let serve = [
        "serve",
        "shop.odm",
        "--listen",
        &address,
        "--users",
        "--tls-certificate",
        &certificate,
        "--tls-key",
        &key,
    ];
    let server = folder.start(&serve, "shop.odm.sock");
    wait_until(|| std::net::TcpStream::connect(&address).is_ok());
    let uri = format!(
        "mongodb://ann@{address}/shop?tls=true&tlsCAFile={TLS}/authority.pem&serverSelectionTimeoutMS=5000"
    );
    let find = ["find", &uri, "orders", "--count"];
    let with = |file: &'static str| [&find[..], &["--password-file", file]].concat();
    assert_eq!(folder.run(&with("password")).done(), "{\"count\":4}\n");
    let piped = folder.run_with_input(&with("-"), "correct horse\n");
    assert_eq!(piped.done(), "{\"count\":4}\n");
    let wrong = folder.run(&with("wrong")).fails(6);
    assert!(wrong.contains("Authentication"), "{wrong}");
    let missing = folder.run(&with("none")).fails(3);
    assert!(missing.contains("cannot read `none`"), "{missing}");
    // Nobody is asked where there is no terminal.
    let none = folder.run(&find);
    assert!(none.code != 0 && none.err.contains("password"), "{none:?}");
    // A client without TLS is not served.
    let plain = format!("mongodb://ann@{address}/shop?serverSelectionTimeoutMS=500");
    folder
        .run(&["info", &plain, "--password-file", "password"])
        .fails(8);
    let answer = server.interrupt();
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.contains("?tls=true"), "{answer:?}");
}

#[test]
fn a_certificate_that_cannot_be_used_is_told_before_the_file_is_opened() {
    let folder = Folder::with_shop();
    folder.write("text.pem", "a letter to a friend");
    let (certificate, key) = (format!("{TLS}/server.pem"), format!("{TLS}/server.key"));
    let authority = format!("{TLS}/authority.pem");
    for (certificate, key, code, named) in [
        ("none.pem", &*key, 3, "cannot read `none.pem`"),
        (&*certificate, "none.key", 3, "cannot read `none.key`"),
        ("text.pem", &*key, 2, "`text.pem` has no certificate in PEM"),
        (
            &*certificate,
            "text.pem",
            2,
            "`text.pem` has no private key in PEM",
        ),
        (&*authority, &*key, 2, "is refused"),
    ] {
        let serve = [
            "serve",
            "shop.odm",
            "--listen",
            "127.0.0.1:0",
            "--tls-certificate",
            certificate,
            "--tls-key",
            key,
        ];
        let message = folder.run(&serve).fails(code);
        assert!(message.contains(named), "{message}");
    }
    for arguments in [
        &[
            "serve",
            "shop.odm",
            "--tls-certificate",
            "a.pem",
            "--tls-key",
            "a.key",
        ][..],
        &[
            "serve",
            "shop.odm",
            "--listen",
            "127.0.0.1:0",
            "--tls-key",
            "a.key",
        ],
    ] {
        let answer = folder.run(arguments);
        assert_eq!(answer.code, 2, "{answer:?}");
    }
}
