//! The check of requests: only a page of this server sends them, from a client that may be here.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::ConnectInfo,
    http::{
        HeaderMap, StatusCode,
        header::{CONTENT_TYPE, HOST, ORIGIN},
        request::Parts,
    },
};

use super::Refusal;
use crate::error::code;

/// Headers by which a proxy says that a request is not that of its sender.
const OF_PROXIES: [&str; 5] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-real-ip",
];

fn forbidden(why: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, code::UNAUTHORIZED, why)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The name of the server in a request.
fn host(parts: &Parts) -> Option<&str> {
    let of_uri = || parts.uri.authority().map(|authority| authority.as_str());
    text(&parts.headers, HOST.as_str()).or_else(of_uri)
}

/// Whether a name, with a port or without, leads to the machine itself for every resolver.
fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.to_ascii_lowercase();
    let is_address = name
        .parse()
        .is_ok_and(|address: IpAddr| address.is_loopback());
    is_address || name == "localhost" || name.ends_with(".localhost")
}

/// Checks who has sent a request, and returns the address, where it is known.
pub(super) fn check_client(
    parts: &Parts,
    requires_users: bool,
    is_behind_tls: bool,
) -> Result<Option<IpAddr>, Refusal> {
    let info = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = info.map(|ConnectInfo(address)| address.ip().to_canonical());
    if requires_users && is_behind_tls {
        return Ok(peer);
    }
    match peer {
        Some(peer) if peer.is_loopback() => {}
        Some(_) if requires_users => {
            return Err(forbidden(
                "a password would cross the network as it is: let clients come by TLS, and say so by `Page::behind_tls`",
            ));
        }
        Some(_) => {
            return Err(forbidden(
                "this page asks nobody for a password, and answers only clients on the machine itself: require users",
            ));
        }
        None => {
            return Err(forbidden(
                "the address of the client is not known: serve by `into_make_service_with_connect_info::<SocketAddr>()`, or require users \
                 and say `Page::behind_tls`",
            ));
        }
    }
    if requires_users {
        return Ok(peer);
    }
    if let Some(name) = OF_PROXIES
        .iter()
        .find(|name| parts.headers.contains_key(**name))
    {
        return Err(forbidden(format!(
            "the request has come through a proxy, as its header `{name}` says, and this page asks nobody for a password: require users"
        )));
    }
    // A page of another site whose name leads here could read the answers.
    match host(parts) {
        Some(host) if is_loopback_name(host) => Ok(peer),
        _ => Err(forbidden(
            "the name of the host is not one of the loopback, such as localhost or 127.0.0.1",
        )),
    }
}

/// Checks that no page of another site has made a request, and that it has the type of JSON.
pub(super) fn check_call(parts: &Parts) -> Result<(), Refusal> {
    let headers = &parts.headers;
    let is_own = match (text(headers, "sec-fetch-site"), headers.get(ORIGIN)) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, None) => true,
        (None, Some(origin)) => {
            let origin = origin
                .to_str()
                .ok()
                .and_then(|origin| origin.split_once("://"));
            let host = host(parts);
            origin
                .zip(host)
                .is_some_and(|((_, origin), host)| origin.eq_ignore_ascii_case(host))
        }
    };
    if !is_own {
        return Err(forbidden("the request was made by a page of another site"));
    }
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "the type of the request is not application/json";
    Err(Refusal::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        code::BAD_VALUE,
        message,
    ))
}

#[cfg(test)]
mod tests {
    use super::is_loopback_name;

    #[test]
    fn only_names_that_cannot_be_others_are_loopback() {
        for own in [
            "localhost",
            "LOCALHOST:80",
            "shop.localhost:9",
            "127.0.0.1",
            "127.9.9.9:1",
            "[::1]:80",
        ] {
            assert!(is_loopback_name(own), "{own}");
        }
        for other in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.nip.io:80",
            "10.0.0.1",
            "[::2]",
            "notlocalhost",
            "[localhost.evil",
        ] {
            assert!(!is_loopback_name(other), "{other}");
        }
    }
}
