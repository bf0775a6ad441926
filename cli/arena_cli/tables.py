"""Tables of results, as text for a terminal, CSV, Markdown and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from rich.table import Table as RichTable

#: The width of tables that do not go to a terminal, so that no cell is wrapped or cut.
PLAIN_WIDTH = 160
#: Wider than any table.
_ANY_WIDTH = 100_000


def bdi(text: str) -> str:
    """A foreign text as an element: its direction is its own, and moves nothing beside it."""
    return f"<bdi>{escape(text)}</bdi>" if text else ""


class OutputFormat(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "md"
    HTML = "html"


#: A page with more columns lies on its side.
WIDE: Final = 11
STYLE: Final = """
@page { size: A4; margin: 12mm }
body { color: #111; background: #fff; font: 16pt/1.35 system-ui, sans-serif; margin: 1rem auto }
.wide { font-size: 12pt }
h1 { font-size: 2em; line-height: 1.1; margin: 0 0 .2em }
.about { margin: 0 0 .3em }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .8em 0; width: 100% }
caption { font-size: .8em; padding-bottom: .4em; text-align: left }
thead { display: table-header-group }
th, td { border-bottom: 1px solid #999; padding: .25em .4em }
th { border-bottom: 2px solid #111; vertical-align: bottom }
tr { break-inside: avoid }
tbody tr:nth-child(even) { background: #f1f1f1 }
p { font-size: .8em; overflow-wrap: anywhere }
.about { font-size: 1.1em }
@media print {
  body { margin: 0; font-size: 13pt; print-color-adjust: exact }
  th, td { padding: .18em .4em }
  body.wide { font-size: 9pt }
}
"""

FormatOption = Annotated[
    OutputFormat | None,
    typer.Option("--format", help="How to print it; --json is the same as json.", show_default=False),
]


#: None is printed as a dash, and is nothing in CSV.
Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column; numbers stand at its right edge."""

    name: str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table; `notes` are lines below it. As a page it has a `heading`, and `lines` below that."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    heading: str = ""
    lines: Sequence[str] = field(default=())

    def as_csv(self) -> str:
        """Comma-separated values with one line of heads; without title and notes."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(column.name for column in self.columns)
        # Without separators of thousands, so that programs read them.
        writer.writerows(self.rows)
        return out.getvalue()

    def as_markdown(self) -> str:
        lines = [f"**{_in_markdown(self.title)}**", ""]
        lines.append("| " + " | ".join(column.name for column in self.columns) + " |")
        lines.append("|" + "|".join("---" if column.is_text else "---:" for column in self.columns) + "|")
        lines += ("| " + " | ".join(_in_markdown(_text(cell)) for cell in row) + " |" for row in self.rows)
        lines += (f"\n{_in_markdown(note)}" for note in self.notes)
        return "\n".join(lines) + "\n"

    def as_html(self) -> str:
        """A `table` element and a paragraph for each note, to be put into a page."""
        edges = [' style="text-align: left"' if column.is_text else "" for column in self.columns]
        heads = (
            f'<th scope="col"{edge}>{escape(column.name)}</th>'
            for column, edge in zip(self.columns, edges, strict=True)
        )
        lines = [
            '<table style="text-align: right">',
            f"<caption>{escape(self.title)}</caption>",
            f"<thead><tr>{''.join(heads)}</tr></thead>",
            "<tbody>",
        ]
        for row in self.rows:
            cells = (
                f"<td{edge}>{bdi(_text(cell)) if edge else escape(_text(cell))}</td>"
                for cell, edge in zip(row, edges, strict=True)
            )
            lines.append(f"<tr>{''.join(cells)}</tr>")
        lines += ["</tbody>", "</table>", *(f"<p>{escape(note)}</p>" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def as_page(self, *others: ResultTable) -> str:
        """A whole page without scripts, which loads nothing, to be hung up: this table, and others below."""
        name = escape(self.heading or self.title)
        head = [f"<h1>{bdi(self.heading)}</h1>"] if self.heading else []
        head += [f'<p class="about" dir="auto">{escape(line)}</p>' for line in self.lines]
        wide = max(len(each.columns) for each in (self, *others)) > WIDE
        style = STYLE.replace("A4", "A4 landscape") if wide else STYLE
        lines = [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{name}</title>",
            f"<style>{style}</style>",
            "</head>",
            f"<body{' class=wide' if wide else ''}>",
            *head,
            *(each.as_html() for each in (self, *others)),
            "</body>",
            "</html>",
        ]
        return "\n".join(lines) + "\n"

    def as_rich(self, *, narrow: bool = False) -> RichTable:
        """The table alone, for a terminal; a narrow one has a line for each word of a head."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in self.columns:
            head = column.name.replace("-", "-\n").replace(" ", "\n") if narrow else column.name
            table.add_column(head, justify="left" if column.is_text else "right", no_wrap=True)
        for row in self.rows:
            table.add_row(*(Text(_text(cell)) for cell in row))  # a plain text would be read as markup
        return table

    def print(self, form: OutputFormat = OutputFormat.TABLE) -> None:
        """Print it on stdout; JSON is up to the caller, whose values it has."""
        match form:
            case OutputFormat.CSV:
                typer.echo(self.as_csv(), nl=False)
            case OutputFormat.MARKDOWN:
                typer.echo(self.as_markdown(), nl=False)
            case OutputFormat.HTML:
                typer.echo(self.as_page(), nl=False)
            case _:
                self._print_text()

    def _print_text(self) -> None:
        from rich.console import Console
        from rich.measure import Measurement

        def width(table: RichTable) -> int:
            return Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), table).maximum

        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = PLAIN_WIDTH
        table = self.as_rich()
        needed = width(table)
        if needed > console.width:
            table = self.as_rich(narrow=True)
            needed = width(table)
        # A cut name or number would be another one: lines that are too long are the terminal's to wrap.
        console.width = max(console.width, needed)
        console.print(self.title, markup=False, soft_wrap=True)
        console.print(table)
        for note in self.notes:
            console.print(note, markup=False, soft_wrap=True)


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.1f}"
        case str():
            return cell


def _in_markdown(text: str) -> str:
    """Texts come from bots: nothing in them is markup."""
    for sign in r"\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return text


def chosen(form: OutputFormat | None, as_json: bool) -> OutputFormat:
    """The format of --format and --json. Raises ConfigError if they say different things."""
    from arena_server.errors import ConfigError

    if as_json and form not in (None, OutputFormat.JSON):
        raise ConfigError(f"--json: --format {form} says otherwise; leave one of them out")
    return OutputFormat.JSON if as_json else form or OutputFormat.TABLE
