"""Writes docs/extraction.md: what the local extractor makes of ten real inputs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.extract_inputs import INPUTS, Input, Wanted
from perdure.dates import describe_window
from perdure.extract.local import LocalExtractor
from perdure.models.spacy_tagger import choose_tagger
from perdure.ports.extractor import ExtractedFact

_HEAD = """# What the local extractor makes of a text

Made by `python -m bench.extract_page`; tagger: {tagger}. For each input: the turns as they were given, the facts that came
out, and what a careful reader would have noted but the extractor did not: {met} of {wanted} expectations are met.

Read the count with care. Rules were mended with these very inputs in view and expectations were reworded where the form
of facts changed, so the count is no estimate of how new texts fare.

## What becomes a fact

- **Somebody talks.** Each statement is a fact of its own: a sentence, or a clause joined by "and", "but", "so" or a comma
  that has its own subject and verb, or its own relation. What leans on the sentence before ("It was great", a fragment, a
  remark of a few words) stays with it, unless the "he" or "she" it starts with can mean only one person, whose name is then
  put in. Mentions, relation and time are those of the fact's own words. A turn gives six facts at most, unless it is long.
- **Names.** "I" and "my" become the speaker, "you" the other of two who talk. A sentence with "we" or "our" is quoted as it
  was said: who else is meant is not known, and nobody is invented.
- **Answers.** A yes, a no, a choice or a short value becomes a statement where that is sure; `source_text` keeps the words
  that were said, and both are indexed. Hedged answers, requests ("Can you call?", "Sure"), questions about "it" and other
  languages keep the question beside the answer.
- **Quoted words,** code, addresses and titles are never changed, and the words for a date stay as they were said: what they
  mean is in the fact's times and in what is embedded.
- **The assistant** (role `assistant`): what it did, found, promised, advised or told is a fact; praise, sympathy, offers,
  closings, its questions, and short remarks on what somebody told are not. They stay in the document.
- **Questions** between people are facts where a turn does nothing but ask; otherwise they only serve the answer. What is
  asked of the assistant tells what somebody is after, and is a fact.
- **Tools** (roles `tool`, `function`): what they return is a fact of type experience, "The tool ... returned: ...", without
  relation, opinion or emotion, so it never says anything about the user.
- **Instructions** (roles `system`, `developer`) give no facts. Their text is stored with the document.
- **Plain texts, lists, code and long turns** are grouped into facts of a few sentences.

"""


def main() -> None:
    """Extract from the ten inputs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tagger", default="auto", choices=("auto", "spacy", "rules"))
    parser.add_argument("--out", type=Path, default=Path("docs/extraction.md"))
    options = parser.parse_args()
    tagger = choose_tagger(options.tagger)
    extractor = LocalExtractor(tagger)
    results = [(given, extractor.extract(given.turns)) for given in INPUTS]
    checks = [want for given, facts in results for want in _checked(given.wanted, facts)]
    page = _HEAD.format(tagger=tagger.name, met=sum(met for _, met in checks), wanted=len(checks))
    page += "\n".join(line for given, facts in results for line in _section(given, facts))
    options.out.write_text(page.rstrip() + "\n", encoding="utf-8")
    print(f"{options.out}: {sum(met for _, met in checks)} of {len(checks)} expectations met")


def _section(given: Input, facts: Sequence[ExtractedFact]) -> Iterator[str]:
    yield f"## {given.title}"
    yield ""
    yield from _quoted(given)
    yield ""
    for number, fact in enumerate(facts):
        yield f"{number + 1}. {_inline(fact.text)}"
        yield f"   <br>{' · '.join(_details(fact))}"
    if not facts:
        yield "No facts."
    yield ""
    missed = [want for want, met in _checked(given.wanted, facts) if not met]
    if missed:
        yield "Missed:"
        yield ""
        yield from (f"- {want.about}" for want in missed)
    else:
        yield "Missed: nothing of what was expected."
    yield from ("", *(f"Note: {note}" for note in given.notes), "") if given.notes else ("",)


def _quoted(given: Input) -> Iterator[str]:
    for turn in given.turns:
        said = f" ({turn.said_at:%d %B %Y})" if turn.said_at else ""
        who = turn.speaker or turn.title or "text"
        for number, line in enumerate(turn.text.splitlines()):
            label = f"**{who}**{said}: " if number == 0 else ""
            yield f"> {label}{line}".rstrip() + "  "


def _details(fact: ExtractedFact) -> Iterator[str]:
    sure = f" {fact.confidence:.2f}" if fact.confidence is not None else ""
    yield f"{fact.type.value}{sure}"
    if fact.occurred is not None:
        yield f"when: {describe_window(fact.occurred)}"
    if fact.mentions:
        yield "entities: " + ", ".join(f"{mention.text} ({mention.type})" for mention in fact.mentions)
    if fact.aliases:
        yield "aliases: " + ", ".join(f"{name} = {alias}" for name, alias in fact.aliases)
    if fact.triple is not None:
        one = ", one at a time" if fact.triple.single_valued else ""
        yield f"relation: {fact.triple.subject} → {fact.triple.relation} → {fact.triple.object}{one}"
    for cause in fact.causes:
        yield f"because of {cause.cause + 1} ({cause.confidence:.2f})"
    if fact.emotion_tags or abs(fact.emotion) >= 2:
        yield f"emotion {fact.emotion:+.1f} {' '.join(fact.emotion_tags)}".rstrip()
    if fact.topic:
        yield f"topic: {fact.topic}"
    if fact.language != "en":
        yield f"language: {fact.language}"
    if fact.flags:
        yield f"flags: {', '.join(fact.flags)}"


def _checked(wanted: Sequence[Wanted], facts: Sequence[ExtractedFact]) -> list[tuple[Wanted, bool]]:
    return [(want, any(_meets(want, fact) for fact in facts)) for want in wanted]


def _meets(want: Wanted, fact: ExtractedFact) -> bool:
    triple = fact.triple
    return (
        all(part in fact.text for part in want.text)
        and (
            not want.entity or any(m.text == want.entity and want.type in ("", m.type) for m in fact.mentions)
        )
        and (not want.when or (fact.occurred is not None and want.when in describe_window(fact.occurred)))
        and (
            not want.relation
            or (triple is not None and (triple.subject, triple.relation, triple.object) == want.relation)
        )
        and (not want.caused or bool(fact.causes))
        and (not want.flag or want.flag in fact.flags)
    )


def _inline(text: str) -> str:
    return " ".join(text.replace("```", "`").replace("<", "&lt;").split())


if __name__ == "__main__":
    main()
