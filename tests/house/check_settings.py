# SPDX-License-Identifier: Apache-2.0
"""The table of a struct of settings has one row for each member, and no other; every such struct begins with its size."""
import re

import house

TABLE = re.compile(r"#define SETTINGS (hf_\w+)\n(.*?)SETTINGS_TABLE\(\1,", re.S)
ROW = re.compile(r"(?m)^    \{[A-Z_]+\((\w+)")


def members(text, name):
    struct = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", text, re.S)
    parts = [part for statement in struct.group(1).split(";") for part in statement.split(",")] if struct else []
    return [re.findall(r"\w+", part)[-1] for part in parts if part.strip()]


def find_problems(source, _build):
    names = [name for name in house.files(source) if name.endswith((".c", ".h"))]
    headers = {name: house.blank(house.read(source, name)) for name in names if name.startswith("include/")}
    tables = {struct: (name, ROW.findall(body)) for name in names if name.startswith("src/")
              for struct, body in TABLE.findall(house.blank(house.read(source, name), keep_strings=True))}
    problems, seen = [], 0
    for header, text in headers.items():
        for struct in [table.replace("_table", "") for table in house.settings_tables(text)]:
            seen += 1
            declared = members(text, struct)
            name, rows = tables.get(struct, (header, []))
            if declared[:1] != ["size"]:
                problems.append(f"{header}: {struct} does not begin with its size")
            problems += [f"{name}: {struct}.{member} has no row" for member in declared[1:] if member not in rows]
            problems += [f"{name}: '{row}' is no member of {struct}" for row in rows if row not in declared]
            problems += [f"{name}: {struct}.{row} has several rows; give it one" for row in set(rows)
                         if rows.count(row) > 1 and not re.search(rf"\({row}\.", house.read(source, name))]
    return problems if seen else ["include/: there is no struct of settings"]


if __name__ == "__main__":
    house.main(find_problems)
