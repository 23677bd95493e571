//! The pages of the guide in `docs/guide`: each shows a program of `examples/guide`, and what it prints.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

use super::pages::{blocks, example, output, pages, read, root, stands_in};

/// The pages of the guide, by the names of their programs, with their texts.
fn guide() -> Vec<(String, String)> {
    let pages = pages().into_iter().filter(|page| page.starts_with("guide/"));
    let text = |page: &str| read(&root().join("docs").join(page));
    let pages: Vec<_> = pages
        .map(|page| {
            let name = page.trim_start_matches("guide/").trim_end_matches(".md");
            (name.to_owned(), text(&page))
        })
        .collect();
    assert!(pages.len() > 7);
    pages
}

#[test]
fn each_block_of_the_guide_is_in_a_program() {
    let models = read(&root().join("examples/src/shop.rs"));
    for (name, text) in guide() {
        let program = read(&root().join(format!("examples/guide/{name}.rs")));
        let shown: Vec<_> = blocks(&text).into_iter().filter(|(of, _)| of == "rust").collect();
        assert!(!shown.is_empty(), "{name}.md");
        for (_, block) in shown {
            let is_there = stands_in(&block, &program) || stands_in(&block, &models);
            assert!(is_there, "{name}.md, not in examples/guide/{name}.rs:\n{block}");
        }
    }
}

#[test]
fn the_guide_shows_what_its_programs_print() {
    let mut number = 0;
    for (name, text) in guide() {
        for (_, block) in blocks(&text).into_iter().filter(|(language, _)| language == "text") {
            assert_eq!(block.trim_end(), output(&format!("guide_{name}")).trim_end(), "{name}.md");
            number += 1;
        }
    }
    assert_eq!(number, 5);
}

/// Six minutes at two hundred words a minute.
#[test]
fn a_page_of_the_guide_is_read_in_six_minutes() {
    for (name, text) in guide() {
        let words = text.split_whitespace().count();
        assert!(words <= 1_200, "{name}.md has {words} words");
    }
}

/// A program that is stopped with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The body of the answer to a request as a command of `curl` in the page states it.
fn answer(address: &str, command: &str) -> String {
    let (_, rest) = command.split_once("localhost:3000").expect("an address");
    let path: String = rest.chars().take_while(|c| ![' ', '\''].contains(c)).collect();
    let body = rest.split_once("-d '").map(|(_, body)| body.trim_end_matches('\''));
    let (method, body) = body.map_or(("GET", ""), |body| ("POST", body));
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer.split_once("\r\n\r\n").expect("an answer has a body").1.to_owned()
}

#[test]
fn the_service_of_the_guide_answers_as_the_page_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = example("guide_service");
    program.arg("127.0.0.1:0").current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut service = Running(program.spawn().expect("it starts"));
    let mut line = String::new();
    BufReader::new(service.0.stdout.take().expect("it is piped"))
        .read_line(&mut line)
        .expect("it prints its address");
    let address = line.trim_end().trim_start_matches("http://");

    let text = read(&root().join("docs/guide/service.md"));
    let shown = blocks(&text).into_iter().find(|(_, block)| block.starts_with("$ curl"));
    let (_, shown) = shown.expect("the page has requests");
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 10);
    for request in lines.chunks(2) {
        assert_eq!(answer(address, request[0]), request[1], "{}", request[0]);
    }
}
