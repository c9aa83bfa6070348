//! Notices: how what happens behind a search reaches its user.

/// What the worker says when something went wrong that a user should know.
pub type Notice = Box<dyn Fn(&str) + Send + Sync>;
