"""What random programs are made of: views, operators, and writes in place.

Each is called as `call(x, y, dim, random)`, on the CPU and on the device, with a `random` in the same state: `dim` is one
of x's dimensions, 0 if it has none, and what else is chosen depends on sizes alone.
"""

import torch
from torch.nn import functional

SIZES = [0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33]
FLOATING = [torch.float32] * 6 + [torch.float64, torch.float16, torch.bfloat16]
DTYPES = [*FLOATING, torch.int64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64]


def make_tensor(random):
    dtype = random.choice(DTYPES)
    shape = [random.choice(SIZES) for _ in range(random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
    generator = torch.Generator().manual_seed(random.randrange(1 << 30))
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, dtype=dtype if dtype.is_complex else torch.float32, generator=generator).to(dtype)
    return torch.randint(0 if dtype in (torch.uint8, torch.bool) else -9, 10, shape, generator=generator).to(dtype)


def places(x, dim, random, count=5, distinct=False):
    """Indices into a dimension of x. Into one of size 0 there is none that is right."""
    size = x.size(dim) if x.dim() else 1
    if distinct:
        chosen = random.sample(range(size), min(count, size))
    else:
        chosen = [random.randrange(max(1, size)) for _ in range(count)]
    return torch.tensor(chosen, dtype=torch.int64, device=x.device)


def places_like(x, dim, random):
    size = max(1, x.size(dim) if x.dim() else 1)
    return (torch.arange(x.numel()) * random.randrange(1, 8) % size).reshape(x.shape).to(x.device)


def sliced(x, dim, random):
    begin = random.randint(0, x.size(dim) // 2)
    return x[(slice(None),) * dim + (slice(begin, random.randint(begin, x.size(dim)), random.choice([1, 1, 2, 3])),)]


def windows(x, dim, random):
    return x.unfold(dim, random.randint(1, x.size(dim)), random.randint(1, 3))


def expanded(x, dim, random):
    return x.unsqueeze(dim).expand(*x.shape[:dim], random.randint(1, 4), *x.shape[dim:])


VIEWS = {
    "transpose": lambda x, y, dim, random: x.transpose(dim, random.randrange(x.dim())),
    "permute": lambda x, y, dim, random: x.permute(random.sample(range(x.dim()), x.dim())),
    "slice": lambda x, y, dim, random: sliced(x, dim, random),
    "select": lambda x, y, dim, random: x.select(dim, random.randrange(x.size(dim))),
    "narrow": lambda x, y, dim, random: x.narrow(dim, x.size(dim) // 3, x.size(dim) // 2),
    "expand": lambda x, y, dim, random: expanded(x, dim, random),
    "unsqueeze": lambda x, y, dim, random: x.unsqueeze(dim),
    "squeeze": lambda x, y, dim, random: x.squeeze(),
    "flatten": lambda x, y, dim, random: x.flatten(),
    "diagonal": lambda x, y, dim, random: x.diagonal(),
    "conj": lambda x, y, dim, random: x.conj(),
    "channels_last": lambda x, y, dim, random: x.contiguous(memory_format=torch.channels_last),
    "itself": lambda x, y, dim, random: x,
}
# Elements that lie in the same place, so that it isn't said what they are after a write: to be read.
OVERLAPPING = {"unfold": lambda x, y, dim, random: windows(x, dim, random)}

OF_ONE = """
    abs neg sign sgn sqrt rsqrt exp exp2 expm1 log1p sin cos tanh atan sigmoid erf floor ceil round trunc frac square
    reciprocal relu logical_not bitwise_not isnan isfinite angle real nan_to_num clone contiguous double int half bool sum
    mean prod amax amin max min any all argmax argmin std var norm median count_nonzero nonzero unique tril triu trace ravel
""".split()
OF_ONE_IN_NN = "gelu silu elu hardtanh leaky_relu mish softplus logsigmoid hardswish selu relu6 tanhshrink".split()
OF_DIMENSION = """
    sum mean prod amax amin argmax argmin any all var std cumsum cumprod logsumexp softmax log_softmax flip diff cummax
    cummin logcumsumexp count_nonzero aminmax unbind
""".split()
OF_TWO = """
    add sub mul div maximum minimum fmax fmin eq ne lt le gt ge pow fmod remainder floor_divide atan2 bitwise_and bitwise_or
    bitwise_xor logical_and logical_or logical_xor copysign hypot xlogy heaviside logaddexp nextafter ldexp isclose isin
    matmul outer dot bmm kron cat
""".split()
WRITTEN = """
    add_ sub_ mul_ div_ copy_ addcmul_ bitwise_and_ bitwise_xor_ logical_or_ eq_ lt_ atan2_ copysign_ fmod_
""".split()
WRITTEN_ALONE = "zero_ neg_ abs_ relu_ sigmoid_ floor_ logical_not_ sin_ square_ tril_ triu_ round_ sgn_ conj_physical_".split()


def of_pair(name):
    if name == "cat":
        return lambda x, y, dim, random: torch.cat([x, y], dim)
    return lambda x, y, dim, random: getattr(torch, name)(x, y)


def by_dimension(name):
    return lambda x, y, dim, random: getattr(torch, name)(x, dim=[dim] if name == "flip" else dim)


OPERATORS = {
    **{name: lambda x, y, dim, random, name=name: getattr(x, name)() for name in OF_ONE},
    **{name: lambda x, y, dim, random, name=name: getattr(functional, name)(x) for name in OF_ONE_IN_NN},
    **{f"{name} of a dimension": by_dimension(name) for name in OF_DIMENSION},
    **{name: of_pair(name) for name in OF_TWO},
    "where": lambda x, y, dim, random: torch.where(x != 0, x, y),
    "lerp": lambda x, y, dim, random: torch.lerp(x, y, 0.25),
    "addcmul": lambda x, y, dim, random: torch.addcmul(x, x, y, value=2),
    "mul by a number": lambda x, y, dim, random: x * random.choice([0, 2, -3, 0.5]),
    "clamp": lambda x, y, dim, random: x.clamp(-1, random.choice([2, 0.5])),
    "stack": lambda x, y, dim, random: torch.stack([x, y], -1),
    "sort": lambda x, y, dim, random: x.sort(dim=dim, stable=True, descending=random.random() < 0.5),
    "argsort": lambda x, y, dim, random: torch.argsort(x, dim=dim, stable=True),
    "topk": lambda x, y, dim, random: x.topk(1, dim).values,
    "kthvalue": lambda x, y, dim, random: x.kthvalue(1, dim).values,
    "mode": lambda x, y, dim, random: x.mode(dim).values,
    "roll": lambda x, y, dim, random: x.roll(random.randint(-3, 3), dim),
    "repeat": lambda x, y, dim, random: x.repeat([2] * max(1, x.dim())),
    "index_select": lambda x, y, dim, random: x.index_select(dim, places(x, dim, random)),
    "gather": lambda x, y, dim, random: x.gather(dim, places_like(x, dim, random)),
    "index": lambda x, y, dim, random: x[places(x, 0, random)],
    "index by mask": lambda x, y, dim, random: x[x != 0],
    "masked_fill": lambda x, y, dim, random: x.masked_fill(y != 0, 3),
    "masked_select": lambda x, y, dim, random: x.masked_select(y != 0),
    "take": lambda x, y, dim, random: x.take(places(x.flatten(), 0, random)),
    "searchsorted": lambda x, y, dim, random: torch.searchsorted(x.sort()[0], y),
    "bucketize": lambda x, y, dim, random: torch.bucketize(x, y.flatten().sort()[0]),
}


def set_item(x, value, random):
    x[random.choice([(slice(None, None, 2),), (Ellipsis, 0), (slice(0, 1),)])] = value
    return x


def set_where(x, value):
    x[x != 0] = value
    return x


WRITES = {
    **{name: lambda x, y, dim, random, name=name: getattr(x, name)(y) for name in WRITTEN},
    **{name: lambda x, y, dim, random, name=name: getattr(x, name)() for name in WRITTEN_ALONE},
    "fill_": lambda x, y, dim, random: x.fill_(random.choice([0, 1, 2.5, -3])),
    "add_ a number": lambda x, y, dim, random: x.add_(random.choice([1, 2, -3])),
    "clamp_": lambda x, y, dim, random: x.clamp_(-1, 2),
    "pow_": lambda x, y, dim, random: x.pow_(2),
    "remainder_": lambda x, y, dim, random: x.remainder_(3),
    "lerp_": lambda x, y, dim, random: x.lerp_(y, 0.25),
    "cumsum_": lambda x, y, dim, random: x.cumsum_(dim),
    "masked_fill_": lambda x, y, dim, random: x.masked_fill_(y != 0, random.choice([0, 1, 2.5])),
    "masked_scatter_": lambda x, y, dim, random: x.masked_scatter_(y != 0, x.flatten().clone()),
    "index_fill_": lambda x, y, dim, random: x.index_fill_(dim, places(x, dim, random), random.choice([0, 1, 2.5])),
    "index_add_": lambda x, y, dim, random: x.index_add_(
        dim, at := places(x, dim, random), x.clone().index_select(dim, at)
    ),
    "index_copy_": lambda x, y, dim, random: x.index_copy_(
        dim, at := places(x, dim, random, distinct=True), x.flip(dim).index_select(dim, at)
    ),
    "index_put_": lambda x, y, dim, random: x.index_put_(
        (places(x, 0, random),), torch.ones((), dtype=x.dtype, device=x.device), accumulate=True
    ),
    "put_": lambda x, y, dim, random: x.put_(
        at := places(x.flatten(), 0, random, distinct=True), torch.ones_like(at, dtype=x.dtype)
    ),
    "scatter_": lambda x, y, dim, random: x.scatter_(dim, places_like(x, dim, random) * 0, 2),
    "scatter_add_": lambda x, y, dim, random: x.scatter_add_(dim, places_like(x, dim, random), x.clone()),
    "copy_ of itself turned": lambda x, y, dim, random: x.copy_(x.flip(dim)),
    "copy_ of itself transposed": lambda x, y, dim, random: x.copy_(x.transpose(0, -1).clone()),
    "x[...] = y": lambda x, y, dim, random: set_item(x, y, random),
    "x[...] = number": lambda x, y, dim, random: set_item(x, random.choice([0, 1, 2.5]), random),
    "x[mask] = number": lambda x, y, dim, random: set_where(x, random.choice([0, 1, 2.5])),
}
