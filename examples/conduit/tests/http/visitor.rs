//! A browser without scripts.

use std::net::SocketAddr;

use crate::harness::Server;

/// Who looks at pages, with its cookie.
pub(crate) struct Visitor {
    pub(crate) address: SocketAddr,
    pub(crate) cookie: Option<String>,
}

pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) place: Option<String>,
    pub(crate) cookie: Option<String>,
}

impl Page {
    pub(crate) fn of(self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text);
        self.text
    }

    /// The address to which the answer redirects.
    pub(crate) fn leads(self) -> String {
        assert_eq!(self.status, 303, "{}", self.text);
        self.place.unwrap()
    }
}

impl Visitor {
    pub(crate) fn new(server: &Server) -> Self {
        Visitor {
            address: server.address,
            cookie: None,
        }
    }

    /// Signs up.
    pub(crate) fn named(server: &Server, name: &str) -> Self {
        let visitor = Visitor::new(server);
        let email = format!("{name}@x.org");
        let fields = [
            ("username", name),
            ("email", &email),
            ("new-password", "password"),
        ];
        let page = visitor.post("/sign-up", &fields);
        let cookie = page.cookie.clone().unwrap();
        assert_eq!(page.leads(), "/");
        Visitor {
            cookie: Some(cookie[..cookie.find(';').unwrap()].to_owned()),
            ..visitor
        }
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Page {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0);
        let agent = ureq::Agent::new_with_config(config.build());
        let url = format!("http://{}{path}", self.address);
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("other=1; {cookie}"));
        }
        let mut response = agent.run(request.body(body).unwrap()).unwrap();
        let header = |name: &str| {
            let value = response.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        let (place, cookie) = (header("location"), header("set-cookie"));
        Page {
            status: response.status().as_u16(),
            place,
            cookie,
            text: response.body_mut().read_to_string().unwrap(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Page {
        self.send("GET", path, &[], String::new())
    }

    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.post_from(&[], path, fields)
    }

    pub(crate) fn post_from(
        &self,
        from: &[(&str, &str)],
        path: &str,
        fields: &[(&str, &str)],
    ) -> Page {
        let quoted = |text: &str| {
            text.bytes()
                .map(|byte| format!("%{byte:02x}"))
                .collect::<String>()
        };
        let fields = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", quoted(value)));
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers: Vec<_> = from.iter().copied().chain([form]).collect();
        self.send("POST", path, &headers, fields.collect::<Vec<_>>().join("&"))
    }

    pub(crate) fn publish(&self, title: &str, body: &str, tags: &str) -> String {
        let fields = [
            ("title", title),
            ("description", "d"),
            ("body", body),
            ("tags", tags),
        ];
        self.post("/editor", &fields).leads()
    }
}
