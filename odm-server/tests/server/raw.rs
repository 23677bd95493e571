//! A client that sends bytes.

use odm::bson::{Document, RawDocumentBuf, doc};
use odm_server::Server;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const OP_MSG: i32 = 2013;

pub(crate) struct RawClient {
    pub(crate) stream: TcpStream,
}

impl RawClient {
    pub(crate) async fn new(server: &Server) -> RawClient {
        let address = server.local_addr().expect("it listens at TCP");
        let stream = TcpStream::connect(address).await.unwrap();
        RawClient { stream }
    }

    /// Sends a message with this content after the header.
    pub(crate) async fn send(&mut self, opcode: i32, content: &[u8]) {
        self.stream
            .write_all(&message(opcode, content))
            .await
            .unwrap();
    }

    /// Receives a reply, or `None` if the connection was closed.
    pub(crate) async fn receive(&mut self) -> Option<Document> {
        let mut header = [0; 16];
        self.stream.read_exact(&mut header).await.ok()?;
        let length = i32::from_le_bytes(header[..4].try_into().unwrap());
        let opcode = i32::from_le_bytes(header[12..].try_into().unwrap());
        let mut content = vec![0; usize::try_from(length).unwrap() - 16];
        self.stream.read_exact(&mut content).await.ok()?;
        let document = match opcode {
            OP_MSG => &content[5..],
            1 => &content[20..],
            other => panic!("{other}"),
        };
        let document = RawDocumentBuf::from_bytes(document.to_vec()).unwrap();
        Some(Document::try_from(document).unwrap())
    }

    /// Runs a command of the database `shop`.
    pub(crate) async fn run(&mut self, mut command: Document) -> Option<Document> {
        command.insert("$db", "shop");
        self.send(OP_MSG, &body(0, &command)).await;
        self.receive().await
    }

    /// Whether the server answers still.
    pub(crate) async fn is_served(&mut self) -> bool {
        self.run(doc! { "ping": 1 }).await.is_some()
    }
}

pub(crate) fn message(opcode: i32, content: &[u8]) -> Vec<u8> {
    let length = i32::try_from(16 + content.len()).unwrap();
    let mut message = Vec::new();
    for number in [length, 7, 0, opcode] {
        message.extend(number.to_le_bytes());
    }
    message.extend(content);
    message
}

/// The content of a message with a body.
pub(crate) fn body(flags: u32, command: &Document) -> Vec<u8> {
    let mut content = flags.to_le_bytes().to_vec();
    content.push(0);
    content.extend(command.to_vec().unwrap());
    content
}
