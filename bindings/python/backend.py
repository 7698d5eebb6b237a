# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel (PEP 517): the package and the shared library in one archive, with nothing but Python's own library.

So `pip install .` needs no network and no setuptools, in the root of the source or in bindings/python. The shared library
is that of HOLDFAST_LIBRARY, or of the folder build/ if it is there, and else is built for the occasion.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PACKAGE = os.path.join(HERE, "holdfast")


def version():
    header = os.path.join(SOURCE, "include", "holdfast", "version.h")
    if not os.path.exists(header):  # SystemExit: pip then shows this line and no traceback
        raise SystemExit(f"holdfast: there is no {header}: this folder is a part of the source, and is installed from there. "
                         "In a clone of the whole repository: pip install .")
    with open(header, encoding="utf-8") as file:
        return re.search(r'define HF_VERSION_STRING "([^"]*)"', file.read()).group(1)


def metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return ("Metadata-Version: 2.1\nName: holdfast\n"
            f"Version: {version()}\n"
            "Summary: Robust Gaussian processes\n"
            "License: Apache-2.0\nRequires-Python: >=3.8\nRequires-Dist: numpy\n"
            "Description-Content-Type: text/markdown\n\n" + readme)


def find_library(folder):
    """Path of the shared library; one that has to be built is built below `folder`."""
    for place in (os.environ.get("HOLDFAST_LIBRARY"), os.path.join(SOURCE, "build", "libholdfast.so")):
        if place and os.path.exists(place):
            return place
    if not shutil.which("cmake"):
        raise SystemExit(f"holdfast: there is no library in {os.path.join(SOURCE, 'build')}, and no cmake to build one (Debian: "
                         "cmake). HOLDFAST_LIBRARY may name one")
    build = os.path.join(folder, "build")
    for command in (["cmake", "-S", SOURCE, "-B", build, "-DHF_TESTS=OFF", "-DHF_EXPERIMENTS=OFF"],
                    ["cmake", "--build", build, "-j", str(os.cpu_count() or 1), "--target", "holdfast_shared"]):
        subprocess.run(command, check=True)
    return os.path.join(build, "libholdfast.so")


def library_bytes(folder):
    """The library without its debug information, where there is a program that takes it out."""
    path, copy = find_library(folder), os.path.join(folder, "libholdfast.so")
    shutil.copyfile(os.path.realpath(path), copy)
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
    with open(copy, "rb") as file:
        return file.read()


def platform_tag():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"holdfast-{version()}"
    tag = f"py3-none-{platform_tag()}"
    info = f"{name}.dist-info"
    files = {}
    for entry in sorted(os.listdir(PACKAGE)):
        if entry.endswith((".py", ".typed")):
            with open(os.path.join(PACKAGE, entry), "rb") as file:
                files[f"holdfast/{entry}"] = file.read()
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        files["holdfast/libholdfast.so"] = library_bytes(folder)
    with open(os.path.join(SOURCE, "LICENSE"), "rb") as file:
        files[f"{info}/LICENSE"] = file.read()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: holdfast\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{name}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """The sources that a wheel is built from: what git knows of, but tests, experiments and data."""
    name = f"holdfast-{version()}"
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "bindings", "cmake", "include", "src", "apps", "CMakeLists.txt",
                             "LICENSE", "README.md", "pyproject.toml", "man", "completions"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder, \
            tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as archive:
        for path in filter(None, listed):
            archive.add(os.path.join(SOURCE, path), f"{name}/{path}")
        with open(os.path.join(folder, "PKG-INFO"), "w", encoding="utf-8") as file:
            file.write(metadata())
        archive.add(os.path.join(folder, "PKG-INFO"), f"{name}/PKG-INFO")
    return name + ".tar.gz"
