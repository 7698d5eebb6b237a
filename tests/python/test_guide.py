# SPDX-License-Identifier: Apache-2.0
"""The guide docs/python.md does what it says: its programs run in order, and print what it shows; numbers to a hundredth."""
import contextlib
import io
import os
import re
import tempfile
import warnings

import testing
from testing import SOURCE, Case

testing.need("pandas", "python3-pandas")
testing.need("matplotlib", "python3-matplotlib").use("agg")

NUMBER = re.compile(r"-?\d+\.\d*|-?\d+")


def steps():
    """(program, what it prints) in their order."""
    with open(os.path.join(SOURCE, "docs", "python.md"), encoding="utf-8") as file:
        text = file.read()
    found = []
    for kind, body in re.findall(r"```(python|text)\n(.*?)```", text, re.S):
        if kind == "python":
            found.append([body, ""])
        else:
            found[-1][1] = body
    return found


def rounded(text):
    """Words and numbers, apart."""
    return NUMBER.sub("#", " ".join(text.split())).replace(" ", ""), [float(number) for number in NUMBER.findall(text)]


class Guide(Case):
    def test_programs(self):
        space, found = {}, steps()
        self.assertGreater(len(found), 5)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.symlink(os.path.join(SOURCE, "data"), os.path.join(folder, "data"))
            os.chdir(folder)
            for program, expected in found:
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(program, space)
                (words, numbers), (own_words, own_numbers) = rounded(expected), rounded(printed.getvalue())
                self.assertEqual(own_words, words, printed.getvalue())
                for one, other in zip(own_numbers, numbers):
                    self.assertLess(abs(one - other), 0.01 * max(1, abs(other)), printed.getvalue())
            os.chdir(SOURCE)


if __name__ == "__main__":
    testing.main()
