"""Words for persons who belong to somebody: kin, friends, and those one has to do with."""

from __future__ import annotations

from perdure.text.wordlist import word_set

PERSONS = word_set(
    "mother mom mum mama father dad papa sister brother son daughter wife husband partner fiancé fiancée fiance fiancee girlfriend boyfriend spouse "
    "grandmother grandma granny nana grandfather grandpa granddad aunt auntie uncle cousin niece nephew boss manager supervisor roommate flatmate housemate friend bestie buddy "
    "colleague coworker co-worker neighbor neighbour therapist doctor dentist teacher mentor landlord landlady assistant son-in-law daughter-in-law "
    "mother-in-law father-in-law sister-in-law brother-in-law stepmother stepfather stepsister stepbrother stepson stepdaughter godfather godmother ex twin "
    "grandson granddaughter kid baby nanny tutor coach trainer intern classmate teammate cofounder co-founder accountant lawyer parents kids children siblings in-laws grandparents "
    "youngest eldest gran grandad gramps nan hubby mate pal family twins teenager"
)
