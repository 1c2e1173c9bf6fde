"""Given names that are common somewhere: a sign, never a proof, that a label names a person."""

from __future__ import annotations

from perdure.text.nicknames import FULL_NAMES
from perdure.text.wordlist import word_set

_COMMON = word_set(
    """
    aaron abdul abdullah abel abigail ada adam adele adrian agnes ahmed aisha akira alan alba albert alejandro alessandro alex alexander
    alexandra alexis ali alice alicia alina alison alma alvaro amal amanda amara amber amelia amina amir amit amy ana anders andrea andreas
    andrei andrés andrew angela angelina angelo anika anita anja ann anna anne annette annika anton antonia antonio anya archie ari aria
    ariel armando arthur asha ashley astrid audrey aurora austin ava axel aya ayesha aylin barbara beatrice beatriz ben benedict benjamin
    bernard bernd bertha beth bethany bianca bilal birgit björn blake boris bradley brandon brenda brian bridget bruno bryan caitlin caleb
    calvin cameron camila camille carl carla carlos carmen carol carolina caroline carolyn caterina catherine cecilia cedric celia chad
    chandra charles charlotte chen chiara chloe chris christa christian christina christine christopher claire clara claude claudia clement
    colin connor conrad craig cristina cynthia daisy dalia dan dana daniel daniela danielle daria dario darren dave david dawn dean deborah
    deepak delphine denise dennis derek desmond diana diego dieter dimitri dina dirk dmitri dominic donald donna dora doris dorothy douglas
    duncan dylan eduardo edward edwin elena eleanor eli elias elif elijah elin elisa elise elizabeth ella ellen elliot eloise elsa emil emilia
    emilio emily emma emmanuel enrico enrique eric erica erik erin ernest esra esther ethan eugene eva evan evelyn ezra fabian fabio fatima
    felicia felix fernanda fernando filip fiona florence florian francesca francesco francis francisco frank franz fred frederick freya
    frida fritz gabriel gabriela gareth gary gavin georg george georgia gerald gerard giovanni gina gisela giulia gloria gordon graham greg gregor
    greta guillermo gunnar gustav hanna hannah hans harold harriet harry harvey hassan heather hector heidi heike helen helena helga henrik
    henry herbert hilary hiroshi holger holly hong hugo ian ibrahim ida ignacio igor imran ines inga ingrid irene iris irma isaac isabel
    isabella isla ivan ivana jack jackson jacob jacqueline jaime jake jakob jamal james jamie jan jana jane janet janina janine jasmine jason
    javier jay jean jeff jeffrey jenna jennifer jens jeremy jerome jessica jill jing joan joana joanna joaquin jochen joe joel johan johanna
    john jon jonas jonathan jordan jorge josé josef joseph josephine joshua joy juan juana judith julia julian juliana julie juliette julio
    jun justin jürgen kai kamal kamala karen karim karin karl karla katarina kate katharina katherine kathleen katja katrin kavita keiko
    keith kelly ken kenji kenneth kevin khalid kim kira klaus kofi kristen kristin kumar kurt kyle lakshmi lara lars laura lauren laurent
    lea leah leila lena leo leon leonard leonie leticia levi li liam lily lina linda linus lisa liu lorena lorenzo louis louise luca lucas
    lucia lucy luigi luis luisa lukas luke luna lydia lynn mads magdalena mai malik manuel manuela mara marc marcel marco marcus margaret
    margarita maria mariam marianne marie marina mario marion marisol marissa marius mark markus marlene marta martha martin martina marvin
    mary massimo mateo mathias matilda matteo matthew matthias maurice max maya megan mehmet mei melanie melissa mercedes mia michael
    michelle miguel mikael mike mila mina miriam mohamed mohammed moira molly mona monica monika morgan moritz murat nadia nadine nancy naomi
    natalia natalie natasha nathan nathaniel neha neil nele nia nicholas nick nicola nicolas nicole niels nigel nikhil nikita nikolai nils
    nina nisha noah noel nora norbert norma oksana ola olaf oleg olga oliver olivia omar oscar oskar osman otto owen pablo pamela paola paolo
    pascal patricia patrick paul paula pauline pavel pedro peggy penelope peter petra philip philipp phoebe pierre pilar piotr piper prakash
    priya rachel rafael raj rajesh ralf ralph ramon raquel raul ravi ray raymond rebecca regina reinhard renate rené rhys ricardo richard rita
    rob robert roberta roberto robin rodrigo roger rohan roland rolf roman ron ronald rosa rosalie rose ross roxana ruben rupert russell ruth
    ryan sabine sabrina sadie said salma salvador sam samantha samir samuel sandra sanjay sara sarah sasha satoshi saul scott sean sebastian
    selma serena sergei sergio seth shannon sharon sheila shirley sid siddharth sigrid silas silvia simon simona simone sofia sofie sonia
    sonja sophia sophie stacy stefan stefanie stella stephanie stephen steve steven stuart sue sunita susan susanne suzanne sven svetlana
    sylvia takeshi tamara tanja tanya tara tariq tatiana ted teresa thea theo theodor theresa thomas tiago tiffany tim timothy tina tobias
    todd tom tomas tomás toni tony tracy travis tristan tyler ulrich ulrike uma ursula uwe valentin valentina valeria vanessa vera veronica
    victor victoria vijay viktor vincent viola violet virginia vivian vladimir walter wanda wei wendy werner wilhelm will william wolfgang xavier
    xin yan yannick yara yasmin yolanda yuki yuri yusuf yvonne zachary zahra zara zeynep zoe zoltan
    """
)
GIVEN_NAMES = (
    _COMMON | frozenset(FULL_NAMES) | frozenset(full for fulls in FULL_NAMES.values() for full in fulls)
)


def is_given_name(word: str) -> bool:
    """Whether a word is a given name that many bear."""
    return word.casefold() in GIVEN_NAMES
