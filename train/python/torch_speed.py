"""How fast PyTorch trains the encoders of Azimuth, for comparison with `azimuth-train train`.

The same sizes, batches, losses and optimiser on made-up positions, which are as fast as real ones.
Sparse: 12,672 features, 25 active on either side, two sums of 256, squared clipped ReLU, 32, 64, unit
length; batches of 1,024. Mini: the paper's transformer of 6 layers, 128 wide; batches of 32. Supervised
contrastive loss plus 100 times the regression; Adam. The sparse encoder's factoriser is left out, which
spares PyTorch some work. One thread, as pinned to a core:

    taskset -c 0 python3 torch_speed.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

FEATURES, ACTIVE, WIDTH, HIDDEN, DIM = 12_672, 25, 256, 32, 64
SPARSE_BATCH, MINI_BATCH = 1024, 32
LAYERS, MINI_WIDTH, HEADS, MLP, MINI_DIM, TOKENS = 6, 128, 8, 256, 128, 77
DELTA, TEMPERATURE, REGRESSION = 0.05, 0.07, 100.0
SECONDS = 20.0


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

    def batch(self):
        return torch.randint(FEATURES, (2 * SPARSE_BATCH * ACTIVE,)), torch.rand(SPARSE_BATCH)

    def forward(self, rows):
        sums = (self.table(rows, self.offsets) + self.bias).view(-1, 2 * WIDTH)
        return F.normalize(self.projection(F.relu(self.hidden(sums.clamp(0, 1).square()))))


class Mini(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, MINI_WIDTH)
        self.positions = nn.Parameter(torch.randn(1, TOKENS + 1, MINI_WIDTH))
        self.cls = nn.Parameter(torch.randn(1, 1, MINI_WIDTH))
        layer = nn.TransformerEncoderLayer(
            MINI_WIDTH, HEADS, MLP, dropout=0.0, activation="gelu", batch_first=True
        )
        self.transformer = nn.TransformerEncoder(layer, LAYERS)
        self.projection = nn.Linear(MINI_WIDTH, MINI_DIM)
        self.readout = nn.Linear(MINI_DIM, 1)

    def batch(self):
        return torch.randint(32, (MINI_BATCH, TOKENS)), torch.rand(MINI_BATCH)

    def forward(self, tokens):
        x = torch.cat([self.cls.expand(len(tokens), -1, -1), self.embedding(tokens)], dim=1)
        return F.normalize(self.projection(self.transformer(x + self.positions)[:, 0]))


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


def measure(model, sparse_gradients=False):
    if sparse_gradients:
        others = [value for name, value in model.named_parameters() if name != "table.weight"]
        optimizers = [
            torch.optim.SparseAdam([model.table.weight], lr=0.002),
            torch.optim.Adam(others, lr=0.002),
        ]
    else:
        optimizers = [torch.optim.Adam(model.parameters(), lr=0.002)]
    batches = [model.batch() for _ in range(16)]
    steps, began = 0, None
    while began is None or time.perf_counter() - began < SECONDS:
        if steps == 3 and began is None:
            steps, began = 0, time.perf_counter()
        inputs, p = batches[steps % len(batches)]
        loss = loss_of(model, model(inputs), p)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        steps += 1
    return steps * len(p) / (time.perf_counter() - began)


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}")
    print(f"sparse, dense gradients: {measure(Sparse(False)):.0f} positions/s")
    print(f"sparse, sparse gradients and SparseAdam: {measure(Sparse(True), True):.0f} positions/s")
    print(f"mini: {measure(Mini()):.0f} positions/s")
