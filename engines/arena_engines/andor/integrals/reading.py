"""What a person types as an integrand, read into SymPy: arithmetic and a few functions, nothing else.

Whatever is typed is an expression or one clear ValueError, and soon: numbers are looked at before
they are worked out. It must not know: rules, searches.
"""

from __future__ import annotations

import ast
import keyword
import math
import re

import sympy as sp

FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "sqrt", "atan", "asin", "sinh", "cosh", "pi", "E")
#: Of an integrand as it is typed; the parser of Python nests no deeper.
MAX_CHARACTERS = 1000
#: Of any number in it, and the largest power of the variable: 9^9^9^9 has more digits than fit anywhere.
MAX_DIGITS = 1000.0
#: Enough digits for an exponent to be too large, and few enough for a float.
LARGE = 100.0

_WORD = re.compile(r"[^\W\d]\w*")
_SIGNS = re.compile(r"[\w\s+\-*/^().]+", re.ASCII)


def parse(text: str, variable: str = "x") -> tuple[sp.Expr, sp.Symbol]:
    """Read an integrand as a person types it, such as `tan(x)^4`.

    Raises ValueError, one line, for a variable that is none, for a name that is neither the variable
    nor a known function, for numbers too large to work out, and for what is no expression.
    """
    symbol = _symbol(variable)
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"an integrand has at most {MAX_CHARACTERS} characters, not {len(text)}")
    strangers = [word for word in _WORD.findall(text) if word != variable and word not in FUNCTIONS]
    if strangers:
        raise ValueError(f"{strangers[0]!r} is not known here; known are {variable}, {', '.join(FUNCTIONS)}")
    return _expression(text, symbol), symbol


def _symbol(variable: str) -> sp.Symbol:
    named = re.fullmatch(r"[A-Za-z]\w*", variable, re.ASCII) and not keyword.iskeyword(variable)
    if not named or variable in FUNCTIONS:
        raise ValueError(f"a variable is a name such as x, and no function's, not {variable!r}")
    return sp.Symbol(variable)


def _expression(text: str, symbol: sp.Symbol) -> sp.Expr:
    """Work the text out. Nothing but arithmetic and known names reaches SymPy's parser."""
    none = f"{text!r} is no expression in {symbol}"
    if not _SIGNS.fullmatch(text):
        raise ValueError(none)
    python = text.strip().replace("^", "**")
    try:
        digits = _digits(ast.parse(python, mode="eval").body)
        if digits > MAX_DIGITS:
            raise ValueError(f"{text!r} has a power or a number of more than {MAX_DIGITS:.0f} digits")
        expression = sp.sympify(python, locals={symbol.name: symbol})
    except (sp.SympifyError, TypeError, SyntaxError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(none) from error
    if not isinstance(expression, sp.Expr) or not _is_finite(expression):
        raise ValueError(none)
    return expression


def _digits(node: ast.expr) -> float:
    """How many digits the number that this works out to may have; the variable counts as one."""
    match node:
        case ast.Constant(int() | float() as number):
            return math.log10(max(abs(number), 1))
        case ast.BinOp(left, ast.Pow(), right):
            return max(_digits(left), 1.0) * math.pow(10, min(_digits(right), LARGE))
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return max(_digits(left), _digits(right)) + math.log10(2)
        case ast.BinOp(left, _, right):
            return _digits(left) + _digits(right)
        case ast.UnaryOp(_, inner) | ast.Call(_, [inner]):
            return _digits(inner)
    return 1.0


def _is_finite(expression: sp.Expr) -> bool:
    return not expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo)
