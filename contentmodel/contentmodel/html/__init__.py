"""A transcript as one HTML page that needs nothing else and runs nothing. Needs `contentmodel[html]`."""

from contentmodel.html.page import page

__all__ = ["page"]
