# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone: the public ones as C17 and C++17 with all warnings, the internal ones as C17.

The comment of each public function that returns a status names errors: HF_ERR_..., or whose errors they are. It names a cost too: O(...),
that of another function, flops or a time. Functions that cannot fail may leave that to the comment of the file, where it says of all
others that they are O(1). Each header says which threads may call its functions.
"""
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import house

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def compile_alone(source, header, language):
    compiler, standard = {"c": ("gcc", "c17"), "c++": ("g++", "c++17")}[language]
    include = header.split("/", 1)[1]
    command = [compiler, "-x", language, f"-std={standard}", "-D_POSIX_C_SOURCE=200809L", *WARNINGS, "-fopenmp",
               "-fsyntax-only", "-Iinclude", "-Isrc", "-"]
    result = house.run(command, cwd=source, input=f"#include <{include}>\n#include <{include}>\nint main(void);\n")
    if result.returncode:
        return [f"{header} does not compile alone as {standard}:\n{result.stderr.strip()}"]
    return []


# Words that say a cost, and those of a file that say it for all its functions which only tell what is at hand.
COST = re.compile(r"\bO\(|\b[Cc]osts?\b|\bflops\b|\d (?:ns|us|ms)\b")
COST_OF_THE_REST = re.compile(r"\bO\(1\)")
THREADS = re.compile(r"thread[- ]safe|any thread|any number of threads|threads? (?:at a time|may)|(?:one|each|several|no other|another) thread", re.I)


def described(text):
    """(declaration, comment) of each function: a comment is that of all up to the next one, or to a type."""
    comment = ""
    for part in re.findall(r"/\*\*(?!<).*?\*/|^\}[^\n]*|^typedef[^;{]*;|^HF_API\b[^;]*;", text, re.S | re.M):
        if part.startswith("/**"):
            comment = part
        elif not part.startswith("HF_API"):
            comment = ""
        elif "(" in part:
            yield part, comment


def unsaid(source, header):
    """Functions whose comment says nothing of errors or cost, and a header that says nothing of threads."""
    text, silent = house.read(source, header), []
    head = re.search(r"/\*\*\s*\* @file.*?\*/", text, re.S)
    rest = head is not None and COST_OF_THE_REST.search(head.group(0))
    functions = list(described(text))
    for declaration, comment in functions:
        name = re.search(r"(\w+)\s*\(", declaration.replace("HF_API", "", 1)).group(1)
        fails = re.match(r"HF_API\s+hf_status\s", declaration)
        if fails and not re.search(r"HF_ERR|[Ee]rrors", comment):
            silent.append(f"{header}: the comment of {name}() names no error")
        if not COST.search(comment) and (fails or not rest):
            silent.append(f"{header}: the comment of {name}() names no cost")
    if functions and not THREADS.search(re.sub(r"\s*\n \* ?", " ", text)):
        silent.append(f"{header}: says nothing of threads")
    return silent


def find_problems(source, _build):
    jobs = [(source, header, language) for header in house.public_headers(source) for language in ("c", "c++")]
    jobs += [(source, name, "c") for name in house.c_files(source, "src") if name.endswith(".h")]
    if shutil.which("g++") is None:
        print("g++ is missing: headers not tried as C++")
        return None
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = [problem for found in pool.map(lambda job: compile_alone(*job), jobs) for problem in found]
    return compiled + [problem for header in house.public_headers(source) for problem in unsaid(source, header)]


if __name__ == "__main__":
    house.main(find_problems)
