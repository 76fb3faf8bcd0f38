"""Secrets on command lines: program arguments that hold passwords."""

from __future__ import annotations

from pieria.record.plausibility import (
    is_given_password,
)
from pieria.record.secret_shapes import shape

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
    shape(
        "command_password",
        ", ".join(f"{program} " for program in programs.split(", ")),
        rf"(?<![\w-])(?:{'|'.join(programs.split(', '))}){_FLAGS}{flags}{value}",
        is_given_password,
    )
    for programs, flags, value in _PROGRAMS
)
