"""Whether a sentence plainly says how things are now, and whether it speaks of a change."""

from __future__ import annotations

import re

_NOT_PLAIN = re.compile(
    r"""\?|\b(?:would|could|might|may\s+(?!\d)|should|wish|wishes|hope|hopes|hoping|if|unless|whether|imagine|pretend|dream\w*|plans?|planned|planning|thinking\s+(?:of|about)
    |consider\w*|wants?|wanted|going\s+to|gonna|will|shall|some\s?day|one\s+day|next\s+(?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|tomorrow|soon|maybe|perhaps|probably
    |apparently|allegedly|supposedly|rumou?rs?|heard|hear|(?:he|she|they|mum|mom|dad|boss|everyone|people|who|[A-Z]\w+)\s+(?:says|said|claims?|claimed|thinks)|joke|joking|kidding|lol|haha|almost|nearly|never|nobody|cannot
    |back\s+in\s+\d+|back\s+then|years\s+ago|in\s+(?:19|20)\d\d|as\s+a\s+(?:kid|child|teen\w*|student|boy|girl)|when\s+(?:i|we|she|he|they)\s+(?:was|were)|once\s+upon
    |trip|visit\w*|holidays?|vacation|(?:for|this|over)\s+the\s+weekend|this\s+weekend|this\s+week|for\s+(?:the|a|an|\d+|two|three|four|five|a\s+few|a\s+couple\s+of)\s+(?:\w+\s+)?(?:nights?|days?|weeks?|while|hours?)|temporar\w*|staying|hotel|airbnb|conference|for\s+now|in\s+the\s+meantime
    |also|another|second|third|too|as\s+well|besides|as\s+if|as\s+though|character|novel|book|film|movie|game|series|episode|story|song|role-?play
    |sure,\s+and|oh\s+absolutely|on\s+mars|on\s+the\s+moon|narrator|narrates|yeah\s+right|try|trying|tried|looking\s+for|interview\w*|applied|apply|applying|offer(?:ed)?\s+me|invited|recommend\w*|suggest\w*|should|let's|would\s+love|can(?:\s+you|\s+we|\s+i)|colleague|friend|neighbou?r|cousin)\b
    |(?<!\bany\ more\ )\b(?:do|does|did|is|are|was|were|have|has|had|ca|could|would|should)(?:n't|\s+not)\b(?!.*\b(?:any\s?more|any\s+longer)\b)|'ll\b|'d\b""",
    re.IGNORECASE | re.VERBOSE,
)
_CHANGE = re.compile(
    r"""\b(?:now|these\s+days|nowadays|as\s+of|since|from\s+now\s+on|from\s+\w+\s+on|from\s+this|going\s+forward|no\s+longer|no\s+more|any\s?more|instead|new|newly|finally|officially|just|recently|lately
    |last\s+(?:week|month|night|year|\w+day)|yesterday|today|this\s+(?:month|morning|autumn|spring|summer|winter|year)|on\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day|in\s+(?:january|february|march|april|may|june|july|august|september|october|november|december)
    |switched|swapped|changed|replaced|moved|traded|upgraded|became|turned|joined|started|began|left|quit|stopped|dropped|gave|got|gotten|took|taken|signed|handed|passed|bumped|promoted|retired|died|gone|history
    |ended|over|closed|cancell?ed|sold|lost|ripped|packed|put\s+(?:in|up|down)|made|raised|lowered|extended|pushed|rebooked|shifted|went\s+(?:up|down)|rose|fell|came\s+through|ran\s+out|overtaken|won|beat|back\s+to|again|at\s+last|already|used\s+to|first\s+(?:day|week|month|time)|day\s+one|down\s+to|up\s+to|off\s+(?:the|my))\b""",
    re.IGNORECASE | re.VERBOSE,
)


_END = re.compile(
    r"""\b(?:gone|(?:is|are|was|were|be|been|it's)\s+over|over\s+with|history|behind\s+(?:me|us)|behind|goodbye|farewell|closed|shut|ran\s+out|run\s+out|expired|showed?\s+me\s+the\s+door|shown\s+the\s+door|out\s+of\s+my\s+life|out\s+the\s+window
    |packed\s+in|packed\s+up|broke\s+off|broken\s+off|done\s+with|finished\s+with|through\s+with|rainbow\s+bridge|died|dead|passed\s+away|put\s+to\s+sleep|put\s+down|cancell?ed|scrapped|ditched|dumped|binned|ripped\s+out|tore\s+out|retired
    |no\s+longer|no\s+more|not\s+[^.,;]{0,30}any\s?more|any\s?more|ended|ends|fired|sacked|let\s+(?:me|us)\s+go|laid\s+(?:me|us)\s+off|kicked\s+(?:me|us)\s+out|threw\s+(?:me|us)\s+out|divorced?|separated|split|broke\s+up|ex\b
    |given\s+up|gave\s+up|quit|stopped|dropped|sold|traded|swapped|replaced|overtaken|outgrew|outgrown|moved\s+out|moved\s+on|off\s+(?:the|my)|found\s+(?:his|her|their)\s+own|a\s+thing\s+of\s+the\s+past|the\s+old\s+days|ancient|bankrupt|went\s+under|rehomed|taken\s+the\s+crown|dethroned|beats?|beaten|wins|bounces|called\s+it\s+a\s+day|moved\s+abroad|flew\s+off|ran\s+away|too\s+hard|out\b(?=,)|is\s+out|written\s+off|totall?ed|wrecked|scrapheap|went\s+to\s+(?=[A-Z]))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PART = re.compile(r"[.;:!—–]+\s+|,\s+|\s+(?:and|but|so|because)\s+")


_NEW_VALUE = re.compile(
    r"""\b(?:now|these\s+days|nowadays|as\s+of|since|from\s+now\s+on|going\s+forward|no\s+longer|any\s?more|instead|new|switched|swapped|changed|replaced|moved|traded|upgraded|became|turned|joined|took\s+over
    |taken\s+over|gave\s+up|quit|stopped|dropped|finally|officially|went\s+back|back\s+to|promoted|bumped|pushed|raised|extended|handed|passed)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def speaks_of_new_value(text: str) -> bool:
    """Whether a sentence has a word that goes with one thing in the place of another."""
    return _NEW_VALUE.search(text) is not None


def parts_of(text: str) -> list[str]:
    """The parts of a sentence between commas and conjunctions."""
    return [part for part in _PART.split(text) if part.strip()]


def speaks_of_end(text: str) -> bool:
    """Whether a sentence has a word that goes with something being over."""
    return _END.search(text) is not None


def is_plain_statement(text: str) -> bool:
    """Whether nothing in a sentence makes it a wish, plan, guess, denial, question, memory, fiction, stay or addition."""
    return _NOT_PLAIN.search(text) is None


def speaks_of_change(text: str) -> bool:
    """Whether a sentence has a word that goes with something becoming different."""
    return _CHANGE.search(text) is not None


_TAKES_EFFECT = re.compile(
    r"\b(?:as\s+of|(?:starting|effective|from)\s+(?:today|tonight|now|here|this\s+(?:morning|week|month|year|term))|ab\s+(?:heute|sofort|jetzt)|a\s+partir\s+de\s+(?:hoy|ahora)"
    r"|à\s+partir\s+d(?:e\s+maintenant|['’]aujourd['’]hui))\b",
    re.IGNORECASE,
)


def takes_effect(text: str) -> bool:
    """Whether a sentence gives the day from which something is so, rather than one on which it will happen."""
    return _TAKES_EFFECT.search(text) is not None


_FOR_A_WHILE = re.compile(
    r"""\b(?:for\s+(?:the|a|an|\d+|one|two|three|four|five|six|a\s+few|a\s+couple\s+of)\s+(?:\w+\s+)?(?:nights?|days?|weeks?|months?|while|weekend|summer|season|moment)|until|till|this\s+week(?:end)?|just\s+(?:this|for)\s+\w+|for\s+(?:now|today|tonight)|meanwhile
    |in\s+the\s+meantime|temporar\w+|while\s+[^.]{1,40}\b(?:being|away|off|on\s+(?:leave|holiday|vacation)|fixed|repaired)|covering\s+for|fill(?:s|ing|ed)?\s+in\s+for|stand(?:s|ing)?\s+in\s+for|on\s+loan|borrow\w*|lent\s+me|rental|hire\s+car|courtesy\s+car
    |visit\w*|trip|holidays?|vacation|business\s+trip|conference|hotel|airbnb|staying\s+(?:at|with|in)
    |für\s+(?:ein|eine|ein\s+paar|zwei|drei|vier|\d+)\s+(?:nächte|tage|wochen|monate|weile|woche)|bis\s+(?:ende|zum|montag|sonntag)|diese\s+woche|vorübergehend|vertr(?:itt|ete|eten)|urlaub|ausnahmsweise
    |(?:una|unas|dos|tres|cuatro|\d+)\s+(?:noches?|semanas?|días|meses)|hasta\s+el|esta\s+semana|de\s+momento|vacaciones|de\s+visita|por\s+trabajo
    |pour\s+(?:une|deux|trois|quelques|\d+)\s+(?:nuits?|jours?|semaines?|mois)|jusqu['’]\w+|cette\s+semaine|en\s+attendant|vacances|en\s+visite|remplace\s+\w+\s+pendant)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def is_for_a_while(text: str) -> bool:
    """Whether a sentence has words of a stay, a loan or a stand-in, in any of the four languages."""
    return _FOR_A_WHILE.search(text) is not None
