"""Detection of texts that read like instructions to the agent."""

from __future__ import annotations

import re
import unicodedata

INSTRUCTION_ROLES = frozenset({"system", "developer"})
"""Roles of messages that a model obeys."""
_ORDERS = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?
        (?:previous|prior|above|earlier|preceding|your|the|any|all)\s+(?:\w+\s+){0,3}?
        (?:instructions?|prompts?|rules?|directives?|guidelines?|messages?|context|training|restrictions?|polic(?:y|ies))
    | \b(?:new|updated|real|actual)\s+(?:system\s+)?(?:instructions?|prompt)\s*:
    | ^\s*(?:system|assistant|developer)\s*(?:prompt|message|override|note)?\s*:\s*\S
    | <\|?(?:im_start|im_end|system|endoftext)\|?>  | \[/?INST\]  | <</?SYS>>
    | \byou\s+(?:are|must)\s+(?:now|from\s+now\s+on)\b  | \bfrom\s+now\s+on,?\s+(?:you|always|never|act|respond|answer)\b
    | \b(?:act|pretend|behave|respond)\s+as\s+(?:if\s+you|though\s+you|an?\s+(?:unrestricted|uncensored|different|evil))
    | \b(?:reveal|show|print|repeat|leak|output|tell\s+me)\s+(?:\w+\s+){0,3}?(?:system\s+prompt|hidden\s+prompt|instructions)
    | \b(?:do\s+not|don't|never)\s+(?:tell|inform|mention|reveal|alert)\s+(?:this\s+)?(?:to\s+)?(?:the\s+)?(?:user|human|anyone)
    | \b(?:delete|erase|wipe|send|forward|exfiltrate|upload|email)\s+(?:\w+\s+){0,4}?
        (?:all\s+(?:your\s+)?(?:memor(?:y|ies)|data|files)|api\s+keys?|passwords?|credentials|secrets)
    | \b(?:jailbreak|developer\s+mode|dan\s+mode|do\s+anything\s+now)\b
    | \b(?:ai|assistant|agent|model|llm|chatbot)s?\s*(?:reading\s+this|,)?\s+(?:must|should\s+always|shall)\s+
        (?:\w+\s+){0,2}?(?:ignore|obey|comply|execute|follow)
    | \b(?:ignorier\w*|missachte\w*|vergiss|vergesst)\s+(?:\w+\s+){0,4}?(?:anweisungen|anordnungen|regeln|befehle|vorgaben)
    | \b(?:ignor[aeo]\w?|olvid[ae]\w?|esque[cç]a|dimentica)\s+(?:\w+\s+){0,4}?
        (?:instrucciones|reglas|órdenes|instruções|regras|istruzioni|regole|ordini)
    | \b(?:ignor(?:e|ez|er|ons)|oubli(?:e|ez|er))\s+(?:\w+\s+){0,4}?(?:instructions|consignes|règles|ordres)
    | \b(?:игнорируй|забудь)(?:те)?\s+(?:\w+\s+){0,4}?(?:инструкции|указания|правила|команды)
    | (?:忽略|无视|無視|忘记|忘記)[^。.]{0,12}(?:指令|指示|命令|提示|规则|規則)
    | (?:指示|命令|ルール)を?(?:すべて|全て)?(?:無視|忘れ)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_SIGNS = (
    "ignore", "disregard", "forget", "override", "bypass", "instruction", "prompt", "system",
    "assistant", "developer", "<", "inst]", "are now", "must now", "from now", "act as", "pretend as",
    "behave as", "respond as", "user", "human", "anyone", "memor", "data", "files", "api", "password",
    "credential", "secret", "jailbreak", "dan mode", "anything now", "obey", "comply", "execute",
    "follow", "ignor", "missacht", "vergiss", "vergesst", "olvid", "esque", "dimentica", "oubli",
    "игнорируй", "забудь", "忽略", "无视", "無視", "忘",
)  # fmt: skip
"""Every match contains one of these; searching for them first takes a tenth of the time."""
_AS_LETTERS = str.maketrans("İıſ\u212a", "iisk")
"""Characters that the pattern, which ignores case, matches as plain letters."""


_LIKE_LATIN = str.maketrans(
    "аеорсухіјѕԁһӏԛԝАВЕКМНОРСТУХІЈЅαορνικτυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhlqwABEKMHOPCTYXIJSaopviktuABEZHIKMNOPTYX",
)
"""Letters of other scripts that look like Latin ones."""


def reads_like_instructions(text: str) -> bool:
    """Return whether the text tries to steer the agent that reads it."""
    plain = " ".join(text.split())
    folded = (plain if plain.isascii() else plain.translate(_AS_LETTERS)).lower()
    return any(sign in folded for sign in _SIGNS) and _ORDERS.search(text) is not None


def looks_like_instructions(text: str) -> bool:
    """Return whether the text reads like instructions, also with lookalike letters replaced."""
    if reads_like_instructions(text):
        return True
    return not text.isascii() and reads_like_instructions(
        unicodedata.normalize("NFKC", text).translate(_LIKE_LATIN)
    )
