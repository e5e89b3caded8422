"""@stomp/stompjs in headless Chromium: serves the page, starts the browser, prints its lines."""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from pathlib import Path

PATIENCE = 50
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]

HERE = Path(__file__).resolve().parent
MODULES = Path(os.environ["NODE_PATH"])
STOMPJS = MODULES / "@stomp" / "stompjs"
PAGES = {
    "/page.html": (HERE / "page.html", "text/html"),
    "/stomp.umd.js": (STOMPJS / "bundles" / "stomp.umd.js", "text/javascript"),
    "/stompjs_story.js": (
        HERE.parent / "clients" / "node" / "stompjs_story.js", "text/javascript; charset=utf-8"
    ),
}


class Pages(http.server.BaseHTTPRequestHandler):
    """The page and what it loads; what it posts is printed, or ends the program."""

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path not in PAGES:
            return self.send_error(404)
        file, kind = PAGES[path]
        self._answer(200, file.read_bytes(), kind)

    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        self._answer(204)
        if self.path == "/line":
            print(text, flush=True)
        else:
            self.server.failure = text
            self.server.is_over.set()

    def log_message(self, *_):
        """Says nothing of requests."""

    def _answer(self, status, body=b"", kind="text/plain"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    name_peer()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.failure, server.is_over = f"no end in {PATIENCE} s", threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={profile}", page(server.server_port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            server.is_over.wait(PATIENCE)
        finally:
            browser.terminate()
            browser.wait()
    if server.failure:
        sys.exit(server.failure)


def name_peer():
    stompjs = json.loads((STOMPJS / "package.json").read_text())["version"]
    shown = subprocess.run(["chromium", "--version"], capture_output=True, text=True, check=True)
    chromium = " ".join(shown.stdout.split()[:2])
    print(f"peer @stomp/stompjs {stompjs} in {chromium}", flush=True)


def page(port):
    query = urllib.parse.urlencode({
        "broker": f"ws://127.0.0.1:{os.environ['STOMP_PORT']}/ws",
        "version": os.environ["STOMP_VERSION"],
        "queue": os.environ["STOMP_QUEUE"],
    })
    return f"http://127.0.0.1:{port}/page.html?{query}"


main()
