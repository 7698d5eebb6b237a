# SPDX-License-Identifier: Apache-2.0
"""The table of a struct of settings has one row for each member, and no other; every such struct begins with its size.

Functions that tell what an object was made with have one form: const T *hf_X_settings_of(const hf_X *x), and likewise
hf_X_report_of(). A hf_X_workspace comes from hf_X_workspace_create() and goes by hf_X_workspace_free(). No function
of the library returns a struct by value.
"""
import re

import house

TABLE = re.compile(r"#define SETTINGS (hf_\w+)\n(.*?)SETTINGS_TABLE\(\1,", re.S)
ROW = re.compile(r"(?m)(?:^    |\}, +)\{[A-Z_]+\((\w+)")


def members(text, name):
    struct = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", text, re.S)
    parts = [part for statement in struct.group(1).split(";") for part in statement.split(",")] if struct else []
    return [re.findall(r"\w+", part)[-1] for part in parts if part.strip()]


FUNCTION = re.compile(r"^HF_API\s+([\w\s]+?[\s*]+)(hf_\w+)\(([^;]*)\);", re.M)


def badly_formed(headers):
    """Public functions whose form is not the one of their kind."""
    structs = {name for text in headers.values() for name in re.findall(r"typedef struct (hf_\w+) \{", text)}
    functions = [(header, *(" ".join(part.split()) for part in found.groups()))
                 for header, text in headers.items() for found in FUNCTION.finditer(text)]
    names, problems = {name for _, _, name, _ in functions}, []
    for header, result, name, parameters in functions:
        told = re.fullmatch(r"const hf_\w+_(settings|report) \*", result)
        of = re.fullmatch(r"(hf_\w+)_(settings|report)_of", name)
        made = re.fullmatch(r"(hf_\w+_workspace) \*", result)
        if (told or of) and not (told and of and told.group(1) == of.group(2)
                                 and re.fullmatch(rf"const {of.group(1)} \*\w+", parameters)):
            problems.append(f"{header}: {name}() is not of the form const T *hf_X_settings_of(const hf_X *x), or _report_of")
        if made and (name != made.group(1) + "_create" or made.group(1) + "_free" not in names):
            problems.append(f"{header}: {name}() is not {made.group(1)}_create() with a {made.group(1)}_free()")
        if result in structs:
            problems.append(f"{header}: {name}() returns a struct by value; return a pointer to constants")
    return problems


def find_problems(source, _build):
    names = [name for name in house.files(source) if name.endswith((".c", ".h"))]
    headers = {name: house.blank(house.read(source, name)) for name in names if name.startswith("include/")}
    tables = {struct: (name, ROW.findall(body)) for name in names if name.startswith("src/")
              for struct, body in TABLE.findall(house.blank(house.read(source, name), keep_strings=True))}
    problems, seen = badly_formed(headers), 0
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
