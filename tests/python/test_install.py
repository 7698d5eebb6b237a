# SPDX-License-Identifier: Apache-2.0
"""The package installs from the root and from its folder, with an empty index, and works away from the source."""
import os
import shutil
import subprocess
import sys
import tempfile

import testing
from testing import BUILD, SOURCE, Case

PROGRAM = """
import holdfast, os
assert holdfast.__file__.startswith({folder!r}), holdfast.__file__
assert os.path.exists(os.path.join(os.path.dirname(holdfast.__file__), "py.typed"))
assert os.path.exists(os.path.join(os.path.dirname(holdfast.__file__), "libholdfast.so"))
gp = holdfast.GPRegressor().fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
assert abs(gp.predict([[1.5]])[0] - 1.5) < 0.1
import sys
assert "sklearn" not in sys.modules and "matplotlib" not in sys.modules and "pandas" not in sys.modules
print(holdfast.__version__)
"""


class Install(Case):
    def test_pip(self):
        environment = {**os.environ, "HOLDFAST_LIBRARY": os.path.join(BUILD, "libholdfast.so"), "PIP_NO_INDEX": "1",
                       "PIP_NO_CACHE_DIR": "1"}
        for place in (SOURCE, os.path.join(SOURCE, "bindings", "python")):
            with self.subTest(place), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, place],
                                      env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                own = {name: value for name, value in environment.items() if name != "HOLDFAST_LIBRARY"}
                done = subprocess.run([sys.executable, "-c", PROGRAM.format(folder=folder)], cwd=folder,
                                      env={**own, "PYTHONPATH": folder}, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.strip(), testing.holdfast.__version__)

    def test_a_part_of_the_source(self):
        """The folder of the package alone says what is missing, without a traceback."""
        with tempfile.TemporaryDirectory() as folder:
            part = shutil.copytree(os.path.join(SOURCE, "bindings", "python"), os.path.join(folder, "python"))
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--target", folder, "--no-index", part],
                                  capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("a part of the source", done.stdout + done.stderr)
            self.assertNotIn("Traceback", done.stdout + done.stderr)


if __name__ == "__main__":
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        testing.skip("pip is not installed (Debian: python3-pip)")
    testing.main()
