"""The stories of the broker example, told to a RabbitMQ."""

from harness import place
from harness.process import output_of

BUILD_TIMEOUT = 900
TIMEOUT = 600
TAIL = 3000


def tell_stories(amqp, is_quick):
    """Runs the tests of the broker example on the RabbitMQ at a port. What went wrong, or `None`.

    In a full run the load is that of a release build: 200 connections and 100,000 messages, through
    two brokers, one of which is killed half way.
    """
    command = [
        "cargo", "test", "--locked", "--manifest-path", place.REPOSITORY / "Cargo.toml",
        "--package", "stomp-broker", "--test", "stories", *([] if is_quick else ["--release"]),
    ]
    env = {"STOMP_BROKER_AMQP": f"amqp://guest:guest@127.0.0.1:{amqp}/%2f"}
    # A build that takes long is not to leave a story that hangs all the more time.
    status, _, err = output_of([*command, "--no-run"], env, BUILD_TIMEOUT)
    if status != 0:
        return _failure(status, err, BUILD_TIMEOUT)
    options = ["--", "--include-ignored", "--test-threads=1"]
    status, out, _ = output_of([*command, *options], env, TIMEOUT)
    return None if status == 0 else _failure(status, out, TIMEOUT)


def _failure(status, output, timeout):
    late = f"\nnot done after {timeout} s" if status is None else ""
    return output[-TAIL:] + late
