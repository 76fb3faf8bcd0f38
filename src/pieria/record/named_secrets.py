"""Secrets recognised by the name before them: passwords, credentials, headers, cookies, variables.

Program arguments that hold passwords and passwords given in a sentence, in many languages, are here as well.
"""

from __future__ import annotations

from pieria.record.secret_shapes import (
    Shape,
    has_mixed_cases,
    has_three_digits,
    is_assigned_password,
    is_base64,
    is_bearer,
    is_credential,
    is_given_password,
    is_password,
    is_random,
    is_random_or_hex,
    is_said_password,
    is_spaced_password,
    is_strong_password,
)

_SIGN = r"(?::\s?[a-z][\w\[\]|.]{0,20}\s?=|=>|:=|<-|={1,3}|:|：|\|\||\?\?)"
_VALUE_KEY = r"""["']?\s{0,3},?\s{0,40}["']?(?:default_?)?value["']?\s{0,3}[:=]"""
_ASSIGNED = (
    r"""[\\"'`*]{0,4}(?:[\])]{0,2})\s{0,3}(?:"""
    + _SIGN
    + "|"
    + _VALUE_KEY
    + r""")[\s*]{0,4}(?:[bru]?\\?["'`])?(?:base64:)?"""
)
_SAID = r"""\s{1,3}(?:is|was|to)[\s:*]{1,4}["'`]?"""
# A value ends at a quote, white space, or the next pair of a query or a connection string. Each part is one run of a
# character class: cheap to match, even in a hostile text with a name at every position.
_RUN = r"""[^\s"'`;&]"""
_VALUE = (
    rf"""(?P<secret>(?=[^\s"'`]{{6}}){_RUN}{{1,120}}(?:[;&](?!\w{{1,40}}=){_RUN}{{0,120}}){{0,3}}"""
    r"""(?<=[^\s"'`.,;&:)\]}>*\\]))"""
)
_NAME_ENDS = r"(?![a-z0-9_\-])"
_FOREIGN = "passwort|kennwort|contraseña|mot de passe|senha|пароль|密码|パスワード|비밀번호"
_PASSWORDS = rf"(?:passw(?:or)?d|passphrase|passcode|pswd|pwd|{_FOREIGN})\d?" + _NAME_ENDS
_OWNERS = (
    "db|sql|user|smtp|mail|email|ftp|sftp|ssh|root|admin|mysql|postgres|pg|redis|mongo|auth|key|store|"
    "login|http|proxy|ldap|wifi|app|bind|rabbit|server|keystore|truststore|require|database|service|svc|"
    "account|imap"
)
_OWNED = "(?:" + "|".join(rf"(?<={owner})" for owner in [*_OWNERS.split("|"), "_", "-", r"\."]) + ")"
_OWNED_PASS = rf"(?:{_OWNED}(?:pass|pw|psk)|bindpw|(?<![a-z0-9])psk)\d?" + _NAME_ENDS
_PASS = r"(?<![a-z0-9])(?:pass|pw)" + _NAME_ENDS
_NAMED_KEYS = (
    "api|access|secret|private|signing|encryption|master|account|auth|service|license|licence|deploy|"
    "client|app|application|admin|shared|storage|consumer|root|webhook|bot|server|ingest|instrumentation|"
    "jwt|hmac|aes|ssh|subscription|session|groq|openai|anthropic|stripe|mistral|cohere|datadog|gemini|"
    "google|azure|aws|twilio|sendgrid|mailgun|algolia|rsa|tls|ssl|host|preshared|pre-shared|gpg|user|"
    "crypto|cookie|django|laravel|flask|rails|write|read|relic|honeycomb|pagerduty|opsgenie|deepl|"
    "replicate|pinecone|weather|maps"
)
_KEY = "(?:" + "|".join(rf"(?<={name})|(?<={name}[_\-. ])" for name in _NAMED_KEYS.split("|")) + ")key"
_PARTS = r"(?:[_\-. ]?(?:key|token|secret|value|access|base|data|hash|hex)){0,3}"
_CREDENTIALS = rf"(?:{_KEY}|(?<!\[)secret|token|credential){_PARTS}{_NAME_ENDS}"  # does not match what redaction leaves
_TO_ASSIGN, _TO_SAY = (":", "=", "<-", "：", "value", "||", "??"), ("is", "was", "to")
_FOR_PASSWORDS = (
    "passw, passphrase, passcode, pswd, pwd, kennwort, contraseña, mot de passe, senha, пароль, 密码, パスワ"
)
_FOR_CREDENTIALS = "key, secret, token, credential"
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_HARMLESS = "public publishable cache primary foreign partition sort idempotency object site host map issue gpg"
_RANDOM_AFTER = (
    "(?:" + "".join(rf"(?<!{word})(?<!{word}[ _-])" for word in _HARMLESS.split()) + r"(?:key|token|secret|credential))"
    r"s?\b(?![^\n]{0,40}?\b(?:public|ssh-|sha\d|fingerprint|hash|digest|commit))"
    r"[^\n]{0,40}?(?<![\w+/.=@:-])(?P<secret>[a-z0-9][\w+/=~-]{19,400})(?![\w+/=~-])"
)
_REST = r"""(?P<secret>[^\s"'|;&<>,)]{4,400})"""
_TELLING_NAME = (
    r"[\w.\-:/]{0,60}?(?:passw(?:or)?d|passphrase|passwd|(?<![a-z])pass|[_-]pass|[_-]pw|pwd|token|secret|api[_-]?key|"
    r"[_-]key|credentials?)(?:[_-]?(?:key|id|value|base))?(?![\w-])"
)
_PAIR = r"""[\w.\-%]{1,60}=[^;\s"']{0,200}"""
_LONG_PAIR = r"""[\w.\-%]{1,60}=(?:"|s%3a)?[^;\s"',]{16,400}"""
# Matched against the text in lower case.
NAMED_SECRETS = (
    Shape(
        "aws_secret_key",
        "aws, amazon",
        r"(?:aws|amazon).{0,60}?(?<![a-z0-9/+])(?P<secret>[a-z0-9/+]{40})(?![a-z0-9/+=])",
        has_mixed_cases,
    ),
    Shape("azure_key", "azure", r"azure.{0,60}?(?<![a-z0-9/+-])(?P<secret>[a-z0-9/+]{86}==)", has_mixed_cases),
    Shape("bearer_token", "bearer", r"\bbearer\s{1,3}(?P<secret>[\w.~+/-]{16,800}={0,2})", is_bearer),
    Shape(
        "basic_credentials",
        "authorization",
        r"authorization[\\\"']{0,4}\s?[:=]\s?[\\\"']{0,4}basic\s{1,3}(?P<secret>[\w+/-]{8,400}={0,2})",
        is_base64,
    ),
    Shape(
        "basic_credentials",
        '"auth", _auth',
        r'(?:"auth\\?"\s{0,3}:\s{0,3}\\?"|_auth\s?=\s?"?)(?P<secret>[\w+/-]{8,400}={0,2})',
        is_base64,
    ),
    Shape(
        "authorization",
        "authorization",
        r"authorization[\\\"']{0,4}\s?[:=]\s?[\\\"']{0,4}(?:[a-z][\w-]{1,30}(?:\s{1,3}|\s(?:token|key)=\"?))?"
        r"(?P<secret>[\w+/.~:-]{12,400}={0,2})",
        is_credential,
    ),
    Shape(
        "session_cookie",
        "cookie",
        rf"cookie\d?[\\\"']{{0,4}}\s?[:=]\s?[\\\"']{{0,4}}(?:{_PAIR}+;\s?){{0,20}}?"
        r"[\w.\-%]{1,60}=(?P<secret>(?:\"|s%3a)?[^;\s\"',]{16,400}"
        rf"(?:(?:;\s?{_PAIR}+){{0,20}}?;\s?{_LONG_PAIR})?)",
        is_credential,
    ),
    Shape(
        "signature",
        "sig=, signature=",
        r"sig(?:nature)?=(?P<secret>(?:[\w+/-]|%[0-9a-f]{2}){28,600}={0,2})",
        has_three_digits,
    ),
    Shape("password", _FOR_PASSWORDS, _PASSWORDS + _ASSIGNED + _VALUE, is_password, _TO_ASSIGN),
    Shape("password", _FOR_PASSWORDS, _PASSWORDS + _SAID + _VALUE, is_said_password, _TO_SAY),
    Shape("password", "pass, pw, psk", _OWNED_PASS + _ASSIGNED + _VALUE, is_password, _TO_ASSIGN),
    Shape("password", "pass, pw", _PASS + _ASSIGNED + _VALUE, is_strong_password, _TO_ASSIGN),
    Shape(
        "password",
        "login, machine, default",
        r"(?:machine\s{1,20}\S{1,100}\s{1,20})?(?:(?:login|user|account)\s{1,20}"
        r"\S{1,100}\s{1,20}){1,2}password\s{1,20}(?P<secret>\S{3,200})",
        is_given_password,
        ("password",),
    ),
    Shape(
        "password",
        "user",
        r"user(?:name)?\s?[:=]?\s?\S{1,60}?[\s,/]{1,3}(?:and\s)?pass(?:word)?\s?[:=]?\s?" + _VALUE,
        is_said_password,
        ("pass",),
    ),
    Shape(
        "password",
        "identified by, password '",
        r"(?:identified by|password) ['\"](?P<secret>[^'\"\n]{4,100})['\"]",
        is_password,
    ),
    Shape(
        "password",
        "identified by, role , user ",
        r"(?:identified by|(?:role|user) [^\n;]{1,80}?\bpassword) '"
        r"(?P<secret>[^'\n]{4,100})'",
        is_given_password,
        ("identified", "password"),
    ),
    Shape(
        "password",
        "requirepass, masterauth, bindpw",
        r"(?:requirepass|masterauth|bindpw)\s{1,3}" + _REST,
        is_given_password,
    ),
    Shape("password", "sudo -s", r"\bsudo -s\b[^\n]{0,20}<<<\s?[\"']?" + _REST, is_given_password),
    Shape(
        "password",
        "echo ",
        r"echo (?:-n )?[\"']?" + r"(?P<secret>[^\s\"'|;&<>]{4,100})[\"']?\s?\|\s?"
        r"(?:sudo -s|docker login|passwd|chpasswd|cryptsetup|gh auth|npm login)",
        is_given_password,
        ("|",),
    ),
    Shape("password", "<", rf"<{_TELLING_NAME}>(?P<secret>[^<>\s]{{4,400}})</", is_given_password, ("</",)),
    Shape(
        "credential",
        "--",
        rf"--{_TELLING_NAME}[ =]{{1,2}}[\"']?(?P<secret>[^\s\"'|;&<>]{{4,200}})",
        is_password,
        ("pass", "pw", "token", "secret", "key", "credential"),
    ),
    Shape(
        "credential",
        "env , set -, setx, setenv, config set, configure set, secret set, secrets set, define(, getenv(, "
        ".set(, from-literal",
        r"(?:env|set -[a-z]{1,3}|setx|config(?:ure)? set|secrets? set|define|set|from-literal)"
        rf"[\s(=]{{1,2}}[\"']?{_TELLING_NAME}[\"']?(?:,\s?|\s{{1,3}}|=)(?:--body )?[\"']?{_REST}",
        is_password,
    ),
    Shape("credential", _FOR_CREDENTIALS, _CREDENTIALS + _ASSIGNED + _VALUE, is_credential, _TO_ASSIGN),
    Shape("credential", _FOR_CREDENTIALS, _CREDENTIALS + _SAID + _VALUE, is_credential, _TO_SAY),
    Shape("credential", _FOR_CREDENTIALS, _RANDOM_AFTER, is_random),
    Shape(
        "credential",
        _FOR_CREDENTIALS,
        _CREDENTIALS + r"\s{1,3}[\"'(]?(?P<secret>[0-9a-f]{32,128}|" + _UUID + r")(?![\w-])",
        has_three_digits,
    ),
    Shape(
        "password",
        _FOR_PASSWORDS,
        _PASSWORDS + r"\s{1,3}[\"'(]?(?P<secret>[^\s\"'`;&,()<>]{7,60}[^\s\"'`.,;:&)\]}>])",
        is_spaced_password,
    ),
    Shape(
        "password",
        "creds, credentials, login",
        r"(?:creds|credentials|login)\b[^\n/:]{0,30}?:?\s{1,3}(?:are\s)?[\w.@+-]{1,60}\s?[/:]\s?" + _VALUE,
        is_spaced_password,
    ),
    Shape(
        "password",
        "convertto-securestring, password('",
        r"(?:convertto-securestring |password\()(?:-string )?['\"](?P<secret>[^'\"\n]{4,100})['\"]",
        is_password,
    ),
    Shape("password", "snmp-server", r"snmp-server community (?P<secret>\S{4,60})", is_password),
    Shape(
        "password",
        "password 7, secret 5, secret 9",
        r"(?:password|secret) [579] (?P<secret>\S{8,100})",
        has_three_digits,
    ),
    Shape("credential", "key=, key:", r"key[\"']?[=:]\s?[\"']?" + _VALUE, is_random_or_hex),
    Shape(
        "recovery_words",
        "mnemonic, seed, recovery phrase",
        r"(?:mnemonic|seed|recovery)(?:[ _-](?:phrase|words)){0,2}"
        r"[\"']?\s?(?:[:=]|is)\s?[\"']?(?P<secret>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![ ,]{1,2}[a-z])",
    ),
)
_VARIABLE = r"(?<![A-Za-z0-9_])[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PW|SECRET|TOKEN)\d?=[\"']?"
VARIABLES = (
    Shape(
        "password",
        "PASSWORD=, PASSWD=, PASSPHRASE=, PASS=, PWD=, SECRET=, MYSQL_PW=",
        _VARIABLE + _VALUE,
        is_assigned_password,
        run="ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
    ),
)
_WORD = r"""["']?(?P<secret>[^\s"'|;&<>]{3,200})"""
_USER_WORD = r"""["']?[^\s:"'@/]{1,80}:(?P<secret>[^\s"'|;&<>]{3,200})"""
_FLAGS = r"(?=\s)[^\n|;]{0,200}?\s{1,3}"
# Programs that take a password as an argument: the names, the flags, the argument. Flags are case-sensitive.
_PROGRAMS = (
    ("curl, wget", r"(?:-u|-U|--user|--proxy-user|--user=)\s{0,2}", _USER_WORD),
    ("mysql, mariadb, mysqldump, mysqladmin", "-p", r"""["']?(?P<secret>[^\s"'|;&<>=-][^\s"'|;&<>]{3,200})"""),
    ("sshpass", r"-p\s{0,2}", _WORD),
    ("redis-cli, valkey-cli", r"(?:-a|--pass)\s{1,2}", _WORD),
    (
        "mongo, mongosh, mongodump, mongorestore, cqlsh, ncftp, docker login, podman login, az login, oc login",
        r"-p\s{0,2}",
        _WORD,
    ),
    ("helm registry login, nerdctl login, skopeo login, crane auth", r"-p\s{0,2}", _WORD),
    ("sqlcmd, bcp, mosquitto_pub, mosquitto_sub, ipmitool, zip, unzip, isql", r"-P\s{0,2}", _WORD),
    ("7z, 7za, rar", "-p", _WORD),
    ("ldapsearch, ldapadd, ldapmodify, ldapwhoami, ldappasswd", r"-w\s{0,2}", _WORD),
    ("openssl", r"-pass(?:in|out)?\s(?:pass:)", _WORD),
    ("openssl", r"-(?:k|K|hmac)\s", _WORD),
    ("htpasswd", r"-\w*b\w*\s(?:\S{1,60}\s){2}", _WORD),
    ("smbclient, rpcclient", r"""-U\s{0,2}["']?[^\s%"']{1,60}%""", _WORD),
    ("lftp", r"-u\s{1,2}[^\s,]{1,60},", _WORD),
    ("http, https, xh", r"(?:-a|--auth)\s{1,2}", _USER_WORD),
    ("ssh-keygen", r"(?:-N|-P)\s{1,2}", _WORD),
    ("snmpwalk, snmpget", r"(?:-A|-X)\s{1,2}", _WORD),
    ("xfreerdp, wfreerdp", "/p:", _WORD),
    ("net use", "", r"(?P<secret>[^\s\\:*]{4,60})(?=\s/user:)"),
    ("wpa_passphrase", r"\S{1,40}\s", _WORD),
    ("sqlplus", r"[\w$]{1,30}/", r"(?P<secret>[^\s@/]{3,60})(?=@)"),
)
COMMAND_SECRETS = tuple(
    Shape(
        "command_password",
        ", ".join(f"{program} " for program in programs.split(", ")),
        rf"(?<![\w-])(?:{'|'.join(programs.split(', '))}){_FLAGS}{flags}{value}",
        is_given_password,
    )
    for programs, flags, value in _PROGRAMS
)
_SPOKEN = (
    "password, passwort, kennwort, zugangscode, contraseña, clave, mot de passe, mdp, senha, palavra-passe, "
    "parola d'ordine, wachtwoord, hasło, heslo, jelszó, lösenord, adgangskode, passord, salasana, şifre, parola, "
    "parolă, κωδικός, пароль, 密码, 密碼, 口令, パスワード, 暗証番号, 비밀번호, 암호"
)
_OF = r"[^\n.:：=「『“\"]{0,40}?"
"""The thing that the password is for."""
_IS = (
    r"(?:\s?(?:は|是|为|為|[은는이가]\s)\s?"
    r"|\s(?:is|ist|lautet|war|es|era|est|était|é|è|fu|jest|to|je|on|är|er|είναι|это|теперь)(?::\s?|\s))"
)
_OPENED = r"[\"'`“”„«「『（(]?"
_SPOKEN_VALUE = r"(?P<secret>[^\s\"'`;&“”„«»()\u3000-\ud7ff\uff00-\uffef]{6,60}(?<![.,:!]))"
_SPOKEN_NAMES = "|".join(_SPOKEN.split(", "))
# Matched against the text in lower case.
SPOKEN_SECRETS = (
    Shape(
        "password",
        _SPOKEN,
        rf"(?:{_SPOKEN_NAMES}){_OF}{_IS}{_OPENED}{_SPOKEN_VALUE}",
        is_said_password,
    ),
    Shape("password", _SPOKEN, rf"(?:{_SPOKEN_NAMES})[ \w]{{0,40}}?\s?[:：]\s?{_OPENED}{_SPOKEN_VALUE}", is_password),
)
