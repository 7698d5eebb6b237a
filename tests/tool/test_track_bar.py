# SPDX-License-Identifier: Apache-2.0
"""The progress of holdfast track on a terminal while it takes a table: one bar over its rows, that grows."""
import errno
import os
import pty
import random
import re
import subprocess
import unittest

from toolcase import TOOL, ToolCase

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the systems are small


class Bar(ToolCase):
    def on_terminal(self, *arguments):
        """Runs it with a terminal as standard error: what was shown there."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([TOOL, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs) as child:
            os.close(theirs)
            shown = b""
            try:
                while piece := os.read(ours, 4096):
                    shown += piece
            except OSError as error:  # how Linux says that the other end is closed
                self.assertEqual(error.errno, errno.EIO)
            finally:
                os.close(ours)
        self.assertEqual(child.returncode, 0, shown)
        return shown.decode()

    def tell(self, rows, *options):
        """A table into a new track."""
        if os.path.exists(self.path("t.hf")):
            os.remove(self.path("t.hf"))
        self.ok("track", "create", "t.hf", "--box", "x=-5:5", "--drift", "0.01")
        rng = random.Random(rows)
        self.write("r.csv", "time,x,y\n" + "".join("%g,%r,%r\n" % (0.001 * i, rng.uniform(-5, 5), rng.gauss(0, 1)) for i in range(rows)))
        return self.on_terminal("track", "tell", "t.hf", "--csv", "r.csv", *options)

    def test_one_bar_over_the_rows(self):
        # Bars come after a second: as many rows as this machine needs for some of them.
        rows = 300
        while len(bars := self.tell(rows).split("\r")) < 5:
            rows *= 2
        self.assertEqual((bars[0], bars[-1]), ("", "\x1b[K"))  # and nothing is left
        shares = []
        for bar in bars[1:-1]:
            found = re.fullmatch(r"\x1b\[Ktell     \[(#*) *\] +(\d+) %(  [\d:]+ left)?", bar)
            self.assertIsNotNone(found, bar)
            shares.append(int(found[2]))
        self.assertEqual(shares, sorted(shares))
        self.assertGreater(shares[-1], shares[0])
        self.assertEqual(self.tell(rows // 2, "-q"), "")


if __name__ == "__main__":
    unittest.main()
