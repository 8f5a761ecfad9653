"""The checks for pytest: a base class with a test for each check.

class TestMyApi(AdapterConformance):
    adapter = my_package.adapter
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

import contentmodel
from contentmodel_conformance.checks import CHECKS, LAWS, Check
from contentmodel_conformance.examples import Example
from contentmodel_conformance.readers import Reader
from contentmodel_conformance.recordings import Recordings
from contentmodel_conformance.rendering import finding_lines
from contentmodel_conformance.report import Outcome
from contentmodel_conformance.strategies.transcripts import Limits
from contentmodel_conformance.subject import Payloads, Subject
from contentmodel_conformance.suite import run_check

__all__ = ["AdapterConformance"]


class AdapterConformance:
    """Base class with one test for each check, named after its law: `test_identity_table`, `test_stream_cuts_written`.

    Derive a class whose name begins with `Test`, and set `adapter`. The other attributes are optional. A check that
    does not apply to the adapter is skipped, with the reason. `pytest --conformance-deep` tries twenty times as many
    examples. `--conformance-seed N` selects other examples.
    """

    adapter: ClassVar[Any] = None
    """The adapter: an object, or the API id of an installed one."""
    payloads: ClassVar[Mapping[str, Payloads]] = {}
    """Payloads of the format, by kind ("request", "response"): a hypothesis strategy or a sequence."""
    limits: ClassVar[Limits | None] = None
    """The contents that transcripts of the API can have."""
    reader: ClassVar[Reader | None] = None
    """A function that reads payloads of the API without the adapter (see `contentmodel_conformance.readers`)."""
    examples: ClassVar[Sequence[Example]] = ()
    """Payloads, each with the ChatRequest or the ChatResponse expected of it."""
    others: ClassVar[Iterable[Any] | None] = None
    """The adapters to convert from and to; by default all that are installed."""
    partners: ClassVar[int | None] = None
    """The largest number of other adapters in one check: they take turns. None, or a deep run, takes all of them."""
    corpus: ClassVar[Path | str | None] = None
    """A folder of recorded traffic; by default the environment variable CONTENTMODEL_CORPUS."""
    deep: ClassVar[bool] = False
    """True to try twenty times as many examples."""
    seed: ClassVar[int] = 0
    """The seed that selects the examples."""
    is_one_of_many: ClassVar[bool] = False
    """True if the other adapters have a test class too. If so, each pair is tried only once."""
    known: ClassVar[Mapping[str, str]] = {}
    """Checks that are expected to fail ("replay/sdk"), each with the reason. If such a check passes, its test fails."""

    _subjects: ClassVar[dict[type, Subject]] = {}

    @classmethod
    def subject(cls) -> Subject:
        """Return the subject of this class, built once."""
        if cls not in AdapterConformance._subjects:
            AdapterConformance._subjects[cls] = cls._subject()
        return AdapterConformance._subjects[cls]

    @classmethod
    def _subject(cls) -> Subject:
        if cls.adapter is None:
            raise TypeError(f"{cls.__name__} has no adapter: set `adapter = ...` in the class")
        folder = cls.corpus or os.environ.get("CONTENTMODEL_CORPUS")
        return Subject(
            contentmodel.adapter(cls.adapter) if isinstance(cls.adapter, str) else cls.adapter,
            others=cls.others,
            payloads=cls.payloads,
            limits=cls.limits,
            # Read from the class: on an instance, a plain function would become a method.
            reader=cls.reader,
            examples=cls.examples,
            recordings=Recordings(folder) if folder else None,
            is_one_of_many=cls.is_one_of_many,
            partners=cls.partners,
        )

    @classmethod
    def target(cls) -> str:
        """Return the name of this adapter, with the settings of this class, on the command line."""
        return cls.adapter if isinstance(cls.adapter, str) else f"{cls.__module__}:{cls.__qualname__}"

    def _run(self, check: Check, request: pytest.FixtureRequest) -> None:
        option = request.config.getoption
        seed = option("--conformance-seed", None)
        outcome = run_check(
            check,
            self.subject(),
            deep=self.deep or bool(option("--conformance-deep", False)),
            seed=self.seed if seed is None else seed,
            target=self.target(),
        )
        _end_test(outcome, self.known.get(check.name))


def _end_test(outcome: Outcome, known: str | None) -> None:
    """End a test with the outcome of its check. Raises the exceptions of pytest."""
    if outcome.status == "skipped":
        pytest.skip(outcome.note)
    if outcome.status == "failed":
        text = "\n\n".join("\n".join(finding_lines(finding)) for finding in outcome.findings[:5])
        if known:
            pytest.xfail(f"{known}\n{text}")
        pytest.fail(f"{outcome.api} breaks the law {outcome.law!r} on {outcome.on}\n\n{text}", pytrace=False)
    if known:
        pytest.fail(f"{outcome.check} passes: remove it from `known` ({known})", pytrace=False)


def _test_of(check: Check) -> Callable[..., None]:
    def test(self: AdapterConformance, request: pytest.FixtureRequest) -> None:
        self._run(check, request)

    test.__name__ = "test_" + check.name.replace("/", "_").replace("-", "_")
    test.__qualname__ = f"AdapterConformance.{test.__name__}"
    test.__doc__ = f"{LAWS[check.law]} On: {check.on}."
    return test


for _check in CHECKS.values():
    _made = _test_of(_check)
    setattr(AdapterConformance, _made.__name__, _made)
