# SPDX-License-Identifier: Apache-2.0
"""The table of a struct of settings has one row for each member, and no other; every such struct begins with its size; and the
comment of each member in the public header ends by `Default: x.`, with the value that the table has.

Functions that tell what an object was made with have one form: const T *hf_X_settings_of(const hf_X *x), and likewise
hf_X_report_of(). A hf_X_workspace comes from hf_X_workspace_create() and goes by hf_X_workspace_free(). No function
of the library returns a struct by value.
"""
import re

import house

TABLE = re.compile(r"#define SETTINGS (hf_\w+)\n(.*?)SETTINGS_TABLE\(\1,", re.S)
ROW = re.compile(r"(?m)(?:^    |\}, +)\{([A-Z_]+)\(([\w.]+)(?:, (\w+))?")
MEMBER = re.compile(r"(?:/\*\*((?:(?!\*/).)*)\*/\s*)?([A-Za-z_][^;/]*);", re.S)
INITIAL = re.compile(r"DEFAULT\(((?:[^()]|\([^()]*\))*)\)|\.usual = (\"[^\"]*\")")
SAID = re.compile(r"Default: (\"[^\"]*\"|[-\w./]+?)(?=[.,;]? |[.,;]$)")
WORDS = {"none": "NULL", "infinity": "inf", "-infinity": "-inf", "NaN": "nan"}


def struct_of(text, name):
    found = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", text, re.S)
    return found.group(1) if found else ""


def names_of(statement):
    return [re.findall(r"\w+", part)[-1] for part in statement.split(",") if part.strip()]


def members(text, name):
    return [member for statement in struct_of(text, name).split(";") for member in names_of(statement)]


def said(text, name):
    """{member: the default that its comment says, or None}."""
    found = {}
    for comment, statement in MEMBER.findall(struct_of(text, name)):
        words = SAID.search(" ".join(re.sub(r"(?m)^\s*\* ?", "", comment).split()))
        found.update((member, words and words.group(1)) for member in names_of(statement))
    return found


def value(word):
    """A number as Python has it, and any other word as it stands."""
    number = WORDS.get(word, word).replace("(size_t)", "").replace("(double)", "").replace("INFINITY", "inf")
    try:
        if "<<" in number:
            return float(int(number.split("<<")[0]) << int(number.split("<<")[1]))
        above, _, below = number.partition("/")
        return str(float(above) / float(below or 1))
    except ValueError:
        return number


def initial(kind, choice, row, enums):
    """The default of a row of a table."""
    given = INITIAL.search(row)
    if given:
        return given.group(1) or given.group(2)
    if "UNSET(" in row:
        return "nan"
    if kind == "CHOICE":
        return enums.get(choice, "0")
    return {"FLAG": "false", "LIST": "NULL", "TEXT": "NULL"}.get(kind, "0")


def rows_of(body, enums):
    """{member: default} of a table; of a member of a member under the name of the first row."""
    starts = list(ROW.finditer(body))
    ends = [match.start() for match in starts[1:]] + [len(body)]
    return [(match.group(2), initial(match.group(1), match.group(3), body[match.start():end], enums))
            for match, end in zip(starts, ends)]


def wrong_defaults(header, text, struct, rows):
    """Members whose comment says no default, or another one than the table."""
    table = {}
    for row, default in rows:
        table.setdefault(row.split(".")[0], default)
    for member, words in said(text, struct).items():
        if member in table and words is None:
            yield f"{header}: {struct}.{member}: its comment does not say 'Default: {table[member]}.'"
        elif member in table and str(value(words)) != str(value(table[member])):
            yield f"{header}: {struct}.{member}: its comment says 'Default: {words}', the table {table[member]}"


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
    written = {name: house.read(source, name) for name in names if name.startswith("include/")}
    headers = {name: house.blank(text) for name, text in written.items()}
    enums = {name: first for text in headers.values()
             for first, name in re.findall(r"typedef enum \w+ \{\s*(\w+) = 0\b[^}]*\} (\w+);", text)}
    tables = {struct: (name, rows_of(body, enums)) for name in names if name.startswith("src/")
              for struct, body in TABLE.findall(house.blank(house.read(source, name), keep_strings=True))}
    problems, seen = badly_formed(headers), 0
    for header, text in headers.items():
        for struct in [table.replace("_table", "") for table in house.settings_tables(text)]:
            seen += 1
            declared = members(text, struct)
            name, defaults = tables.get(struct, (header, []))
            rows = [row.split(".")[0] for row, _ in defaults]
            if declared[:1] != ["size"]:
                problems.append(f"{header}: {struct} does not begin with its size")
            problems += [f"{name}: {struct}.{member} has no row" for member in declared[1:] if member not in rows]
            problems += [f"{name}: '{row}' is no member of {struct}" for row in rows if row not in declared]
            problems += [f"{name}: {struct}.{row} has several rows; give it one" for row in set(rows)
                         if rows.count(row) > 1 and not re.search(rf"\({row}\.", house.read(source, name))]
            problems += wrong_defaults(header, written[header], struct, defaults)
    return problems if seen else ["include/: there is no struct of settings"]


if __name__ == "__main__":
    house.main(find_problems)
