"""How pasted material looks, and how people announce it: tables of line shapes and words.

A new form is one more line. `pasted` decides what a match means. Every repetition must be bounded.
"""

from __future__ import annotations

import re
from functools import cache

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

_THINGS_WORDS = """
    log logs output stdout stderr console terminal trace traces traceback tracebacks stacktrace backtrace error errors
    exception exceptions warning warnings crash email e-mail mail mails message messages thread threads conversation
    chat ticket tickets issue issues story spec specification requirements brief diff diffs patch config configuration
    file files readme contributing changelog docs documentation manual guide page article post blog wiki runbook
    response
    reply replies answer transcript notes minutes memo description review reviews comment comments feedback snippet
    excerpt section text paragraph quote result results report payload json yaml toml xml html sql query code script
    function command commands history dump table data content contents instructions guidelines policy announcement
    letter invite invitation agenda calendar prompt slack discord teams whatsapp jira linear github gitlab sentry ci
    ausgabe protokoll fehler fehlermeldung nachricht nachrichten datei auszug verlauf antwort anleitung doku
    dokumentation seite kommentar kommentare beschreibung konfiguration mitschrift logauszug journal journaux sortie
    erreur courriel fil fichier extrait réponse consigne consignes commentaire commentaires salida registro registros
    correo mensaje hilo archivo fragmento respuesta instrucciones página traza
    errore messaggio messaggi pagina articolo testo erro saída mensagem mensagens artigo texto arquivo fout foutmelding
    bericht bestand uitvoer tekst błąd wiadomość plik strona tekst artykuł ошибка ошибку лог логи логах письмо сообщение
    файл страница статья текст вывод hata çıktı mesaj dosya sayfa metin
"""
_SHOWING_WORDS = """
    here here's heres this these that's below following follows see got get gets getting gives gave say says said print
    prints printed show shows showed read reads returned returns output outputs paste pasted pasting copy copied copying
    attached forward forwarded forwarding fwd fyi sent received quoting quote from per found hier unten folgende
    folgender folgendes folgenden bekomme bekam kam steht sagt meint schreibt lautet anbei voici voilà ci-dessous
    suivant suivante reçu reçois aquí abajo siguiente recibí sale dice adjunto ecco segue seguente incollo sotto aqui
    seguinte abaixo recebi volgt hieronder kreeg oto poniżej dostałem вот ниже следующее получил пришло işte aşağıda
    geldi
"""
_BROUGHT_WORDS = """
    pasted pasting copy-pasted copypasted verbatim forwarded forwarding fwd eingefügt reinkopiert weitergeleitet copié
    collé transféré pegado copiado reenviado
"""
_JAPANESE_THINGS = "ログ|エラー|出力|メール|メッセージ|スレッド|ファイル|抜粋|内容|本文|設定|手順|コメント"
_CHINESE_THINGS = "日志|報錯|报错|邮件|郵件|消息|聊天|帖子|博客|文章|文档|文檔|网页|網頁|配置|工单|评论|截图"
_KOREAN_THINGS = "로그|에러|오류|메일|메시지|게시글|블로그|문서|페이지|출력|댓글"
_BROUGHT_EAST = "如下|下面是|粘贴|轉發|转发|복사|붙여"
_SAYING_WORDS = """
    say says said saying wrote writes write state states stated reads claim claims claimed suggest suggests suggested
    recommend recommends recommended insist insists insisted goes asked asks posted replied answered mentioned mentions
    prints printed told tells sagt sagte schreibt schrieb meint meinte steht lautet empfiehlt dit disait écrit écrivait
    recommande dice dijo escribió escribe recomienda ponía responde
"""
_HANDLING_WORDS = """
    translate summarise summarize proofread rephrase rewrite reword paraphrase shorten polish correct fix format explain
    analyse analyze review reply respond answer classify tidy clean edit check reformat transcribe
    übersetze übersetz übersetzen zusammenfassen fasse korrigiere korrigier formuliere formulier lies prüfe beantworte
    traduis traduire résume corrige reformule relis traduce traduzca resume corrige resuma reformula lee contesta
    traduci riassumi correggi riformula traduza traduz resuma corrija vertaal vat corrigeer herschrijf
    przetłumacz streść popraw översätt sammanfatta переведи перескажи исправь çevir özetle düzelt
"""
_HANDED_WORDS = """
    this that these it following below text mail email message sentence paragraph letter note comment review ticket post
    dies diesen dieses diese das folgende folgenden text satz absatz brief ça ceci cela ce cet cette suivant texte
    phrase
    esto este esta siguiente texto frase questo questa seguente testo isto este esta seguinte dit deze tekst zin
    to ten tę tekst detta texten это этот текст şunu bunu metni
"""
_REWORKING_WORDS = """
    translate summarise summarize proofread rephrase rewrite reword paraphrase polish transcribe
    übersetze übersetz zusammenfassen fasse korrigiere traduis traduire résume reformule relis traduce resume corrige
    traduci riassumi correggi traduza resuma corrija vertaal przetłumacz streść översätt переведи перескажи çevir özetle
"""
_VERDICT_WORDS = """
    true real genuine legit legitimate correct right ok okay accurate spam scam safe sensible normal fair allowed apply
    sound sense
"""
_OWN = r"(?<!\w)(?:i|i've|i'd|i'll|we|ich|wir|je|j'ai|yo|私)(?!\w)[^\n.!?:]{0,20}$"


def _words(table: str) -> str:
    return "|".join(map(re.escape, table.split()))


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
    things, showing = rf"(?<!\w)(?:{_words(_THINGS_WORDS)})(?!\w)", rf"(?<!\w)(?:{_words(_SHOWING_WORDS)})(?!\w)"
    return re.compile(
        rf"(?=[^\n]{{0,300}}{showing})(?=[^\n]{{0,300}}{things})[^\n]{{1,300}}[:：→↓-][ \t]*$"
        rf"|[^\n]{{0,80}}{things} ?[:：][ \t]*$"
        rf"|[^\n]{{0,200}}(?<!\w)(?:{_words(_BROUGHT_WORDS)})(?!\w)[^\n]{{0,80}}$"
        rf"|[^\n]{{0,100}}(?:{_JAPANESE_THINGS}|以下|次の|貼り付け|コピペ|転送)[^\n]{{0,60}}[:：。]?[ \t]*$"
        rf"|[^\n]{{0,100}}(?:(?:{_CHINESE_THINGS}|{_KOREAN_THINGS})[^\n]{{0,60}}[:：]|{_BROUGHT_EAST})[^\n]{{0,20}}$"
        rf"|[^\n]{{0,60}}(?:这|這|那)[篇段封条個个份][^\n]{{0,6}}(?:{_CHINESE_THINGS})[^\n]{{0,80}}$",
        re.IGNORECASE,
    )


@cache
def reports() -> re.Pattern[str]:
    """Return the pattern that finds “the wiki says:” within a line."""
    return re.compile(
        rf"(?<!\w)(?:{_words(_SAYING_WORDS)})(?!\w)(?: [\w'-]{{1,20}}){{0,4}}(?: ?[:：]|[ \t][–—-][ \t]|[ \t](?=['‘]))"
        r"[^\S\n]*(?=\S)"
        r"|(?:と(?:言い|言って|書い|書かれ)|によると|曰く)[^\n]{0,20}?[:：、][^\S\n]*(?=\S)",
        re.IGNORECASE,
    )


@cache
def tasks() -> re.Pattern[str]:
    """Return the pattern that finds “translate this:” or “is this true?” within a line."""
    rest = r"[^\S\n]*(?=[^\s?!.,;])"
    return re.compile(
        rf"(?<!\w)(?:{_words(_HANDLING_WORDS)})(?!\w)[^\n:：.(]{{0,40}}?(?<!\w)(?:{_words(_HANDED_WORDS)})(?!\w)"
        rf"[^\n:：.(]{{0,40}}(?:[:：(]|[ \t][–—-][ \t]){rest}"
        r"|(?<!\w)(?:is|are|was|does|did) (?:this|that|it|these|those|he|she|they)\b[^\n?.:]{0,40}"
        rf"(?<!\w)(?:{_words(_VERDICT_WORDS)})(?!\w)(?:[^\n?.:]{{0,20}}[?.:]|(?: to you| though| at all)?){rest}"
        rf"|(?<!\w)what (?:do you|would you) (?:make|think) of (?:this|that|it)\b[^\n?.:]{{0,40}}[?.:]{rest}"
        rf"|(?:翻訳|要約|添削|翻译|翻譯|总结|總結|润色|번역|요약)[^\n:：。]{{0,20}}[:：]{rest}",
        re.IGNORECASE,
    )


@cache
def handovers() -> re.Pattern[str]:
    """Return the pattern of a request to process a text, or of a question about one."""
    return re.compile(
        r"\A\W*(?:(?:please|can you|could you|pls) )?"
        rf"(?:{_words(_REWORKING_WORDS)})(?!\w)"
        r"|\A\W*(?:i )?(?:just )?got this\b|\bwhat (?:does|do) (?:this|that|it|these|they) (?:mean|say)\b"
        r"|\bwhat (?:do you|would you) (?:make|think) of (?:this|that|it)\b"
        r"|(?<!\w)(?:is|are|was|does) (?:this|that|it|these|those|he|she|they)\b[^\n?.:]{0,40}"
        rf"(?<!\w)(?:{_words(_VERDICT_WORDS)})(?!\w)[^\n?.:]{{0,20}}\?",
        re.IGNORECASE,
    )


@cache
def own_words() -> re.Pattern[str]:
    """Return the pattern of a first person before a verb of saying."""
    return re.compile(_OWN, re.IGNORECASE)


@cache
def remarks() -> re.Pattern[str]:
    """Return the pattern of a line that says that the text before it is by another author."""
    things = rf"(?:{_words(_THINGS_WORDS)})"
    return re.compile(
        r"\s*(?:\^{1,8}|↑{1,8}|👆)"
        r"|[^\n.!?]{0,60}(?<!\w)"
        r"(?:the above|above (?:is|was|are|comes?)|from above|das obige|ce qui précède|lo anterior)(?!\w)"
        rf"|\s*(?:that|this|it)(?:'s| is| was| came)(?: all| what)? "
        rf"(?:from )?(?:the |our |my |a |what )?(?:\w+ )?{things}(?!\w)"
        r"|[^\n]{0,40}(?:上記|上の(?:文|ログ|メール))",
        re.IGNORECASE,
    )
