# SPDX-License-Identifier: Apache-2.0
"""clang-format has nothing to change (`make format` makes it so). Headers have the style of the public ones: 100 columns."""
import shutil

import house


def find_problems(source, _build):
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    if program is None:
        print("clang-format is missing (Debian: clang-format)")
        return None
    names = house.c_files(source)
    problems = []
    for style, some in (("file", [name for name in names if name.endswith(".c")]),
                        ("file:include/.clang-format", [name for name in names if name.endswith(".h")])):
        result = house.run([program, "--dry-run", "-Werror", f"--style={style}", *some], cwd=source)
        if result.returncode != 0:
            changed = sorted({line.split(":")[0] for line in result.stderr.split("\n") if ": error:" in line})
            problems += [f"{name}: run `make format`" for name in changed] or [result.stderr]
    return problems


if __name__ == "__main__":
    house.main(find_problems)
