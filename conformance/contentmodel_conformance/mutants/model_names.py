"""Broken adapters that report the models of requests wrongly."""

from __future__ import annotations

from typing import Any

from contentmodel import Loss
from contentmodel_conformance.mutants.broken import CHAT, Broken, mutant


@mutant(CHAT, "model-names/crossing")
class SendsModelsOfOthers(Broken):
    """Report no loss for a model of another provider."""

    def claimed(self, losses: tuple[Loss, ...], value: Any) -> tuple[Loss, ...]:
        return tuple(loss for loss in losses if loss.code != "foreign-model")


@mutant(CHAT, "model-names/crossing")
class ChecksNoModels(Broken):
    """Find no violation in a model of another provider."""

    def check_request(self, *arguments: Any) -> Any:
        violations = self.inner.check_request(*arguments)
        return [violation for violation in violations if violation.rule != "model-of-this-provider"]


@mutant(CHAT, "model-names/crossing")
class ReportsTheModelOfTheCaller(Broken):
    """Report the model that the caller replaced as a loss."""

    named: str | None = None

    def encode_request(self, request: Any, policies: Any = None, model: str | None = None) -> Any:
        self.named = model
        return super().encode_request(request, policies, model)

    def claimed(self, losses: tuple[Loss, ...], value: Any) -> tuple[Loss, ...]:
        if self.named is None or not self.is_foreign(value):
            return losses
        return (*losses, Loss(path="$.model", kind="degraded", what="model", why="another model", code="other-model"))


@mutant(CHAT, "accounting/ended")
class NamesAnotherModel(Broken):
    """Write an answer of another API under the name of another model, without a loss."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        is_foreign_answer = kind == "response" and self.is_foreign(value) and "model" in payload
        return {**payload, "model": "gpt-4o"} if is_foreign_answer else payload
