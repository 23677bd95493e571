//! Chromium, driven by chromedriver.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use axum::http::Method;
use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource, KeyAction, KeyActions},
    wd::WebDriverCompatibleCommand,
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::{ParseError, Url};

pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";

/// How long a page may take to meet an expectation.
const PATIENCE: Duration = Duration::from_secs(15);

/// Whether a page is light or dark.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Look {
    Light,
    Dark,
}

impl Look {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Look::Light => "light",
            Look::Dark => "dark",
        }
    }
}

/// A command of chromedriver outside of WebDriver.
#[derive(Debug)]
struct Extension(&'static str, Value);

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.expect("the session has begun");
        base.join(&format!("session/{session}/{}", self.0))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.1.to_string()))
    }
}

/// A headless browser, with a profile of its own.
pub(crate) struct Browser {
    client: Client,
    driver: Driver,
    origin: String,
    _profile: TempDir,
}

/// The process of chromedriver, which is killed on drop.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        // If it has ended by itself, there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Browser {
    pub(crate) async fn start(server: SocketAddr) -> Browser {
        let driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = Driver(driver.expect("chromedriver can be started"));
        let said = BufReader::new(driver.0.stdout.take().unwrap()).lines();
        let port = said
            .map_while(Result::ok)
            .find_map(|line| {
                line.split_once("successfully on port ")
                    .map(|(_, port)| port.trim_end_matches('.').to_owned())
            })
            .expect("chromedriver says its port");
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let capabilities = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.as_object().unwrap().clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("chromium can be started");
        let origin = format!("http://{server}");
        let browser = Browser {
            client,
            driver,
            origin,
            _profile: profile,
        };
        browser.look(1180, Look::Light).await;
        browser
    }

    pub(crate) async fn close(self) {
        self.client.close().await.unwrap();
        drop(self.driver);
    }

    async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap()
    }

    async fn devtools(&self, command: &str, parameters: Value) {
        let body = json!({ "cmd": command, "params": parameters });
        let command = Extension("goog/cdp/execute", body);
        self.client.issue_cmd(command).await.unwrap();
    }

    pub(crate) async fn open(&self, path: &str) {
        self.client
            .goto(&format!("{}{path}", self.origin))
            .await
            .unwrap();
    }

    /// Opens a page as a user to whose name and password the server agrees.
    pub(crate) async fn open_as(&self, name: &str, password: &str, path: &str) {
        let mut url: Url = format!("{}{path}", self.origin).parse().unwrap();
        url.set_username(name).unwrap();
        url.set_password(Some(password)).unwrap();
        self.client.goto(url.as_str()).await.unwrap();
    }

    /// The path of the shown page.
    pub(crate) async fn path(&self) -> String {
        self.client.current_url().await.unwrap().path().to_owned()
    }

    /// Fills a field, which has a label.
    pub(crate) async fn fill(&self, id: &str, text: &str) {
        let label = format!("label[for='{id}']");
        self.client.find(Locator::Css(&label)).await.expect(&label);
        let field = self.client.find(Locator::Id(id)).await.expect(id);
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    pub(crate) async fn value(&self, id: &str) -> String {
        let value = self.run(
            "return document.getElementById(arguments[0]).value",
            vec![json!(id)],
        );
        value.await.as_str().unwrap().to_owned()
    }

    /// Clicks the first element that a selector finds.
    pub(crate) async fn click(&self, css: &str) {
        let found = self.client.find(Locator::Css(css)).await.expect(css);
        found.click().await.expect(css);
    }

    /// The texts of all elements that a selector finds, as the page has them.
    pub(crate) async fn texts(&self, css: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(arguments[0])].map(found => found.textContent.trim())";
        let texts = self.run(script, vec![json!(css)]).await;
        serde_json::from_value(texts).unwrap()
    }

    /// Waits until an element that a selector finds contains a text.
    pub(crate) async fn sees(&self, css: &str, text: &str) {
        let start = Instant::now();
        let mut seen = Vec::new();
        while start.elapsed() < PATIENCE {
            // During a change of pages the document may be missing.
            let script = "return [...document.querySelectorAll(arguments[0])].map(found => found.textContent)";
            if let Ok(texts) = self.client.execute(script, vec![json!(css)]).await {
                seen = serde_json::from_value::<Vec<String>>(texts).unwrap();
                if seen.iter().any(|seen| seen.contains(text)) {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("`{css}` does not come to have {text:?}: {seen:?}");
    }

    /// Presses keys, wherever the focus is.
    pub(crate) async fn keys(&self, keys: &str) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for value in keys.chars() {
            actions = actions
                .then(KeyAction::Down { value })
                .then(KeyAction::Up { value });
        }
        self.client.perform_actions(actions).await.unwrap();
    }

    /// The focused element: the text of its label, or its own. The focus must be visible.
    pub(crate) async fn focused(&self) -> String {
        let script = r"
            const focused = document.activeElement;
            const style = getComputedStyle(focused);
            const box = focused.getBoundingClientRect();
            const isVisible = box.width > 0 && box.right > 0 && box.bottom > 0;
            const name = focused.labels?.[0] ?? focused;
            return [name.textContent.trim(), isVisible && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2];
        ";
        let (name, is_visible): (String, bool) =
            serde_json::from_value(self.run(script, Vec::new()).await).unwrap();
        assert!(is_visible, "nothing shows that {name:?} has the focus");
        name
    }

    /// Presses the tab key until something of this name has the focus.
    pub(crate) async fn tab_to(&self, name: &str) {
        let mut passed = Vec::new();
        for _ in 0..60 {
            self.keys(TAB).await;
            let focused = self.focused().await;
            if focused == name {
                return;
            }
            passed.push(focused);
        }
        panic!("the tab key does not lead to {name:?}: {passed:?}");
    }

    /// The new entries of the console since the last call.
    pub(crate) async fn console(&self) -> Vec<Value> {
        let command = Extension("se/log", json!({ "type": "browser" }));
        let entries = self.client.issue_cmd(command).await.unwrap();
        serde_json::from_value(entries).unwrap()
    }

    /// Sets the width of the window, as high as the page, and whether it is light or dark.
    pub(crate) async fn look(&self, width: u32, look: Look) {
        let scheme = json!([{ "name": "prefers-color-scheme", "value": look.name() }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": scheme }))
            .await;
        let size = |height: i64| json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size(720))
            .await;
        let height = self
            .run("return document.documentElement.scrollHeight", Vec::new())
            .await;
        let height = height.as_i64().unwrap();
        self.devtools("Emulation.setDeviceMetricsOverride", size(height))
            .await;
    }

    /// The widths of the page and of its window.
    pub(crate) async fn widths(&self) -> (i64, i64) {
        let script = "return [document.documentElement.scrollWidth, window.innerWidth]";
        serde_json::from_value(self.run(script, Vec::new()).await).unwrap()
    }

    /// The least contrast of a text with its background, by the definition of WCAG.
    pub(crate) async fn least_contrast(&self) -> f64 {
        let script = r"
            const parse = color => color.match(/[\d.]+/g).map(Number);
            const light = ([r, g, b]) => {
                const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                return 0.2126 * x + 0.7152 * y + 0.0722 * z;
            };
            const behind = node => {
                for (; node; node = node.parentElement) {
                    const color = parse(getComputedStyle(node).backgroundColor);
                    if (color.length === 3 || color[3] === 1) return color;
                }
                return [255, 255, 255];
            };
            let least = 21;
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                const node = texts.currentNode.parentElement;
                if (!texts.currentNode.data.trim() || !node.checkVisibility()) continue;
                const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
                least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
            }
            return least;
        ";
        self.run(script, Vec::new()).await.as_f64().unwrap()
    }

    /// Saves the image of the window.
    pub(crate) async fn shot(&self, name: &str) {
        let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let root = above.find(|folder| folder.join("Cargo.lock").exists());
        let folder = root.expect("the workspace").join("target/screenshots");
        fs::create_dir_all(&folder).unwrap();
        let image = self.client.screenshot().await.unwrap();
        fs::write(folder.join(format!("{name}.png")), image).unwrap();
    }
}
