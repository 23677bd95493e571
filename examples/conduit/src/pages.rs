//! The pages for a browser.

use axum::Router;

use crate::App;

/// The routes of the pages.
pub fn router() -> Router<App> {
    Router::new()
}
