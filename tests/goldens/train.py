"""Goldens of crisp/train and of average precision: torch.optim.AdamW, scikit-learn, and AffinityNet's loss pair by pair.

Run from anywhere:  python tests/goldens/train.py   (torch, numpy, scikit-learn, safetensors)

Written to tests/goldens/train/:
  adamw.safetensors        ten steps of two groups (matrix and vector each): `start.NAME`, `grad.STEP.NAME` (missing where
                           the parameter had no gradient), `after.STEP.NAME`, `norm.STEP` before clipping at 2.
                           Groups a: rate 0.02, decay 0.3; b: rate 0.004, decay 0.1; vectors never decay; the rates are
                           multiplied by `factor.STEP`
  affinity.safetensors     `features` [2,6,9,11], `labels` [2,9,11] with 255, `loss` and its parts, `gradient`
  average_precision.json   cases of scores and positives with scikit-learn's average precision

AdamW and the loss are computed in float64 from values that are exact in f32.
"""

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from sklearn.metrics import average_precision_score

FOLDER = Path(__file__).parent / "train"


def save(name, tensors):
    save_file({key: tensor.detach().float().contiguous() if tensor.is_floating_point() else tensor.contiguous()
               for key, tensor in tensors.items()}, FOLDER / name)
    (FOLDER / name).chmod(0o644)


def adamw():
    generator = torch.Generator().manual_seed(11)
    normal = lambda *shape: torch.randn(shape, generator=generator).double()
    shapes = {"a.weight": (3, 4), "a.bias": (4,), "b.weight": (2, 3, 1, 1), "b.scale": (5,)}
    parameters = {name: normal(*shape).requires_grad_() for name, shape in shapes.items()}
    tensors = {f"start.{name}": p.clone() for name, p in parameters.items()}
    rates = {"a": 0.02, "b": 0.004}
    optimizer = torch.optim.AdamW([
        {"params": [parameters["a.weight"]], "lr": rates["a"], "weight_decay": 0.3},
        {"params": [parameters["a.bias"]], "lr": rates["a"], "weight_decay": 0.0},
        {"params": [parameters["b.weight"]], "lr": rates["b"], "weight_decay": 0.1},
        {"params": [parameters["b.scale"]], "lr": rates["b"], "weight_decay": 0.0},
    ])
    base = [group["lr"] for group in optimizer.param_groups]
    for step in range(10):
        for name, parameter in parameters.items():
            parameter.grad = None
            if step in (3, 4) and name == "b.weight":
                continue
            parameter.grad = normal(*shapes[name]) * (0.1 if step % 3 == 0 else 1.0)
            parameter.grad = parameter.grad.float().double()
            tensors[f"grad.{step}.{name}"] = parameter.grad.clone()
        factor = torch.tensor(1 - step / 16)
        for group, rate in zip(optimizer.param_groups, base):
            group["lr"] = rate * factor.item()
        tensors[f"norm.{step}"] = torch.nn.utils.clip_grad_norm_(parameters.values(), 2.0)
        tensors[f"factor.{step}"] = factor
        optimizer.step()
        tensors |= {f"after.{step}.{name}": p.clone() for name, p in parameters.items()}
    norms = [tensors[f"norm.{step}"].item() for step in range(10)]
    if not min(norms) < 2 < max(norms):
        raise ValueError("clipping must happen in some steps and not in others")
    save("adamw.safetensors", tensors)


def affinity():
    """All pairs of pixels at once, those nearer than 5 chosen by their distance."""
    generator = torch.Generator().manual_seed(12)
    count, channels, height, width = 2, 6, 9, 11
    features = torch.randn(count, channels, height, width, generator=generator).double().requires_grad_()
    labels = torch.randint(0, 3, (count, 3, 4), generator=generator).repeat_interleave(3, 1).repeat_interleave(3, 2)
    labels = labels[:, :height, :width].clone()
    labels[torch.rand(labels.shape, generator=generator) < 0.25] = 255
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    y, x = y.flatten(), x.flatten()
    near = (y[:, None] - y) ** 2 + (x[:, None] - x) ** 2 < 25
    once = near & torch.triu(torch.ones_like(near), diagonal=1)
    flat = features.flatten(2)
    likeness = torch.exp(-(flat[:, :, :, None] - flat[:, :, None, :]).abs().mean(1))
    label = labels.flatten(1)
    first, second = label[:, :, None], label[:, None, :]
    known = (first != 255) & (second != 255) & once
    alike, unlike = -torch.log(likeness + 1e-5), -torch.log(1 + 1e-5 - likeness)
    background = alike[known & (first == second) & (first == 0)].mean()
    objects = alike[known & (first == second) & (first > 0)].mean()
    different = unlike[known & (first != second)].mean()
    loss = background / 4 + objects / 4 + different / 2
    loss.backward()
    save("affinity.safetensors", {
        "features": features, "labels": labels.to(torch.uint8), "loss": loss, "background": background,
        "object": objects, "different": different, "gradient": features.grad})


def average_precision():
    rng = np.random.default_rng(13)
    cases = []
    for count, levels in ((40, 0), (40, 6), (7, 2), (1, 0), (12, 1)):
        scores = rng.normal(size=count) if levels == 0 else rng.integers(0, levels, count) / 4
        scores = scores.astype(np.float32)
        positive = (rng.random(count) < 0.35).astype(int)
        positive[0] = 1
        cases.append({"scores": scores.tolist(), "positive": positive.tolist(),
                      "value": float(average_precision_score(positive, scores))})
    (FOLDER / "average_precision.json").write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    adamw()
    affinity()
    average_precision()
