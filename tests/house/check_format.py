# SPDX-License-Identifier: Apache-2.0
"""clang-format has nothing to change (`make format` makes it so)."""
import shutil

import house


def find_problems(source, _build):
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    if program is None:
        print("clang-format is missing (Debian: clang-format)")
        return None
    names = house.c_files(source)
    result = house.run([program, "--dry-run", "-Werror", *names], cwd=source)
    if result.returncode == 0:
        return []
    changed = sorted({line.split(":")[0] for line in result.stderr.split("\n") if ": error:" in line})
    return [f"{name}: run `make format`" for name in changed] or [result.stderr]


if __name__ == "__main__":
    house.main(find_problems)
