# SPDX-License-Identifier: Apache-2.0
"""The guide docs/python.md does what it says: its programs run in order, and print what it shows; numbers to a hundredth. The
picture of the gallery comes from its lines."""
import contextlib
import io
import os
import sys
import tempfile
import warnings

import testing
from testing import SOURCE, Case

sys.path.insert(0, os.path.join(SOURCE, "tests"))
import guide  # noqa: E402

testing.need("pandas", "python3-pandas")
testing.need("matplotlib", "python3-matplotlib").use("agg")


class Guide(Case):
    def test_programs(self):
        space, found = {}, guide.steps(SOURCE, "python.md", "python")
        (gallery, _), = guide.steps(SOURCE, "gallery.md", "python")
        self.assertGreater(len(found), 5)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.symlink(os.path.join(SOURCE, "data"), os.path.join(folder, "data"))
            os.makedirs(os.path.join(folder, "docs/pictures"))
            os.chdir(folder)
            for program, expected in found:
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(program, space)
                guide.compare(self, printed.getvalue(), expected)
                if "axes = gp.plot(" in program:
                    exec(gallery, space)
            self.assertTrue(os.path.getsize("docs/pictures/python-hills.svg"))
            os.chdir(SOURCE)


if __name__ == "__main__":
    testing.main()
