"""Tags of names, and names to put in the place of others, so that no decision is learnt from a name."""

from perdure.ports.reader import NAME_TYPES

TAGS = ("O", *(f"{place}-{type}" for type in NAME_TYPES for place in "BI"))
"""No name, or the beginning or inside of a name of each type."""

GIVEN = (
    "amir lena priya tom dario yuki sofia jonas maria ben chloe omar nina paul ines kofi hannah leo mei carlos "
    "ruth ivan zoe hassan emma luca aisha felix clara diego nora samir julia marco anna victor leila oscar "
    "greta pablo fatima simon elena rashid camille hugo ana peter bianca karim sophie erik lucia david mina "
    "antoine carmen stefan jade miguel laura kenji alice tariq eva bruno rosa daniel ming isabel georg thea "
    "javier louise andre sara philip ravi marta noah helga ali beth jorge mathilde ned olga quentin rita uma "
    "will xenia yann zara gustav petra enrique celine dieter juana remy kim alex sam robin toni jamie casey"
).split()
PLACES = (
    "lisbon oslo leeds denver turin bonn porto ghent austin cork malmo seville lyon graz perth halifax boston "
    "kyoto nantes bilbao dresden tampa bristol quito dakar lima kiel basel utrecht york nice cadiz ulm metz"
).split()
