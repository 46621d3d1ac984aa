"""Mutants: copies of a module in which one thing is changed.

Operators, numbers, conditions and loops are changed by cosmic-ray; this module adds statements left out, and leaves
out changes that no test should notice: those of annotations, error messages, type-checking imports and hints to the
compiler.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutants_of"]

# One or two replacements for each operator: the others (a shift for a sum, say) fail in any test that runs the line.
BINARY = {"Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul", "BitOr_BitAnd",
          "BitAnd_BitOr", "RShift_LShift", "LShift_RShift"}  # fmt: skip
COMPARISONS = {"Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt", "Eq_NotEq", "NotEq_Eq",
               "Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In"}  # fmt: skip
OTHERS = {"ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "AddNot", "ReplaceTrueWithFalse",
          "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue",
          "ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop"}  # fmt: skip
KINDS = (
    {f"ReplaceBinaryOperator_{pair}" for pair in BINARY}
    | {f"ReplaceComparisonOperator_{pair}" for pair in COMPARISONS}
    | OTHERS
)
COMPILER_HINTS = {"register_jitable", "helper", "inlined", "njit", "overload", "lru_cache"}

Place = tuple[int, int]  # a line, counted from 1, and a column, counted in characters from 0


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes:
        path: the module's file.
        line: where the change is, counted from 1.
        kind: what kind of change it is.
        change: the line before and after.
        source: the whole module after the change.
    """

    path: Path
    line: int
    kind: str
    change: str
    source: str


def mutants_of(root: Path, path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of their kinds and places; ``path`` is relative to ``root``."""
    source = (root / path).read_text(encoding="utf-8")
    whole, seen = _meaning(source), set[str]()
    found: list[Mutant] = []
    for kind, line, mutated in (*_of_cosmic_ray(source), *_without_statements(source)):
        meaning = _meaning(mutated)
        if meaning is not None and meaning != whole and meaning not in seen:
            seen.add(meaning)
            found.append(Mutant(path, line, kind, _change(source, mutated), mutated))
    return found


def _meaning(source: str) -> str | None:
    """The syntax tree as text, without comments; None if the change broke the syntax."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return None


def _of_cosmic_ray(source: str) -> Iterator[tuple[str, int, str]]:
    # imported here, so that the script can tell how it is used where cosmic-ray is not installed
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    tree, ignored = get_ast(source), _ignored(source)
    for name in sorted(operator_names()):
        kind = name.partition("/")[2]
        if kind not in KINDS:
            continue
        operator = get_operator(name)()
        places = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, place in enumerate(places):
            if not _is_bare_star(source, place) and not any(start <= place < end for start, end in ignored):
                mutated = mutate_code(source, operator, occurrence)
                if mutated is not None:
                    yield kind, place[0], mutated


def _is_bare_star(source: str, place: Place) -> bool:
    """Whether this is the star before keyword-only parameters, which cosmic-ray takes for a product."""
    line, column = place
    return source.splitlines()[line - 1][column:].startswith("*,")


def _without_statements(source: str) -> Iterator[tuple[str, int, str]]:
    """The source without one statement of a function: a call, an error raised, or a change of something that stays."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.stmt) and _can_be_left_out(node):
                    yield "LeftOut", node.lineno, _replaced(source, node, "pass")


def _can_be_left_out(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom)
    return isinstance(node, ast.AugAssign | ast.Raise)


def _replaced(source: str, node: ast.stmt, text: str) -> str:
    lines = source.splitlines(keepends=True)
    (first, begin), (last, end) = _span(source, node)
    return "".join([*lines[: first - 1], lines[first - 1][:begin], text, lines[last - 1][end:], *lines[last:]])


def _ignored(source: str) -> list[tuple[Place, Place]]:
    """The parts of a source whose changes say nothing about the tests."""
    parts: list[ast.AST | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise | ast.Assert):
            parts.append(node)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            parts += [node.returns, *(each for each in node.decorator_list if _name(each) in COMPILER_HINTS)]
        elif isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            parts.append(node)
        elif isinstance(node, ast.Assign) and "|" in ast.unparse(node) and "NDArray" in ast.unparse(node):
            parts.append(node)  # a name for a type
    return [_span(source, part) for part in parts if part is not None]


def _name(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.id if isinstance(called, ast.Name) else ""


def _span(source: str, node: ast.AST) -> tuple[Place, Place]:
    """Where a node begins and ends; the parser counts columns in bytes."""
    lines = source.splitlines()

    def place(line: int, column: int) -> Place:
        return line, len(lines[line - 1].encode()[:column].decode())

    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _change(source: str, mutated: str) -> str:
    pairs = zip(source.splitlines(), mutated.splitlines(), strict=False)
    old, new = next((one, other) for one, other in pairs if one != other)
    return f"{old.strip()}  →  {new.strip()}"
