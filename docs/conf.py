"""The documentation as a site: `make docs` builds it into site/. Nothing in it is loaded from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

from rfdag import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "rfdag"
author = "The rfdag developers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_external_toc",
    "blocks",
    "excerpts",
    "initials",
    "names",
    "offline",
    "signatures",
]

# Each of these pages is a part of reproduction.md, which shows all of them.
exclude_patterns = ["reproduction/*.md"]

# Pages. Headings have the anchors that code forges give them, so that links work in both places.
myst_heading_anchors = 4
myst_html_meta = {"description": "Causal order, DAG and Markov equivalence class from data"}

# The reference. `names` in docstrings are links where they are public, and code everywhere else.
default_role = "py:obj"
smartquotes = False  # "soft" is what one types
add_module_names = False
autodoc_default_options = {
    "members": True,
    # Methods that a class has from rfdag are shown, those from these classes of others are not.
    "inherited-members": "BaseEstimator, BaseException, Protocol, tuple",
    "member-order": "bysource",
}
maximum_signature_line_length = 88
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", ".*"),  # types of other packages and of the inside of this one; mypy checks them
    ("py:obj", r"(?!rfdag\.).*"),  # parameters and other code; what begins with rfdag has to lead somewhere
]

# The site.
html_theme = "pydata_sphinx_theme"
html_title = "rfdag"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_domain_indices = False
html_use_index = False
html_sidebars = {"index": [], "method": []}
html_theme_options = {
    "footer_end": [],
    "footer_start": ["copyright"],
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
