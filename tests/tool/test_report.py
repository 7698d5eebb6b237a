# SPDX-License-Identifier: Apache-2.0
"""holdfast report: one page that says what the model does, escapes what comes from files, and works in a browser."""
import html.parser
import json
import math
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
        self.assertIn("; full line setosa, dashed versicolor, dotted virginica", page.words)
        self.write("counts.csv", "a,y,h\n" + "".join("%d,%d,%d\n" % (i, i % 5, 1 + i % 3) for i in range(30)))
        self.ok("fit", "counts.csv", "-t", "y", "--sites", "poisson", "--exposure", "h", "-o", "m.hf", quiet=False)
        self.assertIn("along a, where h is 2", self.page("m.hf", "counts.csv").words)  # the median
        self.write("two.csv", "a,y,z\n" + "".join("%d,%d,%d\n" % (i, i % 5, i * i % 7) for i in range(20)))
        self.ok("fit", "two.csv", "-t", "y,z", "--no-train", "-o", "m.hf", quiet=False)
        self.page("m.hf", "two.csv")
        self.outputs_by_name()
        self.write("prior.csv", "a,y,m\n" + "".join("%d,%d,%d\n" % (i, i % 5, i % 2) for i in range(20)))
        self.ok("fit", "prior.csv", "-t", "y", "--mean-column", "m", "--no-train", "-o", "m.hf", quiet=False)
        self.page("m.hf", "prior.csv")

    def outputs_by_name(self):
        """Each output has its own line of the data, and readings are doubted by its name."""
        self.write("two.csv", "a,y,z\n" + "".join("%d,%g,%g\n" % (i, i % 5, 99 if i == 7 else 100 + i % 5) for i in range(20)))
        self.ok("fit", "two.csv", "-t", "y,z", "-o", "m.hf", quiet=False)
        page = self.page("m.hf")
        self.assertIn("Model of y and z", page.words)
        self.assertIn("in units of the outputs' scales", page.words)
        text = self.read("r.html")
        self.assertIn('<th scope="row">y</th><td>20</td><td>0</td><td>2</td><td>4</td>', text)
        self.assertIn('<th scope="row">z</th><td>20</td><td>99</td>', text)
        self.assertRegex(text, '<th scope="row">8</th><td>99</td>.*<td>z</td></tr>')

    def certified(self):
        """Two questions about a model, and the lines that answer them."""
        self.wave(rows=12)
        self.ok("fit", "wave.csv", "-t", "y", "--no-train", "-o", "m.hf")
        for options in (["--never-above", "1e3"], ["--features", "a", "--time-limit", "0"]):
            self.ok("certify", "m.hf", "--at", "wave.csv", "--radius", "0.01", *options, "--format", "jsonl", "-o", "c.jsonl")
            yield self.read("c.jsonl")

    def test_certificates(self):
        self.write("both.jsonl", "".join(self.certified()))
        rows = [json.loads(line) for line in self.read("both.jsonl").splitlines()]
        page = self.page("m.hf", "--certificates", "both.jsonl")
        self.assertIn("12 of 12 surely hold, 0 have a counterexample, 0 are open.", page.words)
        self.assertIn("verdict of mean of y", page.words)
        low, high = (pick(row["answer"][name] for row in rows[12:]) for pick, name in ((min, "lower"), (max, "upper")))
        self.assertIn("In all of 12 boxes the value surely stays within %.6g and %.6g." % (low, high), page.words)
        for row in rows:
            self.assertIn(row["command"] + "\n", page.words)
        text = self.read("r.html")
        self.assertIn("<td>%.6g</td>" % rows[3]["answer"]["worst"], text)
        tables = text.split('aria-label="Certificates"')[1:]
        self.assertEqual([table.split("</div>")[0].count("<tr>") for table in tables], [13, 13])
        heads = [re.findall('<th scope="col">(.*?)</th>', table.split("</thead>")[0]) for table in tables]
        self.assertEqual(heads[0][:5], ["row", "a from", "a to", "b from", "b to"])
        self.assertEqual(heads[1], ["row", "a from", "a to", "lower", "upper", "status", "lower_attained", "upper_attained"])

    def test_certificates_of_inputs_with_long_names(self):
        """Both sides of every input that moves are shown, under its whole name."""
        names = ["\u00e4" * 60 + letter * 110 for letter in "ab"]
        self.write("long.csv", ",".join(names) + ",y\n" + "".join("%r,%r,%r\n" % (i / 10, math.sin(9 * i), math.sin(i / 2)) for i in range(12)))
        self.ok("fit", "long.csv", "-t", "y", "--no-train", "-o", "m.hf")
        self.ok("certify", "m.hf", "--at", "long.csv", "--radius", "0.01", "--time-limit", "0", "--format", "jsonl", "-o", "c.jsonl")
        self.page("m.hf", "--certificates", "c.jsonl")
        table = self.read("r.html").split('aria-label="Certificates"')[1]
        heads = re.findall('<th scope="col">(.*?)</th>', table.split("</thead>")[0])
        self.assertEqual(heads[:5], ["row"] + ["%s %s" % (name, side) for name in names for side in ("from", "to")])

    def test_certificates_of_many_inputs(self):
        """The answers stand behind the sides of the inputs, however many move."""
        names = ["x%d" % j for j in range(40)]
        self.write("many.csv", ",".join(names) + ",y\n" + "".join(
            "".join("%r," % math.sin(i * (j + 1)) for j in range(40)) + "%r\n" % math.sin(i / 2) for i in range(12)))
        self.ok("fit", "many.csv", "-t", "y", "--no-train", "-o", "m.hf")
        self.ok("certify", "m.hf", "--at", "many.csv", "--radius", "0.01", "--time-limit", "0", "--format", "jsonl", "-o", "c.jsonl")
        self.page("m.hf", "--certificates", "c.jsonl")
        table = self.read("r.html").split('aria-label="Certificates"')[1]
        heads = re.findall('<th scope="col">(.*?)</th>', table.split("</thead>")[0])
        self.assertEqual(heads[:83], ["row"] + ["%s %s" % (name, side) for name in names for side in ("from", "to")] + ["lower", "upper"])

    def test_certificates_of_other_models_are_refused(self):
        lines = "".join(self.certified()).splitlines()
        other = json.dumps({**json.loads(lines[1]), "model_sha256": "f" * 64})
        self.write("mixed.jsonl", lines[0] + "\n" + other + "\n")
        self.fails(["report", "m.hf", "--certificates", "mixed.jsonl", "-o", "r.html"], "mixed.jsonl: certificate 2 is about the model")
        self.write("broken.jsonl", lines[0] + "\n{\n")
        self.fails(["report", "m.hf", "--certificates", "broken.jsonl", "-o", "r.html"], "broken.jsonl: object 2")
        self.write("number.jsonl", "5\n")
        self.fails(["report", "m.hf", "--certificates", "number.jsonl", "-o", "r.html"], "number.jsonl: object 1")
        self.write("other.jsonl", '{"a": 1}\n')
        self.fails(["report", "m.hf", "--certificates", "other.jsonl", "-o", "r.html"], "model_sha256")
        self.write("none.jsonl", "")
        self.fails(["report", "m.hf", "--certificates", "none.jsonl", "-o", "r.html"], "no certificate")
        self.fails(["report", "m.hf", "--certificates", "gone.jsonl", "-o", "r.html"], "gone.jsonl")
        self.assertNotIn("r.html", self.files())

    def test_study(self):
        self.wave(rows=12)
        self.ok("fit", "wave.csv", "-t", "y", "--no-train", "-o", "m.hf")
        self.ok("study", "create", "s.hf", "--real", "x=0:10", "--category", "kind=a,<b>", "--minimise", "cost", "--seed", "5")
        self.assertIn("Too little was told", self.page("m.hf", "--study", "s.hf").words)
        self.write("past.csv", "x,kind,cost\n1,a,5\n3,<b>,2\n5,a,1\n7,<b>,4\n9,a,9\n4,<b>,\n2,a,3\n")
        self.ok("study", "import", "s.hf", "past.csv")
        page = self.page("m.hf", "--study", "s.hf")
        self.assertIn("Of 7 trials 6 told something, 1 failed", page.words)
        best = json.loads(self.ok("study", "best", "s.hf", "--json"))
        self.assertIn("The best settings are those of trial %d" % best["trial"], page.words)
        self.assertIn("holdfast study show s.hf\n", page.words)
        figure = self.read("r.html").split('id="study"')[1].split("</figure>")[0]
        self.assertEqual(figure.count('class="dot"'), 6)
        self.ok("study", "create", "two.hf", "--real", "x=0:10", "--minimise", "cost", "--maximise", "gain")
        self.write("past.csv", "x,cost,gain\n" + "".join("%d,%d,%d\n" % (i, (i - 3) ** 2, i) for i in range(8)))
        self.ok("study", "import", "two.hf", "past.csv")
        self.assertIn("No other trial is better in one objective without being worse", self.page("m.hf", "--study", "two.hf").words)
        self.fails(["report", "m.hf", "--study", "m.hf", "-o", "r.html"], "m.hf")

    def test_how_to_make_it_again(self):
        """The commands of the page make the model and the page."""
        self.wave(rows=12)
        self.ok("fit", "wave.csv", "-t", "y", "--no-train", "--seed", "3", "-o", "m.hf")
        page = self.page("m.hf", "wave.csv")
        commands = re.findall(r"^(?:.*:)?(holdfast (?:fit|report) .*)$", page.words, re.M)
        again = commands[0].replace("MODEL.hf", "again.hf").split()
        self.ok(*again[1:], quiet=False)
        self.assertIn("with the seed 3", page.words)
        self.assertEqual(commands[1], "holdfast report m.hf wave.csv -o report.html")

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

    def browse(self, name, *options):
        """A page as the browser has it in the end."""
        return subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", *options, "--user-data-dir=" + self.path("u"),
                               "--dump-dom", "file://" + self.path(name)], capture_output=True, text=True, timeout=120)

    @unittest.skipIf(BROWSER is None, "chromium is not installed: no page was looked at in a browser")
    def test_in_a_browser(self):
        """The lines that sort run: headings of tables become buttons. The console has no error."""
        self.wave(rows=40, bad=(4, 19))
        self.ok("fit", "wave.csv", "-t", "y", "-o", "m.hf", quiet=False)
        self.ok("certify", "m.hf", "--at", "wave.csv", "--radius", "0", "--format", "jsonl", "-o", "c.jsonl")
        self.page("m.hf", "--certificates", "c.jsonl")
        done = self.browse("r.html", "--enable-logging=stderr")
        self.assertNotRegex(done.stderr, r"CONSOLE")
        self.assertIn('<button type="button">the others say</button>', done.stdout)
        self.assertIn('<button type="button">lower_attained</button>', done.stdout)
        self.assertEqual(len(re.findall("<figure>", done.stdout)), 3)

    @unittest.skipIf(BROWSER is None, "chromium is not installed: no page was looked at in a browser")
    def test_captions_fit_a_telephone(self):
        """Wide tables scroll below their captions, which stay whole."""
        self.wave(rows=40, bad=(4, 19))
        self.ok("fit", "wave.csv", "-t", "y", "-o", "m.hf", quiet=False)
        self.page("m.hf")
        with open(self.path("small.html"), "w", encoding="utf-8") as file:
            file.write(self.read("r.html").replace("</body>", "<script>document.title = Math.ceil(Math.max(...Array.from("
                                                 "document.querySelectorAll('caption'), c => c.getBoundingClientRect().right)));"
                                                 "</script></body>"))
        done = self.browse("small.html", "--window-size=500,900")
        self.assertLessEqual(int(re.search("<title>(.*?)</title>", done.stdout).group(1)), 500)


if __name__ == "__main__":
    unittest.main()
