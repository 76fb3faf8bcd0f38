"""Small faults: each is one change of one expression inside a function."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Fault:
    """One changed expression: what stands at these offsets of the file is replaced."""

    file: str
    line: int
    start: int
    end: int
    new: str
    old: str

    def plant(self, text: str) -> str:
        data = text.encode()
        assert data[self.start : self.end].decode() == self.old, f"{self.file} has changed"
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' '.join(self.old.split())} → {' '.join(self.new.split())}"


def faults_of(root: Path, areas: tuple[str, ...], most: int, seed: int = 0) -> dict[str, list[Fault]]:
    """Return up to `most` faults of each area, the same ones each time."""
    chosen = {}
    for area in areas:
        found = [fault for path in sorted((root / area).rglob("*.py")) for fault in _faults_in(path, root)]
        chance = random.Random(f"{seed} {area}")
        chosen[area] = sorted(chance.sample(found, min(most, len(found))), key=lambda each: (each.file, each.start))
    return chosen


def _faults_in(path: Path, root: Path) -> Iterator[Fault]:
    text = path.read_text("utf-8")
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(text)):
        changed = _changed(node)
        if changed is None or node.end_lineno is None or node.end_col_offset is None:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        new = f"({ast.unparse(changed)})" if isinstance(changed, ast.expr) else ast.unparse(changed)
        yield Fault(str(path.relative_to(root)), node.lineno, start, end, new, data[start:end].decode())


def _expressions(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """Yield what stands in functions and may be changed: no annotation, no docstring, no f-string's part."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    nested = {id(inner) for outer in functions for inner in ast.walk(outer) if inner is not outer}
    for function in functions:
        if id(function) not in nested:
            for statement in function.body:
                yield from _below(statement)


def _below(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _below(child)


def _changed(node: ast.expr | ast.stmt) -> ast.expr | ast.stmt | None:
    """Return what stands there instead, or None if nothing of this kind is changed."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            return ast.Compare(node.left, [COMPARED[type(op)]()], node.comparators)
        case ast.BoolOp():
            return ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.BinOp() if type(node.op) in COMPUTED and not _is_text(node):
            return ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
        case ast.IfExp():
            return ast.IfExp(node.test, node.orelse, node.body)
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            return ast.Constant(value + 1)
        case ast.Return(value=ast.expr()):
            return ast.parse("return None").body[0]
        case ast.Expr(value=ast.Call()):
            return ast.Pass()
    return None


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(side, ast.JoinedStr) or _is_string(side) for side in (node.left, node.right))


def _is_string(side: ast.expr) -> bool:
    return isinstance(side, ast.Constant) and isinstance(side.value, str)
