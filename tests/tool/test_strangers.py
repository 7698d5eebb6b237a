# SPDX-License-Identifier: Apache-2.0
"""Files beside a track that came from a stranger: no verb deletes another file for it, or waits for it."""
import os
import shutil
import struct
import unittest

from toolcase import ToolCase

MARK = bytes.fromhex("d9d505f920a163d7")
VERBS = [["show"], ["ask", "--time", "1"], ["tell", "--time", "1", "--x", "1", "--y", "1"], ["undo"]]
if shutil.which("gnuplot"):
    VERBS.append(["plot", "-o", "p.svg"])


def journal_naming(victim, pages):
    """A rollback journal without pages, after whose playback SQLite deletes `victim`."""
    name = victim.encode()
    head = MARK + struct.pack(">IIIII", 0, 12345, pages, 512, 4096)
    end = struct.pack(">I", (1 << 30) // 4096 + 1) + name + struct.pack(">II", len(name), sum(name))
    return head.ljust(512, b"\0") + end + MARK


class Journals(ToolCase):
    def setUp(self):
        super().setUp()
        self.write("victim", "years of work\n")
        self.ok("track", "create", "k.hf", "--box", "x=0:10", "--drift", "0.1", "-q")
        self.ok("track", "tell", "k.hf", "--time", "0", "--x", "1", "--y", "1")

    def each_verb_refuses(self, words):
        for verb in VERBS:
            self.fails(["track", verb[0], "k.hf", *verb[1:]], "k.hf-journal", words)
            self.assertEqual(self.read("victim"), "years of work\n")

    def test_a_journal_that_names_another_file(self):
        pages = os.path.getsize(self.path("k.hf")) // 4096
        self.write("k.hf-journal", journal_naming(self.path("victim"), pages))
        self.each_verb_refuses("names another file")
        os.remove(self.path("k.hf-journal"))
        self.assertIn("readings told 1", self.ok("track", "show", "k.hf"))

    def test_a_journal_that_is_a_pipe(self):
        os.mkfifo(self.path("k.hf-journal"))
        self.each_verb_refuses("a pipe")

    def test_a_journal_that_is_another_file(self):
        for make in (os.symlink, os.link):
            make(self.path("victim"), self.path("k.hf-journal"))
            self.each_verb_refuses("is a ")
            os.remove(self.path("k.hf-journal"))


if __name__ == "__main__":
    unittest.main()
