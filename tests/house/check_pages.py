# SPDX-License-Identifier: Apache-2.0
"""Pages keep up with what they describe: docs/kernels.md has a section with a picture for every kernel that the parser knows, its
aliases and parameters in it; pages of results begin with five lines (claimed, came out, did not, not comparable, command); links
of pages lead to files and headings that are there; and the README leads to every page."""
import os
import re

import house

KERNELS, FORMS = "docs/kernels.md", "src/kernel/forms.c"
ROW = re.compile(r'\{"(\w+)",\s*\{([^}]*)\},\s*\w+,\s*\w+,\s*\w+,\s*\d+,\s*\{([^}]*)\}\}')
FIVE, WITHIN = ("Claimed", "Came out", "Did not", "Not comparable", "Command"), 25
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def kernels(source):
    """(name, aliases, parameters) of every row of the parser's table."""
    text = house.read(source, FORMS)
    fields = re.findall(r'"(\w+)"', re.search(r"FIELD\[HFI_FIELDS\] = \{([^}]*)\}", text).group(1))
    table = text[text.index("FORM[HFI_FORMS] = {"):]
    for name, aliases, used in ROW.findall(table[:table.index("\n};")]):
        used = re.findall(r"HFI_FIELD_(\w+)", used)
        yield name, re.findall(r'"(\w+)"', aliases), [field for field in fields if field.upper() in used]


def sections(text):
    """The text below each heading of the second level, by its name."""
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def check_kernels(source):
    found = sections(house.read(source, KERNELS))
    rows = list(kernels(source))
    if len(rows) < 2:
        yield f"{FORMS}: its table of kernels was not understood"
    for name, aliases, parameters in rows:
        if name not in found:
            yield f"{KERNELS}: no section about the kernel {name}"
            continue
        for word in aliases + parameters:
            if f"`{word}" not in found[name]:
                yield f"{KERNELS}: the section about {name} does not name `{word}`"
        if f"](pictures/kernel-{name}.svg)" not in found[name]:
            yield f"{KERNELS}: the section about {name} has no picture of draws"


def begins_with_five(text):
    """Whether a list of the five lines, each with words behind its bold name, follows the title directly and near the top."""
    lines = text.split("\n")[:WITHIN]
    body = [line for line in lines[1:] if line.strip()]
    items = [re.fullmatch(r"- \*\*(\w+(?: \w+)?)\b[^*]*\*\*:? ?(.*)", line) for line in lines if line.startswith("- ")]
    return (lines[0].startswith("# ") and body and body[0].startswith("- **")
            and tuple(item.group(1) if item and item.group(2).strip() else "" for item in items[:len(FIVE)]) == FIVE)


def check_five(source):
    for name in house.files(source):
        if re.fullmatch(r"docs/results-.*\.md", name) and not begins_with_five(house.read(source, name)):
            yield f"{name}: does not begin with the five lines {', '.join(FIVE)}, in this order, by line {WITHIN}"


def anchor(heading):
    """The name that a page of the repository gives to a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def anchors(text):
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        name, k = anchor(heading), 0
        while name + (f"-{k}" if k else "") in found:
            k += 1
        found.add(name + (f"-{k}" if k else ""))
    return found


def links(text):
    """(line, target) of the links that lead to files; code is no link."""
    text = re.sub(r"^(?: {4}|\t).*$|`[^`\n]*`", lambda m: " " * len(m.group(0)), text, flags=re.M)
    for match in LINK.finditer(text):
        if not re.match(r"\w+:", match.group(1)):
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def check_links(source):
    pages = [name for name in house.files(source) if name.endswith(".md")]
    texts = {name: house.read(source, name) for name in pages}
    leads = {}
    for name, text in texts.items():
        leads[name] = set()
        for line, target in links(text):
            path, _, part = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            leads[name].add(file)
            if not os.path.exists(os.path.join(source, file)):
                yield f"{name}:{line}: a link to {target}, which is not there"
            elif part and file in texts and part not in anchors(texts[file]):
                yield f"{name}:{line}: a link to {target}, and {file} has no such heading"
    reached, todo = set(), ["README.md"]
    while todo:
        name = todo.pop()
        if name in leads and name not in reached:
            reached.add(name)
            todo.extend(leads[name])
    for name in pages:
        if name.startswith("docs/") and name not in reached:
            yield f"{name}: no link leads here from README.md"


def find_problems(source, _build):
    return [*check_kernels(source), *check_five(source), *check_links(source)]


if __name__ == "__main__":
    house.main(find_problems)
