# SPDX-License-Identifier: Apache-2.0
"""Includes run along the arrows of docs/architecture.md: the table there is read, so that the two cannot part ways."""
import os
import re

import house

# Third-party faces that one room hides from all others.
OWNERS = [
    (re.compile(r"^(cblas|lapacke?|openblas_config|f77blas)[\w-]*\.h$|(^|/)(blas|lapack)\w*\.h$"), {"linalg"}),
    (re.compile(r"^omp\.h$"), {"core", "linalg", "kernel"}),
    (re.compile(r"^Random123/"), {"core"}),
    (re.compile(r"^nlopt\.h$"), {"search"}),
    (re.compile(r"^sqlite3\.h$"), {"store"}),
    (re.compile(r"^jansson\.h$"), {"model"}),
]
OPENMP_ROOMS = {"core", "linalg", "kernel"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
UNREADABLE = re.compile(r'^[ \t]*#[ \t]*include\b(?![ \t]*[<"])|^[ \t]*(?:%:|#[ \t]*\w*\\\n)', re.M)  # through a macro, a digraph, a splice
FORTRAN = re.compile(r"\b([sd](?:ge|sy|po|tr|or|st|la)\w{2,4}_|[sd](?:dot|axpy|scal|copy|nrm2|asum|swap|rot)_|"
                     r"i[sd]amax_|cblas_\w+|LAPACKE_\w+)[ \t]*\(")
SQLITE = re.compile(r"\b(sqlite3\w*|SQLITE_\w+)")  # names, that is; comments may say it


TOOL, TOOL_TABLE = "apps/holdfast/", "room of the tool"


def table(text, heading="room"):
    """[(room, set of rooms it may use or None where the cell does not say)] in the order of the table with that heading."""
    rows, column = [], None
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else []
        if not cells:
            if rows:
                break
            column = None
        elif column is None:
            headings = [cell.lower() for cell in cells]
            column = headings.index("may use") if headings[0] == heading and "may use" in headings else None
        elif re.fullmatch(r"`\w+`.*", cells[0]):
            cell = cells[column] if column < len(cells) else ""
            rows.append((re.match(r"`(\w+)`", cells[0]).group(1), cell))
    return rows


def arrows(text, heading="room"):
    """{room: rooms it may include}, itself among them; order of the rooms."""
    rows = table(text, heading)
    order = [room for room, _ in rows]
    allowed, problems = {}, []
    for i, (room, cell) in enumerate(rows):
        above = set(order[:i])
        if re.search(r"\b(all|every|everything)\b", cell):
            named = above - set(re.findall(r"\w+", cell.partition(" but ")[2]))
        else:
            named = set(re.findall(r"\w+", cell)) & set(order)
        for forward in sorted(named - above - {room}):
            problems.append(f"docs/architecture.md: `{room}` may not use `{forward}`, which stands below it")
        allowed[room] = named & above | {room}
    return order, allowed, problems


def cmake_order(source):
    if not os.path.exists(os.path.join(source, "CMakeLists.txt")):
        return None
    match = re.search(r"set\(HF_ROOMS ([^)]*)\)", house.read(source, "CMakeLists.txt"))
    return match and match.group(1).split()


def check_room_file(name, room, text, order, allowed):
    code = house.blank(text, keep_strings=True)
    for match in INCLUDE.finditer(code):
        line, target = code.count("\n", 0, match.start()) + 1, match.group(2)
        other = target.split("/")[0]
        if match.group(1) == "<" and "/" in target and other in order:
            yield f'{name}:{line}: write "{target}"; <> is for public headers and those of others'
        elif match.group(1) == '"' and "/" not in target:
            yield f'{name}:{line}: write "{room}/{target}", with the room'
        elif match.group(1) == '"' and other not in order:
            yield f'{name}:{line}: "{target}" is in no room'
        elif match.group(1) == '"' and other not in allowed[room]:
            yield f'{name}:{line}: `{room}` must not include "{target}" (docs/architecture.md)'
        for pattern, owners in OWNERS:
            if pattern.search(target) and room not in owners:
                yield f"{name}:{line}: only {', '.join(sorted(owners))} may include {target}"
    if room not in OPENMP_ROOMS:
        for match in re.finditer(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b|_Pragma\s*\(\s*\"omp", code, re.M):
            yield f"{name}:{code.count(chr(10), 0, match.start()) + 1}: OpenMP outside {', '.join(sorted(OPENMP_ROOMS))}"
    if room != "linalg":
        for match in FORTRAN.finditer(house.blank(text)):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(1)} belongs to linalg"
    if room != "store":
        for match in SQLITE.finditer(house.blank(text)):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(1)} belongs to store"


def check_tool_file(name, text, order, allowed):
    """A file of the tool stands in a room and includes the library's public headers, its own room's and those it may use."""
    parts = name[len(TOOL):].split("/")
    if len(parts) != 2 or parts[0] not in order:
        yield f"{name}: not in a room of the tool (docs/architecture.md)"
        return
    code = house.blank(text, keep_strings=True)
    for match in INCLUDE.finditer(code):
        line, target = code.count("\n", 0, match.start()) + 1, match.group(2)
        other = target.split("/")[0]
        if match.group(1) == "<" and "/" in target and other in order:
            yield f'{name}:{line}: write "{target}"; <> is for public headers and those of others'
        elif match.group(1) == '"' and "/" not in target:
            yield f'{name}:{line}: write "{parts[0]}/{target}", with the room'
        elif match.group(1) == '"' and other not in order:
            yield f'{name}:{line}: "{target}" is internal; use <holdfast/...>'
        elif match.group(1) == '"' and other not in allowed[parts[0]]:
            yield f'{name}:{line}: `{parts[0]}` of the tool must not include "{target}" (docs/architecture.md)'


def check_outside_file(name, text):
    """The examples live on the public headers, and these on each other and the C library."""
    code = house.blank(text, keep_strings=True)
    for match in INCLUDE.finditer(code):
        line, target = code.count("\n", 0, match.start()) + 1, match.group(2)
        if match.group(1) == '"' and "/" in target:
            yield f'{name}:{line}: "{target}" is internal; use <holdfast/...>'
        elif name.startswith("include/") and (match.group(1) == '"'
                                              or "/" in target and not target.startswith("holdfast/")):
            yield f"{name}:{line}: a public header includes <holdfast/...> and C's own headers only"


def find_problems(source, _build):
    document = house.read(source, "docs/architecture.md")
    order, allowed, problems = arrows(document)
    tool_order, tool_allowed, tool_problems = arrows(document, TOOL_TABLE)
    problems += tool_problems
    if len(order) < 2:
        return ["docs/architecture.md: no table with the columns 'room' and 'may use'"]
    cmake = cmake_order(source)
    if cmake is not None and cmake != order:
        problems.append(f"CMakeLists.txt: HF_ROOMS is {' '.join(cmake)}, docs/architecture.md says {' '.join(order)}")
    for name in house.c_files(source, "src", "apps", "examples", "include"):
        parts, text = name.split("/"), house.read(source, name)
        code = house.blank(text, keep_strings=True)
        problems += [f"{name}:{code.count(chr(10), 0, found.start()) + 1}: write the name of the header on the line of #include"
                     for found in UNREADABLE.finditer(code)]
        if name.startswith(TOOL):
            problems += check_tool_file(name, text, tool_order, tool_allowed)
        elif parts[0] != "src":
            problems += check_outside_file(name, text)
        elif len(parts) != 3 or parts[1] not in order:
            problems.append(f"{name}: not in a room of docs/architecture.md")
        else:
            problems += check_room_file(name, parts[1], text, order, allowed)
    return problems


if __name__ == "__main__":
    house.main(find_problems)
