//! The header names that the protocol texts define.

/// `accept-version`, in CONNECT: the versions the client speaks.
pub const ACCEPT_VERSION: &str = "accept-version";
/// `ack`: in SUBSCRIBE the acknowledgement mode, in a 1.2 MESSAGE the id to acknowledge it by.
pub const ACK: &str = "ack";
/// `content-length`: the number of octets of the body.
pub const CONTENT_LENGTH: &str = "content-length";
/// `content-type`: the MIME type of the body.
pub const CONTENT_TYPE: &str = "content-type";
/// `destination`: where a message goes to or comes from.
pub const DESTINATION: &str = "destination";
/// `heart-beat`: what the sender can do and what it wants to get, in milliseconds.
pub const HEART_BEAT: &str = "heart-beat";
/// `host`, in CONNECT: the virtual host.
pub const HOST: &str = "host";
/// `id`: of a subscription; in a 1.2 ACK or NACK the `ack` value of the message.
pub const ID: &str = "id";
/// `login`, in CONNECT: the user.
pub const LOGIN: &str = "login";
/// `message`, in ERROR: a short description.
pub const MESSAGE: &str = "message";
/// `message-id`: names a message.
pub const MESSAGE_ID: &str = "message-id";
/// `passcode`, in CONNECT: the password.
pub const PASSCODE: &str = "passcode";
/// `receipt`: asks for a RECEIPT.
pub const RECEIPT: &str = "receipt";
/// `receipt-id`: the `receipt` value of the frame that is answered.
pub const RECEIPT_ID: &str = "receipt-id";
/// `selector`, in SUBSCRIBE: filters messages where the broker knows how.
pub const SELECTOR: &str = "selector";
/// `server`, in CONNECTED: name and version of the server software.
pub const SERVER: &str = "server";
/// `session`, in CONNECTED: names the session.
pub const SESSION: &str = "session";
/// `subscription`: the subscription that a MESSAGE belongs to.
pub const SUBSCRIPTION: &str = "subscription";
/// `transaction`: the transaction that a frame belongs to.
pub const TRANSACTION: &str = "transaction";
/// `version`: in CONNECTED the negotiated version, in ERROR those the server speaks.
pub const VERSION: &str = "version";

/// Whether the value of a header is never to be shown, however carelessly its name is written.
pub(crate) fn is_secret(name: &str) -> bool {
    const SECRETS: [&str; 3] = [LOGIN, PASSCODE, "authorization"];
    SECRETS.iter().any(|secret| name.trim().eq_ignore_ascii_case(secret))
}
