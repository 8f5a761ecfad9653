"""Render a transcript as one self-contained HTML page without scripts. Needs `contentmodel[html]`."""

from contentmodel.html.page import page

__all__ = ["page"]
