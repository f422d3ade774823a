"""Goldens of the losses from an independent version of them, for the parity tests of crisp/loss.

Run from anywhere:  python tests/goldens/loss.py   (numpy, scipy, torch, safetensors)

Written from the formulas of the method, class by class and image by image, for clarity and not for speed, in float64.

Written to tests/goldens/loss/:
  edges.safetensors   label maps and what scipy's Euclidean distance transform makes of them. For each NAME:
                      `NAME.labels` uint8 [H, W]; `NAME.band2`, `NAME.band3` uint8: 1 in the band, 0 outside, 255 not
                      known; `NAME.distance` f32: distance to the nearest pixel at an edge, clipped at 32, over 32.
  losses.safetensors  `in.FIELD`: a batch of three images (the last of one class alone, no edge in it), the network's
                      maps at 1/4 of the labels' size. For each CASE below `CASE.value`, and `CASE.grad.FIELD` for the
                      gradients that are not zero; `uncertainty.*` the maps U.
"""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from scipy.ndimage import distance_transform_edt
from torch.nn import functional

FOLDER = Path(__file__).parent / "loss"
IGNORE = 255
CLASSES = 5


# ----- edges, on a lattice of twice the resolution: pixel (y, x) is at (2y, 2x), the line between two pixels halfway


def lines(labels, wanted):
    """Distance in pixels from each pixel's centre to the middle of the nearest line for which wanted(a, b)."""
    height, width = labels.shape
    free = np.ones((2 * height - 1, 2 * width - 1), bool)
    for y in range(height):
        for x in range(width):
            if x + 1 < width and wanted(labels[y, x], labels[y, x + 1]):
                free[2 * y, 2 * x + 1] = False
            if y + 1 < height and wanted(labels[y, x], labels[y + 1, x]):
                free[2 * y + 1, 2 * x] = False
    if free.all():
        return np.full(labels.shape, np.inf)
    return distance_transform_edt(free)[::2, ::2] / 2


def is_edge(a, b):
    return a != b and IGNORE not in (a, b)


def is_unknown(a, b):
    return a != b and IGNORE in (a, b)


def band(labels, reach):
    result = (lines(labels, is_edge) <= reach).astype(np.uint8)
    result[(lines(labels, is_unknown) <= reach) | (labels == IGNORE)] = IGNORE
    return result


def distance(labels, limit=32):
    at_edge = lines(labels, is_edge) == 0.5
    if not at_edge.any():
        return np.ones(labels.shape)
    return np.minimum(distance_transform_edt(~at_edge), limit) / limit


def random_scene(rng, height, width, shapes):
    """Boxes and discs of random labels on background, some of them ignored."""
    labels = np.zeros((height, width), np.uint8)
    rows, columns = np.mgrid[:height, :width]
    for _ in range(shapes):
        label = rng.choice([0, 1, 2, 3, 4, IGNORE])
        y, x = rng.integers(height), rng.integers(width)
        tall, wide = rng.integers(1, max(2, height // 2)), rng.integers(1, max(2, width // 2))
        if rng.random() < 0.5:
            labels[y : y + tall, x : x + wide] = label
        else:
            labels[((rows - y) / tall) ** 2 + ((columns - x) / wide) ** 2 <= 1] = label
    return labels


def edge_goldens():
    rng = np.random.default_rng(5)
    maps = {
        "scene": random_scene(rng, 61, 83, 14),
        "far": np.where(np.arange(120)[None, :] < 40, 0, 3).astype(np.uint8).repeat(9, axis=0),
        "noise": rng.choice(np.array([0, 1, 2, IGNORE], np.uint8), (24, 31), p=[0.6, 0.2, 0.15, 0.05]),
        "flat": np.full((7, 9), 4, np.uint8),
        "ignored": np.full((5, 6), IGNORE, np.uint8),
        "row": np.array([[0, 0, 0, 1, 1, 1, 255, 1, 1, 1, 1, 0]], np.uint8),
        "column": np.array([[0, 0, 0, 1, 1, 1, 255, 1, 1, 1, 1, 0]], np.uint8).T.copy(),
        "pixel": np.array([[2]], np.uint8),
    }
    out = {}
    for name, labels in maps.items():
        out[f"{name}.labels"] = torch.from_numpy(labels)
        out[f"{name}.band2"] = torch.from_numpy(band(labels, 0.5))
        out[f"{name}.band3"] = torch.from_numpy(band(labels, 1.5))
        out[f"{name}.distance"] = torch.from_numpy(distance(labels))
    return out


# ----- losses


def up(maps, like):
    return functional.interpolate(maps, size=like.shape[-2:], mode="bilinear", align_corners=False)


def normalised(image, minmax):
    values = image.detach().numpy()
    low, high = (0, 100) if minmax else (1, 99)
    low, high = (np.percentile(values, p, method="lower") for p in (low, high))
    if high - low <= 1e-6:
        return torch.zeros_like(image)
    return torch.from_numpy(np.clip((values - low) / (high - low), 0, 1))


def uncertainty(data, aleatoric=True, entropy=True, minmax=False):
    """U of each image [N, 1, h, w]."""
    sources = []
    if aleatoric:
        sources.append(data["variance"].mean(dim=1))
    if entropy:
        p = torch.softmax(data["refined"], dim=1)
        sources.append(torch.special.entr(p).sum(dim=1))
    images = range(len(data["labels"]))
    maps = [torch.stack([normalised(source[n], minmax) for n in images]) for source in sources]
    return (sum(maps) / len(maps)).unsqueeze(1)


def weight(data, **options):
    return torch.exp(-2 * up(uncertainty(data, **options), data["labels"])).squeeze(1)


def picked(values, labels):
    """values [N, K, H, W] at each valid pixel's label, as one list; and the valid pixels."""
    valid = labels < CLASSES
    return values.permute(0, 2, 3, 1)[valid].gather(1, labels[valid].long().unsqueeze(1)).squeeze(1), valid


def pixelwise(logits, data):
    return picked(-torch.log_softmax(up(logits, data["labels"]), dim=1), data["labels"])


def cross_entropy(data, w=None):
    loss, valid = pixelwise(data["refined"], data)
    return (loss if w is None else loss * w[valid]).sum() / max(1, valid.sum())


def dice(data, w=None):
    labels = data["labels"]
    valid = labels < CLASSES
    m = torch.ones(int(valid.sum()), dtype=torch.float64) if w is None else w[valid]
    p = torch.softmax(up(data["refined"], labels), dim=1)
    losses = []
    for k in range(CLASSES):
        mine = (labels[valid] == k).double()
        if mine.sum() == 0:
            continue
        pk = p[:, k][valid]
        losses.append(1 - (2 * (m * pk * mine).sum() + 1) / ((m * pk).sum() + (m * mine).sum() + 1))
    return sum(losses) / len(losses)


def heteroscedastic(data, of_label=False):
    loss, valid = pixelwise(data["logits"], data)
    if of_label:
        sigma2, _ = picked(up(data["variance"], data["labels"]), data["labels"])
    else:
        sigma2 = up(data["variance"].mean(dim=1, keepdim=True), data["labels"]).squeeze(1)[valid]
    return (loss / (2 * sigma2) + 0.5 * torch.log(sigma2)).mean()


def boundary(data, w=None):
    known = data["band"] != IGNORE
    e = up(data["boundary"], data["labels"]).squeeze(1)[known]
    b = data["band"][known].double()
    m = torch.ones_like(b) if w is None else w[known]
    s = torch.sigmoid(e)
    bce = -(b * functional.logsigmoid(e) + (1 - b) * functional.logsigmoid(-e))
    overlap = 1 - (2 * (m * s * b).sum() + 1) / ((m * s).sum() + (m * b).sum() + 1)
    return (m * bce).sum() / len(b) + overlap


def surface(data, everywhere=False):
    total, pixels = 0.0, 0
    for n in range(len(data["labels"])):
        if not (data["distance"][n] == 0).any():
            continue
        p = torch.softmax(up(data["refined"][n : n + 1], data["labels"]), dim=1)[0]
        right = functional.pad((p[:, :, 1:] - p[:, :, :-1]).abs().sum(dim=0), (0, 1))
        down = functional.pad((p[:, 1:] - p[:, :-1]).abs().sum(dim=0), (0, 0, 0, 1))
        known = torch.ones_like(right) if everywhere else (data["band"][n] != IGNORE).double()
        total = total + ((right + down) * data["distance"][n] * known).sum()
        pixels += known.sum()
    return total / pixels


CASES = {
    "cross_entropy": lambda data: cross_entropy(data, weight(data)),
    "cross_entropy_unweighted": cross_entropy,
    "cross_entropy_minmax": lambda data: cross_entropy(data, weight(data, minmax=True)),
    "cross_entropy_entropy": lambda data: cross_entropy(data, weight(data, aleatoric=False)),
    "cross_entropy_aleatoric": lambda data: cross_entropy(data, weight(data, entropy=False)),
    "dice": lambda data: dice(data, weight(data)),
    "dice_unweighted": dice,
    "heteroscedastic": heteroscedastic,
    "heteroscedastic_label": lambda data: heteroscedastic(data, of_label=True),
    "boundary": boundary,
    "boundary_discounted": lambda data: boundary(data, weight(data)),
    "surface": surface,
    "surface_everywhere": lambda data: surface(data, everywhere=True),
    "total": lambda data: (
        cross_entropy(data, weight(data))
        + dice(data, weight(data))
        + 0.5 * heteroscedastic(data)
        + 0.5 * boundary(data)
    ),
    "total_all": lambda data: (
        cross_entropy(data, weight(data))
        + dice(data, weight(data))
        + 0.5 * heteroscedastic(data)
        + 0.5 * boundary(data)
        + 0.1 * surface(data)
    ),
}
LEARNT = ("logits", "refined", "variance", "boundary")


def batch():
    rng = np.random.default_rng(23)
    height, width = 37, 44
    small = (-(-height // 4), -(-width // 4))
    stored = [random_scene(rng, height, width, 9), random_scene(rng, height, width, 7), np.full((height, width), 2)]
    stored = np.stack(stored).astype(np.uint8)
    labels = stored.copy()
    labels[rng.random(labels.shape) < 0.2] = IGNORE  # dropped as uncertain
    data = {
        "labels": labels,
        "band": np.stack([band(image, 0.5) for image in stored]),
        "distance": np.stack([distance(image) for image in stored]),
        "logits": 2 * rng.standard_normal((3, CLASSES, *small)),
        "refined": 2 * rng.standard_normal((3, CLASSES, *small)),
        "variance": 0.1 + 3 * rng.random((3, CLASSES, *small)) ** 2,
        "boundary": 2 * rng.standard_normal((3, 1, *small)),
    }
    # What a test reads is f32: the reference starts from the same numbers.
    data = {name: torch.from_numpy(value) for name, value in data.items()}
    return {name: value.float().double() if value.is_floating_point() else value for name, value in data.items()}


def loss_goldens():
    data = batch()
    out = {f"in.{name}": value for name, value in data.items()}
    out["uncertainty.percentiles"] = uncertainty(data)
    out["uncertainty.minmax"] = uncertainty(data, minmax=True)
    out["uncertainty.weight"] = weight(data)[:1]
    for name, case in CASES.items():
        leaves = {field: data[field].clone().requires_grad_() for field in LEARNT}
        value = case({**data, **leaves})
        out[f"{name}.value"] = value
        gradients = torch.autograd.grad(value, list(leaves.values()), allow_unused=True)
        for field, gradient in zip(leaves, gradients):
            if gradient is not None:
                out[f"{name}.grad.{field}"] = gradient
    return out


def save(name, tensors):
    stored = {}
    for key, tensor in tensors.items():
        tensor = tensor.detach()
        if not torch.isfinite(tensor.double()).all():
            raise ValueError(f"{name}: {key} is not finite")
        stored[key] = (tensor.float() if tensor.is_floating_point() else tensor).clone().contiguous()
    FOLDER.mkdir(exist_ok=True)
    save_file(stored, FOLDER / name, metadata={"reference": "loss.py", "torch": torch.__version__.split("+")[0]})
    (FOLDER / name).chmod(0o644)
    print(f"{name}: {len(stored)} tensors, {(FOLDER / name).stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    save("edges.safetensors", edge_goldens())
    save("losses.safetensors", loss_goldens())
