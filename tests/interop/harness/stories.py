"""The stories of the broker example, told to a RabbitMQ."""

from harness import place
from harness.process import output_of

# They are built in that time as well.
TIMEOUT = 900
TAIL = 3000


def tell_stories(amqp, is_quick):
    """Runs the tests of the broker example on the RabbitMQ at a port. What went wrong, or `None`.

    In a full run the load is that of a release build: 200 connections and 100,000 messages, through
    two brokers, one of which is killed half way.
    """
    command = [
        "cargo", "test", "--locked", "--manifest-path", place.REPOSITORY / "Cargo.toml",
        "--package", "stomp-broker", "--test", "stories", *([] if is_quick else ["--release"]),
        "--", "--include-ignored", "--test-threads=1",
    ]
    env = {"STOMP_BROKER_AMQP": f"amqp://guest:guest@127.0.0.1:{amqp}/%2f"}
    status, out, _ = output_of(command, env, TIMEOUT)
    if status is None:
        return f"{out[-TAIL:]}\nnot done after {TIMEOUT} s"
    return None if status == 0 else out[-TAIL:]
