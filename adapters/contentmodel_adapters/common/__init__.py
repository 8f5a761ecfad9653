"""Code that adapters of several families use. It imports nothing from a family."""
