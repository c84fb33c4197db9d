"""scikit-learn's callbacks around an iterative fit, where the installed version has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isthmus._validation import KeptInterrupt

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9: set_callbacks does not exist, and nothing is called

    class CallbackSupportMixin:  # type: ignore[no-redef]
        pass

    def with_callbacks(method: Any) -> Any:
        return method


def begin_fit(estimator: Any, X: Any, y: Any) -> Any:
    """Context of a fit with any number of steps; None where there are no callbacks."""
    if not getattr(estimator, "_skl_callbacks", None):
        return None
    context = estimator._init_callback_context(max_subtasks=None)
    return context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)


def end_fit(estimator: Any, context: Any, X: Any, y: Any) -> None:
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
    if estimator._interrupted:  # the last complete step is kept
        raise KeptInterrupt


def step_hook(estimator: Any, context: Any) -> Callable[[Any], bool] | None:
    """What a solver calls after each step; True stops it."""
    if context is None:
        return None

    def hook(result: Any) -> bool:
        step = context.subcontext(task_name="step")
        facts = {"value": result.value, "gradient_norm": result.certificate}
        step.call_on_fit_task_begin(estimator=estimator, metadata=facts)
        return bool(step.call_on_fit_task_end(estimator=estimator, metadata=facts))

    return hook
