//! Notices: messages for the user about a search that goes on.

use std::sync::Arc;

/// Shows a message to the user.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;
