"""Where scenes come from: our written conversations, and public data that may be trained on (lab/README.md)."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from lab.conversations import Conversation, InvalidConversation, read_batch
from lab.names import GIVEN
from lab.scenes import DEV, TEST, TRAIN, Asked, Expected, Said, Scene

LAB = Path(__file__).parent
HELD_OUT_BATCHES = ("enC", "enF", "xxT")
"""Batches that nobody who chooses settings has read."""
_BOT = "bot"
_PASSAGE_SHARE = 0.25
_SENTENCES = 60
_ASPECTS = {
    "holds": "fact", "begins": "begins", "ends": "ended", "corrects": "corrects", "plan": "plan", "wish": "wish",
    "denied": "denied", "past": "past", "temporary": "temporary", "question": "question", "unreal": "unreal",
}  # fmt: skip
"""Meanings by the aspects of `lab/data/sentences`; its `none` is wider than ours, and left out."""
_SINGLE_VALUED = (
    "home", "employer", "partner", "boss", "phone", "mail", "address", "commute", "marital", "religion", "work_hours",
    "role", "study", "car", "bank", "age", "diet", "doctor",
)  # fmt: skip
"""Slots of which people have one value, so that another one ends it."""
_SUBJECTS = {"self": "speaker", "we": "speaker", "other": "other", "thing": "thing"}


def share(id: str) -> float:
    """Return a number in [0, 1) that depends on the id alone."""
    return int(sha256(id.encode()).hexdigest()[:8], 16) / 2**32


def written_scenes(folder: Path = LAB / "data" / "written") -> Iterator[Scene]:
    """Yield our written conversations; a file that breaks the format is reported and skipped."""
    for path in sorted(folder.glob("*.txt")):
        try:
            conversations = read_batch(path)
        except InvalidConversation as error:
            print(f"skipped: {error}")
            continue
        yield from (_from_written(conversation, path.stem) for conversation in conversations)


def _from_written(conversation: Conversation, batch: str) -> Scene:
    split = TRAIN
    if batch.startswith(HELD_OUT_BATCHES):
        split = TEST
    elif share(conversation.id) < 0.1:
        split = DEV
    scene = Scene(
        conversation.id, batch.split("-")[0], split, conversation.language, names=conversation.names
    )
    for said in conversation.statements:
        scene.statements.append(
            Said(said.text, said.speaker, said.listener, said.date, said.meaning, said.about)
        )
    for question in conversation.questions:
        answers = [Expected(answer.number - 1, answer.words, answer.is_stale) for answer in question.answers]
        asker = "" if question.asker == _BOT else question.asker
        scene.questions.append(Asked(question.text, asker, question.type, answers))
    scene.effects = [(effect.later - 1, effect.earlier - 1, effect.effect) for effect in conversation.effects]
    return scene


def sentence_scenes(folder: Path = LAB / "data" / "sentences") -> Iterator[Scene]:
    """Yield the labelled sentences of `lab/data/sentences`, some at a time as if one person said them.

    Sentences about the same slot are paired: what begins or ends behind what held, and near misses.
    """
    for path in sorted(folder.glob("*.tsv")):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if "\t" in line]
        rows = sorted(row for row in rows if len(row) >= 4 and row[1] in _ASPECTS and row[2] in _SUBJECTS)
        for start in range(0, len(rows), _SENTENCES):
            chunk = rows[start : start + _SENTENCES]
            chooser = random.Random(f"{path.stem} {start}")
            speaker, listener = chooser.sample(GIVEN, 2)
            scene = Scene(f"{path.stem}-{start}", "changes", TRAIN, path.stem[:2], is_bank=True)
            scene.statements = [
                Said(row[3], speaker, listener, "", _ASPECTS[row[1]], _SUBJECTS[row[2]]) for row in chunk
            ]
            scene.effects = list(_composed(chunk, chooser))
            yield scene


def _composed(rows: list[list[str]], chooser: random.Random) -> Iterator[tuple[int, int, str]]:
    for later, (slot, aspect, subject, _) in enumerate(row[:4] for row in rows):
        held = [index for index, row in enumerate(rows) if index != later and row[1] in ("holds", "begins")]
        same = [index for index in held if rows[index][0] == slot and rows[index][2] == subject == "self"]
        other = [index for index in held if rows[index][0] != slot]
        if slot not in _SINGLE_VALUED or aspect in ("holds", "question"):
            continue
        effect = {"begins": "ends", "ends": "ends", "corrects": "corrects"}.get(aspect, "adds")
        for earlier in chooser.sample(same, min(2, len(same))):
            yield later, earlier, effect
        for earlier in chooser.sample(other, min(1, len(other))):
            yield later, earlier, "unrelated"


def friendsqa_scenes(path: Path) -> Iterator[Scene]:
    """Yield the scenes of FriendsQA: half for training, half held out, by id."""
    for bank in json.loads(path.read_text(encoding="utf-8")):
        scene = Scene(bank["bank"], "friendsqa", TEST if share(bank["bank"]) < 0.5 else TRAIN)
        scene.statements = [Said(item["text"], item["speaker"]) for item in bank["items"]]
        position = {item["id"]: index for index, item in enumerate(bank["items"])}
        for query in bank["queries"]:
            words = {span["item"]: span["text"] for span in query["span"] if not span["is_speaker"]}
            answers = []
            for id in dict.fromkeys((*query["evidence"], *(span["item"] for span in query["span"]))):
                text = words.get(id, "")
                found = text if text in scene.statements[position[id]].text else ""
                answers.append(Expected(position[id], found))
            scene.questions.append(Asked(query["query"], "", query["type"], answers))
        yield scene


def molweni_scenes(path: Path) -> Iterator[Scene]:
    """Yield the scenes of Molweni, all for training; the answer's offset in the running text names its turn."""
    for number, dialogue in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        scene = Scene(f"molweni-{number}", "molweni", TRAIN)
        scene.statements = [Said(turn["text"], turn["speaker"]) for turn in dialogue["turns"]]
        bounds = _bounds(dialogue)
        for question in dialogue["questions"]:
            if question["start"] < 0:
                scene.questions.append(Asked(question["question"], "", "none"))
                continue
            index = max(i for i, begin in enumerate(bounds) if begin <= question["start"])
            answer, text = question["answer"].casefold(), scene.statements[index].text
            at = text.casefold().find(answer)
            if at >= 0:
                words = text[at : at + len(answer)]
                scene.questions.append(Asked(question["question"], "", "fact", [Expected(index, words)]))
        yield scene


def _bounds(dialogue: dict[str, Any]) -> list[int]:
    """Return where each turn begins in the running text."""
    bounds, at = [], 0
    for turn in dialogue["turns"]:
        found = dialogue["context"].find(f"{turn['speaker']}: ".casefold(), at)
        at = max(at, found)
        bounds.append(at)
        at += 1
    return bounds


def statebench_scenes(path: Path) -> Iterator[Scene]:
    """Yield StateBench's timelines of the split `train`: a turn with a required value and no forbidden one answers.

    Timelines are composed of few sentences, so each question is taken once for each answer.
    """
    asked: set[tuple[str, str]] = set()
    for timeline in json.loads(path.read_text(encoding="utf-8")):
        if timeline["split"] != TRAIN:
            continue
        scene = Scene(timeline["id"], "statebench", TRAIN)
        for event in timeline["events"]:
            if "turn" in event:
                speaker = "bot" if event["turn"] == "assistant" else "user"
                scene.statements.append(Said(event["text"], speaker, date=event["at"][:10]))
            elif "query" in event:
                answers = list(_state_answers(scene.statements, event["must"], event["must_not"]))
                words = scene.statements[answers[0].index].text if answers else ""
                says_more = bool(answers) and answers[0].words.casefold() not in event["query"].casefold()
                if len(answers) == 1 and says_more and (event["query"], words) not in asked:
                    asked.add((event["query"], words))
                    scene.questions.append(Asked(event["query"], "", "current", answers))
        if scene.questions:
            yield scene


def _state_answers(statements: list[Said], must: list[str], must_not: list[str]) -> Iterator[Expected]:
    for index, said in enumerate(statements):
        text = said.text.casefold()
        value = next((each for each in must if len(each) > 3 and each.casefold() in text), None)
        if value is not None and not any(each.casefold() in text for each in must_not):
            at = text.find(value.casefold())
            yield Expected(index, said.text[at : at + len(value)])


def chitchat_path() -> Path:
    """Return the data file of the package `chitchat-dataset`, whose code is never imported."""
    return Path(str(metadata.distribution("chitchat-dataset").locate_file("chitchat_dataset/dataset.json")))


LABELLED = LAB / "data" / "labelled"
"""Labels of real messages by conversation and place; `testA` and `testB` are two independent labellings of the same."""


def chitchat_scenes(path: Path, labelled: str = "train*") -> Iterator[Scene]:
    """Yield real conversations of at least twelve messages, with the labels of the files of that name."""
    labels = read_chat_labels(*sorted(LABELLED.glob(f"{labelled}.tsv")))
    conversations = json.loads(path.read_text(encoding="utf-8"))
    for id, conversation in sorted(conversations.items()):
        messages = [message for turn in conversation["messages"] for message in turn]
        if len(messages) < 12:
            continue
        chooser = random.Random(id)
        names = dict(
            zip(
                dict.fromkeys(message["sender"] for message in messages),
                chooser.sample(GIVEN, 4) * 9,
                strict=False,
            )
        )
        scene = Scene(id, "chitchat", TRAIN)
        everybody = list(names.values())
        for index, message in enumerate(messages):
            speaker = names[message["sender"]]
            listener = next((name for name in everybody if name != speaker), "")
            meaning, about = labels.get(id, {}).get(index, ("", ""))
            text = " ".join(message["text"].split()) or "..."
            scene.statements.append(Said(text, speaker, listener, message["timestamp"][:10], meaning, about))
        yield scene


def read_chat_labels(*paths: Path) -> dict[str, dict[int, tuple[str, str]]]:
    """Return conversation -> message -> (meaning, about)."""
    labels: dict[str, dict[int, tuple[str, str]]] = defaultdict(dict)
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                id, index, meaning, about = line.split("\t")[:4]
                labels[id][int(index)] = (meaning, about)
    return labels


def chat_bank(scenes: list[Scene], statements: int, questions: int, seed: int = 0) -> Scene:
    """Return a bank of real messages and passages, and real questions to search it with, unlabelled."""
    chooser = random.Random(seed)
    bank = Scene("chat-bank", "chitchat", TRAIN, is_bank=True)
    while len(bank.statements) < statements:
        scene = chooser.choice(scenes)
        start = chooser.randrange(len(scene.statements) - 6)
        said = scene.statements[start]
        text = said.text
        if chooser.random() < _PASSAGE_SHARE:
            text = " ".join(each.text for each in scene.statements[start : start + chooser.randint(3, 6)])
        if len(text.split()) >= 4:
            bank.statements.append(Said(text, said.speaker, said.listener, said.date))
    asked = [
        said.text
        for scene in scenes
        for said in scene.statements
        if said.text.endswith("?") and len(said.text.split()) > 4
    ]
    chooser.shuffle(asked)
    bank.questions = [Asked(text, type="unlabelled") for text in asked[: questions // 2]]
    for said in chooser.sample(bank.statements, questions - questions // 2):
        words = [word for word in said.text.split() if len(word) > 3]
        if words:
            chosen = chooser.sample(words, min(len(words), chooser.randint(2, 5)))
            bank.questions.append(Asked(" ".join(chosen), type="unlabelled"))
    return bank
