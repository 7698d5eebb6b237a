# SPDX-License-Identifier: Apache-2.0
"""The documentation site: Sphinx over the pages of docs/, C reference from the headers, Python reference by autodoc.

scripts/site prepares the folder of sources that this file configures, and calls sphinx-build.
"""
import os
import re

_header = os.path.join(os.environ["HF_SITE_ROOT"], "include", "holdfast", "version.h")
with open(_header, encoding="utf-8") as _file:
    release = ".".join(re.search(rf"HF_VERSION_{part}\s+(\d+)", _text).group(1)
                       for _text in [_file.read()] for part in ("MAJOR", "MINOR", "PATCH"))
project = "Holdfast"
version = release
author = "the Holdfast authors"
copyright = "the Holdfast authors, Apache-2.0"  # pylint: disable=redefined-builtin

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_inline_tabs"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["site/*"]
myst_heading_anchors = 5
suppress_warnings = ["myst.header"]  # pages begin at the level that suits their reader elsewhere
html_theme = "furo"
html_title = f"Holdfast {release}"
html_static_path = ["static"]
html_css_files = ["holdfast.css"]
html_show_sourcelink = False
pygments_style = "friendly"
highlight_language = "none"

myst_enable_extensions = ["colon_fence"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"


def setup(app):
    """Comments of the Python package are plain text with a layout of their own: they stay as they are."""
    def literal(_app, _what, _name, _object, _options, lines):
        if lines:
            lines[:] = ["::", "", *("   " + line for line in lines), ""]

    app.connect("autodoc-process-docstring", literal)
