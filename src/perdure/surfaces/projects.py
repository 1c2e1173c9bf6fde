"""Which bank a project's memory is in: one per repository, wherever in it the assistant was started.

The project is the nearest folder upwards that holds `.git`; of a linked worktree the repository that it belongs to; else the
folder itself. Its bank is the folder's name and eight digits of its path, so that two projects of one name stay apart.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b

_NOT_A_NAME = re.compile(r"[^\w.-]+")
MOST_NAME = 60


def bank_of(folder: str) -> str:
    """Return the bank of the project that a folder belongs to: `perdure-1f0c2b9a`."""
    project = project_of(folder)
    name = _NOT_A_NAME.sub("-", os.path.basename(project)).strip("-.")[:MOST_NAME] or "root"
    return f"{name}-{blake2b(os.path.normcase(project).encode('utf-8', 'surrogateescape'), digest_size=4).hexdigest()}"


def project_of(folder: str) -> str:
    """Return the root of the project that a folder belongs to."""
    start = os.path.realpath(folder)
    here = start
    while True:
        mark = os.path.join(here, ".git")
        if os.path.isdir(mark):
            return here
        if os.path.isfile(mark):
            return _repository_of(mark) or here
        above = os.path.dirname(here)
        if above == here:
            return start
        here = above


def _repository_of(mark: str) -> str | None:
    """Return the repository of a linked worktree, whose `.git` is a file: `gitdir: REPOSITORY/.git/worktrees/NAME`."""
    try:
        with open(mark, encoding="utf-8") as file:
            line = file.read(4096).strip()
    except (OSError, UnicodeDecodeError):
        return None
    target = line.removeprefix("gitdir:").strip()
    head, separator, _ = target.replace(os.sep, "/").partition("/.git/worktrees/")
    return os.path.realpath(head) if separator and line.startswith("gitdir:") else None
