//! Any octets: whole, split and octet by octet they are the same frames and the same error, and the
//! naive twin says so too. Nothing is held beyond the limits.

#![no_main]

#[path = "../../tests/support/naive.rs"]
mod naive;
mod script;
#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use script::Script;
use stomp_proto::Version;
use stomp_proto::codec::{Limits, MalformedHeader};
use support::Setup;

/// Splitting everywhere takes a time that grows with the square of this.
const MOST: usize = 400;

fuzz_target!(|input: &[u8]| {
    let Some((mut script, octets)) = Script::of(input) else { return };
    let versions = [None, Some(Version::V1_0), Some(Version::V1_1), Some(Version::V1_2)];
    let mut setup = Setup { version: script.pick(&versions), ..Setup::default() };
    setup.config.malformed_header = script.pick(&[MalformedHeader::Reject, MalformedHeader::Keep]);
    if script.choose(2) == 1 {
        let mut limits = Limits::default();
        limits.max_head_len = 1 + script.choose(100);
        limits.max_connect_head_len = 1 + script.choose(100);
        limits.max_body_len = script.choose(20);
        limits.max_headers = script.choose(5);
        limits.max_idle_eols = script.choose(5);
        setup.config.limits = limits;
    }
    let whole = if octets.len() <= MOST {
        setup.outcome(octets)
    } else {
        let whole = setup.decode([octets]);
        let size = 1 + script.choose(100);
        assert_eq!(setup.decode(octets.chunks(size)), whole);
        assert_eq!(setup.scan(octets.chunks(size)), whole);
        whole
    };
    assert_eq!(naive::decode(octets, &setup), whole);
});
