# SPDX-License-Identifier: Apache-2.0
"""Functions that the house checks share: which files there are, C source without comments, and how a finding is told."""
import argparse
import os
import re
import subprocess
import sys

SKIPPED = 77


def main(find_problems):
    """Runs find_problems(source, build), prints what it found, and exits like a test."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", default=None)
    arguments = parser.parse_args()
    problems = find_problems(os.path.abspath(arguments.source), arguments.build and os.path.abspath(arguments.build))
    if problems is None:
        sys.exit(SKIPPED)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problem(s)")
    sys.exit(1 if problems else 0)


def files(source):
    """Every file of the project, relative to its root: what git knows or would add, without build products."""
    git = subprocess.run(["git", "-C", source, "ls-files", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, text=True)
    if git.returncode == 0:
        names = set(git.stdout.split("\n")) - {""}
    else:  # an unpacked archive
        names = set()
        for folder, folders, inner in os.walk(source):
            folders[:] = [f for f in folders if f != ".git" and not f.startswith("build")]
            names.update(os.path.relpath(os.path.join(folder, name), source) for name in inner)
    return sorted(name for name in names if os.path.isfile(os.path.join(source, name)))


def c_files(source, *folders):
    """C files and headers under the folders given (all if none), relative."""
    return [name for name in files(source) if name.endswith((".c", ".h"))
            and (not folders or name.split("/")[0] in folders)]


def read(source, name):
    with open(os.path.join(source, name), encoding="utf-8") as file:
        return file.read()


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text, keep_strings=False):
    """C text of which comments (and strings, unless kept) are blanks: offsets and lines stay what they were."""
    def replace(match):
        token = match.group(0)
        if keep_strings and token[0] in "\"'":
            return token
        return re.sub(r"[^\n]", " ", token)
    return TOKEN.sub(replace, text)


def count_questions(source, question, wanted, exceptions, check, what, instead):
    """A problem for every C file of src and apps that has more matches of `question` than `exceptions` ({name: (count, reason)}) allow,
    and for every exception with a count that is not its file's any more."""
    problems = []
    counts = dict.fromkeys(exceptions, 0)
    for name in c_files(source, "src", "apps"):
        if not wanted(name):
            continue
        code = blank(read(source, name))
        lines = [code.count("\n", 0, match.start()) + 1 for match in question.finditer(code)]
        counts[name] = len(lines)
        allowed, _ = exceptions.get(name, (0, ""))
        if len(lines) > allowed:
            problems.append(f"{name}: {what} on lines {', '.join(map(str, lines))}, {allowed} are allowed: {instead}")
    for name, (allowed, _) in exceptions.items():
        if counts[name] < allowed:
            problems.append(f"{check}: {name} has {counts[name]} questions now, not {allowed}")
    return problems


def public_headers(source):
    return [name for name in c_files(source, "include") if name.endswith(".h")]


def public_functions(source):
    """{name: header} of everything declared with HF_API."""
    found = {}
    for header in public_headers(source):
        if header.endswith("/export.h"):  # defines HF_API
            continue
        for match in re.finditer(r"^HF_API\b([^;]*);", blank(read(source, header)), re.M):
            name = re.search(r"(\w+)\s*\(", match.group(1))
            found[name.group(1) if name else match.group(1).split()[-1]] = header
        found.update((table, header) for table in settings_tables(read(source, header)))
    return found


def settings_tables(text):
    """Functions that return the table of a struct of settings, which a macro declares: tests/api/test_sizes.c asks all."""
    return [name + "_table" for name in re.findall(r"(?m)^HF_SETTINGS(?:_TABLE)?\((hf_\w+)\)", text)]


def objects(source, build):
    """{source file: (target it belongs to, object file)} of the library's rooms and the tool, without those left over
    from sources that are gone."""
    found = {}
    for folder, _, names in os.walk(os.path.join(build, "CMakeFiles")):
        owner = re.search(r"/(hfo_\w+|holdfast)\.dir/(.*)", folder + "/")
        for name in names:
            label = owner and name.endswith(".o") and owner.group(2) + name[:-2]
            if label and os.path.exists(os.path.join(source, label)):
                found[label] = (owner.group(1), os.path.join(folder, name))
    return found


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)
