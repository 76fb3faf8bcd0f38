"""Decide whether an instruction lowers security. Such an instruction always waits for a person. Pure.

It lowers security if it turns off a check, runs code from the network, sends data out, touches credentials, or
deletes without asking.
"""

from __future__ import annotations

import re

_COMMANDS = re.compile(
    r"""(?ix)
    (?<![^\s`])sudo\b | \brm\s+-\w*[rf] | --force\b | --hard\b | (?<![^\s`])-f\b | --no-verify\b | --no-gpg-sign\b
  | \bforce[- ]push | \bchmod\s+(?:-R\s+)?(?:0?777|a\+|\+[rwx]*w) | \bkill(?:all)?\b
  | \bdrop\s+(?:database|table|schema)\b | \btruncate\b | \bprune\b
  | \bgit\s+(?:clean|push\s+-f|reset|filter-branch)\b
  | \b(?:curl|wget|fetch|iwr)\b[^|\n]*\|\s*(?:sudo\s+)?(?:(?:ba|da|z)?sh|python3?|node|perl|ruby|iex)\b
  | \b(?:ba|z)?sh\s+<\( | \|\s*iex\b | \b(?:eval|exec|source)\b[^\n]{0,40}\b(?:curl|wget)\b
  | \bdown\s+-v\b | --privileged\b | --insecure\b | (?<!\S)-k\s+https | --trusted-host\b | --allow-unauthenticated\b
  | \bverify\s*=\s*(?:false|0)\b | \bCERT_NONE\b | NODE_TLS_REJECT_UNAUTHORIZED | \bStrictHostKeyChecking\b
  | --skip-\S+ | --break-system-packages\b | --dangerously\S* | --yolo\b | --no-sandbox\b | \bdd\s+if= | \bmkfs
  | \b(?:DEBUG|ALLOW_ALL|DISABLE_\w+)\s*=\s*(?:true|1)\b | \b0\.0\.0\.0(?:/0)?\b
    """
)
_GUARDS = (
    r"(?:tls|ssl|https|cert(?:ificate)?s?|zertifikat\w*|verif\w*|verify|validat\w*|auth\w*|log-?in|sign-?in|2fa|mfa|otp"
    r"|permission\w*|access (?:control|check)s?|csrf|cors|captcha|rate[- ]limit\w*|firewall|sandbox\w*|anti-?virus"
    r"|encrypt\w*|signature|signing|gpg|checksum\w*|hash(?:es)? check|lock ?files?|tests?|ci|checks?|lint\w*|hooks?"
    r"|pre-commit|review\w*|approval\w*|confirm\w*|prompts?|warnings?|alerts?|audit\w*|logging|scan\w*|secur\w*|policy"
    r"|policies|guard\w*|safeguards?|safety|backups?|dry[- ]runs?|escap\w*|sanitiz\w*|sanitis\w*|prüf\w*|sicher\w*"
    r"|freigabe\w*|sécurité|vérification\w*|certificats?|seguridad|verificaci\w+|certificados?|検証"
    r"|証明書|認証|確認|テスト)"
)
_OFF = (
    r"(?:disabl\w*|turn(?:s|ed|ing)? (?:it |them )?off|switch(?:es|ed|ing)? off|skip\w*|bypass\w*|ignor\w*|suppress\w*"
    r"|silenc\w*|avoid\w*|omit\w*|remov\w*|drop\w*|comment(?:ed|ing)? out|work(?:s|ed|ing)? around|circumvent\w*"
    r"|without"
    r"|no|leave (?:out|off)|opt out|auto-?approv\w*|auto-?accept\w*|allow all|accept (?:any|all)|trust (?:any|all|self)"
    r"|deaktivier\w*|abschalt\w*|ausschalt\w*|überspring\w*|umgeh\w*|ignorier\w*|ohne|désactiv\w*|ignor\w*|contourn\w*"
    r"|sans|saut\w*|desactiv\w*|omit\w*|sin|salt\w*|無効|スキップ|無視|省略)"
)
_KEEPS = re.compile(
    r"(?i)\b(?:verif\w*|validat\w*|check\w*|test\w*|review\w*|ask\w*|confirm\w*|authenticat\w*|authoriz\w*|encrypt\w*"
    r"|sign(?:s|ed|ing)?|scan\w*|sanitiz\w*|sanitis\w*|escap\w*|warn\w*|back up|backup\w*|question\w*|refus\w*|block\w*"
    r"|prompt\w*|require\w*|mention\w*|tell|report\w*|audit\w*|redact\w*|mask\w*)"
)
_CREDENTIALS = (
    r"(?:credentials?|passwords?|passphrases?|passwort\w*|passwörter|api[- ]?keys?|private keys?|ssh[- ]keys?|secrets?"
    r"|(?:access |auth |bearer |session |refresh )?tokens?|cookies?|\.env\b|env(?:ironment)? (?:file|vars?|variables?)"
    r"|\.ssh|id_rsa|\.aws|\.netrc|kubeconfig|keychain|mots? de passe|contraseñas?|claves?|パスワード|秘密鍵|認証情報)"
)
_GIVES = (
    r"(?:print\w*|log\w*|echo\w*|show\w*|display\w*|commit\w*|push\w*|send\w*|post\w*|upload\w*|shar\w*|paste\w*|includ\w*"
    r"|append\w*|attach\w*|copy|copies|forward\w*|e?mail\w*|write\w*|stor\w*|sav\w*|put\w*|hard-?cod\w*|dump\w*|read\w*"
    r"|cat|expos\w*|export\w*|reveal\w*|collect\w*|schick\w*|send\w*|lad\w*|envoi\w*|envoy\w*|envía\w*|送信|表示|出力)"
)
_OUT = re.compile(
    r"(?i)\b(?:send\w*|post\w*|upload\w*|forward\w*|e-?mail\w*|pipe\w*|sync\w*|mirror\w*|push\w*|report\w*|copy|cc|bcc"
    r"|submit\w*|transmit\w*|exfiltrat\w*|schick\w*|envoi\w*|envoy\w*|enví\w*|送)"
    r"[^.\n]{0,120}(?:https?://|www\.|\b[\w.+-]+@[\w-]+\.\w{2,}|\b(?:pastebin|gist|webhook|ngrok|transfer\.sh|external"
    r"|third[- ]party|remote (?:server|endpoint|host))\b)"
)
_RUNS = re.compile(
    r"(?i)\b(?:run|execute|eval|source|install|download\w*|load|fetch|führ\w*|exécut\w*|ejecut\w*)\b[^.\n]{0,120}"
    r"(?:https?://|\bwww\.|\bfrom (?:the )?(?:internet|network|web|url|link)\b|\.(?:sh|ps1)\b)"
)
_DELETES = re.compile(
    r"(?i)\b(?:delet\w*|remov\w*|eras\w*|wip\w*|destroy\w*|drop\w*|overwrit\w*|purg\w*|reset\w*|lösch\w*|supprim\w*"
    r"|borr\w*|elimin\w*|削除)\b[^.\n]{0,120}\b(?:without|no)\s+(?:\w+\s+){0,2}"
    r"(?:ask\w*|confirm\w*|permission|prompt\w*|approval|question\w*|backup\w*|nachfrag\w*|demander|preguntar)"
)
_ASKS_NO_MORE = re.compile(
    r"(?i)\b(?:without|no need (?:to|for)|never|don't|do not|stop|ohne|sans|sin)\s+(?:ever\s+|to\s+)?"
    r"(?:ask\w*|confirm\w*|nachfrag\w*|zu fragen|demander|preguntar)(?! (?:me )?(?:about|for (?:a )?summar))"
)
_DISABLES = re.compile(rf"(?i)(?<!\w){_OFF}(?!\w)[^.\n]{{0,60}}?(?<!\w){_GUARDS}(?!\w)")
_DISABLED = re.compile(
    rf"(?i)(?<!\w){_GUARDS}(?!\w)[^.\n]{{0,40}}?(?:\b(?:off|disabled|skipped|bypassed|ignored|false)\b|=\s*0\b|無効|しない)"
)
_GIVES_AWAY = re.compile(rf"(?i)(?<!\w){_GIVES}(?!\w)[^.\n]{{0,80}}?(?<!\w){_CREDENTIALS}")
_PERMITS = re.compile(
    r"(?i)\b(?:auto-?(?:approv|accept|confirm)\w*|world[- ]writable|public(?:ly)? (?:readable|bucket|access)|as root"
    r"|admin(?:istrator)? rights)\b"
)
_INSTEAD = re.compile(r"(?i),? (?:and )?(?:not|never|instead of|rather than) ")
_FORBIDS = re.compile(
    r"(?i)\s*(?:[-*•]\s+)?(?:(?:please|from now on|going forward|remember:?|we|you|always)[,:]?\s+){0,3}"
    r"(?:(?:(?:i|we) )?(?:don't|do not|never) (?:ever )?want (?:you )?to|under no circumstances"
    r"|(?:you|they) (?:must|may|should|can|are) (?:never|not)|never|don't|do not|must not|mustn't|no longer|stop"
    r"|avoid|nie|niemals|nicht|keine?|ne\s"
    r"|jamais|nunca|no\s)"
)
_UNLESS = re.compile(r"(?i)\b(?:without|unless|until|before|ohne|bevor|sans|avant|sin|antes|senza|prima|sem)\b")
_SHAPES = (_COMMANDS, _OUT, _RUNS, _DELETES, _DISABLES, _DISABLED, _GIVES_AWAY, _PERMITS)


def lowers_security(instruction: str) -> bool:
    """Return whether following the instruction may remove a safeguard.

    “Never disable TLS” raises security and “never verify certificates” lowers it. So a forbidden part is checked for
    safeguards, and a wanted part for harm.
    """
    if _FORBIDS.match(instruction):
        forbidden, _, wanted = instruction.partition(",")
        # “Never push without asking me” asks for a check.
        forbidden, *unless = _UNLESS.split(forbidden, maxsplit=1)
        wanted = " ".join([*unless, wanted])
        keeps = _KEEPS.search(forbidden) is not None and not any(shape.search(forbidden) for shape in _SHAPES)
        return keeps or any(shape.search(wanted) for shape in _SHAPES)
    wanted, instead, unwanted = _split(instruction)
    if instead and lowers_security(f"never {unwanted}"):
        return True
    return any(shape.search(wanted) for shape in (*_SHAPES, _ASKS_NO_MORE))


def _split(instruction: str) -> tuple[str, str, str]:
    """Return the wanted part, the word of contrast, and the unwanted part."""
    found = _INSTEAD.search(instruction)
    if found is None:
        return instruction, "", ""
    return instruction[: found.start()], found[0], instruction[found.end() :]


def is_risky_command(line: str) -> bool:
    """Return whether a command line may do harm."""
    return _COMMANDS.search(line) is not None
