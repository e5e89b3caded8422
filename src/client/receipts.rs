//! The receipts that the broker owes.

/// Names a receipt: draw it with `next_receipt`, put it in any request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiptId(u64);
