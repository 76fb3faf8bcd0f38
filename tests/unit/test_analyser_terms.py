"""The terms of texts of every kind, in order. Matching follows from these lists."""

import pytest

from pieria.language.analyser import spans, terms

WORDS = [
    ("Hello, world!", "hello world"),
    ("(the **deadlines**)", "the deadlin"),
    ("café CAFÉ cafe\u0301", "cafe cafe cafe"),
    ("Ångström naïve İstanbul ısı", "angstrom naiv istanbul isi"),
    ("Straße STRASSE STRAẞE", "strass strass strass"),
    ("Þór ÞÓR Ærø smørrebrød Łódź œuvre", "thor thor aero smorrebrod lodz oeuvr"),
    ("Ｆｕｌｌ－ｗｉｄｔｈ ﬁne", "fullwidth full width fine"),
    ("Привет ёлка мой мои за́мок", "привет елка мой мои замок"),
    ("Άνθρωπος ΑΝΘΡΩΠΟΣ", "ανθρωποσ ανθρωποσ"),
    ("مُحَمَّد كـــتاب أحمد احمد", "محمد كتاب احمد احمد"),
    ("کتاب می‌خواهم", "كتاب ميخواهم"),
    ("שָׁלוֹם", "שלום"),
    ("हिन्दी में", "हिन्दी में"),
    ("١٢٣ १२३ ๑๒๓", "123 123 123"),
    ("so\u00adft wo\u200brd a\u200eb", "soft wo rd ab"),
    ("Pieria™ and Muse℠", "pieria and muse"),
]

APOSTROPHES = [
    ("don't don’t DON'T", "dont dont dont"),
    ("what's the user's users'", "what the user user"),
    ("I'm we'll you're they've she'd", "i we you they she"),
    ("O'Brien o'clock l’homme", "obrien o brien oclock o clock lhomm l homm"),
    ("U.S. e.g. a.m.", "us eg am"),
]

IDENTIFIERS = [
    ("src/db/store.ts", "src/db/store.ts src db store.ts store ts"),
    (r"src\db\store.ts", "src/db/store.ts src db store.ts store ts"),
    ("./src/x.py ~/notes /etc/hosts", "src/x.py src x.py x py note etc/hosts etc host"),
    ("getUserName", "getusernam get user name"),
    ("HTTPServer OAuth2 iPhone15", "httpserver http server oauth2 auth 2 iphone15 phone 15"),
    ("APIs JWTs IDs", "api jwt id"),
    ("user_name __init__ MAX_SIZE", "usernam user name init maxsiz max size"),
    ("kebab-case e-mail", "kebabcas kebab case email e mail"),
    ("C++ C# F# g++ c++17", "c++ c c# c f# f g++ g c++ c 17"),
    (".NET .gitignore node.js", ".net net .gitignore gitignor node.js node js"),
    ("std::vector obj.field", "std::vector std vector obj.field obj field"),
    ("@scope/pkg @maya #tag", "@scope/pkg scope/pkg scope pkg @maya maya #tag tag"),
    ("obs-123 ABC-1234 #123", "obs123 obs 123 abc1234 abc 1234 #123 123"),
    ("GPT-4o python3 sha256 k8s", "gpt4o gpt 4o 4 python3 python 3 sha256 sha 256 k8s"),
    ("a3f5c9d2e1 aB3dE5fG6h7Jk", "a3f5c9d2e1 ab3de5fg6h7jk"),
    ('user_id=42 {"userId":42}', "userid user id 42 userid user id 42"),
    ("--dry-run -v $HOME", "dryrun dry run v $home home"),
]

ADDRESSES = [
    ("user@example.com", "user@example.com user example.com exampl com"),
    ("https://example.com/docs?page=2", "http example.com/docs example.com exampl com doc page 2"),
    ("127.0.0.1:7411 10.0.0.1", "127.0.0.1:7411 127.0.0.1 7411 10.0.0.1"),
    ("2001:db8::1 ::1", "2001:db8::1 2001 db8 1 ::1 1"),
    ("550e8400-e29b-41d4-a716-446655440000", "550e8400e29b41d4a716446655440000 550e8400 e29b 41d4 a716 446655440000"),
]

NUMBERS = [
    ("1,000 1000 1_000,000", "1000 1000 1000 1 000 000"),
    ("1,234,567.89", "1234567.89"),
    ("3.14 2.5GB 5km", "3.14 2.5gb 2.5 gb 5km 5 km"),
    ("v3.15.1 3.15", "v3.15.1 3.15.1 3.15 3.15"),
    ("3.11.0rc1 1.0.0-beta.2", "3.11.0rc1 3.11.0 3.11 rc1 1.0.0beta.2 1.0.0 1.0 beta 2"),
    ("50% 99.9%", "50% 50 99.9% 99.9"),
    ("$5 $1,000.50 100€ €100", "$5 5 $1000.50 1000.50 €100 100 €100 100"),
    ("10:30 10:30:15 4:30pm", "10:30 10 30 10:30:15 10:30 10 30 15 4:30pm 4:30 4 30pm 30 pm"),
    ("2026-01-10 2026/01/10", "2026-01-10 2026 01 10 2026-01-10 2026 01 10"),
    ("2026-01-10T10:30:15Z", "2026-01-10t10:30:15z 2026-01-10 2026 01 10 10:30 10 30"),
    ("2019–2021 1970s 3rd ½", "2019 2021 1970s 1970 3rd 3 1/2 1 2"),
]

UNSPACED = [
    ("東京", "東 東京 京"),
    ("猫", "猫"),
    ("ｶﾞｷﾞ", "ガ ガギ ギ"),
    ("한국어", "한 한국 국 국어 어"),
    ("\u1112\u1161\u11ab", "한"),
    ("iPhone手机", "iphon phone 手 手机 机"),
    ("你好，世界。", "你 你好 好 世 世界 界"),
    ("กินข้าว", "กิ กิน น นข้ ข้ ข้า า าว ว"),
    ("ខ្មែរ", "ខ្ ខ្មែ មែ មែរ រ"),
    ("葛\U000e0100飾", "葛 葛飾 飾"),
]

PICTURES = [
    ("👍 👍🏽 ❤️ ❤", "👍 👍 ❤ ❤"),
    ("👩‍💻🇩🇪🇫🇷", "👩 💻 🇩🇪 🇫🇷"),
    ("hi👋there", "hi 👋 there"),
]

EMPTY = ["", " ", "\n\t\u3000", "!!! ... --- ???", "\ud800", "\x00\x01", "\u202e\u200d\ufeff", "\u0301"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [*WORDS, *APOSTROPHES, *IDENTIFIERS, *ADDRESSES, *NUMBERS, *UNSPACED, *PICTURES],
)
def test_a_text_gives_its_terms_in_order(text: str, expected: str) -> None:
    assert terms(text) == expected.split(" ")


@pytest.mark.parametrize("text", EMPTY)
def test_what_says_nothing_has_no_terms(text: str) -> None:
    assert terms(text) == []
    assert spans(text) == []


def test_what_cannot_be_written_parts_words_like_a_space() -> None:
    assert terms("here\ud800right\x00end") == ["here", "right", "end"]


def test_repeats_are_kept() -> None:
    assert terms("no no NO") == ["no", "no", "no"]


def test_a_long_word_keeps_its_beginning_and_its_identity() -> None:
    one, same, other = terms("a" * 65 + "b"), terms("A" * 65 + "B"), terms("a" * 65 + "c")

    assert one == same != other
    assert len(one[0]) == 64
    assert one[0].startswith("a" * 40)


def test_a_word_of_64_characters_is_kept_whole() -> None:
    assert terms("b" * 64) == ["b" * 64]


def test_a_long_identifier_still_has_its_parts() -> None:
    found = terms("_".join(["remember", "every", "spoken", "word"] * 5))

    assert len(found[0]) == 64
    assert {"remember", "every", "speak", "word"} <= set(found)


COLOURED = [
    ("\x1b[31mred\x1b[0m", "red"),
    ("auth\x1b[1;31menti\x1b[mcate", "authenticat"),
    ("\x1b[38;5;208msrc/a.py\x1b[0m  \x1b[32m12\x1b[K", "src/a.py src a.py a py 12"),
    ("caf\x1b[31m\xe9\x1b[0m \x1b[?25l\x1b[2J", "cafe"),
    ("a\x1bb \x1b[31", "a b 31"),
    ("[31mred", "31mred 31 mred"),
]


@pytest.mark.parametrize(("text", "expected"), COLOURED)
def test_a_terminal_s_escape_sequences_are_no_part_of_words(text: str, expected: str) -> None:
    assert terms(text) == expected.split()
    assert [span.term for span in spans(text)] == expected.split()


def test_a_word_in_colours_is_found_where_it_stands() -> None:
    text = "see \x1b[31mre\x1b[1md\x1b[0m boats"
    assert [text[start:end] for _, start, end in spans(text)] == ["see", "re\x1b[1md", "boats"]


def test_spans_point_into_the_original_text() -> None:
    text = "See src/ﬁles.ts, cafe\u0301 東京 and don’t"

    assert [(term, text[start:end]) for term, start, end in spans(text)] == [
        ("see", "See"),
        ("src/files.ts", "src/ﬁles.ts"),
        ("src", "src"),
        ("files.ts", "ﬁles.ts"),
        ("file", "ﬁles"),
        ("ts", "ts"),
        ("cafe", "cafe\u0301"),
        ("東", "東"),
        ("東京", "東京"),
        ("京", "京"),
        ("and", "and"),
        ("dont", "don’t"),
    ]
