# SPDX-License-Identifier: Apache-2.0
"""Pages whose programs the tests run: the programs of a language, commands of a shell, what the page says they print, and whether
they did."""
import os
import re
import subprocess

NUMBER = re.compile(r"-?\d+\.\d*|-?\d+")


def steps(source, page, language):
    """[program, what it prints] in their order."""
    with open(os.path.join(source, "docs", page), encoding="utf-8") as file:
        text = file.read()
    found = []
    for kind, body in re.findall(rf"```({language}|text)\n(.*?)```", text, re.S):
        if kind == language:
            found.append([body, ""])
        else:
            found[-1][1] = body
    return found


def tabs(source, label):
    """The blocks of docs/start.md behind a tab's label."""
    with open(os.path.join(source, "docs", "start.md"), encoding="utf-8") as file:
        found = re.findall(rf"^```{{tab}} {label}\n((?:.*\n)*?)```$", file.read(), re.M)
    assert len(found) >= 2, label
    return ["\n".join(line[4:] for line in block.split("\n")) for block in found]


def rounded(text):
    """Words and numbers, apart."""
    return NUMBER.sub("#", " ".join(text.split())).replace(" ", ""), [float(number) for number in NUMBER.findall(text)]


def compare(case, printed, expected):
    """The words are those that were expected, and numbers the same to a hundredth."""
    (words, numbers), (own_words, own_numbers) = rounded(expected), rounded(printed)
    case.assertEqual(own_words, words, printed)
    for one, other in zip(own_numbers, numbers):
        case.assertLess(abs(one - other), 0.01 * max(1, abs(other)), printed)


# ---- commands of a shell ----------------------------------------------------------------------------------------------
# A fence with its language; a block that is indented, or code in a line.
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
PLACES = re.compile(r"((?:^    \S.*\n(?:^    .*\n|^\n(?=    ))*))|`([^`]+)`", re.M)
# Beginnings of blocks that a reader would type, behind their remarks and variables.
TYPED = re.compile(r"(?:# .*\n)*(?:\$ |\w+='|\w+=\"|(?:[A-Z_]+=\S+ )*(?:(?:holdfast|make|cmake|cc|awk|printf|head|sed|cat|zcat|export|"
                   r"arm-none-eabi-gcc|mpirun|cp|dpkg-buildpackage|apt-get|(?:build|scripts|/usr/bin)/\S+)(?=[ \n]|$)))")
# A command in a line is one where it names its files, or an experiment's options.
INLINE = re.compile(r"(?:build/)?holdfast (?:\S+ )+?(?:\S+\.(?:csv|hf)\b|--)")


def site(source):
    """Files of the pages of the documentation site that are written by hand, by the name that docs/ gives them."""
    found = ["../README.md", "../data/README.md", "../data/bed/README.md", "../bindings/python/README.md"]
    for folder in ("docs", "docs/methods"):
        found += [os.path.relpath(os.path.join(folder, name), "docs")
                  for name in sorted(os.listdir(os.path.join(source, folder))) if name.endswith(".md")]
    return found


def fenced(match):
    """A fence of the shell as an indented block, and nothing of any other."""
    language, body = match.groups()
    if language in ("sh", "bash"):
        return ":\n" + re.sub(r"^(?=.)", "    ", body, flags=re.M) + ":"
    return f":\n{body}:" if language == "{tab} Shell" else ""


def commands(text):
    """Commands that a reader would type, in their order: (script, printed). Scripts are blocks of lines, code in a line, and the
    lines behind a '$ ' with the output that follows, which are those that are printed."""
    for block, code in PLACES.findall(FENCE.sub(fenced, text)):
        if code:
            code = " ".join(code.split())
            if INLINE.match(code) and ("reproduce" in code or not re.search(r" --$", INLINE.match(code).group(0))):
                yield code, []
            continue
        lines = re.sub(r"^    ", "", block, flags=re.M).rstrip("\n").split("\n")
        if lines[0].startswith("$ "):
            typed = next(k for k, line in enumerate(lines) if not line.endswith("\\")) + 1
            yield "\n".join(lines[:typed])[2:], [line.strip() for line in lines[typed:] if line.strip() not in ("", "...")]
        elif TYPED.match("\n".join(lines)):
            yield "\n".join(lines), []


def pieces(script):
    """The commands of a script, each with its loops, quotes and documents whole."""
    found, piece = [], ""
    for line in script.split("\n"):
        piece += line
        said = subprocess.run(["bash", "-n", "-c", piece], capture_output=True, text=True, check=False) if not line.endswith("\\") else None
        if said and said.returncode == 0 and not said.stderr:
            found.append(piece)
            piece = ""
        else:
            piece += "\n"
    assert not piece, piece
    return found
