"""Chats that people export: WhatsApp's text files and Slack's workspace archives."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from perdure.contrib.imports.files import FileSource, FileTree
from perdure.contrib.imports.values import as_id, as_list, as_moment, as_object, as_tags, as_text, turn
from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.domain.item import Item
from perdure.errors import InvalidInput
from perdure.extending import SpokenTurn, Transcript, read_transcript

WHATSAPP, SLACK = "whatsapp", "slack"
_CHAT_NAME = re.compile(
    r"^WhatsApp[ -]+Chat(?:\s+(?:with|mit|con|avec|com)|\s+-)?\s+(?P<name>.+)$", re.IGNORECASE
)
_NOTICE = re.compile(
    r"messages and calls are end-to-end encrypted|created (?:this )?group|changed (?:the|this) |added you|joined using|"
    r"security code changed|nachrichten und anrufe sind ende-zu-ende",
    re.IGNORECASE,
)
_SLACK_LINK = re.compile(r"<(?P<target>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")
_SLACK_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_WORDLESS = frozenset({
    "channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive", "channel_unarchive",
    "group_join", "group_leave", "pinned_item", "bot_add", "bot_remove", "bot_message", "tombstone", "huddle_thread", "reminder_add",
    "message_deleted", "message_changed",
})  # fmt: skip
"""Subtypes of messages that nobody said."""


class WhatsAppChat(FileSource):
    """A chat's export, text or ZIP; a month of it is a document, so that a longer export adds what is new."""

    name = WHATSAPP
    globs = ("*.txt",)
    expected = "a chat export with its .txt file"

    def _read(self, file: str) -> Iterator[ImportedDocument | SkippedPart]:
        shown = self._tree.shown(file)
        transcript = read_transcript(self._tree.read_text(file))
        if transcript is None:
            raise InvalidInput(shown, "messages with a date and a name each, as WhatsApp exports them")
        yield from _told(transcript, shown)
        name = self._chat(file)
        spoken = [one for one in transcript.turns if one.speaker and not _NOTICE.search(one.text[:200])]
        for month, turns in groupby(spoken, key=_month):
            items = [_whatsapp_item(one, name) for one in turns]
            said = tuple(item for item in items if item is not None)
            if said:
                yield ImportedDocument(id=as_id(WHATSAPP, name, month or "undated"), items=said, scope=name)

    def _chat(self, file: str) -> str:
        """With whom: the name of the file, or of the archive or folder around `_chat.txt`."""
        stem = PurePosixPath(file).stem
        if stem == "_chat":
            stem = self._tree.path.stem if not self._tree.is_file else self._tree.path.resolve().parent.name
        match = _CHAT_NAME.match(stem)
        return as_text(match["name"] if match else stem).strip()


def _told(transcript: Transcript, shown: str) -> Iterator[SkippedPart]:
    for line, text in transcript.omitted:
        yield SkippedPart(path=f"{shown}, line {line}", reason=f"no words: {text[:80]}")
    for line, text in transcript.unread_dates:
        yield SkippedPart(path=f"{shown}, line {line}", reason=f"date not read, day or month first: {text}")


def _month(one: SpokenTurn) -> str:
    return f"{one.said_at:%Y-%m}" if one.said_at is not None else ""


def _whatsapp_item(one: SpokenTurn, chat: str) -> Item | None:
    return turn(
        one.text, speaker=one.speaker, role=one.role, said_at=one.said_at, context=f"WhatsApp chat {chat}",
        metadata={"source": WHATSAPP},
    )  # fmt: skip


class SlackExport:
    """A workspace's export, ZIP or unpacked: a day of a channel is a document."""

    name = SLACK

    def __init__(self, path: Path) -> None:
        self._tree = FileTree(path)
        names = self._tree.names("*.json")
        self._root = next(
            (str(PurePosixPath(name).parent) for name in names if _last(name) == "users.json"), None
        )
        if self._root is None:
            raise InvalidInput(str(path), "a Slack export with users.json and a folder per channel")
        self._days = [name for name in names if re.fullmatch(r"\d{4}-\d{2}-\d{2}\.json", _last(name))]
        self._people = {as_text(user.get("id")): _person(user) for user in self._listed("users.json")}
        self._channels = {
            as_text(channel.get("id")): self._channel_name(channel)
            for file in _SLACK_LISTS
            for channel in self._listed(file)
        }

    def _listed(self, file: str) -> list[Mapping[str, Any]]:
        name = file if self._root in (None, ".") else f"{self._root}/{file}"
        if name not in self._tree.names(file):
            return []
        return [as_object(value) for value in self._json(name)]

    def _json(self, name: str) -> Sequence[Any]:
        try:
            return as_list(json.loads(self._tree.read_text(name)))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(self._tree.shown(name), f"valid JSON ({error})") from error

    def _channel_name(self, channel: Mapping[str, Any]) -> str:
        """Return a channel's name; a direct message is named by who takes part."""
        named = as_text(channel.get("name"))
        if named and not named.startswith("mpdm-"):
            return named
        return ", ".join(
            self._people.get(as_text(one), as_text(one)) for one in as_list(channel.get("members"))
        )

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        for name in self._days:
            shown = self._tree.shown(name)
            folder, day = PurePosixPath(name).parent.name, PurePosixPath(name).stem
            channel = self._channels.get(folder) or folder
            items = []
            wordless = 0
            for message in map(as_object, self._json(name)):
                item = self._item(message, channel)
                if item is None:
                    wordless += 1
                else:
                    items.append(item)
            if wordless:
                yield SkippedPart(path=shown, reason=f"{wordless:,} messages without words of a person")
            if items:
                items.sort(key=lambda item: (item.timestamp is None, item.timestamp))
                yield ImportedDocument(id=as_id(SLACK, folder, day), items=tuple(items), scope=channel)

    def _item(self, message: Mapping[str, Any], channel: str) -> Item | None:
        if message.get("type") != "message" or message.get("subtype") in _WORDLESS or message.get("bot_id"):
            return None
        user = as_text(message.get("user"))
        profile = as_object(message.get("user_profile"))
        speaker = self._people.get(user) or _person({"profile": profile, "id": user})
        text = self._plain(as_text(message.get("text")))
        return turn(
            text, speaker=speaker, said_at=as_moment(message.get("ts")), context=f"Slack channel {channel}",
            tags=as_tags([f"channel:{channel}"]), metadata={"source": SLACK},
        )  # fmt: skip

    def _plain(self, text: str) -> str:
        """Slack's markup as words: people and channels by name, links by their label and address."""

        def words(match: re.Match[str]) -> str:
            target, label = match["target"], (match["label"] or "").strip()
            if target.startswith("@"):
                return "@" + (self._people.get(target[1:]) or label or target[1:])
            if target.startswith("#"):
                return "#" + (label or self._channels.get(target[1:]) or target[1:])
            if target.startswith("!"):
                return label or "@" + target[1:].split("^")[0]
            address = target.removeprefix("mailto:")
            return f"{label} ({address})" if label and label != address else address

        return html.unescape(_SLACK_LINK.sub(words, text))

    def close(self) -> None:
        self._tree.close()


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _person(user: Mapping[str, Any]) -> str:
    profile = as_object(user.get("profile"))
    names = (
        profile.get("real_name"),
        user.get("real_name"),
        profile.get("display_name"),
        user.get("name"),
        user.get("id"),
    )
    return next((name for value in names if (name := as_text(value).strip())), "")


def detect_whatsapp(tree: FileTree) -> bool:
    """Whether it is a text file of dated messages, or an archive around one."""
    files = [tree.path.name] if tree.is_file else tree.names("*.txt")
    if len(files) != 1 or not files[0].endswith(".txt"):
        return False
    named = _last(files[0]) == "_chat.txt" or _CHAT_NAME.match(PurePosixPath(files[0]).stem)
    transcript = read_transcript(tree.head(files[0], 8_192).rpartition("\n")[0]) if tree.is_file else None
    dated = transcript is not None and all(one.said_at is not None for one in transcript.turns)
    return bool(named) or bool(dated)


def detect_slack(tree: FileTree) -> bool:
    """Whether it has a list of users and one of channels."""
    names = {_last(name) for name in tree.names("users.json", *_SLACK_LISTS)}
    return not tree.is_file and "users.json" in names and bool(names & set(_SLACK_LISTS))
