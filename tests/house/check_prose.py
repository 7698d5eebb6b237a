# SPDX-License-Identifier: Apache-2.0
"""Rules of plain English that can be counted, without exceptions: comments of C, Python, shell and CMake begin with their subject
and not with What, Who or Of; declarations of public headers are not torn by the comment behind them; lines of public headers and
of markdown have at most 100 columns."""
import re

import house

COLUMNS = 100
OPENING = re.compile(r"/\*\*?<?[\s*]*(?:@brief\s+)?(?:What|Who|Of)\b")
SCRIPT = re.compile(r'\s*(?:#+ ?|""")(?:What|Who|Of)\b')
TORN = re.compile(r"^[ ]+[A-Za-z][\w *]*\n[ ]+\**\w+(?:\[[^\]]*\])?;", re.M)
PRINTED = "<!-- tables -->"  # below it a page has what programs print


def openings(text):
    """(line) of comments that begin with What, Who or Of."""
    for match in house.TOKEN.finditer(text):
        if OPENING.match(match.group(0)):
            yield text.count("\n", 0, match.start()) + 1


def script_openings(text):
    """The same where comments begin with #; lines that go on with a comment, but for the licence, do not begin one."""
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        if SCRIPT.match(line) and (not before.startswith("#") or "SPDX" in before):
            yield number
        before = line.lstrip()


def torn(text):
    """(line) of declarations whose type stands on one line and whose name on the next."""
    for match in TORN.finditer(house.blank(text)):
        yield text.count("\n", 0, match.start()) + 1


def long_lines(text):
    return [number for number, line in enumerate(text.split("\n"), 1) if len(line) > COLUMNS]


def long_prose(text):
    """The same of a page: rows of tables and what programs print cannot be broken."""
    return [number for number, line in enumerate(text.split(PRINTED)[0].split("\n"), 1)
            if len(line) > COLUMNS and not line.lstrip().startswith("|")]


def is_header(name):
    return name.startswith("include/")


def is_script(name):
    return name.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or name.startswith("scripts/")


RULES = (
    (lambda name: name.endswith((".c", ".h")), openings, "a comment begins with What, Who or Of"),
    (is_script, script_openings, "a comment begins with What, Who or Of"),
    (is_header, torn, "a declaration is torn: put the comment above it"),
    (is_header, long_lines, f"more than {COLUMNS} columns"),
    (lambda name: name.endswith(".md"), long_prose, f"more than {COLUMNS} columns"),
)


def find_problems(source, _build):
    problems = []
    for name in house.files(source):
        for applies, lines, words in RULES:
            if applies(name):
                problems += [f"{name}:{line}: {words}" for line in lines(house.read(source, name))]
    return problems


if __name__ == "__main__":
    house.main(find_problems)
