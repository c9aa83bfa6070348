"""How fast PyTorch trains the sparse encoder of Azimuth, for comparison with `azimuth-train train`.

The same sizes, batch, losses and optimiser on made-up positions, which are as fast as real ones:
6,144 features, two sums of 256, squared clipped ReLU, 32, 64, unit length; supervised contrastive
loss over 1,024 positions plus 100 times the regression; Adam. The factoriser is left out, which
spares PyTorch some work. One thread, as pinned to a core:

    taskset -c 0 python3 torch_speed.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

FEATURES, WIDTH, HIDDEN, DIM = 6144, 256, 32, 64
BATCH, PIECES = 1024, 22
DELTA, TEMPERATURE, REGRESSION = 0.05, 0.07, 100.0
SECONDS = 20.0


class Encoder(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.table = nn.EmbeddingBag(FEATURES, WIDTH, mode="sum", sparse=sparse)
        nn.init.normal_(self.table.weight, std=0.06)
        self.bias = nn.Parameter(torch.full((WIDTH,), 0.3))
        self.hidden = nn.Linear(2 * WIDTH, HIDDEN)
        self.projection = nn.Linear(HIDDEN, DIM)
        self.readout = nn.Linear(DIM, 1)

    def forward(self, rows, offsets):
        sums = (self.table(rows, offsets) + self.bias).view(-1, 2 * WIDTH)
        return F.normalize(self.projection(F.relu(self.hidden(sums.clamp(0, 1).square()))))


def loss_of(model, z, p):
    logits = (z @ z.T - 1.0) / TEMPERATURE
    itself = torch.eye(len(p), dtype=torch.bool)
    positive = ((p[:, None] - p[None, :]).abs() < DELTA) & ~itself
    mass = logits.masked_fill(itself, float("-inf")).logsumexp(1)
    count = positive.sum(1)
    attraction = (logits * positive).sum(1) / count.clamp(min=1)
    contrastive = torch.where(count > 0, mass - attraction, torch.zeros(())).mean()
    regression = (torch.sigmoid(model.readout(z)).squeeze(1) - p).square().mean()
    return contrastive + REGRESSION * regression


def measure(sparse):
    torch.manual_seed(1)
    model = Encoder(sparse)
    others = [parameter for name, parameter in model.named_parameters() if name != "table.weight"]
    if sparse:
        optimizers = [torch.optim.SparseAdam([model.table.weight], lr=0.002), torch.optim.Adam(others, lr=0.002)]
    else:
        optimizers = [torch.optim.Adam(model.parameters(), lr=0.002)]
    batches = [
        (torch.randint(FEATURES, (2 * BATCH * PIECES,)), torch.rand(BATCH)) for _ in range(16)
    ]
    offsets = torch.arange(0, 2 * BATCH * PIECES, PIECES)
    steps, began = 0, None
    while began is None or time.perf_counter() - began < SECONDS:
        if steps == 10 and began is None:
            steps, began = 0, time.perf_counter()
        rows, p = batches[steps % len(batches)]
        loss = loss_of(model, model(rows, offsets), p)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        steps += 1
    return steps * BATCH / (time.perf_counter() - began)


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, batch {BATCH}, {PIECES} pieces")
    for sparse in (False, True):
        kind = "sparse gradients, SparseAdam" if sparse else "dense gradients"
        print(f"{kind}: {measure(sparse):.0f} positions/s")
