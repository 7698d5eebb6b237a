# SPDX-License-Identifier: Apache-2.0
"""Guides: the commands that these pages show run as they are printed, one after the other, and what a page prints of their output
is what they say."""
import os
import re
import shutil
import subprocess
import unittest

from toolcase import SOURCE, TOOL, ToolCase

STARTS = ("build/holdfast ", "awk ", "printf ", "head ", "sed ")


def blocks(text):
    """The indented blocks of a page, as lists of lines without their indentation."""
    return [re.sub(r"^    ", "", match.group(0), flags=re.M).rstrip("\n").split("\n")
            for match in re.finditer(r"(?:^    \S.*\n(?:^    .*\n|^\n(?=    ))*)", text, re.M)]


def commands(text):
    """What a reader would type: blocks of commands, and the lines behind a '$ ' with the output that follows. (script, printed)"""
    for lines in blocks(text):
        if lines[0].startswith("$ "):
            yield lines[0][2:], [line.strip() for line in lines[1:] if line.strip() not in ("", "...")]
        elif lines[0].startswith(STARTS) and " reproduce " not in lines[0]:
            yield "\n".join(lines), []


@unittest.skipIf(shutil.which("bash") is None, "no bash")
class Guides(ToolCase):
    def runs(self, page, least):
        os.mkdir(self.path("build"))
        os.symlink(TOOL, self.path("build/holdfast"))
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
            found = list(commands(file.read()))
        self.assertGreaterEqual(len(found), least, page)
        for script, printed in found:
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=self.folder, capture_output=True,
                                  text=True, timeout=200, check=False)
            self.assertEqual(done.returncode, 0, (page, script, done.stderr))
            said = [" ".join(line.split()) for line in (done.stdout + done.stderr).split("\n")]
            for line in printed:
                self.assertIn(" ".join(line.split()), said, (page, script))

    def test_kernels(self):
        self.runs("kernels.md", 5)


class Reader(unittest.TestCase):
    def test_blocks(self):
        text = "words\n\n    build/holdfast fit \\\n        -o m\n\n    $ build/holdfast x\n    ...\n      said\n\nwords\n\n    se + linear\n"
        self.assertEqual([lines[0] for lines in blocks(text)], ["build/holdfast fit \\", "se + linear"])
        text = text.replace("-o m\n\n", "-o m\n\nwords\n\n")
        self.assertEqual(list(commands(text)), [("build/holdfast fit \\\n    -o m", []), ("build/holdfast x", ["said"])])


if __name__ == "__main__":
    unittest.main()
