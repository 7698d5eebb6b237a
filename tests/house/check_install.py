# SPDX-License-Identifier: Apache-2.0
"""The installed package serves a stranger: a program builds against it through pkg-config and through find_package, shared
and static, and runs; tool, man pages and completion are where they belong; uninstalling leaves nothing behind."""
import glob
import os
import re
import shutil

import house
from trial import installation, installed

PROGRAM = """
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    hf_context *ctx = hf_context_create();
    if (ctx == NULL || strcmp(hf_version(), HF_VERSION_STRING) != 0) return 1;
    printf("%s on %s, %d threads\\n", hf_version(), hf_blas_description(), hf_context_threads(ctx));
    hf_context_free(ctx);
    return 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(stranger C)
find_package(holdfast %(version)s EXACT REQUIRED COMPONENTS shared static)
add_executable(with_shared program.c)
target_link_libraries(with_shared PRIVATE holdfast::holdfast)
add_executable(with_static program.c)
target_link_libraries(with_static PRIVATE holdfast::holdfast_static)
"""


def check_files(trial):
    names = installed(trial.prefix)
    for header in house.public_headers(trial.source):
        trial.expect(header in names, f"{header} is not installed")
    libdirs = glob.glob(os.path.join(trial.prefix, "lib*", "**", "libholdfast.so.0"), recursive=True)
    trial.expect(len(libdirs) == 1, "libholdfast.so.0 is not installed (once)")
    libdir = os.path.dirname(libdirs[0]) if libdirs else os.path.join(trial.prefix, "lib")
    if libdirs:
        soname = house.run(["readelf", "-d", libdirs[0]]).stdout
        trial.expect("soname: [libholdfast.so.0]" in soname, "the shared library's soname is not libholdfast.so.0")
        trial.expect(trial.build not in soname, "the shared library's run path points into the build directory")
    trial.expect(os.path.exists(os.path.join(libdir, "libholdfast.a")), "libholdfast.a is not installed")
    for page in glob.glob(os.path.join(trial.source, "man", "*.[1-9]")):
        target = f"share/man/man{page[-1]}/{os.path.basename(page)}"
        trial.expect(target in names, f"{target} is not installed")
        check_man_page(trial, page)
    if os.path.exists(os.path.join(trial.source, "completions", "holdfast")):
        trial.expect("share/bash-completion/completions/holdfast" in names, "the bash completion is not installed")
    tables = glob.glob(os.path.join(trial.source, "data", "**", "*.csv"), recursive=True)
    for table in tables:
        target = f"share/holdfast/{os.path.relpath(table, trial.source)}"
        trial.expect(target in names, f"{target} is not installed")


def check_man_page(trial, page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    base = os.path.basename(page)
    trial.expect(re.search(r"^\.(TH|Dt)\b", text, re.M) and re.search(r"^\.S[Hh] \"?NAME", text, re.M),
                 f"man/{base}: no title line or no NAME section")
    if shutil.which("groff"):
        result = house.run(["groff", "-man", "-Tutf8", "-ww", "-z", page])
        trial.expect(result.returncode == 0 and not result.stderr, f"man/{base}: groff says\n{result.stderr}")


def check_tool(trial):
    tool = os.path.join(trial.prefix, "bin", "holdfast")
    if not os.path.exists(tool):
        trial.expect(not glob.glob(os.path.join(trial.source, "apps", "holdfast", "*.c")), "the tool is not installed")
        return
    output = trial.step("tool", [tool, "--version"])
    trial.expect(output is None or trial.version in output, f"holdfast --version printed {output!r}")


def check_pkg_config(trial):
    libdir, flags = trial.libdir(), trial.flags
    trial.expect(flags("--modversion") == [trial.version], "pkg-config tells another version than version.h")
    for compiler, language in (("gcc", "c"), ("g++", "c++")):
        if shutil.which(compiler) is None:
            continue
        program = f"pc_shared_{language}"
        trial.step(f"{language}, shared, pkg-config", [compiler, "-x", language, "program.c", "-o", program,
                                                       *flags("--cflags"), *flags("--libs")])
        trial.runs(f"{language}, shared, pkg-config", f"./{program}", LD_LIBRARY_PATH=libdir)
    # "-lholdfast" would take the shared one, which lies beside it.
    static = [os.path.join(libdir, "libholdfast.a") if flag == "-lholdfast" else flag
              for flag in flags("--static", "--libs")]
    trial.step("C, static, pkg-config", ["gcc", "program.c", "-o", "pc_static", *flags("--cflags"), *static])
    needed = house.run(["readelf", "-d", os.path.join(trial.folder, "pc_static")]).stdout
    trial.expect("libholdfast" not in needed, "the statically linked program needs libholdfast.so")
    trial.runs("C, static, pkg-config", "./pc_static")


def check_find_package(trial):
    with open(os.path.join(trial.folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(PROJECT % {"version": trial.version})
    trial.step("find_package", ["cmake", "-S", ".", "-B", "out", f"-DCMAKE_PREFIX_PATH={trial.prefix}"])
    if trial.step("find_package", ["cmake", "--build", "out"]) is not None:
        trial.runs("C, shared, find_package", "out/with_shared")
        trial.runs("C, static, find_package", "out/with_static")


def find_problems(source, build):
    with installation(source, build) as trial:
        if trial.problems:
            return trial.problems
        with open(os.path.join(trial.folder, "program.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        check_files(trial)
        check_tool(trial)
        check_pkg_config(trial)
        check_find_package(trial)
        first = trial.prefix
        trial.prefix = os.path.join(trial.folder, "moved")  # a package must not know where it was first laid down
        os.rename(first, trial.prefix)
        check_pkg_config(trial)
        os.rename(trial.prefix, first)
        trial.prefix = first
        manifest = os.path.join(build, "install_manifest_Unspecified.txt")
        trial.step("uninstall", ["cmake", "-D", f"MANIFEST={manifest}", "-P",
                                 os.path.join(source, "cmake", "uninstall.cmake")])
        left = installed(trial.prefix)
        trial.expect(not left, f"uninstall leaves {sorted(left)}")
        folders = [folder for folder, _, _ in os.walk(trial.prefix) if os.path.basename(folder) == "holdfast"]
        trial.expect(not folders, f"uninstall leaves the folders {folders}")
        return trial.problems


if __name__ == "__main__":
    house.main(find_problems)
