"""Cue words for halls, in several languages. A single cue is not certain.

Leave out words that mean something else in another of these languages, such as French `hier`, German for here.
"""

from __future__ import annotations

import re
from types import MappingProxyType

SPACED = MappingProxyType(
    {
        "hall_decisions": r"""
            decide[ds]? | decisions? | chose | chosen | choose | agreed | agreement | settled\ on | opted | ruled\ out
            | went\ with | going\ with | approved | rejected | instead\ of | trade-?offs?
            | switch(?:ed|ing)?\ (?:to|from) | migrat(?:e|ed|ing)\ (?:to|from)
            | entschieden | entschied | entscheidung(?:en)? | beschlossen | beschluss | geeinigt | gewählt
            | décid\w+ | décisions? | choisi\w* | opté | decidi\w* | decisión | decisiones | elegimos | elegid[oa]s?
            | acordamos | acordado | deciso | decisione | scelt[oa] | decisão | escolhemos | escolheu | escolhid[oa]
            | besloten | gekozen | реши(?:ли|л|ла) | решено | решени[ея] | выбра(?:ли|л|ла) | договорились""",
        "hall_discoveries": r"""
            discover(?:ed|y) | found\ (?:out|that) | turn(?:s|ed)\ out | root\ cause | reali[sz]ed | learn(?:ed|t)
            | noticed | fixed | bugs? | because\ of | breakthrough | the\ (?:problem|cause|reason)\ (?:is|was)
            | caused\ by | insights?
            | herausgefunden | stellte\ sich\ heraus | ursache | entdeckt | behoben | découvert\w* | la\ cause | corrigé
            | descubri\w* | la\ causa | resuelto | corregido | scopert[oa] | imparat[oa] | descobri\w* | corrigid[oa]
            | ontdekt | oorzaak | обнаружи\w+ | оказалось | причин[аы] | исправи\w+""",
        "hall_preferences": r"""
            prefers? | preferred | favou?rites? | likes | loves? | hates? | dislikes? | would\ rather | enjoys?
            | can't\ stand
            | bevorzug\w+ | lieber | hasst | liebt | lieblings\w+ | préfér\w+ | préfère\w* | déteste\w* | adore\w*
            | prefier[eo]\w* | (?:me|le|les|nos)\ gustan? | odia | favorit[oa]s? | preferisc\w+ | piace | preferit[oa]
            | prefere\w* | gosta | odeia | houdt\ van | предпочита\w+ | любит | нравится | ненавид\w+""",
        "hall_advice": r"""
            should(?:n't)? | must(?:n't)? | always | never | recommend(?:ed|ations?|s)? | advice | advise[sd]?
            | best\ practi[cs]es? | how\ to | make\ sure | remember\ to | avoid | tips? | do\ not | don't | if\ you
            | sollten? | müssen | niemals | immer | empf(?:iehlt|ehlen|ohlen|ehlung) | vermeide\w*
            | devrai\w+ | devez | toujours | jamais | éviter? | recommand\w+ | il\ faut | debe(?:n|mos|ría)? | siempre
            | nunca | evitar | recomend\w+ | hay\ que | dovrebbe | bisogna | sempre | evitare | consigli\w* | devem
            | evite | moet(?:en)? | altijd | nooit | нужно | следует | всегда | никогда | нельзя | рекоменд\w+""",
        "hall_events": r"""
            yesterday | today | tomorrow | tonight | (?:last|next)\ (?:week|month|year|night) | meeting | met
            | launch(?:ed)? | released? | shipped | deployed | happened | went\ to | visited | arrived | left
            | celebrated | signed | outage | incident | moved | \d{4}-\d{2}-\d{2}
            | gestern | heute | besprechung | treffen | getroffen | veröffentlicht | ausfall | aujourd'hui | demain
            | réunion | panne | ayer | hoy | mañana | reunión | ieri | oggi | domani | riunione | ontem | hoje | amanhã
            | reunião | gisteren | vandaag | вчера | сегодня | завтра | встрет\w+ | встреч[аи] | совещание""",
    }
)
"""If two halls match equally, the first wins."""
UNSPACED = MappingProxyType(
    {
        "hall_decisions": "决定|決定|决策|选择|選択|決め|결정|선택",
        "hall_discoveries": "发现|發現|発見|原因|判明|わかった|分かった|발견|원인",
        "hall_preferences": "喜欢|喜歡|偏好|讨厌|討厭|好き|好む|嫌い|좋아|싫어|선호",
        "hall_advice": r"应该|應該|不要|必须|必須|べき|いけない|必ず|避け|해야|하지\ ?마|항상",
        "hall_events": "昨日|今日|明日|昨天|今天|明天|会议|會議|会議|어제|오늘|내일|회의",
    }
)
"""Cues in scripts without spaces between words."""
CUES = MappingProxyType(
    {
        hall: re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{UNSPACED[hall]}", re.VERBOSE | re.IGNORECASE)
        for hall, spaced in SPACED.items()
    }
)
