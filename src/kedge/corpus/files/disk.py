"""Files that several processes may reach for, on disks that may lose power."""

import os
from pathlib import Path
from typing import IO

from kedge.errors import StorageError

__all__ = ["link", "locked", "sync_folder"]


def locked(path: Path) -> IO[bytes]:
    """Open a file and lock it, so that two runs cannot write one result; no lock where there is no fcntl."""
    while True:
        # Opened, and made if need be, but not changed.
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
        try:
            import fcntl
        except ImportError:
            return file
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            name = path.name.removesuffix(".run")
            raise StorageError(f"Another run is writing {name}; wait for it, or stop it.") from None
        # A run that was refused removes the file: then the lock is on one that is not there any more.
        try:
            if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                return file
        except OSError:
            pass
        file.close()


def link(source: Path, target: Path) -> None:
    """Another name for a file, or its only one where there cannot be two."""
    try:
        os.link(source, target)
    except OSError:
        source.replace(target)


def sync_folder(folder: Path) -> None:
    """Have the renames of a folder on the disk."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
