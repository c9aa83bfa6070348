"""Embeds positions with an ONNX model: python onnx_embeddings.py MODEL TOKENS, where TOKENS is a
JSON list of tokens for each position. Prints JSON of embeddings, cosines and win probabilities."""

import json
import sys

import numpy as np
import onnxruntime

model = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
tokens = np.array(json.loads(sys.argv[2]), dtype=np.int64)
embeddings, cosines = model.run(["embedding", "cosine"], {"tokens": tokens})
# A batch of another size gives the same embeddings.
alone = model.run(["embedding"], {"tokens": tokens[:1]})[0]
assert np.abs(alone - embeddings[:1]).max() < 1e-5, "the size of the batch matters"
calibration = json.loads(model.get_modelmeta().custom_metadata_map["calibration"])
probabilities = np.interp(cosines, calibration["cosine"], calibration["win_probability"])
print(json.dumps([embeddings.ravel().tolist(), cosines.tolist(), probabilities.tolist()]))
