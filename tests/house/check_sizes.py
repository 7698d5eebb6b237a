# SPDX-License-Identifier: Apache-2.0
"""No function longer than 80 lines, no file longer than 600, where the product's code lives."""
import house

FUNCTION_LINES, FILE_LINES = 80, 600


def functions(text):
    """(first line, last line, name) of each function. clang-format puts its braces alone at the left margin."""
    lines = house.blank(text).split("\n")
    start = None
    for number, line in enumerate(lines):
        if line.rstrip() == "{":
            start = number
            while start > 0 and lines[start - 1].strip() and lines[start - 1][0] not in "#}" \
                    and not lines[start - 1].rstrip().endswith(";"):
                start -= 1
        elif line.startswith("}") and start is not None:
            head = " ".join(lines[start:number]).split("(")[0].split()
            yield start + 1, number + 1, head[-1] if head else "?"
            start = None


def find_problems(source, _build):
    problems = []
    for name in house.c_files(source, "src", "apps", "include"):
        text = house.read(source, name)
        length = text.count("\n")
        if length > FILE_LINES:
            problems.append(f"{name}: {length} lines, {FILE_LINES} at most")
        for first, last, function in functions(text):
            if last - first + 1 > FUNCTION_LINES:
                problems.append(f"{name}:{first}: {function} has {last - first + 1} lines, {FUNCTION_LINES} at most")
    return problems


if __name__ == "__main__":
    house.main(find_problems)
