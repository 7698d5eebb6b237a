# SPDX-License-Identifier: Apache-2.0
"""The installed tool, library and experiments are hardened as far as compiler and linker can: checked stack frames, a
fortified C library, addresses that are bound and read-only before main(), no executable stack, marked jump targets."""
import os
import re

import house
from trial import installation


def readelf(path, what):
    return house.run(["readelf", what, path]).stdout


def start_files_are_marked(trial):
    """Whether the compiler's own start files are marked for CET: the linker marks what it makes only when all parts are."""
    compiler = trial.cached("CMAKE_C_COMPILER")
    names = ("Scrt1.o", "crti.o", "crtbeginS.o", "crtendS.o", "crtn.o")
    paths = [house.run([compiler, f"-print-file-name={name}"]).stdout.strip() for name in names]
    return all("IBT, SHSTK" in readelf(path, "-nW") for path in paths)


def check(trial, path, marked):
    name = os.path.basename(path)
    kind, segments, dynamic = readelf(path, "-hW"), readelf(path, "-lW"), readelf(path, "-dW")
    symbols = readelf(path, "--dyn-syms") + readelf(path, "-sW")
    trial.expect(re.search(r"Type:\s+DYN", kind), f"{name} is not position-independent")
    stack = re.search(r"GNU_STACK.*\s(R?W?E?)\s+0x", segments)
    trial.expect(stack and "E" not in stack.group(1), f"{name}: the stack can be executed")
    trial.expect("GNU_RELRO" in segments and re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic), f"{name}: no full RELRO")
    trial.expect("TEXTREL" not in dynamic, f"{name}: code that is written to when it is loaded")
    if trial.cached("HF_HAS_fstack_protector_strong"):
        trial.expect("__stack_chk_fail" in symbols, f"{name}: no stack protector")
    if trial.cached("HF_HAS_FORTIFY_3") or trial.cached("HF_HAS_FORTIFY_2"):
        trial.expect(re.search(r"\b__\w+_chk\b(?<!__stack_chk)", symbols), f"{name}: the C library is not fortified")
    if trial.cached("HF_HAS_fcf_protection") and marked:
        trial.expect("IBT, SHSTK" in readelf(path, "-nW"), f"{name} is not marked for CET")


def find_problems(source, build):
    with installation(source, build) as trial:
        if trial.problems:
            return trial.problems
        trial.expect(trial.cached("HF_HARDENING") == "ON", "the build is not hardened (HF_HARDENING)")
        marked = start_files_are_marked(trial)
        paths = [os.path.join(trial.prefix, "bin", "holdfast"), os.path.join(trial.libdir(), "libholdfast.so.0"),
                 os.path.join(trial.prefix, "libexec", "holdfast", "hf-reproduce-robust-uci")]
        for path in paths:
            check(trial, path, marked)
        archive = house.run(["nm", os.path.join(trial.libdir(), "libholdfast.a")]).stdout
        trial.expect("__stack_chk_fail" in archive or not trial.cached("HF_HAS_fstack_protector_strong"),
                     "libholdfast.a: no stack protector")
        return trial.problems


if __name__ == "__main__":
    house.main(find_problems)
