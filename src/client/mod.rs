//! The client's end of a session.

mod receipts;

pub use receipts::ReceiptId;
