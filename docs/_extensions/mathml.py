"""Equations as MathML: browsers draw it without a script and without a network."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

LOG = logging.getLogger(__name__)
# Two arguments of one sign each, \frac12, which the converter takes for one argument.
SHORT = re.compile(r"\\([td]?frac)\s*(\\[a-zA-Z]+|\w)\s*(\\[a-zA-Z]+|\w)(?![a-zA-Z])")
PRIMED = re.compile(r"(?<=[\w})\]])'")


def to_mathml(latex, display):
    """Convert, after writing out what the converter does not know."""
    text = SHORT.sub(r"\\\1{\2}{\3}", latex.strip())
    text = text.replace(r"\tfrac", r"\frac").replace(r"\top", r"{\mathsf{T}}")
    text = text.replace("'^T", r"^{\prime T}")
    text = PRIMED.sub(r"^{\\prime}", text)
    text = text.replace(r"\;", " ").replace(r"\ ", " ").replace(r"\!", "")
    try:
        return convert(text, display=display)
    except Exception as error:
        LOG.warning("equation %r was not converted: %s", latex, type(error).__name__)
        return f"<code>{latex}</code>"


def visit_inline(self, node):
    self.body.append(to_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(self, node):
    self.body.append('<div class="equation">')
    parts = [part for part in node.astext().split("\n\n") if part.strip()]
    self.body.extend(to_mathml(part, "block") for part in parts)
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
