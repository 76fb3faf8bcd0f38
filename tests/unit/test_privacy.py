"""Secrets and private parts that are cut, and above all the texts that are left alone.

No string in this file looks like a secret: each is put together when the tests run, so that this file can be stored
and published anywhere.
"""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.private_samples import NEEDS_ITS_END, ORDINARY, TAGS
from tests.unit.secret_samples import ALPHANUMERIC, HEX, INNOCENT, SECRETS, UPPER, made

from pieria.record.ids import derived_id, new_id
from pieria.record.privacy import FOLDED, PLAIN, cut_private, find_secrets, redact

PAGE = Path(__file__).parents[2] / "docs" / "privacy.md"
JWT = ".".join((made("e" + "yJ", 20), made("e" + "yJ", 60), made("", 43)))
PEM = "\n".join(
    (
        "-----BEGIN RSA PRIVATE " + "KEY-----",
        *(made(str(line), 63, ALPHANUMERIC + "+/") for line in range(4)),
        "-----END RSA PRIVATE " + "KEY-----",
    )
)
WEAK = "hun" + "ter2"
STRONG = "C0rrect" + "-H0rse!9"
LONG = made("", 40)
AWS_KEY = made("AK" + "IA", 16, UPPER)
AWS_SECRET = made("", 40, ALPHANUMERIC + "/+")

# kind, a text with the secret's place marked by {}, the secret
POSITIVES = [
    ("openai_key", "I use {} for tests.", made("s" + "k-", 48)),
    ("openai_key", "OPENAI_API_KEY={}", made("s" + "k-proj-", 120, ALPHANUMERIC + "-_")),
    ("openai_key", '{{"key": "a\\n{}"}}', made("s" + "k-", 32, HEX)),
    ("anthropic_key", "export ANTHROPIC_API_KEY={}", made("s" + "k-ant-api03-", 95, ALPHANUMERIC + "-_")),
    ("aws_access_key", "the id {} of the deploy user", AWS_KEY),
    ("aws_access_key", "{}", made("AS" + "IA", 16, UPPER)),
    ("aws_access_key", "{} and more", "AK" + "IA" + "IOSFODNN7" + "EXAMPLE"),
    ("aws_secret_key", "aws_secret_access_key = {}\n", AWS_SECRET),
    ("aws_secret_key", "AWS gave us this: {}", AWS_SECRET),
    ("aws_secret_key", "aws_secret_access_key={}", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCY" + "EXAMPLEKEY"),
    ("github_token", "git clone https://{}@github.com/a/b", made("gh" + "p_", 36)),
    ("github_token", "GH_TOKEN: {}", made("gh" + "s_", 36)),
    ("github_token", "({})", made("github" + "_pat_", 82, ALPHANUMERIC + "_")),
    ("gitlab_token", "use {} there", made("gl" + "pat-", 20)),
    ("slack_token", "bot token {}.", made("xo" + "xb-", 50)),
    (
        "slack_webhook",
        "https://hooks.slack.com/services/{}",
        "T" + "0" * 8 + "/B" + "1" * 8 + "/" + made("", 24),
    ),
    ("stripe_key", "stripe: {}", made("s" + "k_live_", 24)),
    ("stripe_key", "{}", made("r" + "k_test_", 99)),
    ("stripe_key", "{}", made("wh" + "sec_", 32)),
    ("google_key", "maps?key={}&v=3", made("AI" + "za", 35)),
    ("google_key", "{}", made("GOC" + "SPX-", 28)),
    ("npm_token", "//registry/:_authToken={}", made("np" + "m_", 36)),
    ("pypi_token", "password = {}", made("py" + "pi-", 160, ALPHANUMERIC + "-_")),
    ("huggingface_token", "login with {}", made("h" + "f_", 34)),
    ("twilio_key", "Twilio {}", made("S" + "K", 32, HEX)),
    ("sendgrid_key", "{}", made("S" + "G.", 22) + "." + made("", 43)),
    ("jwt", "cookie: session={}; path=/", JWT),
    ("jwt", "Authorization: Bearer {}", JWT),
    ("private_key", "my key:\n{}\nkeep it", PEM),
    ("private_key", '{{"key": "{}"}}', PEM.replace("\n", "\\n")),
    ("private_key", "cut short:\n{}", PEM.rpartition("\n")[0]),
    ("private_key", "{}", PEM.replace("RSA PRIVATE KEY", "OPENSSH PRIVATE " + "KEY")),
    ("connection_password", "postgresql://maya:{}@db.example.com/app", "s3cr" + "et"),
    ("connection_password", "redis://:{}@localhost:6379/0", "letme" + "in"),
    ("connection_password", "amqp://a:{}@host", "p@ss" + ":w0rd"),
    ("bearer_token", "curl -H 'Authorization: Bearer {}'", LONG),
    ("bearer_token", "authorization: bearer {}", made("", 24, HEX)),
    ("basic_credentials", "Authorization: Basic {}", "bWF5YTpodW50ZXIy" + "Cg=="),
    ("password", "password={}", WEAK),
    ("password", "The login is maya, password: {}.", WEAK),
    ("password", "DB_PASSWORD='{}'", STRONG),
    ("password", '{{"user": "maya", "password": "{}"}}', WEAK),
    ("password", '{{\\"password\\": \\"{}\\"}}', WEAK),
    ("password", "**Password:** {}", WEAK),
    ("password", "PWD := `{}`", WEAK),
    ("password", "passwd={}&next=/", "pa$$" + "wort"),
    ("password", 'password: str = "{}"', WEAK),
    ("password", "password = b'{}'", WEAK),
    ("password", 'if password == "{}":', WEAK),
    ("password", "Server=db;Password={};Database=app", WEAK),
    ("password", "password={};", "semi;colon" + "4x"),
    ("password", "passphrase => {}", STRONG),
    ("password", "the wifi password is {}", "Blue42" + "Fish"),
    ("password", "My passcode was {}, please remember it", "4829" + "13"),
    ("password", "İstanbul password: {}", WEAK),
    ("credential", "api_key: {}", made("", 32, HEX)),
    ("credential", "apiKey = '{}'", LONG),
    ("credential", "API key is {}", LONG),
    ("credential", "client_secret={}", made("", 24)),
    ("credential", "SECRET_KEY_BASE={}", made("", 64, HEX)),
    ("credential", "X-Api-Key: {}", "550e8400-e29b-41d4" + "-a716-446655440000"),
    ("credential", "auth token: {}", made("", 20)),
    ("credential", "AccountKey={};EndpointSuffix=core", made("", 86, ALPHANUMERIC + "+/") + "=="),
    ("credential", "the signing-key is {}", made("", 44)),
]

NEGATIVES = [
    "",
    "We chose JWT for all new APIs.",
    "The password is required.",
    "The password is: required!",
    "Password: required",
    "Password: ask Maya for it",
    "password: Contraseña",
    "The password is base64-encoded and the token is sha256-hashed.",
    "The password is case-insensitive and at least 12 characters long.",
    "The password is 12-characters or more",
    "Reset the password: https://example.com/reset?id=12345",
    "password: maya@example.com can reset it",
    "The secret: always be kind, and keep 3 promises.",
    "Her secret is that she runs 10 miles a day",
    "token: expired",
    "max_tokens: 128000, token budget: 4096",
    "tokenizer: o200k_base",
    "token_type: bearer2token3x",
    "The token was issued on 2026-01-10T10:00:00Z.",
    "token: 2026-01-10T10:00:00Z",
    "token: v1.12.3-beta.4",
    "secretName: db-credentials-v2",
    "secret: db-credentials-v2",
    "The key decision: move 3 services to 2 regions. Key: value1234567",
    "primary key: id12345678901, cache key = user42profile99",
    "The monkey: a1b2c3d4e5f6g7",
    "password=<password>",
    "password=${DB_PASSWORD_2}",
    "password=$DB_PASSWORD2",
    "password: {{ vault_password_2 }}",
    "password=%(password2)s",
    "password=xxxxxxxx1",
    "password: ********",
    "password=your_password_1",
    "api_key=YOUR_API_KEY_123",
    "api_key: example-key-123456",
    "password = changeme1",
    "password: [redacted 42]",
    "password = None",
    "password = getpass.getpass()",
    "password = user.password2",
    "password = config['db1']",
    "password = hash_password2(raw)",
    "token = request.headers.token1value2",
    "password: Optional[str2] = None",
    "PWD=/home/user1/project2",
    "def login(user: str, password: str) -> Token1: ...",
    "commit 3f2c9d1e8b7a6f5e4d3c2b1a0f9e8d7c6b5a4f3e fixed it",
    "aws deploy of commit 3f2c9d1e8b7a6f5e4d3c2b1a0f9e8d7c6b5a4f3e",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "session 550e8400-e29b-41d4-a716-446655440000 was closed",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "scikit is installed as sk-learn-contrib-for-everybody-who-asks",
    "risk-averse task-1 desk-lamp sk-circle12",
    "The bearer of good news arrived; bearer authentication-is-required here",
    "Basic authorization: basic understanding of the code",
    "https://example.com:8080/path@2x.png and http://[::1]:80/",
    "https://user@example.com and mailto:maya@example.com",
    "postgresql://user:password@localhost/db is the form, or ://user:<password>@host",
    "postgresql://user:${PASSWORD}@localhost/db",
    "postgresql://user:***@localhost/db",
    "the -----BEGIN PUBLIC KEY----- block is public",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "npm_config_registry and hf_hub_download and pypi-publish are names",
    "SKU SK and SG. ASIA AKIA, taxoxb",
    "eyJ is how a token begins",
    "Ein Passwort ist nötig. パスワード: 必要です",
    "lone \ud800 surrogate password: \udfff",
]


@pytest.mark.parametrize(("kind", "text", "secret"), POSITIVES)
def test_a_secret_is_found_where_it_stands(kind: str, text: str, secret: str) -> None:
    whole = text.format(secret)
    assert [(found.kind, whole[found.start : found.end]) for found in find_secrets(whole)] == [(kind, secret)]


@pytest.mark.parametrize(("kind", "text", "secret"), POSITIVES)
def test_nothing_of_a_secret_is_left_by_redaction(kind: str, text: str, secret: str) -> None:
    redacted, secrets = redact(text.format(secret))
    assert redacted == text.format(f"[secret: {kind}]")
    assert secrets == find_secrets(text.format(secret))
    assert redact(redacted) == (redacted, ())


@pytest.mark.parametrize("text", NEGATIVES)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == ()
    assert redact(text) == (text, ())


def test_every_shape_has_an_example_here_and_a_line_on_the_page() -> None:
    kinds = {shape.kind for shape in (*PLAIN, *FOLDED)}
    found = {secret.kind for _, text, value in SECRETS for secret in find_secrets(text.replace("@@", value, 1))}
    assert {kind for kind, _, _ in POSITIVES} | found == kinds
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)) == kinds


@pytest.mark.parametrize(("text", "secret"), [sample[1:] for sample in SECRETS], ids=[name for name, _, _ in SECRETS])
def test_nothing_of_a_known_form_is_left(text: str, secret: str) -> None:
    redacted, _ = redact(text.replace("@@", secret, 1))
    assert secret not in redacted
    third = len(secret) // 3
    assert secret[third : -third or None] not in redacted


@pytest.mark.parametrize("text", INNOCENT)
def test_an_innocent_text_that_looks_alike_is_kept(text: str) -> None:
    assert redact(text) == (text, ())


def test_the_lists_of_forms_are_long_enough() -> None:
    assert len(SECRETS) >= 200
    assert len(INNOCENT) >= 150
    assert len(TAGS) >= 90


def test_ids_are_no_secrets() -> None:
    for id in (new_id(), derived_id("drawer_", "a"), f"{new_id()}@3"):
        assert find_secrets(f"see {id}, id: {id}, memory={id}") == ()


def test_several_secrets_are_found_in_order() -> None:
    text = f"password: {WEAK}, then {LONG} is nothing, api_key={LONG} and {AWS_KEY}"
    assert [secret.kind for secret in find_secrets(text)] == ["password", "credential", "aws_access_key"]
    assert redact(text)[0] == (
        f"password: [secret: password], then {LONG} is nothing, "
        "api_key=[secret: credential] and [secret: aws_access_key]"
    )


def test_the_same_secret_is_found_every_time_it_stands_there() -> None:
    assert len(find_secrets(f"{AWS_KEY} {AWS_KEY}\n{AWS_KEY}")) == 3


def test_secrets_that_overlap_are_one() -> None:
    inner = made("gh" + "p_", 36)
    text = f"token=prefix1-{inner}"
    (secret,) = find_secrets(text)
    assert secret == ("github_token", len("token="), len(text))


def test_a_key_pair_is_two_secrets() -> None:
    found = find_secrets(f"{AWS_KEY},{AWS_SECRET}")
    assert [secret.kind for secret in found] == ["aws_access_key", "aws_secret_key"]


@given(st.text(), st.sampled_from(POSITIVES), st.text())
def test_a_secret_is_redacted_whatever_stands_around(before: str, positive: tuple[str, str, str], after: str) -> None:
    _, text, secret = positive
    assert secret not in redact(f"{before}\n{text.format(secret)}\n{after}")[0]


@given(st.text(st.sampled_from("passwordkeytokensk-_=:1aA./@ \"'\n\\") | st.characters()))
@example("İ password: " + WEAK)
@example("sk-" * 300)
def test_secrets_stand_in_order_inside_the_text(text: str) -> None:
    end = 0
    for secret in find_secrets(text):
        assert end <= secret.start < secret.end <= len(text)
        end = secret.end


@pytest.mark.parametrize(
    ("text", "left", "cuts"),
    [
        ("nothing to hide", "nothing to hide", 0),
        ("a <private>b</private> c", "a c", 1),
        ("a <PRIVATE>b</Private> c", "a c", 1),
        ("a < private >b</ private > c", "a c", 1),
        ("a <\tprivate\n>b< / private> c", "a c", 1),
        ('a <private reason="x > y">b</private> c', "a c", 1),
        ("a <private data-why>b</private> c", "a c", 1),
        ("a <private/>b</private> c", "a c", 1),
        ("<private>b</private>", "", 1),
        ("<private>b</private> c", "c", 1),
        ("<private>b</private> <private>c</private> d", "d", 2),
        ("a <private>b</private>", "a", 1),
        ("a <private>b</private> <private>c</private>", "a", 2),
        ("<private></private>", "", 1),
        ("<private>\n\nb\n</private>\n", "\n", 1),
        ("a<private>b</private>c<private>d</private>e", "ace", 2),
        ("a<private>b<private>c</private>d</private>e", "ae", 1),
        ("a<private>b<private>c</private>d", "a", 1),
        ("a <private>b", "a", 1),
        ('a <private why="1">b', "a", 1),
        ("a <private my plan</private> c", "a c", 1),
        ("a </private> b", "a </private> b", 0),
        ("a </private> b <private>c", "a </private> b", 1),
        ("a &lt;private&gt;b&lt;/private&gt; c", "a c", 1),
        ("a &amp;lt;private&amp;gt;b&amp;lt;/private&amp;gt; c", "a c", 1),
        ("a &#60;private&#62;b&#x3C;/private&#x3E; c", "a c", 1),
        (r"a \u003cprivate\u003eb\u003c/private\u003e c", "a c", 1),
        (r"a \u003Cprivate\u003Eb<\/private> c", "a c", 1),
        ("a %3Cprivate%3Eb%3C%2Fprivate%3E c", "a c", 1),
        ("a <private>b&lt;/private&gt; c", "a c", 1),
        ("sign it with <private key> first", "sign it with <private key> first", 0),
        ("a <private-key> b <privateer> c <private.x>", "a <private-key> b <privateer> c <private.x>", 0),
        ("class A : private B {}; x < private_count", "class A : private B {}; x < private_count", 0),
        ("a private matter", "a private matter", 0),
    ],
)
def test_what_is_marked_as_private_is_cut(text: str, left: str, cuts: int) -> None:
    assert cut_private(text) == (left, cuts)


@pytest.mark.parametrize(("opening", "closing"), [tag[1:] for tag in TAGS], ids=[name for name, _, _ in TAGS])
def test_a_tag_in_any_writing_is_cut(opening: str, closing: str) -> None:
    left, cuts = cut_private(f"Maya likes tea. {opening}brindlewolf{closing} And jazz.")
    assert cuts == 1
    assert "brindlewolf" not in left
    assert left.startswith("Maya likes tea.")
    assert left.endswith("And jazz.")


@pytest.mark.parametrize("opening", [tag[1] for tag in TAGS if tag[0] not in NEEDS_ITS_END])
def test_an_unclosed_tag_in_any_writing_is_cut(opening: str) -> None:
    left, cuts = cut_private(f"Maya likes tea. {opening}brindlewolf")
    assert cuts == 1
    assert "brindlewolf" not in left


@pytest.mark.parametrize("text", ORDINARY)
def test_text_about_private_things_is_kept(text: str) -> None:
    assert cut_private(text) == (text, 0)


@given(st.text(st.characters(exclude_characters="<&\\%")), st.text(st.characters(exclude_characters="<&\\%")))
def test_nothing_private_is_left_and_nothing_else_is_lost(public: str, private: str) -> None:
    joined = public + (public[1:] if public.startswith(" ") and public[-1].isspace() else public)
    assert cut_private(f"{public}<private>{private}</private>{public}") == (joined, 1)


@given(st.lists(st.sampled_from(["<private>", "</private>", "&lt;private&gt;", "<private", ">", "a", " "])))
def test_a_text_only_gets_shorter_by_cutting(parts: list[str]) -> None:
    text = "".join(parts)
    left, cuts = cut_private(text)
    assert (left == text) == (cuts == 0)
    assert len(left) <= len(text)


ADVERSARIES = [
    "s" + "k-",
    "s" + "k-a1",
    "eyJaaaaaaaaa.",
    "eyJ",
    "-----BEGIN PRIVATE " + "KEY-----",
    "-----BEGIN PRIVATE " + "KEY-----\n" + "A" * 63 + "\n",
    "password=",
    "password: \\\\\\\\",
    "api_key = ,,,,,,,,",
    "secret_token_",
    "://a:",
    "://a:b@",
    "aws ",
    "bearer aaaaaaaaaaaaaaaaaaaaaaaaa ",
    "AK" + "IA" + "A" * 16,
    "<private ",
    "<private>",
    "</private>",
    "< " * 3 + "/",
    "&lt;private",
    "\\u003c",
    "&#0000",
    "%3cprivate%3",
    "&amp;",
    "\\u005c",
    "%25",
    "&#38;",
    '<private a="',
    "<private a='</private>",
    "<pri<b>",
    "<!--",
    "</**",
    "=3C",
    "\u200b<",
    "рг",
    *sorted({probe for shape in (*PLAIN, *FOLDED) for probe in shape.probes}),
]


@pytest.mark.parametrize("piece", ADVERSARIES, ids=range(len(ADVERSARIES)))
@pytest.mark.parametrize("tail", ["", " "], ids=["dense", "spaced"])
@pytest.mark.timeout(60)
def test_a_hostile_text_does_not_take_for_ever(piece: str, tail: str) -> None:
    unit = piece + tail
    text = unit * (40_000 // len(unit))
    assert cut_private(text)[1] >= 0
    assert redact(text)[0]


@pytest.mark.parametrize("filling", ["a", " ", "\\", "_", "-", "=", "/", "\n"])
@pytest.mark.timeout(60)
def test_one_character_without_end_after_a_name_is_no_burden(filling: str) -> None:
    for name in ("password:", "secret ", "<private", "<", "sk" + "-", "aws", "://a:", "bearer "):
        text = name + filling * 250_000
        cut_private(text)
        assert redact(text)[0].startswith(name[:2])
