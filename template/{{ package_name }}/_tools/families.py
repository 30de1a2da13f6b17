"""Sorts operators into families by their tags and schemas, else by words in their names."""

from __future__ import annotations

import re
from typing import Any

import torch

# An operator's family is the first one that has a word of its name. A number behind a word, as in conv2d, doesn't count.
_WORDS = {
    "other devices": "cudnn miopen mps mkldnn cufft cslt triton xla vulkan nnpack",
    "foreach": "foreach",
    "optimizer": "fused adam adamw sgd adagrad amp",
    "quantized": "quantized quantize quant fake q qparams qscheme dequantize fbgemm int4pack int8pack",
    "sparse": "sparse coo csr csc bsr bsc coalesce coalesced crow ccol nested jagged",
    "attention": "attention attn transformer",
    "recurrent": "lstm gru rnn packed",
    "convolution": "conv convolution col2im im2col",
    "pooling": "pool",
    "resampling": "upsample grid sampler pixel channel",
    "normalisation": "norm softmax renorm",
    "loss": "loss entropy ctc",
    "activations": "relu relu6 gelu elu celu selu glu mish silu sigmoid prelu rrelu hardtanh hardswish hardsigmoid "
    "hardshrink softshrink softplus threshold",
    "spectral": "fft stft istft window",
    "linear algebra": "mm bmm matmul addmm addbmm baddbmm addmv addr mv dot vdot inner outer ger einsum linear bilinear "
    "trilinear linalg cholesky lu qr svd det logdet slogdet inverse pinverse triangular ormqr geqrf orgqr kron matrix "
    "cdist pdist chain tensordot householder cross trace cov corrcoef",
    "sorting": "sort argsort msort topk kthvalue unique searchsorted bucketize bincount histc histogram histogramdd "
    "mode median nanmedian quantile nanquantile",
    "indexing": "index gather scatter select slice take put masked embedding nonzero where diag diagonal diagflat tril "
    "triu narrow argwhere isin",
    "reductions": "sum mean prod amax amin argmax argmin var std cumsum cumprod cummax cummin logcumsumexp nansum "
    "nanmean trapz trapezoid",
    "random": "rand random dropout sobol philox",
    "copies": "copy clone to lift contiguous cast",
}
FAMILIES = ("elementwise", "views and shapes", "creation", *_WORDS, "questions", "others")

_FAMILIES_OF = {word: family for family, words in _WORDS.items() for word in words.split()}
_SHAPES = re.compile(
    r"^_?(cat|stack|hstack|vstack|dstack|concat|split|chunk|repeat|tile|roll|flip|rot90|pad|reflection|replication|"
    r"resize|set|reshape|expand|squeeze|unsqueeze|flatten|meshgrid|block|column|row|broadcast|combinations|cartesian|"
    r"atleast|transpose|swap|t$|unflatten|unsafe)"
)
_CREATION = re.compile(r"^(new|empty|zeros|ones|full|eye|arange|range|linspace|logspace|scalar)")


def family(name: str, tags: list[Any], pointwise: set[str]) -> str:
    """One of FAMILIES for an operator such as `aten::add.Tensor`; `pointwise`: what `stem` makes of such operators."""
    base, _, overload = name.partition(".")
    schema = torch._C._get_schema(base, overload)
    words = [re.sub(r"[1-9]d$", "", word) for word in base.partition("::")[2].split("_") if word]
    # Of several families the one that says most counts.
    found = min((_FAMILIES_OF[word] for word in words if word in _FAMILIES_OF), key=FAMILIES.index, default="")
    types = [str(argument.type) for argument in schema.arguments]
    if torch.Tag.nondeterministic_seeded in tags and found not in ("other devices", "attention", "recurrent"):
        return "random"
    if found in ("other devices", "foreach", "optimizer", "quantized", "sparse", "activations"):
        return found
    if stem(name) in pointwise:
        return "elementwise"
    if not any("Tensor" in str(result.type) for result in schema.returns):
        return "questions" if schema.returns else found or "others"
    if any(argument.alias_info is not None and not argument.alias_info.is_write for argument in schema.arguments):
        return "views and shapes"
    if found:
        return found
    arguments = {argument.name for argument in schema.arguments}
    if torch.Tag.reduction in tags or {"dim", "keepdim"} <= arguments:
        return "reductions"
    if not any("Tensor" in type_ for type_ in types) or {"dtype", "layout", "device"} <= arguments:
        return "creation"
    joined = "_".join(words)
    return "creation" if _CREATION.match(joined) else "views and shapes" if _SHAPES.match(joined) else "others"


def stem(name: str) -> str:
    """The part of the name that an operator shares with its overloads, in-place form and gradient."""
    base = name.partition(".")[0].partition("::")[2]
    return base.removeprefix("special_").removesuffix("_backward").strip("_")
