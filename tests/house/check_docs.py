# SPDX-License-Identifier: Apache-2.0
"""The public headers are a manual: each says what it is, every function and type in it has a comment of its own or stands
in a group (lines without a blank between) that has one, and <holdfast/holdfast.h> brings them all. Every function that a
header, a page or a manual speaks of is declared. Links that leave the repository are well-formed, by https, and each stands
once."""
import re

import house


def declarations(text):
    """(first line, last line, what) of the HF_API declarations and type definitions, lines counted from 0."""
    code = house.blank(text)
    for match in re.finditer(r"^HF_API\b[^;]*;|^typedef\b[^;{]*(\{[^}]*\}[^;]*)?;", code, re.M):
        yield code.count("\n", 0, match.start()), code.count("\n", 0, match.end()), " ".join(match.group(0).split())


def undocumented(text):
    lines = text.split("\n")
    documented_until = None  # last line of the documented declaration that we have just passed
    for first, last, what in declarations(text):
        before = lines[first - 1].rstrip() if first else ""
        if before.endswith("*/"):
            opening = first - 1
            while opening > 0 and "/*" not in lines[opening]:
                opening -= 1
            alone = lines[opening].lstrip().startswith("/*")
            documented = alone and lines[opening].lstrip().startswith("/**") \
                or not alone and documented_until == first - 1
        else:
            documented = documented_until == first - 1
        # An opaque handle needs no words of its own: its functions have them.
        opaque = re.fullmatch(r"typedef struct (\w+) \1;", what)
        if documented:
            documented_until = last
        elif not opaque:
            yield first + 1, what


def absent(source):
    """Functions that headers, pages and manuals speak of, hf_name(), and no header declares."""
    known = set(house.public_functions(source))
    for header in house.public_headers(source):  # those of macros, and inline ones
        text = house.read(source, header)
        known.update(table.replace("_table", "_default") for table in house.settings_tables(text))
        known.update(re.findall(r"(?m)^static inline [\w ]+?\b(hf_\w+)\(", text))
    for name in house.files(source):
        if name.startswith(("include/", "docs/", "man/")) or "/" not in name and name.endswith(".md"):
            text = house.read(source, name)
            for match in re.finditer(r"\b(hf_\w+)\(\)", text):
                if match.group(1) not in known:
                    yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(1)}() is declared nowhere"


def links(source):
    """Faults of links of pages to elsewhere. Whether they answer is not looked at: that takes a network."""
    seen = {}
    for name in house.files(source):
        if not name.endswith(".md"):
            continue
        text = house.read(source, name)
        for match in re.finditer(r"\bhttps?:[^\s)>\"'`]*", text):
            link, place = match.group(0).rstrip(".,;:"), f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            if not re.fullmatch(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w.~%+@:/?&=#-]*)?", link):
                yield f"{place}: {link} is no well-formed link by https"
            elif link in seen:
                yield f"{place}: {link} stands in {seen[link]} too; point there"
            seen.setdefault(link, place)


def find_problems(source, _build):
    problems, headers = list(absent(source)) + list(links(source)), house.public_headers(source)
    for name in headers:
        text = house.read(source, name)
        if "@file" not in text or "@brief" not in text:
            problems.append(f"{name}: no @file and @brief at its top")
        for line, what in undocumented(text):
            problems.append(f"{name}:{line}: not documented: {what[:80]}")
    umbrella = "include/holdfast/holdfast.h"
    if umbrella not in headers:
        return problems + [f"{umbrella} is missing"]
    text = house.read(source, umbrella)
    for name in headers:
        if name not in (umbrella, "include/holdfast/export.h") and f"#include <{name[len('include/'):]}>" not in text:
            problems.append(f"{umbrella}: does not include <{name[len('include/'):]}>")
    return problems


if __name__ == "__main__":
    house.main(find_problems)
