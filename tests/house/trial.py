# SPDX-License-Identifier: Apache-2.0
"""Base of the checks of the installed package: an installation in a temporary folder, and steps that write down what goes wrong."""
import contextlib
import os
import re
import tempfile

import house


class Trial:
    """One temporary installation; every step that goes wrong is written down."""

    def __init__(self, source, build, folder):
        self.source, self.build, self.folder, self.problems = source, build, folder, []
        self.prefix = os.path.join(folder, "prefix")
        self.environment = dict(os.environ)
        self.environment.pop("LD_LIBRARY_PATH", None)
        text = house.read(source, "include/holdfast/version.h")
        self.version = re.search(r'HF_VERSION_STRING "([^"]+)"', text).group(1)

    def step(self, what, command, **options):
        """Output of the command, or None after writing down that it failed."""
        environment = {**self.environment, **options.pop("environment", {})}
        result = house.run(command, cwd=self.folder, env=environment, **options)
        if result.returncode != 0:
            self.problems.append(f"{what}: {' '.join(command)}\n{result.stdout}{result.stderr}".rstrip())
            return None
        return result.stdout

    def expect(self, truth, what):
        if not truth:
            self.problems.append(what)

    def cached(self, name):
        """Value that the build has under that name, or ''."""
        found = re.search(rf"^{name}:\w+=(.*)$", house.read(self.build, "CMakeCache.txt"), re.M)
        return found.group(1) if found else ""

    def libdir(self):
        """Folder of the libraries."""
        for folder, _, names in os.walk(self.prefix):
            if "libholdfast.so.0" in names:
                return folder
        return os.path.join(self.prefix, "lib")

    def flags(self, *options):
        """Words that pkg-config has for the installation."""
        output = self.step("pkg-config", ["pkg-config", *options, "holdfast"],
                           environment={"PKG_CONFIG_PATH": os.path.join(self.libdir(), "pkgconfig")})
        return (output or "").split()

    def runs(self, what, program, **environment):
        output = self.step(what, [program], environment=environment)
        self.expect(output is None or output.startswith(self.version + " on "), f"{what}: printed {output!r}")


def installed(prefix):
    return {os.path.relpath(os.path.join(folder, name), prefix)
            for folder, _, names in os.walk(prefix) for name in names}


@contextlib.contextmanager
def installation(source, build):
    """A Trial whose package is installed, or one that has written down why it is not; its folder goes away in the end."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(source, build, folder)
        # Naming the component keeps install_manifest.txt of a real installation from this build as it is.
        trial.step("install", ["cmake", "--install", build, "--prefix", trial.prefix, "--component", "Unspecified"])
        yield trial
