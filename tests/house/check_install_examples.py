# SPDX-License-Identifier: Apache-2.0
"""Every example builds against the installed package, in a folder that knows nothing of the source: by the line in README.md
and by CMake, shared and static. The quick ones run."""
import glob
import os
import re
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor

import house
from trial import installation

# A second or less; the others run in the tests of the examples.
QUICK = ("02_control_loop", "03_by_hand", "05_several_outputs", "07_sure_bounds")
PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(stranger C)
find_package(holdfast REQUIRED COMPONENTS shared static)
file(GLOB programs */program.c)
foreach(program IN LISTS programs)
  get_filename_component(folder ${program} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  foreach(kind shared static)
    add_executable(${name}_${kind} ${program})
    set_target_properties(${name}_${kind} PROPERTIES OUTPUT_NAME by_cmake_${kind} RUNTIME_OUTPUT_DIRECTORY ${folder})
  endforeach()
  target_link_libraries(${name}_shared PRIVATE holdfast::holdfast)
  target_link_libraries(${name}_static PRIVATE holdfast::holdfast_static)
endforeach()
"""


def lines_of_readme(trial):
    """The command in README.md that compiles program.c, as a shell would see it, and the same for the static library."""
    text = house.read(trial.source, "README.md")
    found = re.findall(r"^ {4}(cc program\.c \$\(pkg-config ([^)]*)\).*?)(?: +#.*)?$", text, re.M)
    trial.expect(len(found) == 2 and "--static" in found[1][1],
                 f"README.md has not the two lines that compile program.c, shared and static: {found}")
    return [line for line, _ in found]


def build_by_cmake(trial, names):
    """The folder of the examples, with a folder for each, in which CMake has built it twice."""
    examples = os.path.join(trial.folder, "examples")
    for name in names:
        os.makedirs(os.path.join(examples, name))
        shutil.copy(os.path.join(trial.source, "examples", name + ".c"), os.path.join(examples, name, "program.c"))
    with open(os.path.join(examples, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(PROJECT)
    trial.step("find_package", ["cmake", "-S", examples, "-B", examples, f"-DCMAKE_PREFIX_PATH={trial.prefix}"])
    trial.step("CMake", ["cmake", "--build", examples, "--parallel", "2"])
    return examples


def check(trial, folder, lines):
    name = os.path.basename(folder)
    environment = {"PKG_CONFIG_PATH": os.path.join(trial.libdir(), "pkgconfig")}
    for kind, line in zip(("shared", "static"), lines):
        trial.step(f"{name}, {kind}, README.md", ["sh", "-c", f"cd {shlex.quote(folder)} && {line} -o by_line_{kind}"],
                   environment=environment)
    for way in ("line", "cmake"):
        for kind in ("shared", "static"):
            program = os.path.join(folder, f"by_{way}_{kind}")
            if not os.path.exists(program):
                trial.expect(False, f"{name}: {os.path.basename(program)} was not built")
                continue
            needed = "libholdfast.so" in house.run(["readelf", "-dW", program]).stdout
            trial.expect(needed == (kind == "shared"), f"{name}: {os.path.basename(program)} is not {kind}")
            if name in QUICK:
                trial.step(f"{name}: {os.path.basename(program)}", [program],
                           environment={"LD_LIBRARY_PATH": trial.libdir()} if kind == "shared" else {})


def find_problems(source, build_folder):
    with installation(source, build_folder) as trial:
        names = sorted(os.path.basename(path)[:-2] for path in glob.glob(os.path.join(source, "examples", "*.c")))
        trial.expect(set(QUICK) <= set(names), "an example that should run is not there")
        lines = lines_of_readme(trial)
        if not trial.problems:
            examples = build_by_cmake(trial, names)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda name: check(trial, os.path.join(examples, name), lines), names))
        return trial.problems


if __name__ == "__main__":
    house.main(find_problems)
