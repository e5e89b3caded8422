"""One check: a client plays its story against a server, and says feature by feature how it went."""

from dataclasses import dataclass, field

from harness.process import output_of

# What a story of a client goes through. The words stand in the lines that stories print.
FEATURES = (
    "connect", "subscribe", "send", "ack", "nack", "transaction", "receipt", "heart-beat",
    "binary", "escapes", "disconnect",
)
# What our own client goes through against the brokers of others, on top of these.
OWN_FEATURES = (*FEATURES, "ack-modes", "1-MiB")

# Lines that are shown of what a story said when it failed: at its start, and at its end.
HEAD, TAIL = 6, 6


@dataclass
class Subject:
    """Who plays against whom, and how."""

    peer: str
    version: str
    transport: str
    against: str


@dataclass
class Result:
    """What came of a check. `lacking` says of each feature that a client has not why that is so."""

    subject: Subject
    passed: list = field(default_factory=list)
    lacking: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)
    detail: str = ""

    def line(self):
        """The check in one line, and below it what went wrong."""
        subject = self.subject
        words = [
            "FAIL" if self.failed else "ok  ", subject.peer, subject.version, subject.transport,
            subject.against, " ".join(self.passed),
        ]
        line = "  ".join(words)
        if self.lacking:
            line += f"  (not: {' '.join(self.lacking)})"
        for reason in dict.fromkeys(self.failed.values()):
            features = (feature for feature, it in self.failed.items() if it == reason)
            line += f"\n      {' '.join(features)}: {reason}"
        if self.failed and self.detail:
            line += "\n" + "\n".join(f"      | {it}" for it in self.detail.splitlines())
        return line


def play(subject, command, env, features=FEATURES, timeout=60):
    """Runs the story. A feature that it does not speak of has failed."""
    status, out, err = output_of(command, env, timeout)
    result = Result(subject, detail=_shown(err.splitlines()))
    for line in out.splitlines():
        word, _, rest = line.partition(" ")
        feature, _, reason = rest.partition(": ")
        if word == "peer":
            subject.peer = rest
        elif word == "ok" and feature in features:
            result.passed.append(feature)
        elif word == "not" and feature in features and reason:
            result.lacking[feature] = reason
        else:
            result.failed["output"] = f"{line!r} is no line of a story"
    for feature in features:
        if feature not in result.passed and feature not in result.lacking:
            result.failed[feature] = _end_of(status, timeout)
    result.passed.sort(key=features.index)
    if status != 0 and not result.failed:
        result.failed["exit"] = _end_of(status, timeout)
    return result


def _shown(lines):
    if len(lines) > HEAD + TAIL:
        lines = [*lines[:HEAD], "…", *lines[-TAIL:]]
    return "\n".join(lines)


def _end_of(status, timeout):
    if status is None:
        return f"the story had not ended after {timeout} s"
    return f"the story ended with exit status {status}"
