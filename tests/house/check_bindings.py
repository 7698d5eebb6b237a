# SPDX-License-Identifier: Apache-2.0
"""The generated parts of the Python package are what its generator makes of the headers and the settings table of today."""
import os
import sys

import house


def find_problems(source, build):
    library = os.path.join(build, "libholdfast.so")
    if not os.path.exists(library):
        print(f"{library} is not built")
        return None
    generator = os.path.join(source, "bindings", "python", "generate.py")
    result = house.run([sys.executable, generator, "--library", library, "--check"], cwd=source)
    if result.returncode == 0:
        return []
    return (result.stdout + result.stderr).strip().split("\n")


if __name__ == "__main__":
    house.main(find_problems)
