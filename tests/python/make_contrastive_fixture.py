"""Writes train/src/testdata/contrastive.json: embeddings, win probabilities, and the supervised
contrastive loss with its gradient, computed with NumPy in float64. It was run once; the result
is in the repository."""

import json
import sys

import numpy as np

DELTA, TEMPERATURE, N, D = 0.05, 0.07, 24, 6


def loss(z, p):
    """Khosla et al. 2020, equation 2, averaged over all samples; positives are |dp| < DELTA."""
    logits = z @ z.T / TEMPERATURE
    total = 0.0
    for i in range(N):
        others = [a for a in range(N) if a != i]
        positives = [a for a in others if abs(p[a] - p[i]) < DELTA]
        if positives:
            mass = np.log(np.sum(np.exp(logits[i, others])))
            total -= np.mean([logits[i, a] - mass for a in positives])
    return total / N


rng = np.random.default_rng(1)
z = rng.normal(size=(N, D))
z = (z / np.linalg.norm(z, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)
p = rng.uniform(size=N).astype(np.float32).astype(np.float64)
gradient = np.zeros_like(z)
for index in np.ndindex(z.shape):
    step = np.zeros_like(z)
    step[index] = 1e-6
    gradient[index] = (loss(z + step, p) - loss(z - step, p)) / 2e-6
with open(sys.argv[1], "w") as file:
    fixture = {"n": N, "d": D, "delta": DELTA, "temperature": TEMPERATURE}
    fixture |= {"z": z.ravel().tolist(), "p": p.tolist(), "loss": loss(z, p)}
    json.dump(fixture | {"gradient": gradient.ravel().tolist()}, file)
