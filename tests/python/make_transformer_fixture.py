"""Writes network/tests/data/transformer.safetensors: a small transformer with random weights,
tokens, and PyTorch's embeddings of them. Needs PyTorch and NumPy. It was run once; the result is
in the repository."""

import json
import struct
import sys

import numpy as np
import torch
from torch import nn

LAYERS, HIDDEN, HEADS, MLP, DIM, VOCABULARY, LENGTH = 2, 16, 4, 24, 12, 77, 77


class Encoder(nn.Module):
    """The paper's encoder (section 3.2) with the names of the authors' checkpoints."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.positional_encoding = nn.Parameter(torch.randn(1, LENGTH + 1, HIDDEN))
        self.cls_token = nn.Parameter(torch.randn(1, 1, HIDDEN))
        layer = nn.TransformerEncoderLayer(
            HIDDEN, HEADS, MLP, dropout=0.1, activation="gelu", batch_first=True
        )
        self.transformer = nn.TransformerEncoder(layer, LAYERS)
        self.projection = nn.Linear(HIDDEN, DIM)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)
        x = self.transformer(x + self.positional_encoding)
        return nn.functional.normalize(self.projection(x[:, 0]), dim=-1)


def write_safetensors(path, tensors):
    """Writes the safetensors format directly: header length, JSON header, tensor bytes."""
    header, data = {}, b""
    for name, array in tensors.items():
        dtype = {"float32": "F32", "uint8": "U8"}[array.dtype.name]
        start, data = len(data), data + array.tobytes()
        header[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [start, len(data)],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


torch.manual_seed(1)
encoder = Encoder().eval()
with torch.no_grad():
    # Biases and norms are initialised to constants, which could hide a mistake.
    for parameter in encoder.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    tokens = torch.randint(0, 33, (5, LENGTH))
    embeddings = encoder(tokens)
tensors = {name: value.numpy().astype(np.float32) for name, value in encoder.state_dict().items()}
tensors["test.tokens"] = tokens.numpy().astype(np.uint8)
tensors["test.embeddings"] = embeddings.numpy().astype(np.float32)
write_safetensors(sys.argv[1], tensors)
