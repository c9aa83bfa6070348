"""The encoder of the paper's authors in PyTorch.

make FOLDER: writes a small encoder with random parameters as solis.pth, as a Lightning
checkpoint (solis.ckpt) and with a wrapper's prefix (wrapped.pth), two means (white.npy,
black.npy), and a checkpoint that contains code (code.pth). Then prints embeddings as embed does.
embed CHECKPOINT: prints its embeddings of the tokens on standard input, as JSON."""

import json
import os
import sys

import numpy as np
import torch
from torch import nn

HIDDEN, HEADS, MLP, LAYERS = 32, 4, 48, 2


class Encoder(nn.Module):
    """The authors' encoder with smaller sizes. The projection keeps the width."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(77, HIDDEN)
        self.positional_encoding = nn.Parameter(torch.randn(1, 78, HIDDEN))
        self.cls_token = nn.Parameter(torch.randn(1, 1, HIDDEN))
        layer = nn.TransformerEncoderLayer(
            HIDDEN, HEADS, MLP, dropout=0.1, activation="gelu", batch_first=True
        )
        self.transformer = nn.TransformerEncoder(layer, LAYERS)
        self.projection = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, tokens):
        x = torch.cat([self.cls_token.repeat(len(tokens), 1, 1), self.embedding(tokens)], dim=1)
        x = self.transformer(x + self.positional_encoding)
        return nn.functional.normalize(self.projection(x[:, 0]), dim=-1)


class Code:
    """Code that an unsafe torch.load would run: it makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def print_embeddings(encoder):
    encoder.eval()
    with torch.no_grad():
        print(json.dumps(encoder(torch.tensor(json.load(sys.stdin))).double().tolist()))


def make(folder):
    torch.manual_seed(7)
    encoder = Encoder()
    for parameter in encoder.parameters():
        parameter.data += torch.randn_like(parameter) * 0.1
    state = encoder.state_dict()
    torch.save(state, f"{folder}/solis.pth")
    torch.save({f"module.{name}": tensor for name, tensor in state.items()}, f"{folder}/wrapped.pth")
    lightning = {
        "epoch": 3,
        "global_step": 400000,
        "pytorch-lightning_version": "2.5.0",
        "state_dict": state,
        "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"total": {"ready": 4}}}},
        "callbacks": {"ModelCheckpoint": {"best_model_score": torch.tensor(1.5), "best_k_models": {}}},
        "optimizer_states": [torch.optim.SGD(encoder.parameters(), 0.05, 0.9).state_dict()],
        "lr_schedulers": [],
        "hparams_name": "kwargs",
        "hyper_parameters": {"embed_dim": HIDDEN, "num_heads": HEADS, "lr": 0.05, "momentum": 0.9},
    }
    torch.save(lightning, f"{folder}/solis.ckpt")
    torch.save({**state, "extra": Code(f"{folder}/ran")}, f"{folder}/code.pth")
    means = torch.nn.functional.normalize(torch.randn(2, HIDDEN), dim=-1).numpy()
    np.save(f"{folder}/white.npy", means[0])
    np.save(f"{folder}/black.npy", means[1:].astype(np.float64))
    print_embeddings(encoder)


def embed(checkpoint):
    encoder = Encoder()
    encoder.load_state_dict(torch.load(checkpoint))
    for name in ("white_mean", "black_mean"):
        mean = np.load(checkpoint.replace(".pth", f".{name}.npy"))
        assert mean.shape == (HIDDEN,) and mean.dtype == np.float32
    print_embeddings(encoder)


{"make": make, "embed": embed}[sys.argv[1]](sys.argv[2])
