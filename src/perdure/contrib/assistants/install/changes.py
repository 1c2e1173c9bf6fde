"""What an installation changes: each file as it is and as it will be, and how it is written."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from perdure.contrib.assistants.install.hosts import ConfigFile
from perdure.contrib.assistants.install.json_text import JsonText
from perdure.contrib.assistants.install.toml_text import Value, drop_table, put_table, table
from perdure.contrib.assistants.place import write_whole
from perdure.errors import InvalidInput

BACKUP = ".before-perdure"
_OWN_HOOK = re.compile(r"(?:^|[\s/\\\"'])perdure(?:\.exe)?[\"']?\s+hook\s")
_OWN_SERVER = re.compile(r"(?:^|[/\\])perdure(?:\.exe)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file before and after; None where there is none."""

    path: str
    before: str | None
    after: str | None

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        before, after = (self.before or "").splitlines(), (self.after or "").splitlines()
        names = (
            self.path if self.before is not None else "/dev/null",
            self.path if self.after is not None else "/dev/null",
        )
        return "\n".join(unified_diff(before, after, *names, lineterm=""))

    def write(self) -> str | None:
        """Make the change, through links, with the file's own mode; returns the backup of what was there before.

        A file that goes held nothing but Perdure's entries, and has no backup.
        """
        target = Path(self.path).resolve()
        if self.before is None and self.after is None:
            return None
        if _read(str(target)) != self.before:
            raise InvalidInput(self.path, "a file that nobody changes meanwhile")
        if self.after is None:
            target.unlink()
            return None
        backup = _back_up(target) if self.before is not None else None
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        write_whole(str(target), self.after)
        if mode is not None:
            target.chmod(mode)
        return backup


def install_into(file: ConfigFile) -> Change:
    """Return the file with Perdure's entries, each once."""
    before = _read(file.path)
    if file.format == "toml":
        after = before or ""
        for path, value in file.members.items():
            after = put_table(after, file.path, path, _toml_values(value))
        return Change(path=file.path, before=before, after=after)
    text = _json(file, before)
    for path, value in file.required.items():
        if not text.has(path):
            text.put(path, value)
    for path, value in file.members.items():
        _refuse_stranger(text, file.path, path)
        text.put(path, value)
    for path, entry in file.lists.items():
        _put_entry(text, file.path, path, entry)
    return Change(path=file.path, before=before, after=_as_before(text.text, before))


def remove_from(file: ConfigFile) -> Change:
    """Return the file without Perdure's entries; None in its place when nothing else is left in it."""
    before = _read(file.path)
    if before is None:
        return Change(path=file.path, before=None, after=None)
    if file.format == "toml":
        after = before
        for path in file.members:
            if _is_own_server(table(after, file.path, path)):
                after = drop_table(after, file.path, path)
        return Change(path=file.path, before=before, after=after if after.strip() else None)
    text = _json(file, before)
    for path in file.members:
        if _is_own_server(text.get(path)):
            text.drop(path)
    for path in file.lists:
        _drop_entries(text, path)
    after = _as_before(text.text, before)
    rest = text.get(())
    left = [key for key in rest if (key,) not in file.required] if isinstance(rest, dict) else []
    return Change(path=file.path, before=before, after=after if left or after == before else None)


def _read(path: str) -> str | None:
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InvalidInput(path, f"UTF-8 text at byte {error.start}") from error


def _json(file: ConfigFile, text: str | None) -> JsonText:
    written = text if text is not None and text.strip() else "{}"
    parsed = JsonText(
        written.replace("\r\n", "\n") if _has_windows_lines(written) else written,
        file.path,
        comments=file.format == "jsonc",
    )
    if not isinstance(parsed.get(()), dict):
        raise InvalidInput(file.path, "a JSON object")
    return parsed


def _has_windows_lines(text: str) -> bool:
    return 0 < text.count("\n") == text.count("\r\n")


def _as_before(text: str, before: str | None) -> str:
    """Return the text with line ends as the file had them; a new file ends with one."""
    if before is None or not before.strip():
        return text if text.endswith("\n") else f"{text}\n"
    return text.replace("\n", "\r\n") if _has_windows_lines(before) else text


def _toml_values(value: object) -> dict[str, Value]:
    assert isinstance(value, Mapping)
    return dict(value)


def _refuse_stranger(text: JsonText, name: str, path: Sequence[str]) -> None:
    if text.has(path) and not _is_own_server(text.get(path)):
        raise InvalidInput(name, f"no server of somebody else at {'.'.join(path)}", text.get(path))


def _is_own_server(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    program = entry.get("command")
    return isinstance(program, str) and bool(_OWN_SERVER.search(program))


def _is_own_hook(entry: object) -> bool:
    line = entry.get("command") if isinstance(entry, Mapping) else None
    return isinstance(line, str) and bool(_OWN_HOOK.search(f"{line} "))


def _is_own_group(entry: object) -> bool:
    """Whether an entry is Perdure's hook, or a group of nothing but such."""
    inner = entry.get("hooks") if isinstance(entry, Mapping) else None
    return bool(inner) and all(map(_is_own_hook, inner)) if isinstance(inner, list) else _is_own_hook(entry)


def _put_entry(text: JsonText, name: str, path: tuple[str, ...], entry: Mapping[str, object]) -> None:
    present = text.get(path) if text.has(path) else []
    if not isinstance(present, list):
        raise InvalidInput(name, f"a list at {'.'.join(path)}", present)
    own = [index for index, one in enumerate(present) if _is_own_group(one)]
    for index in reversed(own[1:]):
        text.drop([*path, index])
    if not own and not text.has(path):
        text.put(path, [entry])
    else:
        text.put([*path, own[0] if own else len(present)], entry)


def _drop_entries(text: JsonText, path: tuple[str, ...]) -> None:
    present = text.get(path)
    for index in reversed(range(len(present) if isinstance(present, list) else 0)):
        entry = present[index] if isinstance(present, list) else None
        if _is_own_group(entry):
            text.drop([*path, index])
            continue
        inner = entry.get("hooks") if isinstance(entry, Mapping) else None
        for place in reversed(range(len(inner) if isinstance(inner, list) else 0)):
            if isinstance(inner, list) and _is_own_hook(inner[place]):
                text.drop([*path, index, "hooks", place])


def _back_up(target: Path) -> str:
    """Copy a file beside itself under a name that no earlier backup has."""
    number = 1
    while os.path.lexists(copy := f"{target}{BACKUP}{'' if number == 1 else f'-{number}'}"):
        number += 1
    shutil.copy2(target, copy)
    return copy
