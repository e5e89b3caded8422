//! The ids that a session gives to deliveries: the number of one and its place in the ledger.

use bytes::{BufMut, BytesMut};

use super::DeliveryTag;
use super::ledger::Index;
use crate::codec::put_decimal;
use crate::frame::value;

/// What the acknowledgement ids of ours start with, so that none equals a message-id.
pub(super) const ACK_PREFIX: &str = "a";

/// Writes an id of ours: the number of a delivery and its place.
pub(super) fn put_id(DeliveryTag(tag): DeliveryTag, index: Index, out: &mut BytesMut) {
    put_decimal(tag, out);
    out.put_u8(b'-');
    put_decimal(index.into(), out);
}

/// The number and place that an id of ours says.
pub(super) fn parse_id(id: &str) -> Option<(u64, Index)> {
    let (tag, index) = id.split_once('-')?;
    Some((number(tag)?, Index::try_from(number(index)?).ok()?))
}

/// A number as [`put_id`] writes it: with a zero before it, it is of an id that somebody else chose.
fn number(digits: &str) -> Option<u64> {
    let is_padded = digits.len() > 1 && digits.starts_with('0');
    value::decimal(digits.as_bytes()).filter(|_| !is_padded)
}
