//! What a server session tells the application.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use bytes::Bytes;

use super::{ConnectReply, LedgerEntry, Reply, SubscriptionId};
use crate::frame::{AckMode, Headers, Text, name};
use crate::{CloseReason, Frame, HeartBeat, Version};

/// What a server session tells the application.
///
/// Every request carries the reply that it is owed.
#[derive(Debug)]
pub enum Event<T> {
    /// A client wants in. Nothing more is read before it is answered.
    Connect {
        /// CONNECT or STOMP.
        frame: ConnectFrame,
        /// For `accept` or `fail`.
        reply: ConnectReply,
    },
    /// A message.
    Send {
        /// The SEND.
        frame: SendFrame,
        /// For `confirm` or `fail`.
        reply: Reply,
    },
    /// A new subscription. It takes deliveries once this is confirmed.
    Subscribe {
        /// The SUBSCRIBE.
        frame: SubscribeFrame,
        /// For `confirm` or `fail`.
        reply: Reply,
    },
    /// A subscription has ended: it takes no more deliveries. Those that are open stay so until
    /// the client settles them, `release` takes them back, or the session ends.
    Unsubscribe {
        /// The UNSUBSCRIBE.
        frame: UnsubscribeFrame,
        /// For `confirm` or `fail`.
        reply: Reply,
    },
    /// Deliveries were consumed. They are no longer in the ledger.
    Ack {
        /// The ACK.
        frame: AckFrame,
        /// All that it settles, oldest first.
        deliveries: Vec<LedgerEntry<T>>,
        /// For `confirm` or `fail`.
        reply: Reply,
    },
    /// Deliveries were not consumed. They are no longer in the ledger.
    Nack {
        /// The NACK.
        frame: AckFrame,
        /// All that it settles, oldest first.
        deliveries: Vec<LedgerEntry<T>>,
        /// For `confirm` or `fail`.
        reply: Reply,
    },
    /// A transaction, to be carried out as one. BEGIN and ABORT make no event.
    Commit {
        /// Its name.
        transaction: Text,
        /// Its frames, in order.
        work: Vec<Work<T>>,
        /// For `confirm` or `fail`.
        reply: Reply,
    },
    /// The client leaves. Open transactions are aborted; nothing more is read.
    Disconnect {
        /// The DISCONNECT.
        frame: Frame,
        /// For `confirm`, which ends the session, or `fail`.
        reply: Reply,
    },
    /// The session has ended; the last event.
    Closed {
        /// How.
        reason: CloseReason,
        /// The deliveries that were not settled, in the order in which they were made.
        open: Vec<LedgerEntry<T>>,
    },
}

/// One frame of a transaction.
#[derive(Debug)]
pub enum Work<T> {
    /// A message.
    Send(SendFrame),
    /// Deliveries were consumed.
    Ack {
        /// The ACK.
        frame: AckFrame,
        /// All that it settles, oldest first.
        deliveries: Vec<LedgerEntry<T>>,
    },
    /// Deliveries were not consumed.
    Nack {
        /// The NACK.
        frame: AckFrame,
        /// All that it settles, oldest first.
        deliveries: Vec<LedgerEntry<T>>,
    },
}

/// ACK or NACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settlement {
    Ack,
    Nack,
}

impl Settlement {
    pub(super) fn event<T>(
        self,
        frame: AckFrame,
        deliveries: Vec<LedgerEntry<T>>,
        reply: Reply,
    ) -> Event<T> {
        match self {
            Self::Ack => Event::Ack { frame, deliveries, reply },
            Self::Nack => Event::Nack { frame, deliveries, reply },
        }
    }

    pub(super) fn work<T>(self, frame: AckFrame, deliveries: Vec<LedgerEntry<T>>) -> Work<T> {
        match self {
            Self::Ack => Work::Ack { frame, deliveries },
            Self::Nack => Work::Nack { frame, deliveries },
        }
    }
}

macro_rules! frame_access {
    ($name:ident) => {
        impl $name {
            /// Its headers.
            #[must_use]
            pub fn headers(&self) -> Headers<'_> {
                self.frame.headers()
            }

            /// The frame itself.
            #[must_use]
            pub fn as_frame(&self) -> &Frame {
                &self.frame
            }

            /// The frame itself.
            #[must_use]
            pub fn into_frame(self) -> Frame {
                self.frame
            }
        }
    };
}

/// A CONNECT or STOMP, with what was negotiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectFrame {
    pub(super) frame: Frame,
    pub(super) version: Version,
    pub(super) heart_beat: HeartBeat,
}

frame_access!(ConnectFrame);

impl ConnectFrame {
    /// The version that the session will speak.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// What the client can send and wants to get.
    #[must_use]
    pub fn heart_beat(&self) -> HeartBeat {
        self.heart_beat
    }

    /// The virtual host.
    #[must_use]
    pub fn host(&self) -> Option<Cow<'_, str>> {
        self.frame.header(name::HOST)
    }

    /// The user.
    #[must_use]
    pub fn login(&self) -> Option<Cow<'_, str>> {
        self.frame.header(name::LOGIN)
    }

    /// The password.
    #[must_use]
    pub fn passcode(&self) -> Option<Cow<'_, str>> {
        self.frame.header(name::PASSCODE)
    }
}

/// A SEND, which has a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendFrame {
    pub(super) frame: Frame,
}

frame_access!(SendFrame);

impl SendFrame {
    /// Where the message goes.
    #[must_use]
    pub fn destination(&self) -> Cow<'_, str> {
        self.frame.header(name::DESTINATION).unwrap_or_default()
    }

    /// The message.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        self.frame.body()
    }
}

/// A SUBSCRIBE, which has a destination, and from 1.1 on an id that no other live one has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribeFrame {
    pub(super) frame: Frame,
    pub(super) subscription: SubscriptionId,
    pub(super) mode: AckMode,
}

frame_access!(SubscribeFrame);

impl SubscribeFrame {
    /// Names the subscription in this session.
    #[must_use]
    pub fn subscription(&self) -> SubscriptionId {
        self.subscription
    }

    /// Where the messages come from.
    #[must_use]
    pub fn destination(&self) -> Cow<'_, str> {
        self.frame.header(name::DESTINATION).unwrap_or_default()
    }

    /// How they are acknowledged.
    #[must_use]
    pub fn mode(&self) -> AckMode {
        self.mode
    }
}

/// An UNSUBSCRIBE of a subscription that there was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsubscribeFrame {
    pub(super) frame: Frame,
    pub(super) subscription: SubscriptionId,
}

frame_access!(UnsubscribeFrame);

impl UnsubscribeFrame {
    /// Names the subscription in this session.
    #[must_use]
    pub fn subscription(&self) -> SubscriptionId {
        self.subscription
    }
}

/// An ACK or NACK of something that was open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckFrame {
    pub(super) frame: Frame,
    pub(super) subscription: SubscriptionId,
}

frame_access!(AckFrame);

impl AckFrame {
    /// Names the subscription that the deliveries were for.
    #[must_use]
    pub fn subscription(&self) -> SubscriptionId {
        self.subscription
    }
}
