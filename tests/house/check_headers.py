# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone: the public ones as C17 and C++17 with all warnings, the internal ones as C17.

The comment of each public function that returns a status names errors: HF_ERR_..., or whose errors they are.
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


def names_no_error(source, header):
    """Functions whose comment, or that of the group they stand in, says nothing of errors."""
    comment, silent = "", []
    with open(os.path.join(source, header), encoding="utf-8") as file:
        text = file.read()
    for part in re.findall(r"/\*\*.*?\*/|^HF_API\s+hf_status\s[^;]*;", text, re.S | re.M):
        if part.startswith("/**"):
            comment = part
        elif not re.search(r"HF_ERR|[Ee]rrors", comment):
            name = re.search(r"(hf_\w+)[(]", part).group(1)
            silent.append(f"{header}: the comment of {name}() names no error")
    return silent


def find_problems(source, _build):
    jobs = [(source, header, language) for header in house.public_headers(source) for language in ("c", "c++")]
    jobs += [(source, name, "c") for name in house.c_files(source, "src") if name.endswith(".h")]
    if shutil.which("g++") is None:
        print("g++ is missing: headers not tried as C++")
        return None
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = [problem for found in pool.map(lambda job: compile_alone(*job), jobs) for problem in found]
    return compiled + [problem for header in house.public_headers(source) for problem in names_no_error(source, header)]


if __name__ == "__main__":
    house.main(find_problems)
