//! What a client tells the application.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use super::message::Message;
use super::receipts::ReceiptId;
use super::subscriptions::SubscriptionId;
use crate::frame::{Text, name};
use crate::session::{Agreement, CloseReason};
use crate::{Frame, Headers, Version};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The broker has accepted the session; requests may be made from here on.
    Connected(Connected),
    /// A message.
    Message(Message),
    /// The broker has processed the request that asked for this receipt.
    Receipt(ReceiptId),
    /// A RECEIPT that no request asked for, or not any more: its `receipt-id`. Those of frames that
    /// were sent by [`Client::send_frame`](super::Client::send_frame) with a `receipt` of their own
    /// are among them.
    UnknownReceipt(Text),
    /// The session has ended. No event follows, and no request will be taken.
    Closed(CloseReason),
}

/// CONNECTED: the broker has accepted the session.
#[derive(Clone, PartialEq, Eq)]
pub struct Connected {
    frame: Frame,
    version: Version,
    heart_beat: Agreement,
    not_renewed: Vec<SubscriptionId>,
}

impl Connected {
    pub(super) fn new(
        frame: Frame,
        version: Version,
        heart_beat: Agreement,
        not_renewed: Vec<SubscriptionId>,
    ) -> Self {
        Self { frame, version, heart_beat, not_renewed }
    }

    /// The version of the session.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The heart-beats of the session.
    #[must_use]
    pub fn heart_beat(&self) -> Agreement {
        self.heart_beat
    }

    /// What the broker calls the session.
    #[must_use]
    pub fn session(&self) -> Option<Cow<'_, str>> {
        self.frame.header(name::SESSION)
    }

    /// The broker's software: a name, perhaps `/` and a version, perhaps comments behind blanks.
    #[must_use]
    pub fn server(&self) -> Option<Cow<'_, str>> {
        self.frame.header(name::SERVER)
    }

    /// The subscriptions of the session before that ended with it, because this session has an older
    /// version, which cannot carry a header of their SUBSCRIBE.
    #[must_use]
    pub fn not_renewed(&self) -> &[SubscriptionId] {
        &self.not_renewed
    }

    /// All headers.
    #[must_use]
    pub fn headers(&self) -> Headers<'_> {
        self.frame.headers()
    }

    /// The frame.
    #[must_use]
    pub fn as_frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame.
    #[must_use]
    pub fn into_frame(self) -> Frame {
        self.frame
    }
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame.fmt(f)
    }
}
