//! Counts allocations, exactly.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic where it sets things up")]

mod codec;
mod counting;
mod sessions;

/// As RabbitMQ writes it: 322 octets, 8 headers, a body of 64 octets.
pub(crate) const MESSAGE: &[u8] = b"MESSAGE\n\
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
