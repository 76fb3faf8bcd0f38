"""Words that the stemmer must bring together or keep apart. The table is the specification."""

import pytest

from pieria.language.analyser.stem import IRREGULAR, KEPT, stem

TOGETHER = """
deadline deadlines
paint paints painted painting paintings
study studies studied studying
movie movies
cookie cookies
party parties
try tries tried trying
play plays played playing
hope hopes hoped hoping
hop hops hopped hopping
plan plans planned planning
stop stops stopped stopping
use uses used using
make makes made making
take takes took taken taking
choose chooses chose chosen choosing
write writes wrote written writing
buy buys bought buying
go goes went gone going
be is are was were been being
do does did done doing
have has had having
think thinks thought thinking
visit visits visited visiting
open opens opened opening
offer offers offered offering
prefer prefers preferred preferring
decide decides decided deciding
arrive arrives arrived arriving
create creates created creating creation
change changes changed changing
dance dances danced dancing
leave leaves left leaving
cause causes caused causing
house houses housing
value values valued valuing
argue argues argued arguing
agree agrees agreed agreeing
handle handles handled handling
call calls called calling
travel travels traveled travelled traveling travelling
install installs installed installing
box boxes boxed boxing
dish dishes
watch watches watched watching
class classes
bus buses
virus viruses
case cases
cache caches cached caching
potato potatoes
hero heroes
shoe shoes
tie ties tied tying
die dies died dying
add adds added adding
embed embeds embedded embedding
child children
person people
foot feet
wife wives
wedding weddings
business businesses
index indices
analyze analyse analysis analyses analyzed analysing
organize organise organizes organised organizing organization organisation
authenticate authenticates authenticated authenticating authentication
motivate motivation
celebrate celebrated celebration celebrations
notify notified notification notifications
apply applies applied application applications
connect connected connection connections
able ability abilities
responsible responsibly responsibility
active activity activities actively
happy happily happiness
quick quickly
final finally
possible possibly possibility
kind kindness
color colors colour colours
favorite favourite favorites favourites
center centre centers
api apis
id ids
quiz quizzes
ski skis skiing
""".strip().splitlines()

APART = """
university universe
universal universe
even evening
wed wedding
new news
busy business
hop hope
plan plane
star stare
car care
past paste
suit suite
wit witness
her herring
organ organize
policy police
general generate
opera operate
authentic authenticate
state station
ration rate
us use
bus busy
car cart
on one
thin thing
bring ring
sing sting
morn morning
ear earring
am arm
summer sum
number numb
corner corn
flower flow
add ad
hundred hunter
real reel
this the
mars mass
apple apply
angle angel
desert dessert
family famous
likely like
""".strip().splitlines()

SHORT = ["a", "i", "is", "x", "db", "ui", "os", "js", "ts", "go", "as"]


@pytest.mark.parametrize("words", TOGETHER)
def test_forms_of_a_word_share_a_stem(words: str) -> None:
    stems = {word: stem(word) for word in words.split()}

    assert len(set(stems.values())) == 1, stems


@pytest.mark.parametrize("words", APART)
def test_words_that_only_look_alike_stay_apart(words: str) -> None:
    stems = {word: stem(word) for word in words.split()}

    assert len(set(stems.values())) == len(stems), stems


@pytest.mark.parametrize("word", SHORT)
def test_what_is_too_short_to_have_an_ending_keeps_it(word: str) -> None:
    assert stem(word) == ("be" if word == "is" else word)


@pytest.mark.parametrize(
    "word", ["bundesregierung", "strassenbahn", "maison", "ristorante", "corazon", "sauna", "werden", "ich", "pues"]
)
def test_words_of_other_languages_lose_at_most_one_letter(word: str) -> None:
    assert word.startswith(stem(word)) and len(word) - len(stem(word)) <= 1


def test_no_rule_undoes_the_tables() -> None:
    assert {form: stem(form) for form in IRREGULAR} == {form: stem(base) for form, base in IRREGULAR.items()}
    assert {word: stem(word) for word in KEPT} == {word: word for word in KEPT}


def test_a_word_too_long_for_english_stays_as_it_is() -> None:
    assert stem("a" * 30 + "ing") == "a" * 30 + "ing"
