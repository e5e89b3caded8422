"""Where things are: the repository, the cache of what is installed, the folder of one run."""

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

INTEROP = Path(__file__).resolve().parent.parent
REPOSITORY = INTEROP.parent.parent
CLIENTS = INTEROP / "clients"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")).resolve()
CACHE = Path(os.environ.get("INTEROP_CACHE", TARGET / "interop")).resolve()


@contextmanager
def run_folder():
    """A folder for logs and data. It stays behind if the block fails."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    try:
        yield folder
    except BaseException:
        print(f"logs: {folder}", flush=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
