//! The leniencies of a server, each by its name, and three presets.

use crate::EmptyAcceptVersion;

/// How a server reads what the texts leave open, and what it lets pass that they forbid.
///
/// ```
/// use stomp_proto::server::{Dialect, Tolerance};
/// let dialect = Dialect { nack_on_1_0: Tolerance::Refuse, ..Dialect::LENIENT };
/// assert_ne!(dialect, Dialect::SPEC);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What an `accept-version` header that lists nothing means.
    pub empty_accept_version: EmptyAcceptVersion,
    /// A CONNECT for 1.1 or later without `host`.
    pub missing_host: Tolerance,
    /// A SUBSCRIBE of 1.1 or later with an empty `id`.
    pub empty_subscription_id: Tolerance,
    /// The mode `client-individual` on 1.0, which does not know it.
    pub client_individual_on_1_0: Tolerance,
    /// NACK on 1.0, which does not know it.
    pub nack_on_1_0: Tolerance,
    /// Heart-beats on 1.0, which does not know them: negotiated or ignored.
    pub heart_beat_on_1_0: HeartBeatOn1_0,
    /// `subscription` in the MESSAGE of 1.0.
    pub subscription_on_1_0: SubscriptionOn1_0,
    /// What an ACK settles in the mode `client` on 1.0, which does not say.
    pub ack_on_1_0: AckScope,
    /// ACK or NACK of 1.1 without `subscription`, as `Net::Stomp` sends it: taken as on 1.0.
    pub ack_without_subscription: Tolerance,
    /// ACK or NACK of a delivery that was made here but is no longer open: ignored. Of ids that the
    /// application chose, the last 4,096 that were settled are known.
    pub ack_of_settled: Tolerance,
    /// A header that the version of the session cannot carry, in a delivery: dropped.
    pub unrepresentable_header: Tolerance,
}

/// What becomes of something that need not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// It passes.
    Accept,
    /// It is an error.
    Refuse,
}

/// Heart-beats on 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartBeatOn1_0 {
    /// As on the later versions.
    Negotiate,
    /// The header is not looked at, nor answered.
    Ignore,
}

/// The `subscription` header of a 1.0 MESSAGE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionOn1_0 {
    /// If the client gave an id.
    IfNamed,
    /// Never.
    Never,
}

/// What an ACK settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckScope {
    /// All that was delivered for the subscription up to the message.
    Cumulative,
    /// The message.
    Individual,
}

impl Dialect {
    /// What the texts say, and no more.
    pub const SPEC: Self = Self {
        empty_accept_version: EmptyAcceptVersion::NoVersion,
        missing_host: Tolerance::Refuse,
        empty_subscription_id: Tolerance::Accept,
        client_individual_on_1_0: Tolerance::Refuse,
        nack_on_1_0: Tolerance::Refuse,
        heart_beat_on_1_0: HeartBeatOn1_0::Ignore,
        subscription_on_1_0: SubscriptionOn1_0::IfNamed,
        ack_on_1_0: AckScope::Individual,
        ack_without_subscription: Tolerance::Refuse,
        ack_of_settled: Tolerance::Refuse,
        unrepresentable_header: Tolerance::Refuse,
    };

    /// What widely used brokers let pass. The default.
    pub const LENIENT: Self = Self {
        empty_accept_version: EmptyAcceptVersion::Means1_0,
        missing_host: Tolerance::Accept,
        empty_subscription_id: Tolerance::Accept,
        client_individual_on_1_0: Tolerance::Accept,
        nack_on_1_0: Tolerance::Accept,
        heart_beat_on_1_0: HeartBeatOn1_0::Negotiate,
        subscription_on_1_0: SubscriptionOn1_0::IfNamed,
        ack_on_1_0: AckScope::Cumulative,
        ack_without_subscription: Tolerance::Accept,
        ack_of_settled: Tolerance::Accept,
        unrepresentable_header: Tolerance::Accept,
    };

    /// The rules of the KubeMQ connector.
    pub const KUBEMQ: Self = Self {
        empty_subscription_id: Tolerance::Refuse,
        heart_beat_on_1_0: HeartBeatOn1_0::Ignore,
        subscription_on_1_0: SubscriptionOn1_0::Never,
        ack_on_1_0: AckScope::Individual,
        ack_without_subscription: Tolerance::Refuse,
        ack_of_settled: Tolerance::Refuse,
        ..Self::LENIENT
    };
}

impl Default for Dialect {
    fn default() -> Self {
        Self::LENIENT
    }
}

impl Tolerance {
    pub(super) fn accepts(self) -> bool {
        self == Self::Accept
    }
}
