//! The web server: its routes, headers and shutdown, and the files of the page.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Request, State, WebSocketUpgrade};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use azimuth_cli::page::PIECES_STYLE;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tower_http::compression::CompressionLayer;

use super::connection::{LARGEST_MESSAGE, Shared, converse};
use super::gate::{BoundedListener, Gate};
use crate::report::{PAGE_SCRIPT, PAGE_STYLE};
use crate::tasks::games::{LARGEST_TEXT, read_games};

/// Most pages at a time. One that shows the second engine counts twice: it has two WebSockets.
const MOST_PAGES: usize = 200;

/// Most files that are read at a time. One takes a few hundred megabytes of memory at most.
const MOST_READERS: usize = 2;

/// Time for the pages to close their connections at the end.
const FAREWELL: Duration = Duration::from_secs(2);

/// Stack of the threads that search.
const STACK: usize = 8 << 20;

/// Headers of every answer. The page fetches nothing from elsewhere, no other page may contain it,
/// and no request to another server reveals the token.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The state of the server.
struct Server {
    gate: Gate,
    shared: Arc<Shared>,
    /// Room for pages.
    pages: Arc<Semaphore>,
    /// Room for files.
    readers: Arc<Semaphore>,
    /// The number of the next page.
    next_page: AtomicU64,
}

/// Serves until Ctrl-C.
pub fn serve(listener: TcpListener, gate: Gate, shared: Shared) -> Result<()> {
    let [pages, readers] = [MOST_PAGES, MOST_READERS].map(|room| Arc::new(Semaphore::new(room)));
    let shared = Arc::new(shared);
    let server = Server { gate, shared: shared.clone(), pages, readers, next_page: 0.into() };
    listener.set_nonblocking(true).context("cannot listen")?;
    // Searches run on the runtime's other threads; one is enough for the messages.
    let runtime = Builder::new_current_thread().enable_all().thread_stack_size(STACK).build();
    let runtime = runtime.context("cannot start the server")?;
    let served = runtime.block_on(async {
        let listener = BoundedListener::new(tokio::net::TcpListener::from_std(listener)?);
        let ended = shared.clone();
        let server = axum::serve(listener, router(Arc::new(server)))
            .with_graceful_shutdown(async move { ended.end().await });
        tokio::select! {
            served = async { server.await } => served,
            () = interrupted(&shared) => Ok(()),
        }
    });
    runtime.shutdown_timeout(FAREWELL);
    served.context("the server failed")
}

/// Waits for Ctrl-C or a termination signal, tells the pages that the server ends, and gives them
/// time to close.
async fn interrupted(shared: &Shared) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    {
        let _ = tokio::signal::ctrl_c().await;
    }
    shared.begin_to_end();
    tokio::time::sleep(FAREWELL).await;
}

fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/{token}/", get(async || typed("text/html; charset=utf-8", PAGE)))
        .route("/{token}/socket", get(open_socket))
        .route("/{token}/{file}", get(file))
        .layer(CompressionLayer::new())
        // Not compressed: the thread that answers would compress megabytes.
        .route("/{token}/games/{name}", post(games).layer(DefaultBodyLimit::max(LARGEST_TEXT)))
        .layer(from_fn_with_state(server.clone(), guard))
        .with_state(server)
}

/// Answers the requests that the gate allows, refuses the others, and adds the headers to every
/// answer.
async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let needs_origin = path.ends_with("/socket") || !request.method().is_safe();
    let mut response = match server.gate.check(request.headers(), path, needs_origin) {
        Ok(()) => next.run(request).await,
        Err(why) => (StatusCode::FORBIDDEN, why).into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn file(Path((_, name)): Path<(String, String)>) -> Response {
    match name.as_str() {
        "board.js" => typed("text/javascript; charset=utf-8", PAGE_SCRIPT),
        "pieces.css" => typed(CSS, PIECES_STYLE),
        "board.css" => typed(CSS, PAGE_STYLE),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A text with its MIME type.
fn typed(mime: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, mime)], text).into_response()
}

/// Answers a file of games with the games in it.
async fn games(
    State(server): State<Arc<Server>>,
    Path((_, name)): Path<(String, String)>,
    request: Request,
) -> Response {
    // The body is read when there is room. The semaphore is never closed.
    let room = server.readers.clone().acquire_owned().await;
    let bytes = match Bytes::from_request(request, &()).await {
        Ok(bytes) => bytes,
        Err(rejection) => return rejection.into_response(),
    };
    let read = spawn_blocking(move || {
        let _room = room;
        read_games(&name, bytes)
    });
    match read.await {
        Ok(Ok(json)) => ([(CONTENT_TYPE, "application/json")], json).into_response(),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal error").into_response(),
    }
}

async fn open_socket(State(server): State<Arc<Server>>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(room) = server.pages.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open\n").into_response();
    };
    let number = server.next_page.fetch_add(1, Ordering::Relaxed);
    upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE).on_upgrade(
        async move |socket| {
            converse(socket, number, &server.shared).await;
            drop(room);
        },
    )
}

const CSS: &str = "text/css; charset=utf-8";

/// The page itself.
const PAGE: &str =
    concat!(include_str!("../../web/head.html"), include_str!("../../web/body.html"));
