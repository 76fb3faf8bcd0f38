"""Write the type stub of `pieria.aio` from its table and the signatures of the originals.

`python tests/aio/stub.py` rewrites the stub.
"""

import ast
import builtins
import inspect
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pieria.aio.mirror import FUNCTIONS, MIRRORS, Mirror, iterates, opens
from pieria.bank.surface import public_verbs

STUB = Path(__file__).parents[2] / "src" / "pieria" / "aio" / "__init__.pyi"
HEAD = '''"""`pieria` for asyncio: the same classes, verbs and functions, each to be awaited.

Written by `python tests/aio/stub.py` from the signatures of the originals.
"""
'''
MIRRORED = {mirror.original for mirror in MIRRORS}
OFFERED: list[Any] = [*MIRRORED, *FUNCTIONS]
LEAVE = "kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None"


class Names:
    """The stub's imports and the names for them: a name that two modules share gets an alias."""

    def __init__(self) -> None:
        self._homes = {one.__name__: "pieria.aio" for one in OFFERED} | {"Opening": "pieria.aio.mirror"}
        self._homes |= {"Any": "typing", "Self": "typing", "TracebackType": "types"}
        self.lines = {"from pieria.aio.mirror import Opening as Opening", "from types import TracebackType"}
        self.lines |= {"import builtins", "from collections.abc import AsyncGenerator, Coroutine, Generator"}
        self.lines |= {"from typing import Any, Self"}

    def of(self, module: str, name: str) -> str:
        if module == "builtins":
            return f"builtins.{name}" if name in VERBS else name
        spelt = name
        while self._homes.setdefault(spelt, module) != module:
            spelt = f"{spelt}_of_{module.rpartition('.')[2]}"
        if module != "typing" or name not in ("Any", "Self"):
            self.lines.add(f"from {module} import {name}" + ("" if spelt == name else f" as {spelt}"))
        return spelt


VERBS = {verb for kind in MIRRORED for verb in public_verbs(kind)}
"""Names that are verbs within a class and mean something else outside it."""


class Spelling(ast.NodeTransformer):
    """Rewrites an annotation from one module's names to the stub's names."""

    def __init__(self, names: Names, module: ModuleType) -> None:
        self._names = names
        self._module = module
        self._imported = _imports(module)

    def spelt(self, annotation: str) -> str:
        return ast.unparse(self.visit(ast.parse(annotation, mode="eval")))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(self.spelt(node.value), mode="eval").body if isinstance(node.value, str) else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        module, name = self._home(node.id)
        kind = getattr(import_module(module), name)
        if inspect.isclass(kind) and kind in MIRRORED:
            return ast.Name(name)
        if inspect.isclass(kind) and kind.__module__.startswith("pieria."):
            module, name = kind.__module__, kind.__name__
        return ast.parse(self._names.of(module, name), mode="eval").body

    def _home(self, name: str) -> tuple[str, str]:
        if name in self._imported:
            return self._imported[name]
        return (self._module.__name__ if hasattr(self._module, name) else builtins.__name__), name


@cache
def _imports(module: ModuleType) -> dict[str, tuple[str, str]]:
    lines = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: (str(line.module), alias.name) for line in lines for alias in line.names}


STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _parameters(function: Callable[..., Any], spelling: Spelling) -> str:
    parts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        told = "" if parameter.annotation is parameter.empty else f": {spelling.spelt(parameter.annotation)}"
        parts.append(STARS.get(parameter.kind, "") + parameter.name + told + _default(parameter.default))
    return ", ".join(parts)


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return ""
    plain = value is None or isinstance(value, bool | int | float | str) or value == ()
    return f" = {value!r}" if plain else " = ..."


def _function(function: Callable[..., Any], names: Names, indent: str = "", *, at_once: bool = False) -> str:
    spelling = Spelling(names, import_module(function.__module__))
    returned = spelling.spelt(inspect.signature(function).return_annotation)
    start = "def"
    if opens(function):
        returned = f"Opening[{returned}]"
    elif iterates(function):
        returned = f"AsyncGenerator[{returned.partition('[')[2][:-1]}, None]"
    elif not at_once:
        start = "async def"
    head = f"{indent}{start} {function.__name__}({_parameters(function, spelling)}) -> {returned}:\n"
    return head + _said(function, indent)


def _said(function: Callable[..., Any], indent: str) -> str:
    """Return the original's docstring, so that editors show it."""
    doc = "..." if function.__doc__ is None else f'"""{function.__doc__}"""'
    return f"{indent}    {doc}\n"


def _value(mirror: Mirror, name: str, names: Names) -> str:
    """Return the type of a property or of an attribute that the constructor sets."""
    found = inspect.getattr_static(mirror.original, name, None)
    if isinstance(found, property):
        assert found.fget is not None
        told = inspect.signature(found.fget).return_annotation
        returned = Spelling(names, import_module(found.fget.__module__)).spelt(told)
    else:
        returned = _assigned(mirror.original, name, names)
    told = f"Coroutine[Any, Any, {returned}]" if name in mirror.reads else returned
    return f"    @property\n    def {name}(self) -> {told}: ...\n"


def _assigned(kind: type, name: str, names: Names) -> str:
    """Return an attribute's type: its annotation where it is set, or that of the parameter assigned to it."""
    for owner in kind.__mro__[:-1]:
        spelling = Spelling(names, import_module(owner.__module__))
        parameters = inspect.signature(owner).parameters
        for target, told, value in _assignments(owner):
            if target != f"self.{name}":
                continue
            if told:
                return spelling.spelt(told)
            if name in parameters and value.split(" ")[0] == name:
                annotation = str(parameters[name].annotation)
                return spelling.spelt(annotation.removesuffix(" | None") if " or " in value else annotation)
    raise LookupError(f"{kind.__name__}.{name} says nowhere of what type it is")


@cache
def _assignments(owner: type) -> list[tuple[str, str, str]]:
    """Return (target, annotation or "", value) of each assignment within a class."""
    nodes = list(ast.walk(_class_node(owner)))
    told: list[tuple[ast.expr, str, str]] = []
    told += [(node.target, ast.unparse(node.annotation), "") for node in nodes if isinstance(node, ast.AnnAssign)]
    told += [(node.targets[0], "", ast.unparse(node.value)) for node in nodes if isinstance(node, ast.Assign)]
    return [(ast.unparse(target), annotation, value) for target, annotation, value in told]


def _class_node(owner: type) -> ast.ClassDef:
    body = _tree(import_module(owner.__module__)).body
    return next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner.__name__)


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _class(mirror: Mirror, names: Names) -> str:
    original = mirror.original
    lines = [f"class {original.__name__}:\n", f'    """{original.__doc__}"""\n' if original.__doc__ else ""]
    if mirror.is_made_by_users:
        made: Any = original.__init__  # type: ignore[misc]
        spelling = Spelling(names, import_module(original.__module__))
        lines += [f"    def __init__({_parameters(made, spelling)}) -> None:\n{_said(made, '    ')}"]
        lines += ["    def __await__(self) -> Generator[Any, None, Self]: ...\n"]
    lines += [_value(mirror, name, names) for name in (*mirror.values, *mirror.reads)]
    for name, kind in mirror.groups.items():
        lines += [f"    @property\n    def {name}(self) -> {kind.__name__}: ...\n"]
    if hasattr(original, "__enter__"):
        lines += ["    async def __aenter__(self) -> Self: ...\n"]
        lines += [f"    async def __aexit__(self, {LEAVE}) -> bool | None: ...\n"]
    for name, function in public_verbs(original).items():
        lines += [_function(function, names, "    ", at_once=name in mirror.at_once)]
    return "".join(lines)


def written() -> str:
    names = Names()
    parts = [_class(mirror, names) for mirror in MIRRORS]
    parts += [_function(function, names) for function in FUNCTIONS]
    offered = [one.__name__ for one in OFFERED] + ["Opening"]
    text = "\n".join([HEAD, *sorted(names.lines), f"__all__ = {sorted(offered)!r}", *parts])
    ruff = str(Path(sys.executable).parent / "ruff")
    for arguments in (["check", "--fix-only", "--select", "I,F401,UP,RUF022", "-q"], ["format"]):
        command = [ruff, *arguments, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(command, input=text, capture_output=True, check=True, text=True, cwd=STUB.parent).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(written())
