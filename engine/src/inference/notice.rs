//! Notices: messages to the user that do not end the search.

use std::sync::Arc;

/// Shows a message to the user.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;
