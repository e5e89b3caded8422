//! What goes wrong in real STOMP software: one test for each field case that a server answers for,
//! with the octets of the case.

mod bounds;
mod opening;
mod settling;
mod working;
