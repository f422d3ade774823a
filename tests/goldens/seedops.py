"""Makes tests/goldens/seedops/: what numpy makes of the refinements of seeds, written out from their definitions.

Everything is computed in float64 with dense arrays and stored as raw little-endian: .u8 bytes, .f32 floats. Shapes
are in the tests that read them.
  crf_*     fully connected CRF, every Gaussian sum over all pairs of pixels
  par_*     pixel-adaptive refinement, neighbours gathered by clipped index
  walk_*    affinities of a feature map, the dense transition matrix and its 256th power by np.linalg.matrix_power
  pairs_*   kinds of pairs of labels, pair by pair
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "seedops"


def save(name, array):
    kind = {".u8": np.uint8, ".f32": np.float32}[Path(name).suffix]
    (FOLDER / name).write_bytes(np.ascontiguousarray(array, dtype=kind).tobytes())


def scene(rng, height, width):
    """A shaded ground with a disc and a bar, and a little noise."""
    y, x = np.mgrid[0:height, 0:width]
    rgb = np.stack([70 + 2.0 * x, 90 + 1.5 * y, 60 + 0.8 * (x + y)], -1)
    rgb[np.hypot(x - 0.35 * width, y - 0.45 * height) < 0.28 * height] = (180, 60, 70)
    rgb[:, int(0.7 * width) : int(0.85 * width)] = (40, 70, 160)
    return np.clip(rgb + rng.normal(0, 3, rgb.shape), 0, 255).astype(np.uint8)


def posterior(rng, labels, height, width):
    """Soft blobs around random centres over a constant background, noisy, summing to 1."""
    y, x = np.mgrid[0:height, 0:width]
    scores = [np.full((height, width), 0.35)]
    for _ in range(labels - 1):
        cy, cx = rng.uniform(0, height), rng.uniform(0, width)
        scores.append(np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (0.15 * height * width)))
    scores = np.stack(scores) + rng.uniform(0, 0.05, (labels, height, width))
    return (scores / scores.sum(0)).astype(np.float32)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def crf(rgb, p, iterations, spatial, spatial_weight, xy, colour, weight, floor=1e-5):
    labels, height, width = p.shape
    y, x = np.mgrid[0:height, 0:width]
    position = np.stack([x, y], -1).reshape(-1, 2).astype(np.float64)
    rgb = rgb.reshape(-1, 3).astype(np.float64)

    def kernel(features):
        k = np.exp(-0.5 * ((features[:, None] - features[None]) ** 2).sum(-1))
        n = 1 / np.sqrt(k.sum(1))
        return n[:, None] * k * n[None]

    pairwise = spatial_weight * kernel(position / spatial)
    pairwise += weight * kernel(np.concatenate([position / xy, rgb / colour], 1))
    prior = np.log(np.maximum(p.reshape(labels, -1).astype(np.float64), floor))
    q = softmax(prior, 0)
    for _ in range(iterations):
        q = softmax(prior + q @ pairwise, 0)
    return q


def par(rgb, p, dilations=(1, 2, 4, 8, 12, 24), iterations=10, w1=0.3, w2=0.01):
    """Literal: weights sum to 1 + w2."""
    _, height, width = p.shape
    y, x = np.mgrid[0:height, 0:width]
    steps = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]
    offsets = [(d * dy, d * dx) for d in dilations for dy, dx in steps]

    def neighbours(a):
        return np.stack([a[:, np.clip(y + dy, 0, height - 1), np.clip(x + dx, 0, width - 1)] for dy, dx in offsets], 1)

    image = rgb.transpose(2, 0, 1).astype(np.float64)
    near = neighbours(image)
    deviation = near.std(1, ddof=1, keepdims=True)
    by_colour = -((np.abs(near - image[:, None]) / (deviation + 1e-8) / w1) ** 2).mean(0)
    distance = np.hypot(*np.array(offsets, dtype=np.float64).T)
    by_place = -((distance / (distance.std(ddof=1) + 1e-8) / w1) ** 2)
    weights = softmax(by_colour, 0) + w2 * softmax(by_place, 0)[:, None, None]
    p = p.astype(np.float64)
    for _ in range(iterations):
        p = (neighbours(p) * weights).sum(1)
    return p


def pair_offsets(radius):
    right = [(0, dx) for dx in range(1, radius)]
    below = [(dy, dx) for dy in range(1, radius) for dx in range(1 - radius, radius) if dy**2 + dx**2 < radius**2]
    return right + below


def walk(features, scores, radius, beta, steps):
    channels, height, width = features.shape
    offsets = pair_offsets(radius)
    affinity = np.zeros((len(offsets), height, width))
    matrix = np.eye(height * width)
    for o, (dy, dx) in enumerate(offsets):
        for y in range(height):
            for x in range(width):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    a = np.exp(-np.abs(features[:, y, x] - features[:, y + dy, x + dx]).mean())
                    affinity[o, y, x] = a
                    i, j = y * width + x, (y + dy) * width + x + dx
                    matrix[i, j] = matrix[j, i] = a**beta
    transition = matrix / matrix.sum(1, keepdims=True)
    return affinity, scores.reshape(len(scores), -1) @ np.linalg.matrix_power(transition, steps).T


def pair_kinds(labels, radius):
    """0 no pair or unknown, 1 same object, 2 both background, 3 different."""
    height, width = labels.shape
    kinds = np.zeros((len(pair_offsets(radius)), height, width), np.uint8)
    for o, (dy, dx) in enumerate(pair_offsets(radius)):
        for y in range(height):
            for x in range(width):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    a, b = labels[y, x], labels[y + dy, x + dx]
                    if a != 255 and b != 255:
                        kinds[o, y, x] = 3 if a != b else (2 if a == 0 else 1)
    return kinds


def main():
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(11)

    rgb, p = scene(rng, 22, 26), posterior(rng, 3, 22, 26)
    save("crf_rgb.u8", rgb)
    save("crf_p.f32", p)
    save("crf_psa.f32", crf(rgb, p, 10, 3, 3, 80, 13, 10))
    save("crf_irn.f32", crf(rgb, p, 10, 3, 3, 50, 5, 10))
    save("crf_one.f32", crf(rgb, p, 1, 1, 3, 67, 3, 4))

    rgb, p = scene(rng, 21, 37), posterior(rng, 3, 21, 37)
    rgb[:9, :12] = (120, 130, 140)  # flat: no deviation near the corner for the smaller dilations
    save("par_rgb.u8", rgb)
    save("par_p.f32", p)
    save("par_default.f32", par(rgb, p))
    save("par_small.f32", par(rgb, p, dilations=(1, 3), iterations=3, w1=0.5, w2=0.2))

    features = rng.normal(0, 1.0, (5, 7, 9)).astype(np.float32)
    features[:, :, 4:] += 1.5
    scores = rng.uniform(0, 1, (6, 7, 9)).astype(np.float32)
    affinity, walked = walk(features.astype(np.float64), scores.astype(np.float64), 5, 8, 256)
    save("walk_features.f32", features)
    save("walk_scores.f32", scores)
    save("walk_affinity.f32", affinity)
    save("walk_256.f32", walked)
    save("walk_3.f32", walk(features.astype(np.float64), scores.astype(np.float64), 3, 2, 3)[1])

    labels = rng.choice([0, 0, 1, 1, 7, 255], (8, 11)).astype(np.uint8)
    save("pairs_labels.u8", labels)
    save("pairs_kinds.u8", pair_kinds(labels, 5))


if __name__ == "__main__":
    main()
