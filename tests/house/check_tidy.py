# SPDX-License-Identifier: Apache-2.0
"""clang-tidy has nothing to say about the library, the tool and the examples (.clang-tidy tells what it looks for).

Its static analyser, two thirds of the time, runs by `make tidy` and `make test-all` (HF_TEST_ALL in the environment)."""
import json
import os
import re
import shlex
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import house

FOLDERS = ("src", "apps", "examples")
# Headers that tell the analyser about functions that it cannot see into. Their macros would hurt in the files that define
# these functions.
MODELS = {"src": "tests/house/analyser_library.h", "apps": "tests/house/analyser_tool.h"}
# A twentieth of the analyser's usual effort for one function finds the same here in a sixth of the time.
EFFORT = ["-Xclang", "-analyzer-config", "-Xclang", "max-nodes=10000"]
DEFINES = re.compile(r"^(hf_status hfi_(fail|out_of_memory|cancelled|choice_parse|group_agree)|int (complain|usage_error))\(", re.M)
PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b", re.M)
# Switches of gcc that clang does not know, and those that are no business of clang-tidy.
FOREIGN = re.compile(r"^-f(no-)?(trapping-math|openmp)$|^-W(no-)?error$|^-Werror$")


def commands(source, build):
    """{file: arguments for the compiler} of the files to look at."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        database = json.load(file)
    found = {}
    for entry in database:
        name = os.path.relpath(os.path.realpath(entry["file"]), os.path.realpath(source))
        if name.split("/")[0] in FOLDERS and os.path.exists(entry["file"]):
            found[name] = [word for word in shlex.split(entry["command"])
                           if re.match(r"-(I|D|isystem|std|W|f|O)|/", word) and not FOREIGN.match(word)
                           and not word.endswith((".c", ".o", "/cc", "/gcc", "/clang"))]
    return found


def tidy(program, source, name, arguments):
    extra, text = [], house.read(source, name)
    model = MODELS.get(name.split("/")[0])
    if model and not DEFINES.search(text):
        extra = ["-include", os.path.join(source, model), "-Wno-unused-value"]
    # Pragmas are not followed (no -fopenmp): the analyser understands the plain loops below them, and not what becomes
    # of them. What only a clause uses then looks like a dead store.
    left_out = ["-clang-analyzer-deadcode.DeadStores"] if PRAGMA.search(text) else []
    # Nor does it know that a weak function was found to be there.
    left_out += ["-clang-analyzer-core.CallAndMessage"] if "__attribute__((weak))" in text else []
    left_out += [] if os.environ.get("HF_TEST_ALL") else ["-clang-analyzer-*"]
    checks = ["--checks=" + ",".join(left_out)] if left_out else []
    result = house.run([program, "--quiet", *checks, name, "--", *arguments, "-Wno-unknown-pragmas", "-Wno-unused",
                        *EFFORT, *extra], cwd=source)
    if result.returncode == 0:
        return []
    return [(result.stdout.strip() or result.stderr.strip() or f"{name}: {program} failed").replace(source + "/", "")]


def find_problems(source, build):
    program = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if program is None:
        print("clang-tidy is missing (Debian: clang-tidy)")
        return None
    todo = commands(source, build)
    expected = {name for name in house.c_files(source, "src") if name.endswith(".c")}
    problems = [f"{name} is in no compile command of {build}" for name in sorted(expected - set(todo))]
    # The longest first, so that two processors finish together.
    names = sorted(todo, key=lambda name: -os.path.getsize(os.path.join(source, name)))
    slow = []

    def look(name):
        start = time.monotonic()
        found = tidy(program, source, name, todo[name])
        slow.append((time.monotonic() - start, name))
        return found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(look, names))
    # The paths that lead to each finding first, then the findings alone, one a line.
    for text in sorted({text for problem in found for text in problem}):
        print(text)
        findings = [line for line in text.split("\n") if re.search(r": (error|warning):", line)]
        problems += [line for line in findings or [text] if line not in problems]
    print(f"{len(names)} files looked at; longest: " +
          ", ".join(f"{name} {seconds:.1f} s" for seconds, name in sorted(slow, reverse=True)[:5]))
    return problems


if __name__ == "__main__":
    house.main(find_problems)
