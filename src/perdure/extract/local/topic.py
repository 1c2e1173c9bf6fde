"""Topic of a text, by the words it uses."""

from __future__ import annotations

import re
from collections import Counter

from perdure.text.wordlist import word_set

_WORD = re.compile(r"[a-z]{3,}")

_TOPICS = {
    "work": word_set(
        "job work works working worked office boss manager colleague colleagues coworker coworkers career interview hired "
        "hire promotion promoted salary company startup client clients meeting meetings deadline project projects team "
        "resume freelance internship employee employees business shift"
    ),
    "family": word_set(
        "family mom mother dad father parents sister brother son daughter kids kid child children baby grandma grandpa "
        "grandmother grandfather aunt uncle cousin niece nephew husband wife siblings"
    ),
    "relationships": word_set(
        "friend friends friendship girlfriend boyfriend dating date partner relationship wedding married marriage engaged "
        "divorce anniversary neighbor neighbors roommate breakup"
    ),
    "health": word_set(
        "health healthy doctor hospital sick illness pain surgery medicine medication therapy therapist diagnosis "
        "diagnosed symptoms diet sleep mental stress anxiety injury dentist allergy allergic allergies vaccine blood "
        "headache physical"
    ),
    "food": word_set(
        "food eat eating ate cook cooking cooked recipe recipes restaurant restaurants dinner lunch breakfast meal meals "
        "cake bread coffee tea pizza pasta vegan vegetarian baking bake baked chicken cheese dessert flavor delicious "
        "kitchen snack wine beer sauce"
    ),
    "travel": word_set(
        "travel traveling travelling trip trips vacation holiday flight flights hotel airport visit visited tour tourist "
        "beach abroad passport cruise itinerary sightseeing backpacking airbnb camping roadtrip"
    ),
    "home": word_set(
        "house home apartment flat rent moved moving move furniture garden gardening kitchen bedroom renovation "
        "landlord mortgage lease plants yard couch cleaning laundry"
    ),
    "pets": word_set("dog dogs cat cats puppy kitten pet pets vet leash aquarium hamster rabbit parrot paw shelter"),
    "sports": word_set(
        "game games team soccer football basketball tennis baseball hockey gym workout workouts running run marathon race "
        "yoga swimming hiking hike climbing cycling bike training fitness coach match tournament championship skiing surfing"
    ),
    "arts": word_set(
        "art artist paint painting painted paintings draw drawing sculpture pottery gallery museum exhibit exhibition "
        "photography photo photos craft crafts dance dancing theater theatre poetry design sketch"
    ),
    "music": word_set(
        "music song songs band concert concerts guitar piano violin album singer singing sing playlist orchestra festival "
        "drums musician jazz melody lyrics"
    ),
    "books": word_set("book books novel novels author reading library story stories writer writing poem chapter memoir"),
    "film and games": word_set(
        "movie movies film films show shows series season episode netflix actor actress director video videogame "
        "videogames gaming console nintendo playstation xbox streaming anime trailer"
    ),
    "education": word_set(
        "school college university class classes course courses degree student students teacher professor exam exams "
        "study studying studied homework thesis graduate graduated graduation lecture semester campus scholarship"
    ),
    "technology": word_set(
        "computer software code coding app apps phone laptop server database api python javascript bug bugs deploy "
        "deployment algorithm data model website internet programming developer docker git repo repository function "
        "linux windows install config query endpoint framework"
    ),
    "money": word_set(
        "money budget bank loan debt invest investing investment investments savings tax taxes price prices cost costs "
        "expensive cheap paid pay payment stock stocks insurance credit salary dollars refund invoice"
    ),
    "nature": word_set(
        "nature forest mountain mountains river lake ocean sea sunset sunrise weather rain snow animals birds wildlife "
        "trees flowers park climate"
    ),
    "community": word_set(
        "volunteer volunteering volunteered charity community church religion faith donate donation support group activism "
        "rights protest politics election vote government campaign lgbtq pride"
    ),
    "transport": word_set("car cars truck bus train drive driving drove traffic license mechanic tires engine commute bicycle fuel"),
    "shopping": word_set("buy bought shopping store shop purchase purchased order ordered sale discount coupon amazon brand"),
}  # fmt: skip

_TOPICS_OF: dict[str, tuple[str, ...]] = {}
for _topic, _words in _TOPICS.items():
    for _word in _words:
        _TOPICS_OF[_word] = (*_TOPICS_OF.get(_word, ()), _topic)


def topic_of(text: str) -> str | None:
    """The topic most of the text's telling words belong to; None without any."""
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text.casefold()):
        counts.update(_TOPICS_OF.get(word, ()))
    if not counts:
        return None
    best = max(counts.values())
    return next(topic for topic in _TOPICS if counts[topic] == best)
