"""Operations whose function body, as ONNX gives it, is wrong or less exact: never lowered."""

_CANCELS = (
    "its variance is the mean of squares less the square of the mean, which cancel: of float32 "
    "values around 1000 with a deviation of 1, results are off by 0.2 and more"
)

NEVER: dict[str, str] = {
    "DynamicQuantizeLinear": "where every value is 0, its scale is 0, and it divides by it",
    "GroupNormalization": _CANCELS,
    "LayerNormalization": _CANCELS,
    "MeanVarianceNormalization": _CANCELS,
    "Range": "it counts in float32: of 16,777,217 elements it gives one less",
    "ReduceLogSumExp": "it takes exp of the values themselves: from 710 on, float64 overflows",
    "Softplus": "it takes exp of the value itself: from 89 on, float32 overflows",
}
"""By operation, why; `tests/operations/lowering/test_never.py` shows each."""
