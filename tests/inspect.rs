//! The command line of the example `inspect`: what it prints and how it ends.

#[path = "../examples/inspect/main.rs"]
#[expect(dead_code, reason = "its `main` would need a process of its own")]
mod inspect;

use std::io::{self, ErrorKind, Write};

use inspect::Verdict::{self, Broken, Sound};

/// A session on 1.1: a client in a hurry, beats, a malformed header that the broker relays, a body
/// in two reads, and a client that ends with an escape of no version.
const SESSION: &str = r"# STOMP transcript: session
# ms, direction, octets
connection 1 tcp
0 c2s CONNECT\naccept-version:1.0,1.1\npasscode:s\\ecret\nhost:h\n\n\x00SUB
0 c2s SCRIBE\nid:0\ndestination:/queue/a\\cb\nesc:\x1b[2J\n\n\x00
3 s2c CONNECTED\nversion:1.1\n\n\x00\n
1003 s2c \n
1004 c2s \n
2004 s2c \r\n
2210 s2c MESSAGE\ndestination:/queue/a\\cb\nmessage-id:7\nsubscription:0\nk:a\\tb\n\nh\xc3\xa9\nllo
2211 s2c \x00
2215 c2s SEND\ndestination:/q\ncontent-length:4\n\nb\x00\xff\\\x00\n\n
2218 s2c
2300 c2s ACK\nmessage-id:7\\\n
2300 c2s
";

/// Two connections, the first of which ends inside a frame of the client.
const TWO_CONNECTIONS: &str = r"# STOMP transcript: two
connection probe/10 tcp
5 c2s CONNECT\n\n\x00SEND\nk: v\n\n\x00SEND\n
9 s2c CONNECTED\n\n\x00
12 c2s
connection probe/12 ws
5 c2s STOMP\naccept-version:1.2\n\n\x00
6 s2c ERROR\n\nno\x00
";

#[test]
fn people_get_what_happened_in_time_order() {
    let shown = r"
   0 ms → CONNECT
            accept-version: 1.0,1.1
            passcode: …
            host: h
   0 ms → SUBSCRIBE
            id: 0
            destination: /queue/a:b
            esc: \u{1b}[2J
   3 ms ← CONNECTED
            version: 1.1
   3 ms ← 3 EOLs until 2004 ms
1004 ms → 1 EOL
2211 ms ← MESSAGE
            destination: /queue/a:b
            message-id: 7
            subscription: 0
            malformed header: k:a\\tb
            [7 octets] hé\nllo
2215 ms → SEND
            destination: /q
            content-length: 4
            [4 octets] b\0\xff\\
2215 ms → 2 EOLs
2300 ms → error: undefined escape in a header at octet 169
";
    assert_eq!(inspect(&["-"], SESSION), ended(Broken, shown.trim_start_matches('\n')));
}

#[test]
fn people_get_a_heading_for_each_of_several_connections() {
    let shown = r"
connection probe/10 (tcp)
 5 ms → CONNECT
 5 ms → SEND
          k: v
 9 ms ← CONNECTED
12 ms → error: stream ended inside a frame at octet 27

connection probe/12 (ws)
5 ms → STOMP
         accept-version: 1.2
6 ms ← ERROR
         [2 octets] no
";
    assert_eq!(inspect(&["-"], TWO_CONNECTIONS), ended(Broken, shown.trim_start_matches('\n')));
}

#[test]
fn people_get_no_times_that_are_unknown_and_the_start_of_a_long_body() {
    let long = "é\t".repeat(40);
    let shown = format!("→ SEND\n    [120 octets] {}…\n→ 1 EOL\n", r"é\t".repeat(32));
    assert_eq!(inspect(&["-"], format!("SEND\n\n{long}\0\n")), ended(Sound, &shown));
    let shown = format!("→ SEND\n    [64 octets] {}\n", "x".repeat(64));
    assert_eq!(inspect(&["-"], format!("SEND\n\n{}\0", "x".repeat(64))), ended(Sound, &shown));
}

#[test]
fn people_get_no_credential_however_it_is_written() {
    let connect =
        b"CONNECT\npasscode:hush\nPasscode:hush\nAuthorization:hush\npasscode:hush\xff\n\n\0";
    let shown = "← CONNECT
    passcode: …
    Passcode: …
    Authorization: …
    malformed header: …
";
    assert_eq!(inspect(&["--from", "server", "-"], connect), ended(Sound, shown));
}

#[test]
fn machines_get_a_line_for_a_frame_a_run_of_eols_and_an_error() {
    assert_json(
        &["-"],
        "SEND\ndestination:/q\n\nhi\0",
        Sound,
        &[
            r#"{"from":"client","command":"SEND","headers":[["destination","/q"]],"body":"hi","body_len":2}"#,
        ],
    );
    assert_json(&["--from", "server", "-"], "\n\r\n\n", Sound, &[r#"{"from":"server","eols":3}"#]);
    assert_json(
        &["--version", "1.2", "-"],
        "SEND\nkey:12345678\\t\n\n\0",
        Broken,
        &[r#"{"from":"client","error":"InvalidEscape","offset":17}"#],
    );
}

#[test]
fn machines_get_times_malformed_lines_and_credentials_too() {
    assert_json(
        &["-"],
        SESSION,
        Broken,
        &[
            r#"{"from":"client","command":"CONNECT","headers":[["accept-version","1.0,1.1"],["passcode","s\\ecret"],["host","h"]],"body":"","body_len":0,"at_ms":0}"#,
            r#"{"from":"client","command":"SUBSCRIBE","headers":[["id","0"],["destination","/queue/a:b"],["esc","\u001b[2J"]],"body":"","body_len":0,"at_ms":0}"#,
            r#"{"from":"server","command":"CONNECTED","headers":[["version","1.1"]],"body":"","body_len":0,"at_ms":3}"#,
            r#"{"from":"server","eols":3,"at_ms":3}"#,
            r#"{"from":"client","eols":1,"at_ms":1004}"#,
            r#"{"from":"server","command":"MESSAGE","headers":[["destination","/queue/a:b"],["message-id","7"],["subscription","0"]],"body":"h\\xc3\\xa9\\nllo","body_len":7,"malformed":["k:a\\\\tb"],"at_ms":2211}"#,
            r#"{"from":"client","command":"SEND","headers":[["destination","/q"],["content-length","4"]],"body":"b\\x00\\xff\\\\","body_len":4,"at_ms":2215}"#,
            r#"{"from":"client","eols":2,"at_ms":2215}"#,
            r#"{"from":"client","error":"InvalidEscape","offset":169,"at_ms":2300}"#,
        ],
    );
}

#[test]
fn machines_get_the_name_of_each_of_several_connections() {
    assert_json(
        &["-"],
        TWO_CONNECTIONS,
        Broken,
        &[
            r#"{"connection":"probe/10"}"#,
            r#"{"from":"client","command":"CONNECT","headers":[],"body":"","body_len":0,"at_ms":5}"#,
            r#"{"from":"client","command":"SEND","headers":[["k","v"]],"body":"","body_len":0,"at_ms":5}"#,
            r#"{"from":"server","command":"CONNECTED","headers":[],"body":"","body_len":0,"at_ms":9}"#,
            r#"{"from":"client","error":"Truncated","offset":27,"at_ms":12}"#,
            r#"{"connection":"probe/12"}"#,
            r#"{"from":"client","command":"STOMP","headers":[["accept-version","1.2"]],"body":"","body_len":0,"at_ms":5}"#,
            r#"{"from":"server","command":"ERROR","headers":[],"body":"no","body_len":2,"at_ms":6}"#,
        ],
    );
}

#[test]
fn runs_of_eols_end_with_a_frame_of_the_same_end() {
    assert_json(
        &["-"],
        "# STOMP transcript\nconnection 1 tcp\n\
         1 s2c CONNECTED\\n\\n\\x00\\n\n\
         2 c2s CONNECT\\n\\n\\x00\n\
         3 s2c \\n\n\
         4 s2c RECEIPT\\n\\n\\x00\n\
         5 s2c \\n\n",
        Sound,
        &[
            r#"{"from":"server","command":"CONNECTED","headers":[],"body":"","body_len":0,"at_ms":1}"#,
            r#"{"from":"server","eols":2,"at_ms":1}"#,
            r#"{"from":"client","command":"CONNECT","headers":[],"body":"","body_len":0,"at_ms":2}"#,
            r#"{"from":"server","command":"RECEIPT","headers":[],"body":"","body_len":0,"at_ms":4}"#,
            r#"{"from":"server","eols":1,"at_ms":5}"#,
        ],
    );
}

#[test]
fn an_error_stops_its_direction_alone() {
    assert_json(
        &["-"],
        "# STOMP transcript\nconnection 1 tcp\n\
         1 c2s GET / HTTP/1.1\\n\n\
         2 c2s \\n\n\
         3 s2c ERROR\\n\\n\\x00\n",
        Broken,
        &[
            r#"{"from":"client","error":"UnknownCommand","offset":0,"at_ms":1}"#,
            r#"{"from":"server","command":"ERROR","headers":[],"body":"","body_len":0,"at_ms":3}"#,
        ],
    );
}

#[test]
fn a_client_that_is_never_connected_has_no_version() {
    assert_json(
        &["-"],
        "# STOMP transcript\nconnection 1 tcp\n\
         1 c2s CONNECT\\naccept-version:1.2\\n\\n\\x00SEND\\nk: a\\\\c\\n\\n\\x00\n",
        Sound,
        &[
            r#"{"from":"client","command":"CONNECT","headers":[["accept-version","1.2"]],"body":"","body_len":0,"at_ms":1}"#,
            r#"{"from":"client","command":"SEND","headers":[["k"," a\\c"]],"body":"","body_len":0,"at_ms":1}"#,
        ],
    );
}

#[test]
fn a_given_version_holds_from_the_first_octet_on() {
    for (version, value) in
        [("pre", r" a\\nb"), ("1.0", r"a\\nb"), ("1.1", r" a\nb"), ("1.2", r" a\nb")]
    {
        let line = format!(
            r#"{{"from":"client","command":"SEND","headers":[["k","{value}"]],"body":"","body_len":0}}"#
        );
        assert_json(&["--version", version, "-"], "SEND\nk: a\\nb\n\n\0", Sound, &[&line]);
    }
    // What the stream itself says does not count.
    let connect = r#"{"from":"client","command":"CONNECT","headers":[["accept-version","1.2"]],"body":"","body_len":0}"#;
    let send =
        r#"{"from":"client","command":"SEND","headers":[["k","\\c"]],"body":"","body_len":0}"#;
    let octets = "CONNECT\naccept-version:1.2\n\n\0SEND\nk:\\c\n\n\0";
    assert_json(&["--version", "pre", "-"], octets, Sound, &[connect, send]);
    assert_json(&["--version", "1.0", "-"], octets, Sound, &[connect, send]);
}

#[test]
fn without_a_given_version_the_stream_tells_it() {
    for (first, value) in [
        ("", r" a\\r"),
        ("CONNECT\n\n\0", r"a\\r"),
        ("CONNECT\naccept-version:1.2,1.0,9.9\n\n\0", r" a\r"),
        ("STOMP\naccept-version:1.0,1.2\n\n\0", r" a\r"),
        ("CONNECT\naccept-version:2.0\n\n\0", r" a\\r"),
        ("CONNECTED\n\n\0", r"a\\r"),
        ("CONNECTED\nversion:1.2\n\n\0", r" a\r"),
        ("CONNECTED\nversion:2.0\n\n\0", r" a\\r"),
    ] {
        let (_, shown) = inspect(&["--json", "-"], format!("{first}SEND\nk: a\\r\n\n\0")).unwrap();
        assert!(shown.contains(&format!(r#"[["k","{value}"]]"#)), "{first:?} {shown}");
    }
}

#[test]
fn from_decides_over_malformed_header_lines() {
    let send = "SEND\nno colon\n\n\0";
    let rejected = r#"{"from":"client","error":"MissingColon","offset":13}"#;
    assert_json(&["-"], send, Broken, &[rejected]);
    assert_json(&["--from=client", "-"], send, Broken, &[rejected]);
    let kept = r#"{"from":"server","command":"SEND","headers":[],"body":"","body_len":0,"malformed":["no colon"]}"#;
    assert_json(&["--from=server", "-"], send, Sound, &[kept]);
}

#[test]
fn without_from_the_first_command_tells_the_sender() {
    for (octets, sender) in [
        ("CONNECT\n\n\0", "client"),
        ("CONNECTED\n\n\0", "server"),
        ("\n\r\nMESSAGE\n\n\0", "server"),
        ("RECEIPT\n\n\0", "server"),
        ("ERROR\n\n\0", "server"),
        ("SEND\n\nERROR\0", "client"),
        ("\n", "client"),
    ] {
        let (_, shown) = inspect(&["--json", "-"], octets).unwrap();
        assert!(shown.starts_with(&format!(r#"{{"from":"{sender}""#)), "{octets:?} {shown}");
    }
    let beat = r#"{"from":"client","eols":1}"#;
    assert_json(&["--from", "client", "-"], "\n", Sound, &[beat]);
    assert_json(&["-"], "", Sound, &[]);
}

#[test]
fn a_stream_that_ends_inside_a_frame_is_an_error() {
    let truncated = r#"{"from":"client","error":"Truncated","offset":8}"#;
    assert_json(&["-"], "SEND\n\nhi", Broken, &[truncated]);
}

#[test]
fn the_name_of_an_error_is_printed_without_its_fields() {
    let eols = r#"{"from":"client","eols":64}"#;
    let error = r#"{"from":"client","error":"TooManyEols","offset":64}"#;
    assert_json(&["-"], "\n".repeat(65), Broken, &[eols, error]);
}

#[test]
fn files_are_read() {
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/captures/raw-auth-ok-activemq_auth_42211.txt");
    let (verdict, shown) = inspect(&[file], "not looked at").unwrap();
    assert_eq!(verdict, Sound);
    assert!(shown.contains("← CONNECTED\n"), "{shown}");
}

#[test]
fn help_is_printed_at_once() {
    for args in [&["--help"][..], &["-h"], &["--json", "--help", "file"]] {
        let (verdict, shown) = inspect(args, "").unwrap();
        assert_eq!(verdict, Sound);
        assert!(shown.contains("Usage: inspect [--json]"), "{shown}");
    }
}

#[test]
fn wrong_usage_is_said_in_one_line() {
    for (args, said) in [
        (&[][..], "no FILE given, see --help"),
        (&["a", "b"], "unexpected argument \"b\""),
        (&["--yaml", "a"], "invalid option '--yaml'"),
        (&["--json=yes", "a"], "unexpected argument for option '--json': \"yes\""),
        (&["a", "--version"], "missing argument for option '--version'"),
        (&["--version", "1.3", "a"], "cannot parse argument \"1.3\": not 1.0, 1.1, 1.2 or pre"),
        (&["--from", "broker", "a"], "cannot parse argument \"broker\": not client or server"),
        (
            &["--from", "client", "-"],
            "--from and --version are not for transcripts, which tell both",
        ),
        (
            &["--version", "1.2", "-"],
            "--from and --version are not for transcripts, which tell both",
        ),
    ] {
        assert_eq!(inspect(args, SESSION), Err(said.to_owned()));
    }
    let said = inspect(&["no such file"], "").unwrap_err();
    assert!(said.starts_with("no such file: ") && said.lines().count() == 1, "{said}");
}

#[test]
fn malformed_transcripts_are_refused_with_the_line() {
    for line in [
        "1 c2s",
        "connection 1",
        "connection 1 tcp\nc2s x",
        "connection 1 tcp\n-1 c2s x",
        "connection 1 tcp\n1 c2c x",
        "connection 1 tcp\n1 c2s \\",
        "connection 1 tcp\n1 c2s \\q",
        "connection 1 tcp\n1 c2s \\x0",
        "connection 1 tcp\n1 c2s \\x0g",
    ] {
        let said = format!("line {} of the transcript is malformed", 1 + line.lines().count());
        assert_eq!(inspect(&["-"], format!("# STOMP transcript\n{line}")), Err(said));
    }
}

#[test]
fn transcripts_may_have_other_line_ends_and_every_escape() {
    assert_json(
        &["-"],
        "# STOMP transcript\r\n\r\nconnection 1 tcp\r\n1 c2s SEND\\n\\n\\t\\r\\\"\\'\\\\\\x7F\\xe9é\\x00\r\n",
        Sound,
        &[
            r#"{"from":"client","command":"SEND","headers":[],"body":"\\t\\r\\\"\\'\\\\\\x7f\\xe9\\xc3\\xa9","body_len":9,"at_ms":1}"#,
        ],
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_trouble() {
    for (kind, trouble) in [(ErrorKind::BrokenPipe, false), (ErrorKind::StorageFull, true)] {
        for args in [&["-"][..], &["--json", "-"], &["--help"]] {
            let ended = inspect::run(args, &mut SESSION.as_bytes(), &mut Closed(kind));
            assert_eq!(ended.is_err(), trouble, "{kind} {args:?}");
        }
    }
}

/// Runs the example: how it ended, or what trouble it had.
fn inspect(args: &[&str], stdin: impl AsRef<[u8]>) -> Result<(Verdict, String), String> {
    let mut out = Vec::new();
    let verdict = inspect::run(args, &mut stdin.as_ref(), &mut out);
    let verdict = verdict.map_err(|trouble| trouble.to_string())?;
    let shown = String::from_utf8(out).map_err(|error| error.to_string())?;
    Ok((verdict, shown))
}

#[expect(clippy::unnecessary_wraps, reason = "to compare with what `inspect` returns")]
fn ended(verdict: Verdict, shown: &str) -> Result<(Verdict, String), String> {
    Ok((verdict, shown.to_owned()))
}

#[track_caller]
fn assert_json(args: &[&str], stdin: impl AsRef<[u8]>, verdict: Verdict, lines: &[&str]) {
    let args = [&["--json"], args].concat();
    let shown: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    assert_eq!(inspect(&args, stdin), ended(verdict, &shown));
}

/// A closed or full output.
struct Closed(ErrorKind);

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(self.0.into())
    }
}
