"""python -m redoubt convert MODEL.prism OUT: what the program `redoubt` cannot read, for it needs stormpy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import Error, _core
from ._sources import read_draft


def _constants(text: str) -> dict[str, int | float | bool]:
    return dict(_constant(part) for part in text.split(",") if part)


def _constant(part: str) -> tuple[str, int | float | bool]:
    name, equals, value = (word.strip() for word in part.partition("="))
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, int(value) if value.lstrip("+-").isdigit() else float(value)
    except ValueError:
        raise Error(f"--constants {part}, must read NAME=VALUE, with a number, true or false") from None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m redoubt", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    convert = verbs.add_parser("convert", help="a model in another format; PRISM and JANI programs are read by stormpy")
    convert.add_argument("source", metavar="IN", help="a PRISM or JANI program, or a file of Redoubt")
    convert.add_argument("target", metavar="OUT", help="file to write; its ending chooses the format")
    convert.add_argument("--constants", default="", help="values of open constants, as in N=4,p=0.5")
    convert.add_argument("--property", help="what Storm would be asked: becomes objective, constraints and horizon")
    convert.add_argument("--uncompressed", action="store_true", help="a .umb file that several ranks read together")
    given = parser.parse_args(arguments)
    try:
        draft = read_draft(given.source, _constants(given.constants) or None, given.property)
        _core.save(draft, given.target, given.uncompressed)
    except Error as error:
        print(f"redoubt: {error}", file=sys.stderr)
        return 2
    print(f"Wrote {given.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
