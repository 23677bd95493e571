//! How often somebody may try to sign in or to register: by address and by account.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{StatusCode, request::Parts},
};

use crate::{
    App,
    failure::{Answer, Failure},
};

/// The time in which all attempts of a key come back.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// How many places a table has, of eight bytes each.
const PLACES: usize = 1 << 16;

/// How many attempts there are within an hour; 0 is no limit.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For each account: a user who mistypes a password has enough, and guessing takes years.
    pub account: u32,
    /// For each address, behind which there may be a whole company. Of IPv6, a network of 64 bits is an address.
    pub address: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let (account, address) = (20, 200);
        Limits { account, address }
    }
}

/// The attempts of all accounts and addresses.
#[derive(Debug, Clone)]
pub struct Attempts {
    accounts: Option<Arc<Table>>,
    addresses: Option<Arc<Table>>,
}

impl Attempts {
    /// Begins to count.
    pub fn new(limits: Limits) -> Self {
        let table = |limit| (limit > 0).then(|| Arc::new(Table::new(limit)));
        Attempts {
            accounts: table(limits.account),
            addresses: table(limits.address),
        }
    }

    /// Counts an attempt for an address and for an account, which is named by its folded e-mail address. An account is not asked for if the
    /// address has no attempts left.
    pub fn count(&self, address: Address, account: &str) -> Answer<()> {
        let Address(address) = address;
        let addresses = self.addresses.as_deref();
        let accounts = self.accounts.as_deref();
        addresses
            .map_or(Ok(()), |table| table.count(address))
            .and_then(|()| accounts.map_or(Ok(()), |table| table.count(account)))
            .map_err(Failure::too_many)
    }
}

/// The attempts of any number of keys, in memory of a fixed size.
///
/// A key has all its attempts at once, and gets them back one by one. Keys that share a place share its attempts; the places are random at
/// each start, so that nobody can choose them.
#[derive(Debug)]
struct Table {
    start: Instant,
    random: RandomState,
    /// The time in which one attempt comes back.
    each: Duration,
    /// When all attempts of a place are back: nanoseconds since the start.
    full: Box<[AtomicU64]>,
}

impl Table {
    fn new(limit: u32) -> Self {
        Table {
            start: Instant::now(),
            random: RandomState::new(),
            each: HOUR / limit,
            full: (0..PLACES).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Takes one attempt of a key, or returns the time until the next one.
    fn count(&self, key: impl Hash) -> Result<(), Duration> {
        self.count_at(self.start.elapsed(), key)
    }

    fn count_at(&self, now: Duration, key: impl Hash) -> Result<(), Duration> {
        let place = self.random.hash_one(key) as usize % PLACES;
        let with_one_less = |full| Duration::from_nanos(full).max(now) + self.each;
        let taken = self.full[place].fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full| {
            let full = with_one_less(full);
            (full <= now + HOUR).then_some(full.as_nanos() as u64)
        });
        match taken {
            Ok(_) => Ok(()),
            Err(full) => Err(with_one_less(full) - now - HOUR),
        }
    }
}

/// The address of a client: of an IPv6 address the network, since a client has all addresses of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(IpAddr);

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            address => address,
        })
    }
}

impl FromRequestParts<App> for Address {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let address = if app.settings.proxy {
            // A proxy adds the address that it sees at the end. A client can write what it likes before that.
            let lines = parts.headers.get_all("x-forwarded-for");
            let last = lines.iter().next_back().and_then(|line| line.to_str().ok());
            last.and_then(|line| line.rsplit(',').next()?.trim().parse().ok())
        } else {
            let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
            peer.map(|ConnectInfo(peer)| peer.ip())
        };
        address.map(Address::from).ok_or_else(|| {
            tracing::error!("the address of a client is not known: is there a proxy?");
            let message = "the address of the client is not known";
            Failure::new(StatusCode::INTERNAL_SERVER_ERROR, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_come_back_one_by_one() {
        let table = Table::new(60);
        let minute = |n: u64| Duration::from_secs(60 * n);
        for _ in 0..60 {
            table.count_at(minute(1), "ann").unwrap();
        }
        assert_eq!(table.count_at(minute(1), "ann"), Err(minute(1)));
        let half = Duration::from_secs(30);
        assert_eq!(table.count_at(minute(1) + half, "ann"), Err(half));
        table.count_at(minute(2), "ann").unwrap();
        assert_eq!(table.count_at(minute(2), "ann"), Err(minute(1)));
        // After an hour all are back, and no more than all.
        for _ in 0..60 {
            table.count_at(minute(1000), "ann").unwrap();
        }
        assert_eq!(table.count_at(minute(1000), "ann"), Err(minute(1)));
    }

    #[test]
    fn any_number_of_keys_takes_the_same_memory_and_few_share_a_place() {
        let table = Table::new(1);
        for n in 0..1000 {
            let _ = table.count_at(Duration::ZERO, n);
        }
        let others = 1000..2000;
        let free = others.filter(|n| table.count_at(Duration::ZERO, n).is_ok());
        assert!(free.count() > 900);
        assert_eq!(size_of_val(&*table.full), 512 * 1024);
    }

    #[test]
    fn attempts_at_once_are_all_counted() {
        let table = Table::new(100);
        let taken = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    let attempt = |_: &u32| table.count_at(Duration::ZERO, "ann").is_ok();
                    scope.spawn(move || (0..50).filter(attempt).count())
                })
                .collect();
            let taken = threads.into_iter().map(|thread| thread.join().unwrap());
            taken.sum::<usize>()
        });
        assert_eq!(taken, 100);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let address = |text: &str| Address::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:2"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
        assert_ne!(address("10.0.0.1"), address("10.0.0.2"));
    }
}
