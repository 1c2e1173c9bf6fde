"""Short forms of given names."""

from __future__ import annotations

_SHORT_FORMS = """
abigail: abby abbie gail
alexander: alex al alec sandy xander
alexandra: alex alexa lexi sandra sasha
alfred: alf alfie fred
allison: allie ally
amanda: mandy
andrea: andi andie
andrew: andy drew
anthony: tony ant
barbara: barb babs
benjamin: ben benny benji
bradley: brad
caroline: caro carrie
catherine: cathy cat cate kate katie kitty
charles: charlie chuck chas
charlotte: charlie lottie
christina: chris chrissy tina
christine: chris chrissy
christopher: chris topher kit
cynthia: cindy
daniel: dan danny
danielle: dani
david: dave davy
deborah: deb debbie debby
dominic: dom nick
donald: don donny
dorothy: dot dottie
edward: ed eddie ned ted teddy
eleanor: ellie nell nora
elizabeth: beth betty eliza ella lisa liz lizzie betsy
emily: em emmy
eugene: gene
evelyn: evie
florence: flo
frances: fran frankie
francis: frank frankie
franklin: frank
frederick: fred freddie rick
gabriel: gabe
gabriella: gabby ella
gerald: gerry jerry
gregory: greg
harold: harry hal
henry: harry hank
isabella: bella izzy
jacob: jake
jacqueline: jackie
james: jim jimmy jamie
janet: jan
jeffrey: jeff
jennifer: jen jenn jenny
jeremy: jem
jessica: jess jessie
joanna: jo joan
jonathan: jon jonny
john: johnny jack
joseph: joe joey
joshua: josh
judith: judy
katherine: kat kate kathy katie kay kitty
kathleen: kathy kat
kenneth: ken kenny
kimberly: kim kimmy
laurence: larry laurie
lawrence: larry laurie
leonard: len lenny leo
lillian: lily lil
louis: lou louie
louise: lou
lucille: lucy
madeline: maddie
margaret: maggie meg peg peggy rita greta
martha: marty
matthew: matt matty
maximilian: max
maxwell: max
megan: meg
melanie: mel
melissa: mel missy
michael: mike mick mickey mikey
michelle: shelly
miranda: mira randi
mitchell: mitch
nancy: nan
natalie: nat
nathan: nate nat
nathaniel: nate nat
nicholas: nick nicky
nicole: nicky nikki
oliver: ollie
olivia: liv livvy
pamela: pam
patricia: pat patty tricia trish
patrick: pat paddy
peter: pete
philip: phil
rachel: rach
raymond: ray
rebecca: becca becky
reginald: reg reggie
richard: dick rich rick ricky
robert: bob bobby rob robbie bert
roberta: bobbie
ronald: ron ronnie
roxanne: roxy
russell: russ
samantha: sam sammy
samuel: sam sammy
sarah: sally
sebastian: seb
stanley: stan
stephanie: steph stevie
stephen: steve stevie
steven: steve stevie
susan: sue suzie
suzanne: sue suzie
sylvester: sly
terence: terry
teresa: terri tess
theodore: ted teddy theo
theresa: terri tess
thomas: tom tommy
timothy: tim timmy
tobias: toby
valerie: val
veronica: ronnie vera
victor: vic
victoria: vicky tori
vincent: vince vinny
virginia: ginny
walter: walt wally
wendell: wendy
william: bill billy will willy liam
zachary: zach zack
"""


def _read(table: str) -> dict[str, frozenset[str]]:
    fulls: dict[str, set[str]] = {}
    for line in table.strip().splitlines():
        full, _, shorts = line.partition(":")
        for short in shorts.split():
            fulls.setdefault(short, set()).add(full)
    return {short: frozenset(names) for short, names in fulls.items()}


FULL_NAMES = _read(_SHORT_FORMS)
"""Short form -> the given names it may stand for."""
