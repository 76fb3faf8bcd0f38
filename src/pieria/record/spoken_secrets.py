"""Passwords given in a sentence: “das Passwort vom Router ist …”, in many languages."""

from __future__ import annotations

from pieria.record.plausibility import is_password, is_said_password
from pieria.record.secret_shapes import shape

_PASSWORDS = (
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
_VALUE = r"(?P<secret>[^\s\"'`;&“”„«»()\u3000-\ud7ff\uff00-\uffef]{6,60}(?<![.,:!]))"
_NAMES = "|".join(_PASSWORDS.split(", "))
# Matched against the text in lower case.
SPOKEN_SECRETS = (
    shape(
        "password",
        _PASSWORDS,
        rf"(?:{_NAMES}){_OF}{_IS}{_OPENED}{_VALUE}",
        is_said_password,
    ),
    shape("password", _PASSWORDS, rf"(?:{_NAMES})[ \w]{{0,40}}?\s?[:：]\s?{_OPENED}{_VALUE}", is_password),
)
