"""How pasted material looks, and how people announce it: line shapes, and words from the pack `paste`.

A new form is one more line. `pasted` decides what a match means. Every repetition must be bounded.
"""

from __future__ import annotations

import re
from functools import cache

from pieria.language.packs import pack

CLOCK = r"\d{1,2}[:.h]\d\d(?:[:.]\d\d)?(?:[.,]\d{1,6})?(?: ?[AaPp]\.?[Mm]\.?| ?Uhr)?"
DATE = (
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4}"
    r"|(?:[A-Z][a-z]{2},? )?(?:[A-Z][a-z]{2}\.? {1,2}\d{1,2}|\d{1,2}\.? [A-Z][a-z]{2,8}\.?)(?:,? \d{4})?)"
)
_LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRIT(?:ICAL)?|SEVERE|PANIC|PASS(?:ED)?|FAIL(?:ED)?"
_CODE = (
    "def|class|import|from|return|const|let|var|function|fn|func|public|private|static|struct|enum|if|for|while|else"
    "|elif|try|except|catch|with|async|await|use|package|namespace"
)
_PROMPTS = r"[$❯➜%]|>>>|\.\.\.|PS [^>\n]{1,80}>|[\w.-]{1,40}@[\w.-]{1,60}[:~ ][^\n$#]{0,80}[$#]|\(\w[\w-]{0,30}\) ?[$%]"
_PUBLISHED = (
    "posted|published|(?:last )?(?:updated|modified)|veröffentlicht|aktualisiert|publi(?:é|cado)|mis à jour|pubblicato"
    "|geplaatst|opublikowano|опубликовано|yayın|发布|更新|投稿日|公開日|게시"
)
_FURNITURE = (
    r"\bskip to (?:main )?content|\btable of contents|\bshare (?:this|on)\b|\brelated (?:articles|posts|pages)"
    r"|\bback to top|\b(?:previous|next) (?:post|article|page)\b|\bcookie (?:settings|policy)|\bedit this page"
    r"|\ball rights reserved|©|\b\d{1,3} ?min(?:ute)?s?\.? (?:read|lesezeit|de lecture|de lectura|di lettura)"
    r"|\b[\d.,]+k? (?:views|likes|comments)\b"
    r"|上一篇|下一篇|版权|转载|阅读 ?\d|点赞|前の記事|次の記事|関連記事|조회 ?\d|댓글 ?\d"
)

_LINES = (
    # Logs.
    rf"[\[(]?{DATE}[T, ] ?(?:at )?{CLOCK}\S{{0,8}}[\])]?[ \t]*\S",
    r"[\[(]?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[\])]?[ \t]+\S",
    rf"[\[<|]?(?:{_LEVELS})[\]>|]?(?:[:|(]|[ \t]-|[ \t]{{2}}|(?<=[\]>|]) |\t)[ \t]*\S",
    r"[\w./@+-]{2,60}\[\d{1,7}\]: \S",
    r"(?:npm|pip|yarn|cargo|error|warning|fatal|hint|remote)(?: (?:ERR!|WARN|error|warning))?(?:\[\w+\])?[!:] ?\S",
    # Failures.
    r"at [\w$.<>\[\] ]{1,120}\(\S",
    r'File "[^"\n]{1,300}", line \d',
    r"Traceback \(most recent|Caused by: |goroutine \d+ |\.\.\. \d+ more|#\d{1,3} +0x",
    r"(?:[\w.]{1,80}\.)?\w{0,60}(?:Error|Exception|Warning|Fault)(?:: |$)",
    r"[E>] {2,}\S|[_=]{4,} \S|-{4,} \S.{0,80}-{4}|[✓✗✔✖×●○] \S|\S{1,120}::\S",
    # Diffs.
    r"diff --git |index [0-9a-f]{6,}|@@ -\d|\+\+\+ \S|--- [ab]/|(?:new|deleted) file mode |rename (?:from|to) ",
    # Shells and requests.
    rf"(?:{_PROMPTS}) \S",
    r"(?:GET|POST|PUT|DELETE|PATCH|HEAD) /|HTTP/\d|\d{1,4} {0,3}\| \S|[|+][-=+| ]{3}",
    # Code, data and configuration.
    rf"(?:{_CODE})\b[^\n]{{0,300}}[:;{{(\[,=][ \t]*$",
    r"[\w.\[\]\"'-]{1,60}[ \t]{0,4}(?:=|:=|\+=|=>)[ \t]{0,4}\S",
    r"[}\])]{1,6}[;,]?[ \t]*$|[{\[(][ \t]*$|[^\n]{0,300}[;{][ \t]*$|</?\w[^>\n]{0,300}>[ \t]*$",
    r"[\"'][\w.$ -]{1,60}[\"'][ \t]*:[ \t]*\S",
    r"(?:- )?[\w.-]{1,40}:[ \t]*(?:[|>][-+]?|\[[^\n]{0,200}\]|[\"'][^\n]{0,200}[\"']|-?\d[\d.]{0,20}|true|false|null)"
    r"[ \t]*$",
    r"[a-z_][\w.-]{0,39}:[ \t]*$",
    r"//|#!|/\*|\*/|;;|<!--|\* @\w",
    # Web pages: breadcrumbs, the date of publication, and the text around an article.
    r"[^\n>›»]{1,60}(?: [>›»] [^\n>›»]{1,60}){2,8}$",
    rf"(?i:{_PUBLISHED})[\w ]{{0,12}}[:：]? {{0,3}}(?:[\w.,]{{1,12}} ){{0,4}}?{DATE}",
    rf"(?i:[^\n]{{0,60}}(?:{_FURNITURE}))",
)
_HEADERS = (
    "From|Sent|Subject|Von|Gesendet|Betreff|De|Envoyé|Objet|Enviado|Asunto|Da|Oggetto|Van|Onderwerp"
    "|差出人|件名|送信日時"
)
_FORWARDED = (
    "Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete Nachricht|Message d'origine"
    "|Message transféré|Mensaje original|Mensaje reenviado|Begin forwarded message"
)
_MAILS = (
    rf"(?:{_HEADERS})[ \t]?[:：][ \t]?\S",
    rf"-{{0,12}} ?(?:{_FORWARDED})",
    r"(?:On|Am|Le|El|Il|Op)\b[^\n]{6,120}\b(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef)\b[^\n]{0,80}:?[ \t]*$",
    r"[^\n]{0,60}さん(?:から|が書)",
)
_NAME = r"@?\w[\w.'()-]{0,30}(?: [\w.'()-]{1,20}){0,3}"
_CHATS = (
    rf"[\[(]?(?:{DATE},? )?{CLOCK}[\])]? ?[-–]? {{0,2}}<?{_NAME}>? ?: ",
    rf"{_NAME}[ \t]{{1,4}}[\[(·—-]{{0,2}} ?(?:(?:Today|Yesterday|heute|gestern|hier|{DATE})? ?(?:at|um|à|,)? ?){CLOCK}"
    r"[\])]?[ \t]*(?:$|:)",
    rf"<{_NAME}> \S",
)

_JAPANESE_THINGS = "ログ|エラー|出力|メール|メッセージ|スレッド|ファイル|抜粋|内容|本文|設定|手順|コメント"
_CHINESE_THINGS = "日志|報錯|报错|邮件|郵件|消息|聊天|帖子|博客|文章|文档|文檔|网页|網頁|配置|工单|评论|截图"
_KOREAN_THINGS = "로그|에러|오류|메일|메시지|게시글|블로그|문서|페이지|출력|댓글"
_BROUGHT_EAST = "如下|下面是|粘贴|轉發|转发|복사|붙여"
_OWN = r"(?<!\w)(?:i|i've|i'd|i'll|we|ich|wir|je|j'ai|yo|私)(?!\w)[^\n.!?:]{0,20}$"


@cache
def _words(name: str) -> str:
    return "|".join(map(re.escape, pack("paste")[name].split()))


@cache
def lines() -> re.Pattern[str]:
    """Return the pattern of a line of a log, a failure, a diff, a shell, code or data."""
    return re.compile(rf"\s*(?:{'|'.join(_LINES)})")


@cache
def mails() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{'|'.join(_MAILS)})")


@cache
def chats() -> re.Pattern[str]:
    """Return the pattern of a line that begins a chat turn: the speaker and the time."""
    return re.compile(rf"\s*(?:{'|'.join(_CHATS)})")


@cache
def announcements() -> re.Pattern[str]:
    """Return the pattern of a line that announces text by another author."""
    things, showing = rf"(?<!\w)(?:{_words('things')})(?!\w)", rf"(?<!\w)(?:{_words('showing')})(?!\w)"
    return re.compile(
        rf"(?=[^\n]{{0,300}}{showing})(?=[^\n]{{0,300}}{things})[^\n]{{1,300}}[:：→↓-][ \t]*$"
        rf"|[^\n]{{0,80}}{things} ?[:：][ \t]*$"
        rf"|[^\n]{{0,200}}(?<!\w)(?:{_words('brought')})(?!\w)[^\n]{{0,80}}$"
        rf"|[^\n]{{0,100}}(?:{_JAPANESE_THINGS}|以下|次の|貼り付け|コピペ|転送)[^\n]{{0,60}}[:：。]?[ \t]*$"
        rf"|[^\n]{{0,100}}(?:(?:{_CHINESE_THINGS}|{_KOREAN_THINGS})[^\n]{{0,60}}[:：]|{_BROUGHT_EAST})[^\n]{{0,20}}$"
        rf"|[^\n]{{0,60}}(?:这|這|那)[篇段封条個个份][^\n]{{0,6}}(?:{_CHINESE_THINGS})[^\n]{{0,80}}$",
        re.IGNORECASE,
    )


@cache
def reports() -> re.Pattern[str]:
    """Return the pattern that finds “the wiki says:” within a line."""
    return re.compile(
        rf"(?<!\w)(?:{_words('saying')})(?!\w)(?: [\w'-]{{1,20}}){{0,4}}(?: ?[:：]|[ \t][–—-][ \t]|[ \t](?=['‘]))"
        r"[^\S\n]*(?=\S)"
        r"|(?:と(?:言い|言って|書い|書かれ)|によると|曰く)[^\n]{0,20}?[:：、][^\S\n]*(?=\S)",
        re.IGNORECASE,
    )


@cache
def tasks() -> re.Pattern[str]:
    """Return the pattern that finds “translate this:” or “is this true?” within a line."""
    rest = r"[^\S\n]*(?=[^\s?!.,;])"
    return re.compile(
        rf"(?<!\w)(?:{_words('handling')})(?!\w)[^\n:：.(]{{0,40}}?(?<!\w)(?:{_words('handed')})(?!\w)"
        rf"[^\n:：.(]{{0,40}}(?:[:：(]|[ \t][–—-][ \t]){rest}"
        r"|(?<!\w)(?:is|are|was|does|did) (?:this|that|it|these|those|he|she|they)\b[^\n?.:]{0,40}"
        rf"(?<!\w)(?:{_words('verdict')})(?!\w)(?:[^\n?.:]{{0,20}}[?.:]|(?: to you| though| at all)?){rest}"
        rf"|(?<!\w)what (?:do you|would you) (?:make|think) of (?:this|that|it)\b[^\n?.:]{{0,40}}[?.:]{rest}"
        rf"|(?:翻訳|要約|添削|翻译|翻譯|总结|總結|润色|번역|요약)[^\n:：。]{{0,20}}[:：]{rest}",
        re.IGNORECASE,
    )


@cache
def handovers() -> re.Pattern[str]:
    """Return the pattern of a request to process a text, or of a question about one."""
    return re.compile(
        r"\A\W*(?:(?:please|can you|could you|pls) )?"
        rf"(?:{_words('reworking')})(?!\w)"
        r"|\A\W*(?:i )?(?:just )?got this\b|\bwhat (?:does|do) (?:this|that|it|these|they) (?:mean|say)\b"
        r"|\bwhat (?:do you|would you) (?:make|think) of (?:this|that|it)\b"
        r"|(?<!\w)(?:is|are|was|does) (?:this|that|it|these|those|he|she|they)\b[^\n?.:]{0,40}"
        rf"(?<!\w)(?:{_words('verdict')})(?!\w)[^\n?.:]{{0,20}}\?",
        re.IGNORECASE,
    )


@cache
def own_words() -> re.Pattern[str]:
    """Return the pattern of a first person before a verb of saying."""
    return re.compile(_OWN, re.IGNORECASE)


@cache
def remarks() -> re.Pattern[str]:
    """Return the pattern of a line that says that the text before it is by another author."""
    things = rf"(?:{_words('things')})"
    return re.compile(
        r"\s*(?:\^{1,8}|↑{1,8}|👆)"
        r"|[^\n.!?]{0,60}(?<!\w)"
        r"(?:the above|above (?:is|was|are|comes?)|from above|das obige|ce qui précède|lo anterior)(?!\w)"
        rf"|\s*(?:that|this|it)(?:'s| is| was| came)(?: all| what)? "
        rf"(?:from )?(?:the |our |my |a |what )?(?:\w+ )?{things}(?!\w)"
        r"|[^\n]{0,40}(?:上記|上の(?:文|ログ|メール))",
        re.IGNORECASE,
    )
