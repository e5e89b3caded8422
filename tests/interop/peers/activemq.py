"""ActiveMQ Classic with nothing but its STOMP transport."""

from contextlib import contextmanager
from dataclasses import dataclass

from harness.process import accepts, running
from peers import install

JAR = "/usr/share/activemq/bin/activemq.jar"
HOME = "/usr/share/activemq"

LOGGING = """\
status = error
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %-5p %m%n
"""


@dataclass(frozen=True)
class ActiveMq:
    """A broker that is ready."""

    name: str
    tcp: int
    kind: str = "activemq"

    def port(self, _):
        return self.tcp


def install_activemq():
    install.apt(["activemq"])


@contextmanager
def activemq(folder, ports):
    """Starts a broker with its data in `folder`."""
    base = folder / "activemq"
    base.mkdir()
    port = ports.take()
    logging = base / "log4j2.properties"
    logging.write_text(LOGGING)
    uri = (
        f"broker:(stomp://127.0.0.1:{port}?transport.closeAsync=false)"
        "?brokerName=interop&persistent=false&useJmx=false&schedulerSupport=false"
    )
    java = [
        "java", "-Xmx256m", "-XX:+UseSerialGC", "-Djava.awt.headless=true",
        f"-Dactivemq.home={HOME}", f"-Dactivemq.base={base}", f"-Dactivemq.conf={base}",
        f"-Dactivemq.data={base}", f"-Dactivemq.classpath={base}",
        f"-Dlog4j2.configurationFile=file:{logging}", f"-Djava.io.tmpdir={base}",
        "-jar", JAR, "start", uri,
    ]
    with running(java, base / "out.log", lambda: accepts(port)):
        version = install.apt_version("activemq").partition("+")[0]
        yield ActiveMq(f"ActiveMQ {version}", port)
