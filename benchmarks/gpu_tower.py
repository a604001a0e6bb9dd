"""The residual blocks of a network as one kernel, and by cuDNN: python -m benchmarks.gpu_tower

Times of a network of 6 blocks on one Hopper GPU, for boards and batches of several sizes, in turn in one run. The last
column is the arithmetic of the blocks, without the padding of boards, in the time of the kernel.
"""

import statistics

import torch

import ludus
from benchmarks.gpu_rounds import milliseconds
from ludus.gpu import fusion, layers, tower
from ludus.nets.families import make_network

BLOCKS = 6
ROUNDS = 5
BOARDS = (("connect4", {}, 64), ("connect4", {}, 32), ("breakthrough", {}, 64), ("breakthrough", {}, 48))


def measure(name: str, options: dict[str, int], width: int, count: int) -> None:
    game = ludus.make(name, **options)
    network = make_network("residual", game, blocks=BLOCKS, width=width).folded()
    network = network.to("cuda").to(memory_format=torch.channels_last).to(torch.bfloat16)
    planes, rows, columns = network.sizes.observation
    x = torch.rand(count, planes, rows, columns, device="cuda").to(torch.bfloat16, memory_format=torch.channels_last)
    inner = torch.rand(count, width, rows, columns, device="cuda").to(torch.bfloat16, memory_format=torch.channels_last)
    with torch.inference_mode():
        whole = tower.with_tower(network)
        by_cudnn, by_kernel, blocks = fusion.fused(network, layers), fusion.fused(whole, layers), whole.trunk[-1]
        times = [
            [milliseconds(lambda work=work, given=given: work(given), 20) for work, given in rows_of]  # type: ignore[misc]
            for rows_of in [[(by_cudnn, x), (by_kernel, x), (blocks, inner)]] * ROUNDS
        ]
    old, new, alone = (statistics.median(each) for each in zip(*times, strict=True))
    work = 2 * BLOCKS * count * rows * columns * 9 * width * width * 2
    print(
        f"{name} {rows} x {columns}, {BLOCKS} x {width}, {count:6} boards: {1000 * old:6.0f} us by cuDNN, "
        f"{1000 * new:6.0f} us by the kernel ({old / new:.2f} times as fast), of which blocks {1000 * alone:.0f} us, "
        f"{work / alone / 1e9:.0f} TFLOP/s",
        flush=True,
    )


def main() -> None:
    torch.backends.cudnn.benchmark = True
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for name, options, width in BOARDS:
        for count in (1024, 8192):
            measure(name, options, width, count)


if __name__ == "__main__":
    main()
