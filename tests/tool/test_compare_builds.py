# SPDX-License-Identifier: Apache-2.0
"""scripts/compare-builds: the same tool is the same, and small changes of numbers, words and files are found."""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import unittest

from toolcase import SANITIZED, SOURCE, TOOL, ToolCase

SCRIPT = os.path.join(SOURCE, "scripts", "compare-builds")
CASES = "^(mean-zero|certify-rigorous|study-start|dry-run)$"


class CompareBuilds(ToolCase):
    def wrapper(self, body):
        """A tool that does something else: TOOL stands for the real one, "$@" for its arguments."""
        self.write("changed", "#!/bin/sh\n" + body.replace("TOOL", TOOL) + "\n")
        os.chmod(self.path("changed"), 0o755)
        return self.path("changed")

    def compare(self, new, only=CASES, *options):
        done = subprocess.run(["/usr/bin/python3", SCRIPT, TOOL, new, "--only", only, *options], capture_output=True, text=True, timeout=200)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_a_tool_is_the_same_as_itself(self):
        code, said = self.compare(TOOL)
        self.assertEqual(code, 0, said)
        self.assertIn("4 cases, 13 commands: 4 the same, 0 differ", said)

    def test_another_noise_is_found_in_model_and_tables(self):
        code, said = self.compare(self.wrapper('[ "$1" = fit ] && exec TOOL "$@" --max-noise 1e-1\nexec TOOL "$@"'), "^mean-zero$")
        self.assertEqual(code, 1, said)
        for place in ("m.hf: table", "p.csv: column y_mean", "1.out: "):
            self.assertIn(place, said)

    def test_a_digit_in_a_table_is_found(self):
        code, said = self.compare(self.wrapper(
            """TOOL "$@"; status=$?
            [ "$1" = certify ] && awk -F, -v OFS=, 'NR == 3 { $(NF - 6) = $(NF - 6) * 1.0001 } { print }' c.csv > c && mv c c.csv
            exit $status"""), "^certify-rigorous$")
        self.assertEqual(code, 1, said)
        self.assertIn("c.csv: column lower, row 2", said)

    def test_a_word_and_a_status_are_found(self):
        code, said = self.compare(self.wrapper('TOOL "$@" | sed s/readings/values/'), "^dry-run$")
        self.assertEqual(code, 1, said)
        code, said = self.compare(self.wrapper('TOOL "$@"; exit 3'), "^dry-run$")
        self.assertEqual(code, 1, said)
        self.assertIn("1.status", said)

    def test_a_checksum_may_look_like_a_number_that_is_none(self):
        loader = importlib.machinery.SourceFileLoader("compare_builds", SCRIPT)
        script = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_builds", loader))
        loader.exec_module(script)
        self.assertEqual(list(script.compare_words("sum 1e99999 of 2", "sum 1e99999 of 2", 1e-6)), [])
        self.assertEqual(len(list(script.compare_words("sum 1e99999 of 2", "sum 1e99998 of 2", 1e-6))), 1)
        self.assertEqual(len(list(script.compare_words("sum 1e99999 of 2", "sum 3 of 2", 1e-6))), 1)

    def test_a_build_that_refuses_compares_nothing(self):
        broken = self.wrapper("exit 2")
        done = subprocess.run(["/usr/bin/python3", SCRIPT, broken, broken, "--only", "^dry-run$"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the old build refuses", done.stdout)

    @unittest.skipIf(SANITIZED or not shutil.which("valgrind"), "instructions are counted by valgrind, which no sanitizer bears")
    def test_instructions_are_counted(self):
        # A script's own count only, and not those of what it calls: much fewer than the tool's.
        for new, least, most in ((TOOL, 0.99, 1.01), (self.wrapper('TOOL "$@"'), 0.0, 0.5)):
            _, said = self.compare(new, "^contaminate-uniform$", "--count")
            old, ratio = map(float, re.search(r"([0-9.]+) G, .*: ([0-9.]+) times as long", said).groups())
            self.assertGreater(old, 0.0)
            self.assertTrue(least < ratio < most, said)

    def test_every_verb_and_preset_has_a_case(self):
        done = subprocess.run(["/usr/bin/python3", SCRIPT, TOOL, "--list"], capture_output=True, text=True, check=True)
        left = done.stdout.split("named by no case:")[1].split()
        self.assertEqual([word for word in left if not word.startswith("-")], ["reproduce", "doctor"])


if __name__ == "__main__":
    unittest.main()
