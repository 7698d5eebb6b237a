# SPDX-License-Identifier: Apache-2.0
"""Time of a prediction through the package beside that of the C function it calls.

    PYTHONPATH=bindings/python HOLDFAST_LIBRARY=build/libholdfast.so python3 bindings/python/bench.py
"""
import ctypes
import time
import timeit

import numpy as np

import holdfast
from holdfast._inputs import address
from holdfast._library import context, lib
from holdfast._model import place


def microseconds(call, number=1000):
    """Processor time of a call, the least of many: other programs take none of it."""
    return min(timeit.repeat(call, timer=time.process_time, number=number, repeat=50)) / number * 1e6


def c_call(model, x, **arrays):
    """The C function with everything prepared."""
    rows = lib.struct("hf_arrays", rows=len(x), inputs=x.shape[1])
    place(rows.x, x)
    wanted = lib.struct("hf_predictions", **{name: address(array) for name, array in arrays.items()})
    pointer, own, out = context().pointer, ctypes.byref(rows), ctypes.byref(wanted)
    function = lib.hf_model_predict_arrays
    return lambda: function(pointer, model._pointer, own, out)


def main():
    random = np.random.default_rng(0)
    X = random.uniform(size=(50, 8))
    gp = holdfast.GPRegressor(preset="gp", threads=1).fit(X, X.sum(axis=1))
    x, mean, sd = X[:1].copy(), np.empty(1), np.empty(1)
    print("one row, 50 readings, 8 inputs             us in C   us more")
    for name, call, own in (("predict(x)", lambda: gp.predict(x), c_call(gp.model_, x, mean=mean)),
                            ("predict(x, return_std=True)", lambda: gp.predict(x, return_std=True),
                             c_call(gp.model_, x, mean=mean, sd_latent=sd))):
        c = microseconds(own)
        print(f"{name:<40} {c:9.1f} {microseconds(call) - c:9.1f}")
    many = random.uniform(size=(1_000_000, 8))
    gp.predict(many[:10000])
    begin = time.perf_counter()
    gp.predict(many)
    print(f"predict of 1 000 000 rows: {time.perf_counter() - begin:.2f} s with one thread")


if __name__ == "__main__":
    main()
