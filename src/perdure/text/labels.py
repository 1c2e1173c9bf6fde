"""Labels before a colon: whether `Caroline` in `Caroline: ...` can be who speaks, or is a heading as in `Note: ...`."""

from __future__ import annotations

import re
import unicodedata

from perdure.text.given_names import is_given_name
from perdure.text.names import TITLES
from perdure.text.wordlist import word_set

_HEADINGS = word_set(
    # Notes and documents
    """
    note notes nb ps pps p.s. nota reminder reminders todo to-do todos task tasks warning caution attention important danger tip tips hint hints
    info information fyi example examples e.g. eg i.e. ie summary abstract overview introduction intro background
    conclusion conclusions result results finding findings discussion method methods objective objectives goal goals
    purpose scope agenda minutes meeting attendees participants present absent apologies action actions decision decisions
    item items topic topics subject title heading name names label description details detail comment comments remark
    remarks question questions answer answers q a q&a faq problem problems solution solutions issue issues bug fix fixed
    feature features change changes changed added removed update updates updated version release status state progress
    step steps stage phase part chapter section page figure table source sources reference references ref link links see
    also author authors editor publisher edited written by date dated time times when where who what why how which day
    today tomorrow yesterday tonight morning afternoon evening week month year monday tuesday wednesday thursday friday
    saturday sunday january february march april june july august september october november december deadline due start
    end begin finish duration location place venue address street city country zip phone telephone tel fax mobile cell
    mail email e-mail website web url site http https ftp file mailto www contact contacts client customer company
    organisation organization department team project product model serial number no id code key value type kind class
    category categories tag tags keyword keywords priority severity owner assignee assigned reporter price cost costs
    total subtotal sum amount budget tax balance account invoice order quantity qty size weight height width length
    colour color ingredients directions instructions instruction method serves servings recipe shopping groceries grocery list lists
    menu breakfast lunch dinner supper snack drink drinks dessert pros cons advantages disadvantages strengths weaknesses
    opportunities threats risk risks assumption assumptions requirement requirements dependencies dependency prerequisites
    input inputs output outputs parameters parameter arguments argument returns return raises throws usage syntax default
    defaults error errors exception traceback debug trace fatal critical failure failed success ok log logs logger stdout
    stderr from to cc bcc sent received re fwd fw reply-to in-reply-to message-id forwarded attachment attachments
    attached regards sincerely best dear hello hi hey thanks thank cheers definition def theorem proof lemma corollary
    hypothesis fact facts quote quotes lyrics verse chorus bridge scene act setting plot moral theme spoiler spoilers
    disclaimer copyright license licence credits appointment appointments event events birthday birthdays anniversary
    schedule calendar plan plans idea ideas thought thoughts memo diary journal entry log-in login username user-name
    password pin token secret port server database path folder directory environment config configuration setting
    settings option options mode command commands prompt response request requests body header headers payload query
    allergy allergies diagnosis symptoms symptom medication medications dose dosage blood treatment history vitals
    age gender sex height nationality occupation job role position salary education skills experience interests hobbies
    hobby favourite favorite likes dislikes preference preferences food foods restaurant hotel flight train bus car taxi gate seat
    booking reservation ticket tickets departure arrival depart arrive terminal passport visa luggage weather temperature
    forecast high low win loss score final half round match game level rank verdict rating review reviews recommendation
    bonus extra extras misc miscellaneous other others more less first second third finally lastly next previous then
    before after however therefore meanwhile edit update1 tldr tl;dr tl imho btw aka n.b. vs versus
    dentist doctor physician gp vet hospital clinic pharmacy pharmacist lawyer attorney accountant plumber electrician mechanic
    hairdresser barber landlord landlady tenant neighbour neighbor neighbours neighbors school teacher kindergarten university
    work office boss manager gym bank insurance police emergency garage library church museum cinema theatre theater shop
    store supermarket airport station home house flat apartment kitchen bathroom bedroom garden basement garage wifi wi-fi
    mom mum mother dad father sister brother wife husband son daughter grandma grandpa aunt uncle cousin family friends
    parents kids children baby dog cat pet pets girlfriend boyfriend partner fiancé fiancée colleague colleagues
    photo photos picture pictures image video videos caption song album book books movie film poem lesson dream mood exam promise wish
    homework meet call ask tell visit buy pick send bring check guests hosts speakers panel audience everyone everybody all nobody someone
    the this that these those it there here my our your his her their its i we he she they
    """
    # German, Spanish, French, Italian, Portuguese, Dutch
    """
    notiz notizen hinweis hinweise achtung warnung wichtig aufgabe aufgaben termin termine einkauf einkaufsliste betreff von an datum uhrzeit
    ort adresse telefon zusammenfassung ergebnis ergebnisse frage fragen antwort antworten beispiel thema titel beschreibung
    zahnarzt arzt ärztin zahnärztin anwalt schule arbeit büro chef chefin mama papa mutter vater schwester bruder frau mann
    montag dienstag mittwoch donnerstag freitag samstag sonntag heute morgen gestern anhang gesendet liste idee ideen plan
    nota notas aviso atención importante tarea tareas cita asunto fecha hora lugar dirección teléfono resumen resultado pregunta respuesta
    ejemplo tema título descripción dentista médico escuela trabajo mamá papá enviado para de
    remarque attention rappel tâche objet lieu adresse téléphone résumé résultat réponse exemple sujet titre
    dentiste médecin école travail maman envoyé à
    promemoria attenzione oggetto indirizzo riassunto risultato domanda risposta esempio titolo
    lembrete atenção assunto endereço resumo pergunta resposta exemplo
    opmerking onderwerp adres samenvatting vraag antwoord voorbeeld tandarts huisarts
    """
)
_PARTICLES = word_set("de la le du des von van der den di da del dos das y e bin ibn al el ter ten zu")
_ROLES = {
    "user": "user", "human": "user", "me": "user", "you": "user", "ich": "user", "yo": "user", "moi": "user", "io": "user",
    "assistant": "assistant", "ai": "assistant", "bot": "assistant", "chatgpt": "assistant", "claude": "assistant",
    "gemini": "assistant", "copilot": "assistant", "model": "assistant", "chatbot": "assistant", "gpt": "assistant",
    "gpt-4": "assistant", "system": "system",
}  # fmt: skip
_SURE_ROLES = frozenset(
    {"user", "human", "me", "you", "assistant", "ai", "bot", "chatgpt", "chatbot", "system"}
)
_TAGS = word_set(
    "a abbr address article aside audio b base blockquote body br button canvas caption center cite code col dd del details "
    "dialog div dl dt em embed fieldset figure font footer form frame g h1 h2 h3 h4 h5 h6 head header hr html i iframe img "
    "input ins kbd label legend li link main map mark menu meta nav object ol optgroup option output p param path picture pre "
    "progress q s samp script section select small source span strike strong style sub summary sup svg table tbody td template "
    "text textarea tfoot th thead time title tr track tt u ul var video wbr xml item entry name value node key string int float bool"
)
_NUMBERED = re.compile(
    r"(?:speaker|person|participant|sprecher|interviewer|caller)[ _]?\d{1,2}", re.IGNORECASE
)
"""Voices that a program of transcription could not name."""
_HANDLE = re.compile(r"@?[\w][\w.\-]{1,31}")
_PHONE = re.compile(r"\+?[\d\s()./-]{7,20}")
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’.\-])*")
_SENTENCE = re.compile(
    r"[.,;]\s|\s(?:is|was|are|were|the|a|an|and|or|of|for|with|has|have|will|to|in|on|at)\s", re.IGNORECASE
)

_FIRST_OR_SECOND = re.compile(
    r"\b(?:i|i'm|i’m|i've|i’ve|i'd|i’d|i'll|i’ll|im|me|my|mine|myself|we|we're|we’re|we've|we’ve|us|our|ours|you|you're|you’re|your|yours|u|ur|"
    r"let's|let’s|ich|mich|mir|mein|meine|meinen|wir|uns|unser|unsere|du|dich|dir|dein|deine|euch|yo|mi|mis|tú|tu|te|nos|nosotros|"
    r"je|j'ai|j’ai|mon|ma|mes|moi|nous|vous|votre|io|mio|mia|noi|eu|meu|minha|você|ik|mij|mijn|jij|jouw)\b"
    r"|[我你您咱]|(?:私|僕|俺|あなた)",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"(?:hey|hi|hello|hiya|yo|wow|oh|ah|aww?|yeah|yep|yup|yes|no|nope|nah|sure|okay|ok|thanks|thank you|thx|great|awesome|cool|nice|"
    r"congrats|congratulations|sorry|please|haha\w*|lol|omg|well|good (?:morning|evening|night|luck)|morning|bye|see you|absolutely|"
    r"definitely|exactly|totally|of course|sounds|welcome|happy birthday|hallo|na|ja|nein|danke|hola|gracias|sí|salut|bonjour|merci|"
    r"oui|ciao|grazie|olá|obrigad[oa]|hoi|bedankt)\b",
    re.IGNORECASE,
)
_LIVELY = re.compile(
    r"[?!？！]['\"”’)]*\s*(?:$|[A-Z\U0001F300-\U0001FAFF])|[\U0001F300-\U0001FAFF]|[:;]-?[)D(]"
)
_THIRD = re.compile(
    r"\b(?:he|she|him|her|his|hers|er|sie|ihn|ihm|ihr|él|ella|il|elle|lui|lei|ele|ela)\b", re.IGNORECASE
)
_YOU = re.compile(r"\byou(?:r|'re|’re)?\b", re.IGNORECASE)
_FULL_SENTENCE = re.compile(r"['\"“]?[^\W\d_a-z].*[.!?…。)\]]['\"”]?\s*$", re.DOTALL)
_I_AT_START = re.compile(
    r"(?:(?:so|and|but|actually|honestly|today|yesterday|well)[,\s]+)?(?:i|i'm|i’m|i've|i’ve|i'd|i’d|i'll|i’ll|my|we|we're|we’re|we've|we’ve|our|ich|wir|mein|meine|yo|je|j'ai|mon|ma)\b",
    re.IGNORECASE,
)
_TO_ONESELF = re.compile(
    r"\b(?:i|we)\s+(?:must|should|need to|have to|want to ask|owe|promised|met|know|called|texted|emailed|wrote to)\b",
    re.IGNORECASE,
)
"""`Caroline: I must call her back` is a note about Caroline, not by her."""


def is_heading(label: str) -> bool:
    """Whether a label heads a text (`Note`, `Due date`) rather than naming who says it."""
    words = [word.strip(".,()#*-–—").casefold() for word in label.split()]
    if not words or label.casefold() in _SURE_ROLES:
        return not words
    if len(words) == 1 and is_given_name(words[0]):
        return False
    titled = words[0] in TITLES and len(words) > 1
    return any(word in _HEADINGS for word in (words[1:] if titled else words))


def is_name(label: str) -> bool:
    """Whether a label looks like a person's name or a role in a chat: one to four capitalised words, none of a heading."""
    if label.casefold() in _SURE_ROLES or _NUMBERED.fullmatch(label):
        return True
    words = label.split()
    if not 1 <= len(words) <= 4 or len(label) > 40 or is_heading(label):
        return False
    telling = [word for word in words if word.casefold() not in _PARTICLES]
    if not telling or not all(_WORD.fullmatch(word) for word in telling):
        return False
    return all(_is_capitalised(word) for word in telling)


def may_be_name(label: str) -> bool:
    """Whether a label that a program has marked can be a name: also a handle, a number, or a name with signs in it."""
    shown = label.lstrip("~").strip()
    if is_name(shown) or _PHONE.fullmatch(shown):
        return True
    if is_heading(shown) or shown.casefold() in _TAGS or len(shown) > 60 or len(shown.split()) > 5:
        return False
    if _HANDLE.fullmatch(shown):
        return any(character.isalpha() for character in shown)
    letters = any(character.isalpha() for character in shown)
    return letters and not _SENTENCE.search(shown) and (shown[:1].isupper() or not shown[:1].isalpha())


def _is_capitalised(word: str) -> bool:
    """Also true of words of scripts without capitals."""
    return word[0].isupper() or unicodedata.category(word[0]) == "Lo"


def role_of_label(label: str, *, alone: bool = True) -> str:
    """The role that a label means in a chat, or "" for a person's name; `Me` and `You` mean the user only if `alone`."""
    role = _ROLES.get(label.casefold(), "")
    return "" if role == "user" and not alone and label.casefold() in ("me", "you") else role


def speaks(text: str) -> bool:
    """Whether somebody speaks in it: of themselves, to another, or as people open and end what they say."""
    return bool(_FIRST_OR_SECOND.search(text) or _OPENER.match(text) or _LIVELY.search(text))


def speaks_under_date(label: str, text: str) -> bool:
    """Whether one dated line is what its label says: `Caroline: The group was powerful.`, not `Backup: done in 14 minutes`."""
    if len(text.split()) < 3 and not speaks(text):
        return False
    sentence = bool(_FULL_SENTENCE.match(text)) and len(text.split()) >= 4
    return is_given_name(label.split()[0]) or speaks(text) or sentence


def speaks_alone(label: str, text: str) -> bool:
    """Whether one line without a date is what its label says: `Caroline: Hey Mel!`, not `Caroline: I must call her`."""
    if len(label.split()) > 2 or (len(label) > 2 and label.isupper() and label.casefold() not in _SURE_ROLES):
        return False
    first = label.split()[0]
    if not text or text.casefold().startswith(first.casefold()):
        return False
    if _OPENER.match(text) and (_LIVELY.search(text) or _FIRST_OR_SECOND.search(text)):
        return True
    if _THIRD.search(text) or _TO_ONESELF.search(text):
        return False
    if not is_given_name(first) and label.casefold() not in _SURE_ROLES:
        return False
    return bool(_I_AT_START.match(text)) or bool(_YOU.search(text) and _LIVELY.search(text))
