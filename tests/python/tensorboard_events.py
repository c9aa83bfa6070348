"""Prints the scalars of a run as TensorBoard reads them: JSON of tags to [step, value] pairs."""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
scalars = {
    tag: [[scalar.step, scalar.value] for scalar in events.Scalars(tag)]
    for tag in events.Tags()["scalars"]
}
print(json.dumps(scalars))
