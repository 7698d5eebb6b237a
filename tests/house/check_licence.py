# SPDX-License-Identifier: Apache-2.0
"""Every file that can carry a comment says under which licence it is, in its first line (second after #!)."""
import os

import house

TAG = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = (".c", ".h", ".py", ".sh", ".cmake", ".1", ".3", ".5", ".R", ".gp", ".supp")
NAMES = ("CMakeLists.txt", "Makefile", ".clang-tidy")
FOLDERS = ("scripts/", ".ci/", "completions/")


def needs_tag(name):
    return (name.endswith(SUFFIXES) or os.path.basename(name) in NAMES or name.startswith(FOLDERS)) \
        and "/corpus/" not in name


def find_problems(source, _build):
    problems = [] if os.path.exists(os.path.join(source, "LICENSE")) else ["LICENSE is missing"]
    for name in house.files(source):
        if needs_tag(name):
            lines = house.read(source, name).split("\n", 2)
            if TAG not in lines[1 if lines[0].startswith("#!") else 0]:
                problems.append(f"{name}:1: no '{TAG}'")
    return problems


if __name__ == "__main__":
    house.main(find_problems)
