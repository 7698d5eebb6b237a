# SPDX-License-Identifier: Apache-2.0
"""Pages whose programs the tests run: the programs of a language, what the page says they print, and whether they did."""
import os
import re

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
