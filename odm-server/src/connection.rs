//! One connection: a command at a time, from its message to its reply.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{SemaphorePermit, watch},
};

use crate::{
    auth::Authentication,
    command,
    error::CommandError,
    message::{self, HEADER, Header, Malformed, ReplyForm, Request},
    server::ServerState,
};

/// Messages up to this length are received without asking for memory.
const SMALL: usize = 64 << 10;

/// How much of a message is received before memory for more of it is taken.
const CHUNK: usize = 1 << 20;

/// How long a message that has begun may take, and how much longer for each MiB of it.
const TIME: Duration = Duration::from_secs(30);
const TIME_PER_MIB: Duration = Duration::from_secs(1);

/// How long a message of a length may take: meanwhile it has its part of the memory.
fn time_for(length: usize) -> Duration {
    let mibs = u32::try_from(length.div_ceil(1 << 20)).unwrap_or(u32::MAX);
    TIME.saturating_add(TIME_PER_MIB.saturating_mul(mibs))
}

/// Who is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: i32,
    pub(crate) address: Arc<String>,
    /// The address of the server by which it has come, where the server has no other name for itself.
    pub(crate) member: Option<String>,
    pub(crate) authentication: Authentication,
}

impl Client {
    /// The name of the server as the member of a replica set, by which drivers find it; `None` if they would not.
    pub(crate) fn member<'c>(&'c self, state: &'c ServerState) -> Option<&'c str> {
        state.member.as_deref().or(self.member.as_deref())
    }

    /// Whether the server is a replica set for the client.
    pub(crate) fn is_member(&self, state: &ServerState) -> bool {
        self.member(state).is_some()
    }

    /// Whether the client has still to prove which user it is.
    pub(crate) fn is_stranger(&self, state: &ServerState) -> bool {
        state.requires_users && self.authentication.user().is_none()
    }
}

/// A connection to a client.
pub(crate) struct Connection<S> {
    stream: S,
    client: Client,
    state: Arc<ServerState>,
    shutdown: watch::Receiver<bool>,
    /// The start of the next message, as far as it has come.
    header: [u8; HEADER],
    received: usize,
    /// The number of the last reply.
    replies: i32,
}

/// A whole message, and the memory that it takes.
struct Message<'s> {
    header: Header,
    bytes: Vec<u8>,
    _memory: Option<SemaphorePermit<'s>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn new(
        stream: S,
        client: Client,
        state: Arc<ServerState>,
        shutdown: watch::Receiver<bool>,
    ) -> Self {
        Connection {
            stream,
            client,
            state,
            shutdown,
            header: [0; HEADER],
            received: 0,
            replies: 0,
        }
    }

    /// Serves the client until it goes, or the server shuts down.
    pub(crate) async fn serve(mut self) {
        let connection = self.client.id;
        let address = self.client.address.as_str();
        tracing::debug!(target: "odm", connection, address, "connection accepted");
        let ended = self.run().await;
        match ended {
            Ok(()) => tracing::debug!(target: "odm", connection, "connection ended"),
            Err(error) => {
                tracing::debug!(target: "odm", connection, %error, "connection ended by an error");
            }
        }
    }

    async fn run(&mut self) -> io::Result<()> {
        let state = self.state.clone();
        let mut shutdown = self.shutdown.clone();
        loop {
            let received = tokio::select! {
                biased;
                _ = shutdown.wait_for(|is_ending| *is_ending) => return Ok(()),
                received = self.receive_in_time(&state) => received?,
            };
            let Some(message) = received else {
                return Ok(());
            };
            state.counters.received(message.bytes.len());
            let Some((form, reply)) = self.answer(&state, &message).await? else {
                continue;
            };
            let request = message.header.request;
            drop(message);
            self.replies = self.replies.wrapping_add(1);
            let bytes = message::encode_reply(form, self.replies, request, &reply);
            drop(reply);
            state.counters.sent(bytes.len());
            self.send(&state, &bytes).await?;
            if self.client.authentication.is_exhausted() {
                return Err(malformed("too many attempts to authenticate have failed"));
            }
        }
    }

    /// Runs the command of a message. Returns `None` if the client waits for no reply.
    async fn answer(
        &mut self,
        state: &ServerState,
        message: &Message<'_>,
    ) -> io::Result<Option<(ReplyForm, odm::bson::RawDocumentBuf)>> {
        let request = match Request::parse(message.header, &message.bytes) {
            Ok(request) => request,
            Err(Malformed::Close(why)) => return Err(malformed(why)),
            Err(Malformed::Reply(form, error)) => return Ok(Some((form, refuse(&error)))),
        };
        let Connection {
            stream,
            client,
            header,
            received,
            ..
        } = self;
        let running = command::run(state, client, &request);
        let Some(form) = request.reply else {
            // The client may go before its write is done.
            running.await;
            return Ok(None);
        };
        tokio::select! {
            biased;
            reply = running => Ok(Some((form, reply))),
            gone = watch_for_end(stream, header, received) => Err(gone),
        }
    }

    /// Sends a reply, which a stranger must receive in time.
    async fn send(&mut self, state: &ServerState, bytes: &[u8]) -> io::Result<()> {
        let is_stranger = self.client.is_stranger(state);
        let stream = &mut self.stream;
        let sending = async {
            stream.write_all(bytes).await?;
            stream.flush().await
        };
        if !is_stranger {
            return sending.await;
        }
        let sent = tokio::time::timeout(state.limits.unauthenticated, sending);
        let silent = |_| malformed("its client does not read replies, and has not authenticated");
        sent.await.map_err(silent)?
    }

    /// Receives the next message, for which a stranger has limited time.
    async fn receive_in_time<'s>(
        &mut self,
        state: &'s ServerState,
    ) -> io::Result<Option<Message<'s>>> {
        if !self.client.is_stranger(state) {
            return self.receive(state).await;
        }
        let received = tokio::time::timeout(state.limits.unauthenticated, self.receive(state));
        let silent = |_| malformed("its client is silent, and has not authenticated");
        received.await.map_err(silent)?
    }

    /// Receives the next message. Returns `None` at the end of the connection.
    async fn receive<'s>(&mut self, state: &'s ServerState) -> io::Result<Option<Message<'s>>> {
        while self.received < HEADER {
            match self.stream.read(&mut self.header[self.received..]).await? {
                0 if self.received == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                number => self.received += number,
            }
        }
        let header = Header::parse(&self.header).ok_or_else(|| malformed("its length is wrong"))?;
        if header.length > SMALL && self.client.is_stranger(state) {
            return Err(malformed(
                "it is long, and its client has not authenticated",
            ));
        }
        let memory = match header.length > SMALL {
            true => Some(state.memory_for(header.length).await),
            false => None,
        };
        let mut bytes = Vec::with_capacity(header.length.min(SMALL));
        bytes.extend_from_slice(&self.header);
        receive_rest(&mut self.stream, &mut bytes, header.length).await?;
        self.received = 0;
        Ok(Some(Message {
            header,
            bytes,
            _memory: memory,
        }))
    }
}

/// Receives the rest of a message of a length.
async fn receive_rest<S: AsyncRead + Unpin>(
    stream: &mut S,
    bytes: &mut Vec<u8>,
    length: usize,
) -> io::Result<()> {
    let receiving = async {
        while bytes.len() < length {
            // Memory is taken as the bytes come, not as the header promises them.
            let left = length - bytes.len();
            bytes.reserve(left.min(bytes.len().min(CHUNK)));
            if (&mut *stream).take(left as u64).read_buf(bytes).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
        }
        Ok(())
    };
    let received = tokio::time::timeout(time_for(length), receiving).await;
    received.map_err(|_| malformed("its rest does not come in time"))?
}

/// Waits until the client is gone. Bytes that it sends before are the start of the next message, which is kept.
async fn watch_for_end<S: AsyncRead + Unpin>(
    stream: &mut S,
    header: &mut [u8; HEADER],
    received: &mut usize,
) -> io::Error {
    while *received < HEADER {
        match stream.read(&mut header[*received..]).await {
            Ok(0) => return io::ErrorKind::UnexpectedEof.into(),
            Ok(number) => *received += number,
            Err(error) => return error,
        }
    }
    std::future::pending().await
}

fn malformed(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("message refused: {why}"),
    )
}

fn refuse(error: &CommandError) -> odm::bson::RawDocumentBuf {
    error.reply("")
}

#[cfg(test)]
mod tests;
