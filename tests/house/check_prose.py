# SPDX-License-Identifier: Apache-2.0
"""Rules of plain English that can be counted, without exceptions: comments of C, Python, shell and CMake begin with their subject
and not with What, Who or Of, and so do the lines of C's that begin a sentence, and every sentence of public headers; comments of
public headers stand above members, and tear no declaration; lines of headers and markdown have at most 100 columns, those of C
120."""
import re

import house

COLUMNS, COLUMNS_OF_C = 100, 120
OPENING = re.compile(r"/\*\*?<?[\s*]*(?:@brief\s+)?(?:What|Who|Of)\b")
SENTENCE = re.compile(r"(?:[.:]|^[\s*]*)\n[ ]*\*[ ]+(?=(?:What|Who|Of)\b)", re.M)
DISPLAYED = re.compile(r"[ ]*\*(?:[ ]{4}|[ ]*\|)")  # a formula or a row of a table in a comment cannot be broken
SCRIPT = re.compile(r'\s*(?:#+ ?|""")(?:What|Who|Of)\b')
INNER = re.compile(r"[.:;!?][ ]+\**(?:What|Who|Of)\b")
TORN = re.compile(r"^[ ]+[A-Za-z][\w *]*(?:,[ ]*\n[ ]*)?\n(?:[ ]*\n)*[ ]+\**[\w\[\]]+;", re.M)
PRINTED = "<!-- tables -->"  # below it a page has what programs print


def openings(text):
    """(line) of comments, and of sentences at the beginning of their lines, that begin with What, Who or Of."""
    for match in house.TOKEN.finditer(text):
        token, line = match.group(0), text.count("\n", 0, match.start()) + 1
        if OPENING.match(token):
            yield line
        if token.startswith("/*"):
            for sentence in SENTENCE.finditer(token):
                yield line + token.count("\n", 0, sentence.end())


def inner_openings(text):
    """(line) of sentences that begin with What, Who or Of in the middle of a line of a comment."""
    for match in house.TOKEN.finditer(text):
        if match.group(0).startswith("/*"):
            for sentence in INNER.finditer(match.group(0)):
                yield text.count("\n", 0, match.start() + sentence.start()) + 1


def trailing(text):
    """(line) of comments behind the member that they describe."""
    return [number for number, line in enumerate(text.split("\n"), 1) if "/**<" in line]


def script_openings(text):
    """The same where comments begin with #; lines that go on with a comment, but for the licence, do not begin one."""
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        if SCRIPT.match(line) and (not before.startswith("#") or "SPDX" in before):
            yield number
        before = line.lstrip()


def torn(text):
    """(line) of declarations whose type stands on one line and whose name on another, or that a comment divides after a comma."""
    for match in TORN.finditer(house.blank(text)):
        yield text.count("\n", 0, match.start()) + 1


def long_lines(text, most=COLUMNS):
    return [number for number, line in enumerate(text.split("\n"), 1) if len(line) > most and not DISPLAYED.match(line)]


def long_lines_of_c(text):
    return long_lines(text, COLUMNS_OF_C)


def long_prose(text):
    """The same of a page: rows of tables and what programs print cannot be broken."""
    return [number for number, line in enumerate(text.split(PRINTED)[0].split("\n"), 1)
            if len(line) > COLUMNS and not line.lstrip().startswith("|")]


def is_public(name):
    return name.startswith("include/")


def is_script(name):
    return name.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or name.startswith("scripts/")


RULES = (
    (lambda name: name.endswith((".c", ".h")), openings, "a comment begins with What, Who or Of"),
    (is_script, script_openings, "a comment begins with What, Who or Of"),
    (is_public, inner_openings, "a sentence begins with What, Who or Of"),
    (is_public, trailing, "a comment stands behind a member: put it above"),
    (is_public, torn, "a declaration is torn: put the comment above it"),
    (lambda name: name.endswith(".h"), long_lines, f"more than {COLUMNS} columns"),
    (lambda name: name.endswith(".c"), long_lines_of_c, f"more than {COLUMNS_OF_C} columns"),
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
