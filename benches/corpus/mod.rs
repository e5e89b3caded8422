//! The octets and frames that every bench runs on.

use stomp_proto::{Command, Frame};

/// A MESSAGE as RabbitMQ writes it: 322 octets, 8 headers, a body of 64 octets.
pub(crate) const SMALL: &[u8] = b"MESSAGE\n\
    subscription:sub-0\n\
    destination:/queue/orders.eu-west-1.created\n\
    message-id:T_sub-0@@session-Wv9rQmP3kT2xYbL0@@17\n\
    ack:T_sub-0@@session-Wv9rQmP3kT2xYb@@17\n\
    redelivered:false\n\
    content-type:application/json;charset=utf-8\n\
    persistent:true\n\
    content-length:64\n\
    \n\
    {\"order\":4711,\"customer\":\"c-0815\",\"total\":29.9,\"currency\":\"EUR\"}\0";

/// A MESSAGE in which every value is escaped.
pub(crate) const ESCAPED: &[u8] = b"MESSAGE\n\
    subscription:sub\\c0\n\
    destination:/queue/orders\\ceu-west\\c1\\ccreated\n\
    message-id:ID\\chost-42\\c1764522131042-3\\c17\\c1\\c1\\c1\n\
    path:C\\c\\\\temp\\\\orders\\\\2026\n\
    note:first line\\nsecond line\\nthird\\r\\n\n\
    content-length:64\n\
    \n\
    {\"order\":4711,\"customer\":\"c-0815\",\"total\":29.9,\"currency\":\"EUR\"}\0";

/// A SEND without `content-length`.
pub(crate) const SEND: &[u8] = b"SEND\n\
    destination:/queue/orders.eu-west-1.created\n\
    content-type:application/json\n\
    persistent:true\n\
    receipt:r-4711\n\
    \n\
    {\"order\":4711,\"customer\":\"c-0815\",\"total\":29.9,\"currency\":\"EUR\"}\0";

const LARGE_LEN: usize = 1 << 20;

/// A MESSAGE with a body of 1 MiB and its `content-length`.
pub(crate) fn large_counted() -> Vec<u8> {
    large(&format!("content-length:{LARGE_LEN}\n"))
}

/// A MESSAGE with a body of 1 MiB up to its NUL.
pub(crate) fn large_to_nul() -> Vec<u8> {
    large("")
}

fn large(last_header: &str) -> Vec<u8> {
    let head = format!("MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\n{last_header}\n");
    [head.as_bytes(), &b"x".repeat(LARGE_LEN), b"\0"].concat()
}

/// A SEND of 207 octets when encoded.
pub(crate) fn send() -> Frame {
    Frame::builder(Command::Send)
        .header("destination", "/queue/orders.eu-west-1.created")
        .header("content-type", "application/json")
        .header("persistent", "true")
        .header("receipt", "r-4711")
        .body(&br#"{"order":4711,"customer":"c-0815","total":29.9,"currency":"EUR"}"#[..])
        .build()
}
