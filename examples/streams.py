"""Has two streams work side by side, orders them by an event, and copies to the device while it computes."""

import time

import torch
from workload import check, parse

SIZE, COUNT = 384, 12


def chain(matrix: torch.Tensor) -> torch.Tensor:
    for _ in range(COUNT):
        matrix = matrix @ matrix / SIZE
    return matrix


def main() -> None:
    device, module = parse(__doc__ or "")
    if device == "cpu":
        print("the CPU has no streams, so there is nothing to show")
        return
    inputs = [torch.rand(SIZE, SIZE) for _ in range(2)]
    on_device = [x.to(device) for x in inputs]
    first, second = module.Stream(), module.Stream()
    for stream in (first, second):
        stream.wait_stream(module.current_stream())

    begin = time.perf_counter()
    results = []
    for stream, x in zip((first, second), on_device, strict=True):
        with module.stream(stream):
            results.append(chain(x))
    enqueued = time.perf_counter() - begin
    module.synchronize()
    done = time.perf_counter() - begin
    print(f"enqueued {2 * COUNT} products in {enqueued * 1e3:.2f} ms, done after {done * 1e3:.1f} ms")

    # The default stream waits for both by an event, without the host waiting.
    for stream in (first, second):
        module.current_stream().wait_event(stream.record_event())
    total = results[0] + results[1]
    for x in results:
        x.record_stream(module.current_stream())

    # A copy from pinned memory is enqueued behind the stream's work, and the host goes on.
    pinned = torch.rand(SIZE, SIZE).pin_memory()
    with module.stream(first):
        chain(on_device[0])
        copied = pinned.to(device, non_blocking=True)
    first.synchronize()

    expected = [chain(x) for x in inputs]
    check(
        "both streams have the CPU's results",
        all(torch.allclose(x.cpu(), y, rtol=1e-4) for x, y in zip(results, expected, strict=True)),
    )
    check("what waited for them has their sum", torch.allclose(total.cpu(), expected[0] + expected[1], rtol=1e-4))
    check("the copy has arrived", torch.equal(copied.cpu(), pinned))


if __name__ == "__main__":
    main()
