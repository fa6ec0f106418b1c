"""Where dense work is done: by this processor, or on a GPU or TPU through JAX.

Dense are the products of all rows, sums of exponentials over a matrix, and the largest entries of
its rows. Sparse work stays here. JAX is imported only if a device is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from sameas.compute.arrays import Matrix
from sameas.errors import OptionError

if TYPE_CHECKING:
    from sameas.compute.on_device import Device

REMEDY = "pip install 'jax[cuda12]' for a card of NVIDIA; see docs/gpu.md"
_device: ContextVar[Device | None] = ContextVar("device", default=None)


def device_in_use() -> Device | None:
    """The device that does dense work; None for this processor."""
    return _device.get()


@contextmanager
def using_device(wanted: Any = None) -> Iterator[None]:
    """A context in which dense work is done there: "cpu", "gpu", or a device of JAX."""
    before = _device.set(_device_at(wanted))
    try:
        yield
    finally:
        _device.reset(before)


def _device_at(wanted: Any) -> Device | None:
    if wanted in (None, "cpu"):
        return None
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        raise OptionError(
            "`device` gpu needs JAX, which is not installed; install it with: "
            f"pip install 'sameas[gpu]', and {REMEDY}"
        ) from None
    if wanted == "gpu":
        wanted = _first_device(jax)
    elif not hasattr(wanted, "platform"):
        raise OptionError(f"`device` must be cpu, gpu or a device of JAX, got {wanted!r} instead")
    made: Device = importlib.import_module("sameas.compute.on_device").Device(wanted)
    return made


def _first_device(jax: Any) -> Any:
    """The first device that is not this processor."""
    try:
        devices = jax.devices()
    except RuntimeError as error:  # a driver or library that does not fit
        reason = str(error).splitlines()[0]
        raise OptionError(
            f"`device` gpu: JAX cannot use a device here ({reason}); {REMEDY}"
        ) from None
    others = [device for device in devices if device.platform != "cpu"]
    if not others:
        raise OptionError(
            "`device` gpu: JAX finds neither a GPU nor a TPU here; leave `device` out, or "
            f"install JAX for the device ({REMEDY})"
        )
    return others[0]


def multiplier(right: Matrix) -> Callable[[Matrix, Matrix], object]:
    """What writes the products of some left rows with all right ones."""
    device = device_in_use()
    if device is not None:
        return device.multiplier(right)
    return lambda left, out: np.dot(left, right.T, out=out)
