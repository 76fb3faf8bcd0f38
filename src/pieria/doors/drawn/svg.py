"""A picture as SVG, built by an XML library, so that a memory's text cannot become markup."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from pieria.doors.drawn.curve import BLUE, CROWDED, GREY, Picture

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 360, 90, 40, 20, 50


def svg(picture: Picture) -> bytes:
    size = {"width": f"{WIDTH}", "height": f"{HEIGHT}", "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    root = Element(
        "svg", {"xmlns": "http://www.w3.org/2000/svg", "font-family": "sans-serif", "font-size": "12", **size}
    )
    SubElement(root, "title").text = picture.title
    SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "white"})
    _text(root, WIDTH / 2, TOP / 2, picture.title, "middle")
    for level in picture.across:
        _line(root, (0, level.at), (1, level.at), level.colour)
        _text(root, LEFT - 6, _y(level.at) + 4, level.label, "end", level.colour)
    for number, level in enumerate(picture.down):
        _line(root, (level.at, 0), (level.at, 1), level.colour)
        side, anchor = (3, "start") if level.at < CROWDED else (-3, "end")
        _text(root, _x(level.at) + side, TOP + 12 + 14 * (number % 4), level.label, anchor, level.colour)
    for begin, end in (((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (0.0, 1.0))):
        _line(root, begin, end, GREY, "")
    points = " ".join(f"{_x(across):.1f},{_y(up):.1f}" for across, up in picture.points)
    SubElement(root, "polyline", {"points": points, "fill": "none", "stroke": BLUE, "stroke-width": "2.5"})
    _text(root, LEFT, HEIGHT - BOTTOM / 2, picture.begins, "start")
    _text(root, WIDTH - RIGHT, HEIGHT - BOTTOM / 2, picture.ends, "end")
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _line(
    root: Element, begin: tuple[float, float], end: tuple[float, float], colour: str, dashes: str = "4 4"
) -> None:
    ends = {"x1": _x(begin[0]), "y1": _y(begin[1]), "x2": _x(end[0]), "y2": _y(end[1])}
    given = {name: f"{value:.1f}" for name, value in ends.items()} | {"stroke": colour}
    SubElement(root, "line", given | ({"stroke-dasharray": dashes} if dashes else {}))


def _text(root: Element, x: float, y: float, written: str, anchor: str, colour: str = GREY) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "fill": colour}
    SubElement(root, "text", place).text = "".join(letter for letter in written if letter.isprintable())
