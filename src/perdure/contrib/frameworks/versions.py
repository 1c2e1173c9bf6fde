"""Whether a framework is installed, in a version that its adapter was written for."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from perdure.errors import Unavailable


def require(package: str, floor: str, extra: str) -> None:
    """Unavailable, with what to install, unless the package is there in this version or a later one."""
    try:
        installed = version(package)
    except PackageNotFoundError as error:
        raise Unavailable(f"{package} is not installed: pip install 'perdure[{extra}]'") from error
    if _numbers(installed) < _numbers(floor):
        raise Unavailable(
            f"{package} {installed} is too old, {floor} or later is needed: pip install -U 'perdure[{extra}]'"
        )


def _numbers(text: str) -> tuple[int, ...]:
    """Return the release numbers of a version, without what follows them (`1.4.0rc1` is 1, 4, 0)."""
    release = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(number) for number in release.group().split(".")) if release else ()
