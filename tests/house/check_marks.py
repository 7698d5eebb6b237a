# SPDX-License-Identifier: Apache-2.0
"""No unfinished business and no loose style that clang-format lets pass: marks, // comments, tabs, trailing blanks."""
import re

import house

MARK = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")  # split, so that this file does not find itself
# A declaration that offsets a pointer which the same declaration allocates: undefined where there is no memory.
UNCHECKED = re.compile(r"\*(\w+) = \w*alloc\w*\([^;]*?[),]\s*\*\w+ = \1 \+[^;]*;")
TEXT = (".c", ".h", ".py", ".sh", ".cmake", ".txt", ".md", ".1", ".3", ".5")


def find_problems(source, _build):
    problems = []
    for name in house.files(source):
        if not name.endswith(TEXT) or name.startswith("data/") or "/corpus/" in name:
            continue
        text = house.read(source, name)
        for number, line in enumerate(text.split("\n"), 1):
            if MARK.search(line):
                problems.append(f"{name}:{number}: {MARK.search(line).group(1)}")
            if line != line.rstrip() and not name.endswith(".md"):
                problems.append(f"{name}:{number}: blanks at the end of the line")
        if name.endswith((".c", ".h")):
            for match in house.TOKEN.finditer(text):
                if match.group(0).startswith("//"):
                    problems.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: // comment; write /* */")
            for match in UNCHECKED.finditer(house.blank(text)):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{name}:{line}: {match.group(1)} is offset before it is known to be there")
            if "\t" in text:
                problems.append(f"{name}:{text.count(chr(10), 0, text.index(chr(9))) + 1}: a tab")
        if text and not text.endswith("\n"):
            problems.append(f"{name}: no newline at the end")
    return problems


if __name__ == "__main__":
    house.main(find_problems)
