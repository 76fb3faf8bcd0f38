"""English words that begin sentences and headings, and so have a capital without being names.

A capital marks a name, but the first word of a sentence always has one. Only word lists belong here; `entities`
applies them.
"""

from __future__ import annotations

from pieria.language.analyser.irregular import IRREGULAR

# Never part of a name, even before one: "Thanks Caroline" names Caroline.
_OPENINGS = """
a about above absolutely according across actually additionally admittedly after afterwards again agreed ah aha ahead
ahh alas all almost along already alright also although always am amazing amen among an and another any anybody anyhow
anyone anything anytime anyway anyways apart apparently are argh around as aside ask asked at aw away awesome aww back
basically be because been before behind being below beside besides best better between beyond both bravo briefly btw but
by bye call can cannot certainly check cheers clearly come congrats congratulations consequently consider considering
could currently cute damn dang darn dear definitely despite did do does done down due dunno during each earlier early
eek either else especially essentially even eventually ever every everybody everyone everything everywhere eww exactly
excellent except fantastic finally first firstly following for fortunately frankly from further furthermore fyi geez
generally get gimme give given gladly go gonna good goodbye gosh got gotcha gotta great guess had hah haha hahaha
happily has have having he hello hence her here hers hey hi him his hiya hmm honestly hooray hopefully how howdy however
huh hurray if imagine immediately in incredible indeed initially inside instead into is it its itself jeez just keep
know kudos last lastly lately later least lemme less let lets like likely literally lol look lots lovely luckily make
many maybe me meanwhile mhm might mine mm more moreover most mostly much must my myself nah namely near nearly neither
never nevertheless next nice no nobody none nonetheless nope nor normally not note nothing now obviously occasionally of
off often oh ok okay omg on once one only onto oof ooh oops or originally other others otherwise ouch ought our ours out
outside over overall perfect perhaps personally phew please pls plz possibly presumably pretty previously probably psst
quite rather read really recently regarding regardless remember said say says second secondly see seems several shall
she sheesh shh should similarly simply since so some somebody somehow someone something sometimes somewhere soon sorry
specifically still strictly subsequently such suddenly sure surely sweet take tell than thank thanks that the their
theirs them then there therefore these they third this those though through throughout thus thx till to today together
tomorrow tonight too totally toward towards tried truly try trying two ugh uh under unfortunately unless unlike until up
upon us use used using usually very voila wait wanna want was watch we well welp were what whatever when whenever where
whereas wherever whether which while whilst who whoa whoever whom whoops whose why with within without woah wonderful
woohoo would wow write y'all yay yea yeah yep yes yesterday yet yikes yippee you your yours yourself yum yummy yup
summarize summarise explain describe list show find compare create draft suggest recommend help generate translate
i i'm i've i'd i'll it's that's there's here's what's who's how's where's let's you're we're they're he's she's
don't doesn't didn't can't couldn't won't wouldn't shouldn't isn't aren't wasn't weren't haven't hasn't hadn't
you've we've they've you'd we'd they'd you'll we'll they'll he'd she'd he'll she'll that'd that'll what're
"""

# Not a name alone at the start of a sentence, but part of one in "New York" or "Will Smith".
_WORDS = """
able action active activity adding additional adult advice afternoon age agent air animals answer answers app appreciate
apps area art article assistant author average baby background bad bank based bear beautiful beauty bed being believe
big bill birds birthday black blue board body book books born bottom bread breakfast bright bring brother brown budget
bug build building bus business busy buy cake camera camp camping car care cars case cash cat cats cause chance change
changes chapter character charity chat cheap chicken child children choice choose church city class clay clean clear
client climbing close clothes cloud club code coffee cold color colour comfort comments common community company
competition complete concert conclusion context cook cooking cool cost country couple course crazy cream creative
culture customer customers daily dance dancing dark data database date dates daughter day days deal decision deep
default delicious delivery design details different difficult dinner direct dog dogs door double drama drawing dream
dreams drink drive driving dry early easy eating education email emails end energy engine english enjoy enough entry
equal error errors evening event events everyday evidence example examples exciting exercise expect experience extra eye
eyes face fact facts fair faith fall false family fast father favorite favourite fear feature features feel feeling few
field figure file files fill film final finance fine finish fire fish fitness five fix flat flight floor flow flower
flowers focus follow food football force forest form format four free freedom fresh friend friends fruit full fun
function funny future game games garden gardening general gift girl girls glad glass goal goals gold golden grace grand
grandma grandpa grateful gratitude gray green group growing growth guest guitar gym ha hair half hall hand happy hard
hate head health healthy hearing heart heavy help helping high highlights hike hiking history hold holiday home hope
horse hospital hot hotel hour hours house huge hundred husband ice idea ideas image images important improve include
including income info information input inspiration inspiring install interest interesting internet introduction issue
issues item items job join journey joy judge key kids kind kitchen lake land language large late laugh law lead learn
learning leave left lesson lessons letter level library life light line lines link links lion list little live local
location long looks loss love loving low luck lucky lunch magic mail main major man manager map mark market marriage
matter maximum maybe meal mean meeting meetings member members memory men mental menu message messages method middle
mind minimum minor minute miss mix mobile model modern mom moment money month months mood moon morning mother mountain
mountains move movie movies moving mum museum music name names national natural nature necessary need needs network new
news night normal north note notes nothing notice number numbers ocean office old online open opening option options
orange order original outdoor output own owner page pages pain paint painting paintings pair paper parents park part
parts party past path patience payment peace people percent performance period person pet pets phone photo photos
physical piano pick picture pictures pink pizza place places plan plane planning plans plant plants plate play player
players playing plenty plus poetry point points police policy pool poor pop popular positive possible post pottery power
practice prepare present press pressure price pride print problem problems process product products program progress
project projects promise proof proud public purple purpose quality question questions queue quick quickly quiet quote
race rain rainbow random rare rate reach reader reading ready real reason reasons received recent recipe recipes record
records red regular relationship relax release religion report request requests research response rest result results
return review rice rich ride right river road rock role romantic room rooms rose rule rules run running sad safe sale
same sand saturday save scary schedule school science score screen sea search season section security self sell sending
senior sense series serious server service session set setting settings seven shop shopping short side sign silver
simple single sister sit site six size skill sleep slow small smart smile snow social software solution son song songs
sort sound sounds source south space speaking special speed spending sport sports spring staff stage standard star start
state status stay step steps stone stop storage store stories story strange street stress strong student students studio
study stuff style subject success sugar summary summer sun super support surprise swimming system systems table talk
talking target task tasks taste tea teacher team tech technology ten term terms test testing tests text therapy thing
things think thinking thoughts thousand three ticket time times tip tips title toast tool tools top topic topics total
touch tough tour town track trade traffic training transfer travel traveling treat tree trees trip trips trouble truck
true trust truth turn type under unique unit update updates usage user users vacation valid value version video view
village vision visit visiting voice volunteer volunteering walk walking wall war warm warning water wave way weather web
wedding week weekend weeks weird welcome west white wife wild will wind window winter wish woman women woo wood word
words work working works world worry worth writer writing wrong year years yellow yoga young youth zero
"""

_TIMES = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
mondays tuesdays wednesdays thursdays fridays saturdays sundays am pm
"""

OPENINGS = frozenset(_OPENINGS.split())
TIMES = frozenset(_TIMES.split())
COMMON = OPENINGS | TIMES | frozenset(_WORDS.split()) | frozenset(IRREGULAR) | frozenset(IRREGULAR.values())
