"""Try a law on many values: runs hypothesis with a seed and a time limit, and keeps the minimal failure.

This module depends on no law and no adapter. An exception of an adapter is never raised from here: it is a finding.
"""

from __future__ import annotations

import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy

from contentmodel import ContentModelError, DecodeError
from contentmodel_conformance import watchdog
from contentmodel_conformance.differences import Label
from contentmodel_conformance.laws import LawBroken, Refused
from contentmodel_conformance.report import Finding, beside, printable, shown
from contentmodel_conformance.watchdog import Hangs, Watch, hung_call, watched

QUICK, DEEP = 25, 500
"""The number of examples that a law is tried on, in quick and in deep runs."""
SECONDS = {False: 60.0, True: 1800.0}
"""The processor time limit of one check in seconds, by `deep`. A check that is cut short gets a note."""
SHARING = 3
"""The number of laws that are tried on the same generated values in quick runs. In deep runs, all of them are."""
CUT_SHORT = "stopped early: the time limit was reached"
FINDINGS = 5
"""The maximum number of findings of one check. Further ones are rarely new."""

Law = Callable[[Any], Any]


class _TimeUp(BaseException):
    """Raised when the time of a check is over. Not an Exception, so hypothesis does not catch it."""


class Trial:
    """The state of a running check: its limits, its counts and its findings."""

    def __init__(
        self,
        check: str,
        law: str,
        command: str,
        *,
        deep: bool = False,
        seed: int = 0,
        fail_fast: bool = False,
        wire: Callable[[Any], str] | None = None,
        row: Callable[[Any, str], str] | None = None,
        tries: int | None = None,
    ) -> None:
        """Start a trial. With `fail_fast`, the check ends with its first finding, and its input is not minimized."""
        self.check, self.law, self.command = check, law, command
        self.deep, self.seed = deep, seed
        self._phases = [Phase.generate] if fail_fast else [Phase.generate, Phase.shrink]
        self._most = 1 if fail_fast else FINDINGS
        self.wire = wire
        """Returns the payload of a model value as text; "" for other values."""
        self.row = row
        """Returns the row of the adapter's table at a path of a value, and what it maps there; "" if there is none."""
        self.examples = tries or (DEEP if deep else QUICK)
        self.tried = self.refused = self.failed = 0
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.why_refused = self.skipped = ""
        self.hangs = False
        self._end = time.process_time() + SECONDS[deep]
        self._watch: Watch | None = None

    @property
    def is_over(self) -> bool:
        """True if the check must stop: the time is up, the adapter hung, or the maximum of findings is reached."""
        if time.process_time() > self._end:
            self.note(CUT_SHORT)
            return True
        return self.hangs or len(self.findings) >= self._most

    def note(self, text: str) -> None:
        """Add a note to this check, unless it has the same note already."""
        if text not in self.notes:
            self.notes.append(text)

    def each(self, values: SearchStrategy[Any], law: Law, label: str = "", share: float = 1.0) -> None:
        """Try a law on generated values: `share` of the examples, at least one. Keep the minimal failure."""
        self.each_of(values, {label: law}, share)

    def each_of(self, values: SearchStrategy[Any], laws: Mapping[str, Law], share: float = 1.0) -> None:
        """Try several laws, by label, each on as many generated values as `each`. Keep the minimal failure of each.

        Most of the time of a check is spent on drawing values. So several laws are tried on the same values: `SHARING`
        in quick runs, where more would try too few values. The values depend on the label of the first law.
        """
        labels = iter(laws)
        while shared := {label: laws[label] for label in islice(labels, len(laws) if self.deep else SHARING)}:
            self._try_all(values, shared, next(iter(shared)), share)

    def _try_all(self, values: SearchStrategy[Any], pending: dict[str, Law], name: str, share: float) -> None:
        while pending and not self.is_over:
            attempt = _Attempt(self, pending)
            self._generate(values, attempt, name, share)
            if attempt.failure is None:
                return
            self._add_finding(*attempt.failure, attempt.label)
            del pending[attempt.label]

    def _generate(self, values: SearchStrategy[Any], attempt: _Attempt, name: str, share: float) -> None:
        run = settings(
            max_examples=max(1, int(self.examples * share)),
            database=None,
            deadline=None,
            phases=self._phases,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )(given(values)(lambda value: attempt(value)))
        try:
            with _without_constants_of_modules():
                seed(zlib.crc32(f"{self.seed}/{self.check}/{name}".encode()))(run)()
        except _TimeUp:
            self.note(CUT_SHORT)
        except Hangs as error:
            attempt.failure = self.hung(error)
        except Flaky:
            self.note("not reproducible: the adapter gives different results for one input")
        except (Exception, SystemExit) as error:
            if attempt.failure is None or attempt.failure[1] is not error:
                raise

    def once(self, value: Any, law: Law, label: str = "", source: str = "") -> None:
        """Try a law on one value. `source` is the file and line of a recorded value."""
        attempt = _Attempt(self, {label: law})
        try:
            attempt(value)
        except _TimeUp:
            self.note(CUT_SHORT)
        except (Exception, SystemExit):
            pass  # `attempt.failure` has it.
        if attempt.failure is not None:
            self._add_finding(*attempt.failure, label, source)

    def run(self, work: Callable[[], None]) -> None:
        """Run a check under the watchdog. If the adapter raises or hangs outside of an attempt, add a finding."""
        try:
            with watched() as self._watch:
                work()
        except _TimeUp:
            self.note(CUT_SHORT)
        except Hangs as error:
            self._add_finding(*self.hung(error), "")
        except (Exception, SystemExit) as error:
            self._add_finding("(no input: the check failed before its first value)", error, "")
        finally:
            self._watch = None

    def restart(self) -> None:
        """Restart the watchdog. Raises _TimeUp if the time of the check is over."""
        if time.process_time() > self._end:
            raise _TimeUp
        if self._watch is not None:
            self._watch.restart()

    def hung(self, error: Hangs, value: Any = None) -> tuple[Any, LawBroken]:
        """Stop trying. Return the value that the check hung on, and the error to report, with the call and the line.

        If `value` is None, the value is the argument of the call.
        """
        self.hangs = True
        call = hung_call(error.__traceback__)
        place = "the check itself" if call is None else f"{call.name} (at {call.line})"
        detail = f"no result after {watchdog.LIMIT:g} seconds of processor time: {place}"
        broken = LawBroken("totality", "$", detail, Label("a value, or an error"), Label("no result"))
        return value if value is not None or call is None else call.value, broken

    def _add_finding(self, value: Any, error: BaseException, label: str, source: str = "") -> None:
        self.failed += 1
        self.findings.append(_finding(self, value, error, label, source))


class _Attempt:
    """Try laws on one value after another. Keeps the last failure: hypothesis ends with the minimal one.

    After a failure, only its law is tried, so that hypothesis minimizes this failure. `label` is the law's.
    """

    def __init__(self, trial: Trial, laws: Mapping[str, Law]) -> None:
        self.trial, self.laws = trial, laws
        self.label = ""
        self.failure: tuple[Any, BaseException] | None = None

    def __call__(self, value: Any) -> None:
        for label in self.laws if self.failure is None else [self.label]:
            self._try(label, value)

    def _try(self, label: str, value: Any) -> None:
        self.trial.restart()
        if self.failure is None:
            self.trial.tried += 1
            self.label = label
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.laws[label](value)
        except Refused as error:
            self.trial.refused += self.failure is None
            self.trial.why_refused = str(error)
        except Hangs as error:
            self.failure = self.trial.hung(error, value)
            # Do not minimize: every step would take as long.
            raise _TimeUp from None
        except (Exception, SystemExit) as error:
            self.failure = value, error
            raise


_CONSTANTS: dict[Any, Any] = {}


@contextmanager
def _without_constants_of_modules() -> Iterator[None]:
    """Stop hypothesis from drawing constants of the loaded modules (it does since 6.131).

    The loaded modules depend on what ran before, so the same seed would give other examples in a run of a single check.
    """
    constants: Any = getattr(providers, "Constants", None)
    patches: dict[str, Any] = {"_get_local_constants": lambda: constants(), "CONSTANTS_CACHE": _CONSTANTS}
    if constants is None or not all(hasattr(providers, name) for name in patches):
        yield
        return
    with mock.patch.multiple(providers, **patches):
        yield


def _finding(trial: Trial, value: Any, error: BaseException, label: str, source: str) -> Finding:
    law, path, detail, expected, actual = _described(error, trial.law)
    return Finding(
        law=law,
        where=printable(path),
        detail=printable(detail),
        expected=expected,
        found=actual,
        label=label,
        minimal="" if source else shown(value, 4000),
        wire="" if source or trial.hangs or trial.wire is None else trial.wire(value),
        row="" if trial.hangs or trial.row is None else printable(trial.row(value, path)),
        source=source,
        command=trial.command,
    )


def _beside(expected: Any, actual: Any) -> tuple[str, str]:
    """Return both values as text, cut around their difference, unless one of them is `Label`."""
    if isinstance(expected, Label) or isinstance(actual, Label):
        return _worded(expected), _worded(actual)
    return beside(expected, actual)


def _worded(value: Any) -> str:
    return printable(value) if isinstance(value, Label) else shown(value)


def _described(error: BaseException, law: str) -> tuple[str, str, str, str, str]:
    """Return the law, the path, what is wrong, the expected value and the found value."""
    if isinstance(error, LawBroken):
        name = error.law if error.law in ("totality", law) else law
        return name, error.where, error.detail, *_beside(error.expected, error.found)
    if isinstance(error, DecodeError):
        fault = error.faults[0]
        return law, fault.path, f"refused as a payload of {error.api}: {fault.message}", "a value", str(error)
    kind = type(error).__name__
    if isinstance(error, ContentModelError):
        return law, "$", f"{kind}: {error}", "a value", kind
    at = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{at.filename.rpartition('/')[2]}:{at.lineno} in {at.name}"
    return "totality", "$", f"{kind}: {error} ({place})", "a value, or an error of the library", kind
