//! Header values that RabbitMQ reads as something other than text.

use core::str::FromStr;

use super::PlanError;
use crate::frame::name::ACK;
use crate::frame::value::BLANKS;
use crate::frame::{AckMode, Headers};

/// A boolean; Python writes it with a capital.
pub(super) fn boolean(headers: Headers<'_>, name: &'static str) -> Result<Option<bool>, PlanError> {
    headers.get(name).map(|value| parse_boolean(&value, name)).transpose()
}

pub(super) fn parse_boolean(value: &str, name: &'static str) -> Result<bool, PlanError> {
    match value {
        "true" | "True" => Ok(true),
        "false" | "False" => Ok(false),
        _ => Err(PlanError::InvalidValue { name }),
    }
}

/// A number, perhaps with blanks around it. RabbitMQ takes a sign, and so does `str::parse`.
pub(super) fn number<T: FromStr>(
    headers: Headers<'_>,
    name: &'static str,
) -> Result<Option<T>, PlanError> {
    headers.get(name).map(|value| parse_number(&value, name)).transpose()
}

pub(super) fn parse_number<T: FromStr>(value: &str, name: &'static str) -> Result<T, PlanError> {
    value.trim_matches(BLANKS).parse().map_err(|_| PlanError::InvalidValue { name })
}

/// The mode of acknowledgement that a SUBSCRIBE asks for.
pub(super) fn ack_mode(headers: Headers<'_>) -> Result<AckMode, PlanError> {
    let Some(value) = headers.get(ACK) else { return Ok(AckMode::default()) };
    AckMode::parse(&value).ok_or(PlanError::InvalidValue { name: ACK })
}
