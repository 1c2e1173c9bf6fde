"""Patterns of values that are known by their form: times, sums, phone numbers and mail addresses."""

from __future__ import annotations

_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY = r"(?:mon|tues?|wednes|wed|thurs?|fri|satur|sat|sun)(?:day)?s?"
_CLOCK = r"(?:\d{1,2}[:.h]\d{2}\s*(?:[ap]\.?m\.?)?|\d{1,2}\s*(?:[ap]\.?m\.?|o'clock|uhr)|noon|midnight|half\s+(?:past\s+)?\w+|quarter\s+(?:past|to)\s+\w+|\d{1,2}(?![\d.,:/€$£%-]|\s*(?:%|euros?|dollars?|people|years?|percent|k\b)))"
_DATE = (
    rf"(?:(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}(?:\.\d{{1,2}}\.(?:\d{{2,4}})?|/\d{{1,2}}(?:/\d{{2,4}})?)"
    rf"|(?:next\s+|this\s+|the\s+following\s+|the\s+)?(?:{_DAY})\b(?:\s+(?:morning|afternoon|evening|night))?(?:\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)\b)?(?:\s+next\s+week)?"
    rf"|(?:early\s+|late\s+|mid-?\s?|end\s+of\s+|the\s+end\s+of\s+|beginning\s+of\s+)?(?:{_MONTH})\b(?:\s+\d{{4}})?|q[1-4](?:\s+\d{{4}})?|(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)\b|tomorrow|today|tonight|next\s+(?:week|month|year|spring|summer|autumn|fall|winter|quarter|sprint)|the\s+(?:week|month)\s+after|(?:spring|summer|autumn|fall|winter)(?:\s+\d{{4}})?|(?:19|20)\d{{2}}\b)"
)
WHEN = rf"(?i:(?:(?:on|at|in|for|by|around|about)\s+)?(?:{_DATE}(?:,?\s+(?:at|around|from)?\s*{_CLOCK})?|{_CLOCK}(?:,?\s+(?:on\s+|in\s+the\s+)?(?:{_DATE}|mornings?|afternoons?|evenings?))?)(?:\s*(?:-|–|to|until)\s*{_CLOCK})?)(?!\w)"
MONEY = r"(?i:(?:about |around |roughly )?(?:(?:[€$£¥]|eur|usd|chf)\s?\d[\d.,']*\s?(?:k|m|million|thousand)?|\d[\d.,']*\s?(?:k\b|million|thousand|grand)?\s?(?:[€$£¥]|euros?|dollars?|pounds?|bucks?|francs?|eur\b|usd\b|chf\b|quid|k\b|grand)))"
PHONE = r"\+?[\d(][\d ()./-]{5,20}\d"
MAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
