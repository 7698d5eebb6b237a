#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How wide the vectors of the loops are: what the build asks for, what the code then is, and what the tool says."""
import os
import platform
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["HF_SOURCE"]
# Registers that code may and must use, by the width that HF_VECTOR becomes.
WIDTHS = {0: {"xmm", "ymm", "zmm"}, 128: {"xmm"}, 256: {"xmm", "ymm"}, 512: {"xmm", "ymm", "zmm"}}
# GCC takes registers of 256 bits in code for AVX-512 as well, where it finds them quicker.
MUST = {0: {"ymm"}, 128: {"xmm"}, 256: {"ymm"}, 512: {"ymm"}}


def configure(*options):
    """Runs the cmake file of the option, without a build."""
    return subprocess.run(["cmake", *options, "-P", os.path.join(SOURCE, "cmake", "HoldfastVector.cmake")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Vector(unittest.TestCase):
    def test_what_is_no_width_is_refused(self):
        for value in ("sse", "AVX2", "", "auto;avx2"):
            result = configure(f"-DHF_VECTOR={value}", "-DCMAKE_SYSTEM_PROCESSOR=x86_64")
            self.assertNotEqual(result.returncode, 0, value)
            self.assertIn(f"HF_VECTOR: '{value}' is none of auto, generic, avx2, avx512", result.stdout)

    def test_widths_of_another_architecture_are_refused(self):
        for value, accepted in (("avx2", False), ("avx512", False), ("generic", True), ("auto", True)):
            text = configure(f"-DHF_VECTOR={value}", "-DCMAKE_SYSTEM_PROCESSOR=aarch64").stdout
            self.assertEqual(f"HF_VECTOR: '{value}' is for x86-64" not in text, accepted, text)

    def test_files_of_loops_are_listed(self):
        with open(os.path.join(SOURCE, "cmake", "HoldfastVector.cmake"), encoding="utf-8") as text:
            listed = set(re.findall(r"src/\w+/\w+[.]c", text.read()))
        self.assertGreater(len(listed), 5)
        for path in listed:
            self.assertTrue(os.path.exists(os.path.join(SOURCE, path)), path)
        for folder, _, names in os.walk(os.path.join(SOURCE, "src")):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                if name != "vector.h":
                    self.assertNotIn("target_clones", text, f"{name}: HFI_CLONES is the one way to several widths")
                if name.endswith(".c") and re.search(r'HFI_CLONES|HFI_SIMD|"kernel/(vector|block_real|block_strip)[.]h"', text):
                    self.assertIn(os.path.relpath(path, SOURCE), listed)

    def test_a_fixed_width_is_the_only_one(self):
        compiler = os.environ.get("CC", "cc")
        version = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True).stdout
        if platform.machine() != "x86_64" or "clang" in version or shutil.which("objdump") is None:
            self.skipTest("needs gcc and objdump on x86-64")
        with tempfile.TemporaryDirectory() as work:
            for width, may in WIDTHS.items():
                code = os.path.join(work, "code.o")
                subprocess.run([compiler, "-std=c17", "-O3", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-fPIC",
                                "-D_POSIX_C_SOURCE=200809L", f"-DHFI_VECTOR={width}", f"-I{SOURCE}/src", f"-I{SOURCE}/include",
                                "-c", f"{SOURCE}/src/softmax/classes_loops.c", "-o", code], check=True)
                text = subprocess.run(["objdump", "-d", code], stdout=subprocess.PIPE, text=True, check=True).stdout
                used = set(re.findall(r"%([xyz]mm)\d", text))
                self.assertLessEqual(used, may, width)
                self.assertLessEqual(MUST[width], used, width)
                self.assertEqual("resolver" in text, width == 0)

    def test_the_tool_says_which(self):
        out = subprocess.run([os.environ["HOLDFAST"], "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        told = re.search(r"^loops: (AVX-512|AVX2|generic), (chosen at run time|fixed when built)$", out, re.MULTILINE)
        self.assertIsNotNone(told, out)
        with open(os.path.join(os.environ["HF_BUILD"], "CMakeCache.txt"), encoding="utf-8") as text:
            option = re.search(r"^HF_VECTOR:\w+=(.*)$", text.read(), re.MULTILINE).group(1)
        names = {"generic": "generic", "avx2": "AVX2", "avx512": "AVX-512"}
        if option != "auto":
            self.assertEqual(told.groups(), (names[option], "fixed when built"))
        elif told.group(2) == "chosen at run time":
            with open("/proc/cpuinfo", encoding="utf-8") as text:
                flags = set(re.search(r"^flags\s*:(.*)$", text.read(), re.MULTILINE).group(1).split())
            widest = "AVX-512" if "avx512vl" in flags else "AVX2" if {"avx2", "fma"} <= flags else "generic"
            self.assertEqual(told.group(1), widest)


if __name__ == "__main__":
    unittest.main()
