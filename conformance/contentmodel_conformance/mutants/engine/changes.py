"""Mutants of the engine: a function or method is replaced while the checks run, and the adapters are imported again.

    @change(ModelPaths, "source", CHAT, "tracing/foreign")
    def follows_one_replacement(original, self, item): ...

The decorated function replaces the original, and gets it as its first argument. Its name is the mutant's name, and its
docstring describes the defect.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

import msgspec

import contentmodel
from contentmodel.adapter import adapter as find_adapter
from contentmodel.engine.pipeline.steps import Step
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, Mutant, add

BEDROCK, RESPONSES, MISTRAL, OLLAMA = "bedrock-converse", "openai-responses", "mistral-chat", "ollama-chat"

Change = Callable[..., Any]
"""Takes the original function, and its arguments."""


class EngineMutant(Mutant, frozen=True, kw_only=True):
    """A mutant that replaces a function of a module, or a method of a class (`owner`)."""

    owner: Any
    attribute: str
    change: Change

    @property
    def module(self) -> str:
        """The module of the changed function."""
        return self.owner.__name__ if isinstance(self.owner, ModuleType) else self.owner.__module__

    def broken(self) -> AbstractContextManager[tuple[Any, Any]]:
        return self._broken()

    @contextmanager
    def _broken(self) -> Iterator[tuple[Any, Any]]:
        # A module that is imported now would keep the changed function.
        contentmodel.adapters()
        with changed(self.owner, self.attribute, self.change), reloaded_adapters():
            yield contentmodel.adapter(self.api), contentmodel.adapter(self.other)


def change(owner: Any, attribute: str, api: str, *checks: str, other: str | None = None) -> Callable[[Change], Change]:
    """Register the decorated function as a mutant."""
    if not callable(_function(inspect.getattr_static(owner, attribute))):
        raise TypeError(f"{attribute} of {owner} is not a function")

    def register(function: Change) -> Change:
        add(
            EngineMutant(
                name=function.__name__.replace("_", "-"),
                description=" ".join(inspect.cleandoc(function.__doc__ or "").split()),
                api=api,
                other=other or (ANTHROPIC if api == CHAT else CHAT),
                checks=checks,
                owner=owner,
                attribute=attribute,
                change=function,
            )
        )
        return function

    return register


def _function(value: Any) -> Any:
    return value.fget if isinstance(value, property) else value


@contextmanager
def changed(owner: Any, attribute: str, change: Change) -> Iterator[None]:
    """Replace a function or method, in every module that has it."""
    original = inspect.getattr_static(owner, attribute)
    function = _function(original)

    @functools.wraps(function)
    def replacement(*arguments: Any, **named: Any) -> Any:
        return change(function, *arguments, **named)

    with ExitStack() as stack:
        if isinstance(owner, ModuleType):
            for module in _importers(original, attribute):
                stack.enter_context(mock.patch.object(module, attribute, replacement))
            for module, name, steps in _declared_steps():
                changed_steps = tuple(_with_function(step, function, replacement) for step in steps)
                stack.enter_context(mock.patch.object(module, name, changed_steps))
        else:
            patched = property(replacement) if isinstance(original, property) else replacement
            stack.enter_context(mock.patch.object(owner, attribute, patched))
        yield


def _importers(function: Any, name: str) -> list[ModuleType]:
    """Return the modules of the library that have a function under its name."""
    modules = [module for key, module in list(sys.modules.items()) if key.partition(".")[0] == "contentmodel"]
    return [module for module in modules if vars(module).get(name) is function]


def _declared_steps() -> list[tuple[ModuleType, str, tuple[Step, ...]]]:
    """Return the steps that modules of the engine declare for adapters."""
    modules = [module for key, module in list(sys.modules.items()) if key.startswith("contentmodel.engine.")]
    return [
        (module, name, value)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, tuple) and value and all(isinstance(step, Step) for step in value)
    ]


def _with_function(step: Step, function: Any, replacement: Any) -> Step:
    functions = {name: replacement for name in step.__struct_fields__ if getattr(step, name) is function}
    return msgspec.structs.replace(step, **functions)


_ADAPTERS = "contentmodel_adapters"


@contextmanager
def reloaded_adapters() -> Iterator[None]:
    """Import all adapters again, so that their tables and pipelines use the changed engine."""
    before = _without_adapters()
    find_adapter.cache_clear()
    try:
        yield
    finally:
        _without_adapters()
        sys.modules.update(before)
        find_adapter.cache_clear()


def _without_adapters() -> dict[str, ModuleType]:
    """Remove the adapters from the imported modules. Return them."""
    names = [name for name in sys.modules if name.partition(".")[0] == _ADAPTERS]
    return {name: sys.modules.pop(name) for name in names}


def module(name: str) -> ModuleType:
    """Return a module of the library."""
    return importlib.import_module(f"contentmodel.{name}")
