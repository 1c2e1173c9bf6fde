"""Words that are no names even when a sentence's beginning gives them a capital."""

from __future__ import annotations

from perdure.text.wordlist import word_set

PLAIN = word_set("""
i i'm i've i'd i'll a an the and but or so if then than because as at by for from in into of on to with without about after before
during since until while when where who whom whose what which why how he she it we you they me him her us them my your his
its our their mine this that these those there here is are was were be been being am do does did have has had can could will
would shall should may might must not no nor yes yeah yep ok okay oh wow hey hi hello bye thanks thank please sorry sure
well also just maybe perhaps really very too both either neither each every all any some many much more most other another
such only own same it's that's there's he's she's we're you're they're let's don't didn't can't won't isn't aren't wasn't
what's who's where's how's absolutely definitely totally exactly congrats congratulations awesome amazing great cool nice
good glad happy love looking last next first second one two three today tomorrow yesterday tonight monday tuesday wednesday
thursday friday saturday sunday january february march april may june july august september october november december
mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter am pm
mr mrs ms mx dr prof new old now never always often sometimes once later soon still even though although however anyway btw lol omg
haha hmm yup nope right left take make get got go going see look know think say said tell ask try use used add run set
""")
