"""Questions that name a time and nothing else: "What did we talk about yesterday?", "Summarise May 2026".

Every word beside the time only asks (English, German, Spanish, French), so there is nothing to search for: the answer is what the
time holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from perdure.text.wordlist import word_set

_TOLD = word_set(
    "talk talked talking speak spoke spoken tell told say said mention mentioned discuss discussed chat chatted write wrote share shared ask asked cover covered conversation conversations "
    "gesprochen geredet besprochen erzählt gesagt erwähnt geschrieben diskutiert unterhalten unterhielten sprachen redeten sagte erzählte gefragt gespräch gespräche "
    "hablamos hablado hablaste hablé conté contaste contado dije dijiste dicho mencioné mencionaste mencionado comentamos comentado comenté discutimos conversamos conversación charlamos "
    "parlé parlions discuté dit raconté mentionné évoqué écrit bavardé conversation conversations"
)
_ASKING = word_set(
    "what which who anything everything something all any the a an of on in at for from over during about with to and or so did do does have has had is was were been be are s ve "
    "i we us me my our you your it there please can could would kindly again just else exactly actually happened happen happening going new news up "
    "summarise summarize summary sum recap review overview list show give remind digest diary log notes things stuff topics topic events happenings facts memories remember "
    "came coming learned learnt planned plans scheduled "
    "worüber wovon über von wer welche welches ist sind war waren hat haben habe hatte hast wir ich du dir mir uns es sich alles etwas irgendetwas den die das der dem des ein eine einen im am "
    "an vom zu zum und los passiert geschehen ereignet geschah passierte gab gibt neues neu neuigkeiten fasse fass zusammen zusammenfassung überblick rückblick liste zeige zeig nenne bitte mal "
    "denn alle themen ereignisse ging vor steht ansteht geplant "
    "de qué que cual cuál cuáles sobre quién te me nos se lo le les la el los las un una del al en y o ha han he hemos has había hubo fue pasó pasado pasa ocurrió ocurrido sucedió sucedido nuevo nuevas "
    "hay novedades novedad noticias resume resumir resumen resúmeme haz hazme dame muéstrame lista todo algo cosas temas eventos sucesos por favor puedes yo tú nosotros acerca durante planeado previsto "
    "quoi qu est ce c qui quel quels quelle quelles je j tu t il elle on nous vous avons avez as ai ont était passé passe arrivé arrive produit déroulé eu lieu neuf nouveau nouveautés nouvelles "
    "résume résumé résumer résumez récapitule récapitulatif bilan donne montre moi fais m l d du des tout toutes tous choses sujets événements pendant durant sur dans peux plaît svp quelque chose prévu"
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class OnlyTime:
    """A question for what a time holds."""

    told: bool
    """Whether it asks for what was said then, rather than for what happened."""


def read_only_time(question: str, times: Iterable[tuple[int, int]]) -> OnlyTime | None:
    """The question without its times (start and end in the text), None when any other word says what is looked for."""
    rest = question
    for start, end in sorted(times, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    words = [_plain(word) for word in _WORD.findall(rest)]
    if rest == question or not words or any(word not in _ALL for word in words):
        return None
    return OnlyTime(told=any(word in _SAYING for word in words))


def _plain(word: str) -> str:
    """In lower case and without accents, so that a missing one does no harm."""
    decomposed = unicodedata.normalize("NFD", word.lower().replace("’", "'"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


_SAYING = frozenset(map(_plain, _TOLD))
_ALL = _SAYING | frozenset(map(_plain, _ASKING))
