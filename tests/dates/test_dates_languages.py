"""The common forms in every language that has a data file; said on Monday 8 May 2023."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.dates import describe_window, read_dates
from perdure.dates.lexicon import known_languages
from perdure.dates.templates import templates

SAID = datetime(2023, 5, 8, 12, tzinfo=UTC)

SENTENCES = {
    "es": {
        "Ayer fui al cine": "on 7 May 2023",
        "Hace tres semanas vi a Juan": "between 17 and 23 April 2023",
        "La semana pasada estuve en Madrid": "between 1 and 7 May 2023",
        "Nació el 3 de mayo de 2021": "on 3 May 2021",
        "Nos vemos el próximo martes": "on 16 May 2023",
        "Fue en marzo de 2020": "in March 2020",
        "El viernes pasado comimos juntos": "on 5 May 2023",
    },
    "fr": {
        "Hier je suis allé au marché": "on 7 May 2023",
        "Il y a deux mois elle est partie": "in March 2023",
        "La semaine dernière nous étions à Lyon": "between 1 and 7 May 2023",
        "Il est né le 14 juillet 2020": "on 14 July 2020",
        "On se voit lundi prochain": "on 15 May 2023",
        "C'était en mars": "in March 2023",
    },
    "de": {
        "Ich war gestern in Berlin": "on 7 May 2023",
        "Vor zwei Wochen war ich krank": "between 24 and 30 April 2023",
        "Letzte Woche war ich krank": "between 1 and 7 May 2023",
        "Das war am 3. Oktober 2019": "on 3 October 2019",
        "Nächsten Dienstag gehen wir": "on 16 May 2023",
        "Das war am 03.04.2021 in der Stadt": "on 3 April 2021",
    },
    "it": {
        "Ieri sono andato a Roma": "on 7 May 2023",
        "Due settimane fa ero malato": "between 24 and 30 April 2023",
        "La settimana scorsa siamo partiti": "between 1 and 7 May 2023",
        "È nato il 25 aprile 2021": "on 25 April 2021",
        "Ci vediamo lunedì prossimo": "on 15 May 2023",
    },
    "pt": {
        "Ontem fui ao cinema": "on 7 May 2023",
        "Há três dias ele saiu": "on 5 May 2023",
        "Na semana passada estive em Lisboa": "between 1 and 7 May 2023",
        "Foi em 12 de outubro de 2018": "on 12 October 2018",
        "Encontro na segunda-feira": "on 8 May 2023",
    },
    "zh": {
        "昨天我去了北京": "on 7 May 2023",
        "三天前我们见面了": "on 5 May 2023",
        "他2021年5月3日出生": "on 3 May 2021",
        "上周五我们吃饭": "on 5 May 2023",
        "去年很好": "in 2022",
        "下个月见": "in June 2023",
    },
    "ja": {
        "昨日は東京へ行きました": "on 7 May 2023",
        "3日前に会いました": "on 5 May 2023",
        "2021年5月3日に生まれた": "on 3 May 2021",
        "先週の金曜日に食べた": "on 5 May 2023",
        "来月また会いましょう": "in June 2023",
        "十五年前に": "in 2008",
    },
}
CASES = [(language, text) for language, sentences in SENTENCES.items() for text in sentences]


@pytest.mark.parametrize(("language", "text"), CASES)
def test_common_forms(language: str, text: str) -> None:
    spans = read_dates(text, SAID, language=language)
    assert [span.window and describe_window(span.window) for span in spans] == [SENTENCES[language][text]]


@pytest.mark.parametrize(("language", "text"), CASES)
def test_the_language_is_recognised(language: str, text: str) -> None:
    assert read_dates(text, SAID) == read_dates(text, SAID, language=language)


@pytest.mark.parametrize("language", sorted(known_languages() - {"en"}))
def test_every_data_file_compiles_and_names_known_rules(language: str) -> None:
    table = templates(language)
    assert table.units
    assert {rule.split()[0] for rule in table.rules} <= {
        "day", "part", "now", "shift", "stretch", "unit", "weekday", "date", "numeric", "pair", "month", "year", "recurring",
    }  # fmt: skip
