"""Irregular English forms, and words that a stemming rule would spoil: the data of the stemmer.

List a form only if searches would miss something without it. Leave out homographs whose other sense is common (rose,
bit, wound).
"""

from __future__ import annotations

_FORMS = """
be: am is are was were been being
have: has had having
do: does did done doing
go: goes went gone going
see: saw seen
say: said says
get: got gotten
make: made
come: came
become: became
take: took taken
give: gave given
know: knew known
think: thought
tell: told
find: found
feel: felt
leave: left
keep: kept
begin: began begun
show: shown
hear: heard
run: ran
hold: held
bring: brought
write: wrote written
sit: sat
stand: stood
understand: understood
lose: lost
pay: paid
meet: met
teach: taught
learn: learnt
catch: caught
buy: bought
build: built
send: sent
spend: spent
lend: lent
bend: bent
fall: fell fallen
win: won
sell: sold
sleep: slept
sweep: swept
weep: wept
creep: crept
deal: dealt
mean: meant
dream: dreamt
burn: burnt
spell: spelt
speak: spoke spoken
break: broke broken
choose: chose chosen
freeze: froze frozen
steal: stole stolen
wake: woke woken
wear: wore worn
tear: tore torn
swear: swore sworn
bear: bore borne
draw: drew drawn
grow: grew grown
throw: threw thrown
blow: blew blown
fly: flew flown flies
drive: drove driven
ride: rode ridden
rise: risen
arise: arose arisen
eat: ate eaten
beat: beaten
bite: bitten
hide: hid hidden
forget: forgot forgotten
forgive: forgave forgiven
prove: proven
shake: shook shaken
mistake: mistook mistaken
swim: swam swum
sing: sang sung
ring: rang rung
drink: drank drunk
sink: sank sunk
shrink: shrank shrunk
stick: stuck
strike: struck stricken
swing: swung
hang: hung
dig: dug
spin: spun
shoot: shot
fight: fought
seek: sought
lead: led
feed: fed
bleed: bled
breed: bred
flee: fled
slide: slid
shine: shone
lay: laid
light: lit
sew: sewn
knit: knitted
quit: quitted
agree: agreed
disagree: disagreed
guarantee: guaranteed
free: freed
referee: refereed
die: died dies dying
lie: lied lies lying
tie: tied ties tying
add: adds added adding
paste: pasted pasting
ski: skis skied skies skiing
child: children
man: men
woman: women
person: people
foot: feet
tooth: teeth
goose: geese
mouse: mice
wife: wives
knife: knives
wolf: wolves
shelf: shelves
half: halves
thief: thieves
loaf: loaves
calf: calves
scarf: scarves
bus: buses
gas: gases
quiz: quizzes
index: indices
matrix: matrices
vertex: vertices
appendix: appendices
crisis: crises
thesis: theses
hypothesis: hypotheses
analyze: analysis analyses
criterion: criteria
phenomenon: phenomena
ad: ads
id: ids
pc: pcs
tv: tvs
api: apis
cli: clis
gui: guis
kpi: kpis
taxi: taxis
wiki: wikis
emoji: emojis
kiwi: kiwis
safari: safaris
bikini: bikinis
menu: menus
guru: gurus
cpu: cpus
gpu: gpus
center: centre centres centred
theater: theatre theatres
meter: metre metres
kilometer: kilometre kilometres
liter: litre litres
fiber: fibre fibres
gray: grey
program: programme programmes
favorite: favourite favourites
apply: application applications
marry: marriage marriages
"""


def _by_form() -> dict[str, str]:
    entries = [line.split(": ") for line in _FORMS.strip().splitlines()]
    return {form: base for base, forms in entries for form in forms.split()}


IRREGULAR = _by_form()
"""Form to base."""

_KEPT = """
morning evening ceiling during wedding earring herring outing inning topping
nothing something anything everything
news lens bias canvas atlas gas series species always perhaps christmas
hundred embed shred naked wicked sacred
likely unlikely family
business witness harness
paste suite
"""

KEPT = frozenset(_KEPT.split())
"""Words that look like a form of another word but are not."""
