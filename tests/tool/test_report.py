# SPDX-License-Identifier: Apache-2.0
"""holdfast report: one page that says what the model does, escapes what comes from files, and works in a browser."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest

from toolcase import SOURCE, ToolCase

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
VOID = {"meta", "link", "br", "rect", "path", "circle"}


class Page(html.parser.HTMLParser):
    """Whether tags close, which there are, and the words."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.wrong = [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words += data


class Report(ToolCase):
    def page(self, *arguments):
        self.ok("report", *arguments, "-o", "r.html")
        text = self.read("r.html")
        page = Page(text)
        self.assertEqual((page.wrong, page.open), ([], []))
        self.assertNotRegex(text, r"(?:src|href)=[\"']?(?:https?:)?//|@import|url\(")
        self.assertEqual([tag for tag, _ in page.tags].count("script"), 1)
        for tag, attributes in page.tags:
            if tag == "svg":
                self.assertTrue(attributes.get("aria-label") or attributes.get("aria-hidden"))
            if tag == "th":
                self.assertIn("scope", attributes)
        targets = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
        links = {attributes["href"][1:] for tag, attributes in page.tags if tag == "a"}
        self.assertLessEqual(links, targets)
        self.assertNotIn("nan", page.words)
        return page

    def test_readings_and_a_test_table(self):
        self.wave(rows=40, bad=(4, 19))
        self.wave("new.csv", rows=21)
        self.ok("fit", "wave.csv", "-t", "y", "-o", "m.hf", quiet=False)
        told = json.loads(self.ok("inspect", "m.hf", "--json"))
        page = self.page("m.hf", "new.csv")
        self.assertIn("2 of 40 readings were set aside", page.words)
        self.assertIn(told["content_sha256"], page.words)
        self.assertIn("In the test table", page.words)
        score = json.loads(self.ok("score", "m.hf", "new.csv", "--json", quiet=False))
        self.assertIn("%.4g" % score["rmse"], page.words)
        self.assertIn("%.4g" % told["leave_one_out"]["model"]["rmse"], page.words)
        text = self.read("r.html")
        self.assertEqual(text.count('class="cross"'), 2)
        self.assertEqual(text.count('class="dot"'), 38)
        self.assertEqual(text.count("<figure>"), 3)
        for row in (4, 19):
            self.assertIn('<th scope="row">%d</th>' % row, text)
        self.assertEqual(self.ok("report", "m.hf", "new.csv"), text)

    def test_names_are_escaped(self):
        evil = "<script>alert(1)</script>"
        self.write("evil.csv", '"%s","y&<b>\'""",c\n' % evil + "".join("%d,%d,%d\n" % (i, i * 7 % 11, i % 5) for i in range(30)))
        self.ok("fit", "evil.csv", "-t", "y&<b>'\"", "--no-train", "-o", "m.hf", quiet=False)
        page = self.page("m.hf")
        self.assertIn(evil, page.words)
        self.assertNotIn(evil, self.read("r.html"))
        self.assertNotIn("b", [tag for tag, _ in page.tags])

    def test_other_kinds(self):
        shutil.copy(os.path.join(SOURCE, "data", "iris.csv"), self.path("iris.csv"))
        self.ok("fit", "iris.csv", "-t", "species", "--sites", "softmax", "-o", "m.hf", quiet=False)
        page = self.page("m.hf", "iris.csv")
        self.assertRegex(page.words, r"In the test table, \d+\.\d % of 150 labels are right")
        self.write("counts.csv", "a,y,h\n" + "".join("%d,%d,%d\n" % (i, i % 5, 1 + i % 3) for i in range(30)))
        self.ok("fit", "counts.csv", "-t", "y", "--sites", "poisson", "--exposure", "h", "-o", "m.hf", quiet=False)
        self.page("m.hf", "counts.csv")
        self.write("two.csv", "a,y,z\n" + "".join("%d,%d,%d\n" % (i, i % 5, i * i % 7) for i in range(20)))
        self.ok("fit", "two.csv", "-t", "y,z", "--no-train", "-o", "m.hf", quiet=False)
        self.page("m.hf", "two.csv")
        self.write("prior.csv", "a,y,m\n" + "".join("%d,%d,%d\n" % (i, i % 5, i % 2) for i in range(20)))
        self.ok("fit", "prior.csv", "-t", "y", "--mean-column", "m", "--no-train", "-o", "m.hf", quiet=False)
        self.page("m.hf", "prior.csv")

    def test_refusals(self):
        self.wave()
        self.ok("fit", "wave.csv", "-t", "y", "--no-train", "-o", "m.hf", quiet=False)
        self.fails(["report", "none.hf", "-o", "r.html"], "none.hf")
        self.fails(["report", "m.hf", "none.csv", "-o", "r.html"], "none.csv")
        self.fails(["report", "m.hf", "-o", "none/r.html"], "none/r.html")
        self.fails(["report", "m.hf", "--json"], "standard output", code=2)
        self.write("few.csv", "a,y\n1,2\n")
        self.fails(["report", "m.hf", "few.csv", "-o", "r.html"], "few.csv")
        if os.path.exists("/dev/full"):
            self.fails(["report", "m.hf", "-o", "/dev/full"], "No space left")

    @unittest.skipIf(BROWSER is None, "chromium is not installed: no page was looked at in a browser")
    def test_in_a_browser(self):
        """The lines that sort run: headings of tables become buttons. The console has no error."""
        self.wave(rows=40, bad=(4, 19))
        self.ok("fit", "wave.csv", "-t", "y", "-o", "m.hf", quiet=False)
        self.page("m.hf")
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--user-data-dir=" + self.path("u"),
                               "--dump-dom", "file://" + self.path("r.html")], capture_output=True, text=True, timeout=120)
        self.assertNotRegex(done.stderr, r"CONSOLE")
        self.assertIn('<button type="button">the others say</button>', done.stdout)
        self.assertEqual(len(re.findall("<figure>", done.stdout)), 3)


if __name__ == "__main__":
    unittest.main()
