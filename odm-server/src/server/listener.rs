//! Where a server listens: only where no stranger can connect, unless it asks who a client is.

use std::{io, net::SocketAddr};

use odm::{Error, ErrorKind, Result};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use {
    std::{
        fs::{self, DirBuilder},
        os::unix::fs::DirBuilderExt,
        path::{Path, PathBuf},
    },
    tokio::net::{UnixListener, UnixStream},
};

/// A socket that takes connections.
pub(super) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix {
        listener: UnixListener,
        _file: SocketFile,
    },
}

/// A connection that was taken.
pub(super) enum Accept {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Accept {
    /// The address by which the client has come.
    pub(super) fn local_address(&self) -> Option<String> {
        match self {
            Accept::Tcp(stream) => {
                let address = stream.local_addr().ok()?;
                // A client that has come by IPv4 knows no other address.
                Some(SocketAddr::new(address.ip().to_canonical(), address.port()).to_string())
            }
            #[cfg(unix)]
            Accept::Unix(_) => None,
        }
    }
}

impl Listener {
    /// Takes the next connection, with the address of its client.
    pub(super) async fn accept(&self) -> io::Result<(Accept, String)> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // A connection that is gone already is met when it is read.
                let _ = stream.set_nodelay(true);
                Ok((Accept::Tcp(stream), address.to_string()))
            }
            #[cfg(unix)]
            Listener::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                Ok((Accept::Unix(stream), "anonymous unix socket".to_owned()))
            }
        }
    }
}

fn failed(place: &str, error: io::Error) -> Error {
    let message = format!("cannot listen at `{place}`: {error}");
    Error::new(ErrorKind::Io, message).with_source(error)
}

/// Listens at an address, which is one of the loopback unless the server asks for passwords.
pub(super) async fn bind(place: &str, requires_users: bool) -> Result<(Listener, SocketAddr)> {
    let addresses = tokio::net::lookup_host(place).await;
    let addresses: Vec<SocketAddr> = addresses.map_err(|error| failed(place, error))?.collect();
    let mut others = addresses
        .iter()
        .filter(|address| !address.ip().is_loopback());
    if let Some(other) = others.next().filter(|_| !requires_users) {
        let message = format!(
            "address `{place}` ({}) can be reached by other machines, and the server asks nobody for a password: require users, or \
             listen at 127.0.0.1, at [::1], or at a Unix socket",
            other.ip()
        );
        return Err(Error::new(ErrorKind::InvalidQuery, message));
    }
    let listener = TcpListener::bind(&*addresses).await;
    let listener = listener.map_err(|error| failed(place, error))?;
    let address = listener
        .local_addr()
        .map_err(|error| failed(place, error))?;
    Ok((Listener::Tcp(listener), address))
}

/// The file of a socket, which is removed with the listener.
#[cfg(unix)]
pub(super) struct SocketFile(PathBuf);

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        // It may be gone, which is as good.
        let _ = fs::remove_file(&self.0);
    }
}

/// Listens at a socket that only the user of this process can open.
#[cfg(unix)]
pub(super) async fn bind_unix(path: &Path) -> Result<Listener> {
    let shown = path.display().to_string();
    let failed = |error| failed(&shown, error);
    if path.exists() {
        match UnixStream::connect(path).await {
            // The process that has made it is gone.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                fs::remove_file(path).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
            Ok(_) => return Err(failed(io::ErrorKind::AddrInUse.into())),
        }
    }
    // The socket is made in a folder that nobody else can enter, so that it cannot be opened before its permissions are set.
    let folder = path.with_file_name(format!(".odm-{}", odm::bson::Uuid::new()));
    DirBuilder::new()
        .mode(0o700)
        .create(&folder)
        .map_err(failed)?;
    let bound = bind_in(&folder, path);
    // The socket has moved out of it, or there is none.
    let _ = fs::remove_dir_all(&folder);
    let listener = bound.map_err(failed)?;
    Ok(Listener::Unix {
        listener,
        _file: SocketFile(path.to_owned()),
    })
}

#[cfg(unix)]
fn bind_in(folder: &Path, path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::PermissionsExt;

    let made = folder.join("s");
    let listener = UnixListener::bind(&made)?;
    fs::set_permissions(&made, fs::Permissions::from_mode(0o700))?;
    fs::rename(&made, path)?;
    Ok(listener)
}
