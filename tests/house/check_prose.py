# SPDX-License-Identifier: Apache-2.0
"""Rules of plain English that can be counted, without exceptions: sentences of C comments, of messages and of pages have at most 25
words; sentences of C comments, and comments of Python, shell and CMake, begin with their subject and not with What, Who or Of;
comments of public headers stand above members, and tear no declaration; lines of headers and markdown have at most 100 columns,
those of C 120; identifiers have the terms of the field."""
import re

import house
import sentences

COLUMNS, COLUMNS_OF_C = 100, 120
WORDS = 25
OPENING = re.compile(r"\W*(?:What|Who|Of)\b")
DISPLAYED = re.compile(r"[ ]*\*(?:[ ]{4}|[ ]*\|)")  # a formula or a row of a table in a comment cannot be broken
SCRIPT = re.compile(r'\s*(?:#+ ?|""")(?:What|Who|Of)\b')
METAPHOR = re.compile(r"\b\w*(?:peel|settle(?!d)|bend|bench(?!mark)|pull(?!ed))\w*\b")
TORN = re.compile(r"^[ ]+[A-Za-z][\w *]*(?:,[ ]*\n[ ]*)?\n(?:[ ]*\n)*[ ]+\**[\w\[\]]+;", re.M)
ROW = re.compile(r" {0,3}\|")  # a row of a table of a page; deeper it is a formula


def openings(text):
    """(line) of sentences of comments that begin with What, Who or Of."""
    return [line for line, sentence in sentences.of_c(text) if OPENING.match(sentence)]


def too_long(found):
    return [line for line, sentence in found if sentences.words(sentence) > WORDS]


def long_comments(text):
    return too_long(sentences.of_c(text))


def long_messages(text):
    return too_long(sentences.messages(text))


def long_page(text):
    return too_long(sentences.of_page(text))


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
    return [number for number, line in enumerate(text.split(sentences.PRINTED)[0].split("\n"), 1)
            if len(line) > COLUMNS and not ROW.match(line)]


def metaphors(text):
    """(line) of identifiers with a picture for which the field has a term."""
    for match in METAPHOR.finditer(house.blank(text)):
        yield text.count("\n", 0, match.start()) + 1


def is_c(name):
    return name.endswith((".c", ".h"))


def is_page(name):
    return name.endswith(".md")


def is_ours(name):
    return is_c(name) and name.startswith(("src/", "apps/", "include/"))


def is_public(name):
    return name.startswith("include/")


def is_script(name):
    return name.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or name.startswith("scripts/")


RULES = (
    (is_c, openings, "a sentence of a comment begins with What, Who or Of"),
    (is_c, long_comments, f"a sentence of a comment has more than {WORDS} words"),
    (is_c, long_messages, f"a sentence of a message has more than {WORDS} words"),
    (is_page, long_page, f"a sentence has more than {WORDS} words"),
    (is_script, script_openings, "a comment begins with What, Who or Of"),
    (is_ours, metaphors, "a metaphor (peel, settle, bend, pull, bench) where the field has a term: trim, iterate, curvature ..."),
    (is_public, trailing, "a comment stands behind a member: put it above"),
    (is_public, torn, "a declaration is torn: put the comment above it"),
    (lambda name: name.endswith(".h"), long_lines, f"more than {COLUMNS} columns"),
    (lambda name: name.endswith(".c"), long_lines_of_c, f"more than {COLUMNS_OF_C} columns"),
    (is_page, long_prose, f"more than {COLUMNS} columns"),
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
