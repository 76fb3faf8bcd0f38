"""Any JSON with comments, and any TOML: an added entry changes nothing else, and its removal restores the text."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pieria.capture.install import jsontext
from pieria.capture.install.servers import RUN, TOML, Launch, Servers

LAUNCH = Launch("/usr/bin/python3", ("-P", "-m", "pieria", "mcp", "--data", "/home/käse"))
BLANK = st.lists(st.sampled_from([" ", "\n", "\t", "// c\n", "/* d */", "// http://x, y\n"]), max_size=3).map("".join)
VALUE = st.sampled_from(["1", '"// no, \\""', "[1, {}]", '{"command": "x"}'])


@st.composite
def objects(draw: st.DrawFn, *members: tuple[str, str]) -> str:
    """Return an object with these members and others, with comments and a comma at the end."""
    drawn = [(key, draw(VALUE)) for key in draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True))]
    written = [
        f'{draw(BLANK)}"{key}"{draw(BLANK)}:{draw(BLANK)}{value}{draw(BLANK)}'
        for key, value in draw(st.permutations([*drawn, *members]))
    ]
    comma = draw(st.sampled_from(["", ","])) + draw(BLANK) if written else draw(BLANK)
    return "{" + ",".join(written) + comma + "}"


@given(data=st.data(), has_container=st.booleans(), ends=st.sampled_from(["\n", "\r\n"]))
def test_any_json_is_as_before_after_removal(data: st.DataObject, has_container: bool, ends: str) -> None:
    members = [("servers", data.draw(objects()))] if has_container else []
    text = (data.draw(BLANK) + data.draw(objects(*members)) + data.draw(BLANK)).replace("\n", ends)
    before = jsontext.parsed(text).value
    servers = Servers("servers", {"type": "stdio"})
    now = servers.installed(text, LAUNCH)
    after: Any = jsontext.parsed(now).value
    assert servers.launch(after["servers"].pop("pieria")) == LAUNCH
    assert after == {**before, "servers": before.get("servers", {})}
    assert servers.uninstalled(now, container=not has_container) == text


LINES = (
    *("a = 1", "# c", "", "[b]", "[b.c] # x", "[[d]]", "\t", "k.v = 'q'", "i = {x = 1}"),
    *('s = """\n[not.a.table]\nx\n"""', "l = [\n  ['a'],\n  # z\n  2 ]"),
    *("[servers]", "[servers.o]", "[servers.o.env]", '   [ servers . "p-q" ]', "[servers.'z z']"),
)


@given(st.lists(st.sampled_from(LINES), max_size=7), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_toml_is_as_before_after_removal(lines: list[str], ends: str, ended: bool) -> None:
    text = "\n".join([*lines, ""] if ended else lines).replace("\n", ends)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    servers = Servers("servers", format=TOML)
    now = servers.installed(text, Launch("/gone/python", LAUNCH.args[:4]))
    now = servers.installed(now, LAUNCH)
    assert servers.launch(servers.found(now)) == LAUNCH
    left = servers.uninstalled(now + f"{ends}[later]{ends}", container=False)
    assert tomllib.loads(left) == {**before, "later": {}}
    assert left.startswith(text)


def test_a_launch_says_where_its_banks_are() -> None:
    cases = {
        (): "~/.pieria",
        ("--bank", "work"): "~/.pieria",
        ("--data", "/a", "--bank", "work"): "/a",
        ("--data", "/a", "--data=/b"): "/b",
        ("--data",): "~/.pieria",
    }
    assert {options: Launch("python", (*RUN, *options)).folder for options in cases} == cases
    assert Launch("python", RUN, {"PIERIA_DATA": "/a"}).folder == "/a"
