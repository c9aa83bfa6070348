"""How fast PyTorch runs and trains the encoders of Azimuth, for comparison with Azimuth itself.

The same sizes, batches, losses and optimiser on made-up positions, which are as fast as real ones.

On one core, training alone, beside `azimuth-train train`:

    taskset -c 0 python3 torch_speed.py

Sparse: 12,672 features, 25 active on either side, two sums of 256, squared clipped ReLU, 32, 64, unit
length; batches of 1,024; the factoriser is left out, which spares PyTorch some work. Mini: the paper's
transformer of 6 layers, 128 wide; batches of 32. Supervised contrastive loss plus 100 times the
regression; Adam.

On a GPU, the transformers in bf16, eager (with PyTorch's own fused attention) and through torch.compile:

    python3 torch_speed.py --device cuda [--encoder mini small base] [--json FILE]

Inference from tokens in pinned memory to scores on the host, beside `azimuth-bench speed`; training steps of
768 positions with dropout 0.1 under autocast, beside `azimuth-train train --anchors 128 --positives 5`.
"""

import argparse
import json
import time

import torch
from torch import nn
from torch.nn import functional as F

FEATURES, ACTIVE, WIDTH, HIDDEN, DIM = 12_672, 25, 256, 32, 64
SPARSE_BATCH, CPU_BATCH, GPU_BATCH = 1024, 32, 768
LAYERS, TOKENS = 6, 77
# Width, heads, feed-forward width.
SIZES = {"mini": (128, 8, 256), "small": (512, 16, 512), "base": (1024, 16, 1024)}
BATCHES = [30, 256, 1024, 4096, 8192]
DELTA, TEMPERATURE, REGRESSION = 0.05, 0.07, 100.0


class Sparse(nn.Module):
    def __init__(self, sparse_gradients):
        super().__init__()
        self.table = nn.EmbeddingBag(FEATURES, WIDTH, mode="sum", sparse=sparse_gradients)
        nn.init.normal_(self.table.weight, std=0.06)
        self.bias = nn.Parameter(torch.full((WIDTH,), 0.3))
        self.hidden = nn.Linear(2 * WIDTH, HIDDEN)
        self.projection = nn.Linear(HIDDEN, DIM)
        self.readout = nn.Linear(DIM, 1)
        self.offsets = torch.arange(0, 2 * SPARSE_BATCH * ACTIVE, ACTIVE)

    def batch(self, _):
        return torch.randint(FEATURES, (2 * SPARSE_BATCH * ACTIVE,)), torch.rand(SPARSE_BATCH)

    def forward(self, rows):
        sums = (self.table(rows, self.offsets) + self.bias).view(-1, 2 * WIDTH)
        return F.normalize(self.projection(F.relu(self.hidden(sums.clamp(0, 1).square()))))


class Transformer(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        width, heads, mlp = SIZES[size]
        self.embedding = nn.Embedding(TOKENS, width)
        self.positions = nn.Parameter(torch.randn(1, TOKENS + 1, width))
        self.cls = nn.Parameter(torch.randn(1, 1, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, mlp, dropout=dropout, activation="gelu", batch_first=True
        )
        self.transformer = nn.TransformerEncoder(layer, LAYERS)
        self.projection = nn.Linear(width, width)
        self.readout = nn.Linear(width, 1)

    def batch(self, size):
        return torch.randint(32, (size, TOKENS), dtype=torch.uint8), torch.rand(size)

    def forward(self, tokens):
        tokens = tokens.int()
        x = torch.cat([self.cls.expand(len(tokens), -1, -1), self.embedding(tokens)], dim=1)
        return F.normalize(self.projection(self.transformer(x + self.positions)[:, 0]))


def loss_of(model, z, p):
    logits = (z @ z.T - 1.0) / TEMPERATURE
    itself = torch.eye(len(p), dtype=torch.bool, device=p.device)
    positive = ((p[:, None] - p[None, :]).abs() < DELTA) & ~itself
    mass = logits.masked_fill(itself, float("-inf")).logsumexp(1)
    count = positive.sum(1)
    attraction = (logits * positive).sum(1) / count.clamp(min=1)
    contrastive = torch.where(count > 0, mass - attraction, 0.0).mean()
    regression = (torch.sigmoid(model.readout(z)).squeeze(1) - p).square().mean()
    return contrastive + REGRESSION * regression


def rate(step, seconds, warm_up=3):
    """Calls a second, the device's work waited for."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    for index in range(warm_up):
        step(index)
    wait()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for _ in range(8 if torch.cuda.is_available() else 1):
            step(steps)
            steps += 1
        wait()
    return steps / (time.perf_counter() - began)


def training(model, size, seconds, sparse_gradients=False, device="cpu", compiled=False):
    """Optimiser steps a second."""
    model = model.to(device)
    if sparse_gradients:
        others = [value for name, value in model.named_parameters() if name != "table.weight"]
        optimizers = [
            torch.optim.SparseAdam([model.table.weight], lr=0.002),
            torch.optim.Adam(others, lr=0.002),
        ]
    else:
        optimizers = [torch.optim.Adam(model.parameters(), lr=0.002, fused=device != "cpu")]
    batches = [model.batch(size) for _ in range(16)]
    if device != "cpu":
        batches = [(inputs.pin_memory(), p.pin_memory()) for inputs, p in batches]
    forward = torch.compile(model) if compiled else model

    def step(index):
        inputs, p = batches[index % len(batches)]
        p = p.to(device, non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=device != "cpu"):
            z = forward(inputs.to(device, non_blocking=True))
        loss = loss_of(model, z.float(), p)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()

    return rate(step, seconds)


def inference(model, size, seconds, compiled):
    """Batches a second from tokens in pinned memory to scores on the host."""
    model = model.cuda().to(torch.bfloat16).eval()
    forward = torch.compile(model) if compiled else model
    tokens = model.batch(size)[0].pin_memory()
    axis = torch.randn(model.projection.out_features, 1, device="cuda")
    scores = torch.empty(size, 1).pin_memory()

    def step(_):
        with torch.inference_mode():
            z = forward(tokens.cuda(non_blocking=True))
            scores.copy_(z.float() @ axis, non_blocking=True)

    return rate(step, seconds)


def on_cpu():
    torch.set_num_threads(1)
    sparse = training(Sparse(False), SPARSE_BATCH, 20)
    print(f"sparse, dense gradients: {sparse * SPARSE_BATCH:.0f} positions/s")
    sparse = training(Sparse(True), SPARSE_BATCH, 20, sparse_gradients=True)
    print(f"sparse, sparse gradients and SparseAdam: {sparse * SPARSE_BATCH:.0f} positions/s")
    mini = training(Transformer("mini", 0.1), CPU_BATCH, 20)
    print(f"mini: {mini * CPU_BATCH:.0f} positions/s")


def on_gpu(arguments):
    results = {"pytorch": torch.__version__, "device": torch.cuda.get_device_name(), "rows": []}
    for size in arguments.encoder:
        for compiled in [False, True]:
            way = "compiled" if compiled else "eager"
            for batch in BATCHES:
                model = Transformer(size, 0.0)
                speed = inference(model, batch, arguments.seconds, compiled) * batch
                print(f"{size}, {way}, batch {batch}: {speed:.0f} positions/s", flush=True)
                row = {"encoder": size, "way": way, "batch": batch, "positions_per_second": speed}
                results["rows"].append(row)
            model = Transformer(size, 0.1)
            steps = training(model, GPU_BATCH, arguments.seconds, device="cuda", compiled=compiled)
            print(f"{size}, {way}, training: {steps:.1f} steps/s of {GPU_BATCH}", flush=True)
            results["rows"].append({"encoder": size, "way": way, "steps_per_second": steps})
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--encoder", nargs="+", choices=SIZES, default=["mini", "small", "base"])
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement on a GPU")
    parser.add_argument("--json", help="write the GPU's figures here too")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    print(f"PyTorch {torch.__version__}")
    if arguments.device == "cuda":
        on_gpu(arguments)
    else:
        on_cpu()
