# SPDX-License-Identifier: Apache-2.0
"""What of plain English can be counted: comments of C begin with their subject and not with What, Who or Of; declarations of
public headers are not torn by the comment behind them; lines of public headers and of markdown have at most 100 columns.

prose.txt counts what there was when the rule came, by rule and by the name of a file without its folder, so that a file that moves
keeps its count. No file may get worse, and `check_prose.py --source . --write` takes from the list what has got better."""
import os
import re
import sys

import house

LIST = "tests/house/prose.txt"
COLUMNS = 100
OPENING = re.compile(r"/\*\*?<?[\s*]*(?:@brief\s+)?(?:What|Who|Of)\b")
TORN = re.compile(r"^[ ]+[A-Za-z][\w *]*\n[ ]+\**\w+(?:\[[^\]]*\])?;", re.M)
PRINTED = "<!-- tables -->"  # below it a page has what programs print


def openings(text):
    """(line) of comments that begin with What, Who or Of."""
    for match in house.TOKEN.finditer(text):
        if OPENING.match(match.group(0)):
            yield text.count("\n", 0, match.start()) + 1


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


RULES = {
    "opening": (lambda name: name.endswith((".c", ".h")), openings, "a comment begins with What, Who or Of"),
    "torn": (is_header, torn, "a declaration is torn: put the comment above it"),
    "columns": (is_header, long_lines, f"more than {COLUMNS} columns"),
    "prose": (lambda name: name.endswith(".md"), long_prose, f"more than {COLUMNS} columns"),
}


def found(source):
    """{(rule, name without folder): [path:line]}"""
    places = {}
    for name in house.files(source):
        for rule, (applies, lines, _) in RULES.items():
            if applies(name):
                text = house.read(source, name)
                places.setdefault((rule, os.path.basename(name)), []).extend(f"{name}:{line}" for line in lines(text))
    return places


def allowed(source):
    if not os.path.exists(os.path.join(source, LIST)):
        return {}
    rows = [line.split() for line in house.read(source, LIST).split("\n") if line and not line.startswith("#")]
    return {(rule, name): int(count) for count, rule, name in rows}


def find_problems(source, _build):
    problems, most = [], allowed(source)
    for (rule, name), places in sorted(found(source).items()):
        limit = most.get((rule, name), 0)
        if len(places) > limit:
            problems.append(f"{RULES[rule][2]}: {len(places)} in {name}, of which {LIST} allows {limit}: {', '.join(places)}")
    return problems


def write(source):
    """The list anew, where nothing may be more than it was."""
    most, places = allowed(source), found(source)
    rows = sorted((rule, name, min(len(lines), most.get((rule, name), len(lines) if not most else 0)))
                  for (rule, name), lines in places.items())
    with open(os.path.join(source, LIST), "w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: Apache-2.0\n# Exceptions of check_prose.py, which only become fewer: count, rule, file.\n")
        file.writelines(f"{count} {rule} {name}\n" for rule, name, count in rows if count)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write(sys.argv[sys.argv.index("--source") + 1])
    else:
        house.main(find_problems)
