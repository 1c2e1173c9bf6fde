"""Code in chats: what in it looks like a name and is none, and which names belong to software rather than persons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.text.given_names import is_given_name
from perdure.text.wordlist import word_set

_SPANS = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_LINES = re.compile(
    r"^[ \t]*(?:from[ \t][\w.]+[ \t]import|import[ \t](?:[\w.]+$|[{*\w].*[\"'])|(?:async[ \t])?def[ \t]\w+\(|class[ \t]\w+[:({]|(?:const|let|var)[ \t]\w+[ \t]*="
    r"|#include|(?:public|private|static)[ \t]\w|[$#>][ \t]\w+[ \t]).*$"
    r"|^.*(?:[;{}]|\):|=>)[ \t]*$",
    re.MULTILINE,
)
"""Lines of code that nobody has fenced."""
_FRAGMENT = re.compile(r"[(){}\[\]=$|<>;\\^~]|://|(?:^|\s)--?\w|(?:^|\s)[./~]*/|\w/\w+/|&&")
"""Signs that no name has: brackets, assignments, pipes, options, paths."""
_IDENTIFIER = re.compile(r"_|[a-z0-9]\.[A-Za-z]|[a-z0-9][A-Z]|^[^a-z]*\d[^a-z]*$|#\d|\.\w{1,5}$")
_OWN_CAPITALS = re.compile(r"\b(?:Mc|Mac|De|Di|La|Le|Van|O['’]|D['’]|Fitz)(?=[A-Z])")
"""Beginnings of persons' names after which a capital follows."""
_STARTS = re.compile(r"(?:^|[.!?:;]\s+|[\n\"“(]\s*|(?:^|\s)(?:[-*•]|\d{1,3}[.)])\s+)$")

KEYWORDS = word_set(
    "SELECT FROM WHERE JOIN LEFT RIGHT INNER OUTER GROUP ORDER BY HAVING COUNT SUM AVG MIN MAX LIMIT OFFSET INSERT INTO VALUES UPDATE DELETE "
    "CREATE INDEX TABLE VIEW DROP ALTER ADD UNION DISTINCT EXPLAIN ANALYZE BEGIN COMMIT ROLLBACK PRIMARY UNIQUE CASE WHEN THEN ELSE END AS OR "
    "NULL TRUE FALSE GET POST PUT PATCH HEAD OPTIONS COPY RUN CMD ENV ARG EXPOSE ERROR WARN WARNING INFO DEBUG FATAL TRACE CONFLICT "
    "EOF STDIN STDOUT STDERR PATH HOME PWD UTF ASCII HTTP HTTPS JSON XML YAML CSV HTML CSS"
)
"""Words in capitals of query languages, build files, logs and protocols."""
VERBS = word_set("""
add allow apply ask assign attach avoid back begin bring build buy call change check choose clean clear click clone close collect combine
commit compare compile configure confirm connect consider contact convert copy create cut debug declare define delete deploy describe
disable discuss download drag drop edit email enable encourage ensure enter escape establish evaluate execute expand explain export extract fetch
fill filter find finish fix focus follow format generate give go handle help highlight identify ignore implement import improve include
increase initialize inject insert inspect install invest invite join keep launch learn let limit link list load locate log look maintain
manage measure merge mix modify monitor move navigate notice offer open optimize organize pass paste pay pick place plan practice prepare
press print promote provide publish pull push put query read rebuild redeploy reduce refactor refer reinstall remember remove rename
replace request research reset resolve restart restore retrieve return review rewrite run save schedule search select send separate serve
set share show sign sort specify split start stop store submit subscribe suggest switch tail take test track transfer try turn type
uninstall unzip update upgrade upload use utilize validate verify view visit wait watch wrap write book explore
""")
"""Verbs that begin an instruction, and are nobody's name."""
_SOFTWARE = word_set("""
airflow android ansible apache aws azure bash chrome cloudflare conda cypress datadog debian django docker eclipse elasticsearch excel express
fastapi figma firebase firefox flask flutter git github gitlab golang gradle grafana heroku homebrew intellij java javascript jenkins jest jira
jquery jupyter kafka keras kotlin kubernetes laravel linux macos matplotlib maven mongodb mysql netlify next.js nginx node node.js npm numpy openai
oracle pandas perl php postgres postgresql postman prometheus pycharm pydantic pyspark pytest python pytorch rails react redis redux rust
scala selenium sklearn slack snowflake spark sqlalchemy sqlite svelte swift symfony tableau tailwind tensorflow terraform typescript ubuntu
unity vercel vim visual vscode vue webpack windows wordpress xcode yarn zsh forbidden unauthorized timeout
""")


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where code stands: between fences or backticks, or in lines that look like nothing else."""
    fenced = [match.span() for match in _SPANS.finditer(text)] if "`" in text else []
    return fenced + [match.span() for match in _LINES.finditer(text)]


def is_within(start: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place lies in one of the spans."""
    return any(first <= start < last for first, last in spans)


def named_type(name: str, kind: str) -> str:
    """The type of a tagger's mention: "" for a fragment of code, "concept" for identifiers and software that passed for a person or place."""
    words = name.split()
    if not words:
        return ""
    if _FRAGMENT.search(name) or all(word in KEYWORDS for word in words):
        return ""
    if kind not in ("person", "place", "organisation", "work"):
        return kind
    if _IDENTIFIER.search(_OWN_CAPITALS.sub("", name)) and kind in ("person", "place"):
        return "concept"
    if kind == "work" and len(words) == 1 and is_given_name(name):
        return "person"
    if words[0].casefold() in _SOFTWARE and kind in ("person", "place"):
        return "concept"
    return kind


def begins_instruction(text: str, start: int, end: int) -> bool:
    """Whether the word there is a verb at the beginning of a sentence ("Open the file", "Deploying version 2"), and no name."""
    word = text[start:end]
    if " " in word or is_given_name(word) or not _STARTS.search(text[max(0, start - 8) : start]):
        return False
    plain = word.casefold()
    return plain in VERBS or (plain.endswith("ing") and len(plain) > 5)


def without_verb(name: str) -> str:
    """A name of several words without a verb of instruction before it: "Open Grafana" is Grafana."""
    first, _, rest = name.partition(" ")
    if rest and first.casefold() in VERBS and not is_given_name(first):
        return rest.removeprefix("the ").strip()
    return name
