"""How people put a lasting instruction in languages other than English: a row for each language.

A sentence states a rule where it holds a word that lasts and a word that asks for something, or one of the forms that
say enough alone. All is lower case. Every repetition is bounded.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Tongue(NamedTuple):
    """Alternatives of a pattern: what lasts, what asks, what is a rule alone, and what is said of others."""

    lasting: str
    asking: str
    alone: str
    others: str


_TONGUES = (
    Tongue(  # German
        r"immer|stets|nie|niemals|nie wieder|grundsätzlich|generell|ab (?:jetzt|sofort|heute)|künftig"
        r"|in zukunft|von nun an"
        r"|jedes ?mal|standardmäßig|in diesem (?:repo|projekt)|bei uns",
        r"bitte|(?:antwort|schreib|nutz|benutz|verwend|mach|zeig|frag|lösch|push|gib|nenn|setz|erklär|änder"
        r"|lass|halt|teste?"
        r"|prüf|führ|commit|formatier|zitier)\w{0,3}|verwenden|nehmen|nutzen wir|du (?:sollst|musst|darfst)"
        r"|werden|wir \w+en",
        r"ich (?:bevorzuge|möchte,? dass du|mag (?:lieber|keine)|will keine)|(?:nenn|duz|siez) mich"
        r"|antworte (?:kurz|knapp|auf)"
        r"|keine? [\w-]{3,30} (?:in|auf|ohne)",
        r"(?:er|sie|es|mein\w*|der|die|das|ich) (?:\w+ ){0,4}?(?:immer|nie|niemals|stets)|warum|mal wieder"
        r"|immer noch",
    ),
    Tongue(  # Spanish
        r"siempre|nunca|jamás|de ahora en adelante|a partir de ahora|en adelante|por defecto|cada vez que"
        r"|en este (?:repo|proyecto)",
        r"por favor|usa|utiliza|responde|contesta|contéstame|respóndeme|escribe|pon|haz|pregunta|explica"
        r"|muestra|cita|subas|uses"
        r"|borres|hagas|pongas|añadas|debes|tienes que|usamos",
        r"prefiero|llámame|tutéame|no (?:pongas|uses|añadas|agregues|toques|borres|subas|escribas) (?!el|la"
        r"|esto|eso)\w|no quiero que",
        r"(?:él|ella|el|la|mi|su) (?:\w+ ){0,3}?(?:siempre|nunca)|por qué",
    ),
    Tongue(  # French
        r"toujours|jamais|désormais|dorénavant|à partir de maintenant|par défaut|à l'avenir|chaque fois que"
        r"|dans ce (?:projet|dépôt)",
        r"s'il te plaît|stp|svp|merci de|fais|utilise|réponds|écris|mets|ajoute|demande|demander|explique|cite"
        r"|montre|donne|utiliser"
        r"|faire|mettre|écrire|tu dois|on utilise",
        r"je préfère|appelle-moi|tutoie-moi|vouvoie-moi|n'(?:utilise|ajoute|écris) pas (?!le|la|ce|cette)\w"
        r"|quand tu (?:écris|fais|codes)"
        r"|je ne veux pas que tu",
        r"(?:il|elle|ils|mon|ma|le|la) (?:\w+ ){0,3}?(?:toujours|jamais)|pourquoi",
    ),
    Tongue(  # Italian
        r"sempre|mai|d'ora in poi|da ora in poi|in futuro|ogni volta che|in questo progetto",
        r"per favore|usa|usare|rispondi|scrivi|metti|fai|chiedi|spiega|cita|mostra|devi|usiamo",
        r"preferisco|chiamami|dammi del tu|non (?:usare|mettere|toccare|aggiungere) (?!il|la|questo)\w",
        r"(?:lui|lei|il|la|mio|mia) (?:\w+ ){0,3}?(?:sempre|mai)|perché",
    ),
    Tongue(  # Portuguese
        r"sempre|nunca|jamais|de agora em diante|a partir de agora|por padrão|sempre que|neste projeto",
        r"por favor|usa|use|responda|responde|escreve|escreva|põe|faz|faças|pergunta|explica|cita|mostra|deves"
        r"|usamos|apagues|uses",
        r"prefiro|chama-me|me chame de|não (?:uses|use|mexas|toques|ponhas|coloque|adicione) (?!o|a|isto|isso)\w",
        r"(?:ele|ela|o|a|meu|minha) (?:\w+ ){0,3}?(?:sempre|nunca)|por que|porquê",
    ),
    Tongue(  # Russian
        r"всегда|никогда|впредь|отныне|с этого момента|теперь всегда|каждый раз|по умолчанию|только|в этом проекте",
        r"пожалуйста|используй\w{0,2}|отвечай\w{0,2}|пиши\w{0,2}|делай\w{0,2}|спрашивай\w{0,2}|проверяй\w{0,2}"
        r"|добавляй\w{0,2}"
        r"|указывай\w{0,2}|объясняй\w{0,2}|ставь\w{0,2}|удаляй\w{0,2}|давай ответ|используем|пишем",
        r"я предпочитаю|называй меня|обращайся ко мне|не (?:используй|добавляй|трогай|удаляй|пиши"
        r"|ставь)\w{0,2} (?!это|этот|эту)\w",
        r"(?:он|она|они|я|этот|эта|это|тест) (?:\w+ ){0,3}?(?:всегда|никогда)|почему",
    ),
    Tongue(  # Dutch, Polish, Swedish, Danish, Norwegian, Czech, Finnish, Turkish
        r"altijd|nooit|voortaan|zawsze|nigdy|od teraz|alltid|aldrig|alltså alltid|altid|aldri|från och med nu"
        r"|vždy|nikdy|aina"
        r"|her zaman|asla|bundan sonra",
        r"gebruik|schrijf|antwoord|geef|vraag|używaj|podawaj|pisz|odpowiadaj|pytaj|använd|skriv|svara|fråga"
        r"|brug|svar|bruk"
        r"|používej|piš|odpovídej|kirjoita|käytä|vastaa|kullan|yaz|cevap ver|sor|yanıtla|alsjeblieft|proszę|lütfen",
        r"ik heb liever|noem me|wolę gdy|kalla mig|kald mig",
        r"(?:hij|zij|on|ona|han|hon|hun|hän) (?:\w+ ){0,3}?(?:altijd|nooit|zawsze|nigdy|alltid|aldrig|altid)",
    ),
)
_UNSPACED = (
    Tongue(  # Japanese
        r"必ず|いつも|常に|今後|これから(?:は|も)|以後|毎回|絶対に?|決して|原則|デフォルトで",
        r"ください|下さい|お願い|して(?:ほしい|欲しい)|しないで|使って|書いて|答えて|すること|禁止",
        r"は[^。\n]{1,20}に(?:して|統一して)ください|ではなく[^。\n]{1,20}(?:使って|書いて)|と呼んで|(?:簡潔|敬語|日本語|英語|丁寧)[にで]お願い",
        r"ありがとう|なぜ|ですか|のは何|落ちる|失敗",
    ),
    Tongue(  # Chinese
        r"总是|始终|永远|一律|以后|今后|从现在(?:开始|起)|每次|绝不|不要再|默认|在这个项目|務必|务必|請始終",
        r"请|用|写|回答|回复|使用|加|问|不要|别|標註",
        r"我(?:更)?喜欢你|我(?:们这里|们)用|叫我(?!的)|不要在(?!这)|别用|不要用|不要使用",
        r"(?:我|他|她|它|接口|测试|程序)(?:总是|始终|每次|永远)|为什么|第[一二三四]段|帮我",
    ),
    Tongue(  # Korean
        r"항상|언제나|절대|앞으로|매번|반드시|이제부터|지금부터|기본적으로",
        r"주세요|해 ?줘|하세요|마세요|하지 ?마|해라|써|답해|부탁",
        r"(?:영어|한국어|존댓말|반말)로 (?:써|답|말|해)|(?:라고|이라고) 불러",
        r"왜|나요\?|까요\?|실패",
    ),
)


class _Row(NamedTuple):
    lasting: re.Pattern[str]
    asking: re.Pattern[str]
    alone: re.Pattern[str]
    others: re.Pattern[str]


@cache
def _rows() -> tuple[tuple[_Row, ...], tuple[_Row, ...]]:
    def spaced(row: Tongue) -> _Row:
        lasting, asking, others = (
            re.compile(rf"(?<!\w)(?:{part})(?!\w)") for part in (row.lasting, row.asking, row.others)
        )
        return _Row(lasting, asking, re.compile(rf"(?<!\w)(?:{row.alone})"), others)

    return tuple(map(spaced, _TONGUES)), tuple(_Row(*map(re.compile, row)) for row in _UNSPACED)


def asks_for_good(sentence: str) -> bool:
    """Return whether a sentence in lower case, none of it English, asks for something that lasts."""
    spaced, unspaced = _rows()
    words = set(_WORD.findall(sentence))
    asked = [row for row, cues in zip(spaced, _CUES, strict=True) if not cues.isdisjoint(words)]
    for row in asked if sentence.isascii() or not _WIDE.search(sentence) else unspaced:
        asks = row.alone.search(sentence) or (row.lasting.search(sentence) and row.asking.search(sentence))
        if asks and not row.others.search(sentence):
            return True
    return False


_WORD = re.compile(r"[^\W\d_]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


_SHORT = frozenset({"de", "die", "das", "la", "le", "il", "in", "on", "en", "me", "mi", "ma", "do", "os", "da"})
"""Words that English or names have as well."""


def _first_words(row: Tongue) -> frozenset[str]:
    """The words that one of its sentences has to have, some of English left out."""
    told = re.findall(r"[^\W\d_]{2,}", f"{row.lasting}|{row.alone}")
    return frozenset(told) - _SHORT


_CUES = tuple(map(_first_words, _TONGUES))
_ANY_CUE = frozenset[str]().union(*_CUES)


def may_ask(low: str, words: frozenset[str] | set[str]) -> bool:
    """Return whether a text may hold such a sentence; `words` are those of it."""
    return not _ANY_CUE.isdisjoint(words) or (not low.isascii() and _WIDE.search(low) is not None)
