"""Goldens of crisp/seed: class activation maps with Hugging Face's encoder, and files as numpy.save makes them.

Run from anywhere:  python tests/goldens/seed.py   (torch, transformers 5.22 or later, numpy, safetensors)

Written to tests/goldens/seed/:
  cam.safetensors     `classifier` [4,32,1,1]; for photos a, b (40x56) and small (30x30, under the encoder's least side):
                      `NAME.photo` [H,W,3] uint8, `NAME.tags`, `NAME.cam` [tags,H,W]; `a.single` without scales and flip.
                      The encoder is that of model/hf_weights.safetensors with a last stride of 1. Scales 1, 0.5, 1.5 and
                      flip: ReLU, bilinear to the photo's size, the larger of both, summed, stretched per class
  cams_dict.npy       {2: map(2), 0: map(0)}                 map(k)[y,x] = (7y + 3x + 5k) % 11 / 10, 6 rows, 8 columns
  cams_keys.npy       {"keys": [0, 3], "cam": small maps, "high_res": [map(0), map(3)]}
  cams_attention.npy  {"keys": [1], "attn_highres": 4 map(1) - 1}
  cams_torch.npy      as cams_keys, keys and cam being torch tensors, as the IRN code saves them
  cams_wrong.npy      {"keys": [0, 3], "cam": one map}
  tags.npy            {"2007_000032": [1,0,0,1,0], "b": [0,0,0,0,0], "c/d": integers [0,1,0,0,0]}
  tags_wrong.npy      {"a": "cat"}
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from model_hf import tiny_model
from safetensors.torch import save_file

FOLDER = Path(__file__).parent / "seed"
MEAN = torch.tensor([0.485, 0.456, 0.406], dtype=torch.float64).view(3, 1, 1)
DEVIATION = torch.tensor([0.229, 0.224, 0.225], dtype=torch.float64).view(3, 1, 1)


def photo(height, width, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    rgb = np.stack([3.0 * x + 20, 4.0 * y + 10, 100 + 60 * np.sin(x / 5 + y / 7)], -1)
    rgb[np.hypot(x - 0.3 * width, y - 0.5 * height) < 0.25 * height] = (220, 40, 60)
    return np.clip(rgb + rng.normal(0, 12, rgb.shape), 0, 255).astype(np.uint8)


def resized(images, size):
    return F.interpolate(images, size, mode="bilinear", align_corners=False)


def raw_maps(model, classifier, images):
    """ReLU of the classifier's maps over the whole of `images`, sides under 32 padded for the encoder."""
    height, width = images.shape[2:]
    padded = F.pad(images, (0, max(0, 32 - width), 0, max(0, 32 - height)), mode="replicate")
    features = model.segformer(pixel_values=padded, output_hidden_states=True).hidden_states[3]
    maps = F.conv2d(features, classifier).relu()
    if padded.shape == images.shape:
        return maps
    return resized(maps, padded.shape[2:])[:, :, :height, :width]


@torch.no_grad()
def cams(model, classifier, rgb, tags, scales=(1, 0.5, 1.5), flip=True):
    image = ((torch.from_numpy(rgb).permute(2, 0, 1).double() / 255 - MEAN) / DEVIATION)[None]
    height, width = image.shape[2:]
    total = 0
    for scale in scales:
        size = [int(np.floor(scale * side + 0.5)) for side in (height, width)]
        scaled = resized(image, size)
        maps = resized(raw_maps(model, classifier, scaled), (height, width))
        if flip:
            mirrored = resized(raw_maps(model, classifier, scaled.flip(3)), (height, width)).flip(3)
            maps = torch.maximum(maps, mirrored)
        total = total + maps[0]
    total = total[[tag - 1 for tag in tags]]
    low, high = total.amin((1, 2), keepdim=True), total.amax((1, 2), keepdim=True)
    if (high - low).min() < 0.1:
        raise ValueError("a flat map would show nothing")
    return (total - low) / (high - low + 1e-5)


def make_cams():
    model = tiny_model().double().eval()
    model.segformer.stages[3].patch_embeddings.proj.stride = (1, 1)
    generator = torch.Generator().manual_seed(21)
    classifier = torch.randn(4, 32, 1, 1, generator=generator).double() * 0.3
    tensors = {"classifier": classifier.float()}
    for name, height, width, tags in (("a", 40, 56, [1, 4]), ("b", 40, 56, [2, 3, 4]), ("small", 30, 30, [3])):
        rgb = photo(height, width, seed=len(name) + ord(name[0]))
        tensors[f"{name}.photo"] = torch.from_numpy(rgb)
        tensors[f"{name}.tags"] = torch.tensor(tags)
        tensors[f"{name}.cam"] = cams(model, classifier, rgb, tags).float()
        if name == "a":
            tensors["a.single"] = cams(model, classifier, rgb, tags, (1,), False).float()
    save_file(tensors, FOLDER / "cam.safetensors")
    (FOLDER / "cam.safetensors").chmod(0o644)


def example_map(k, rows=6, columns=8):
    y, x = np.mgrid[0:rows, 0:columns]
    return (((7 * y + 3 * x + 5 * k) % 11) / 10).astype(np.float32)


def make_files():
    both = np.stack([example_map(0), example_map(3)])
    small = np.stack([example_map(0, 2, 2), example_map(3, 2, 2)])
    files = {
        "cams_dict": {2: example_map(2), 0: example_map(0)},
        "cams_keys": {"keys": np.array([0, 3]), "cam": small, "high_res": both},
        "cams_attention": {"keys": np.array([1]), "attn_highres": 4 * example_map(1)[None] - 1},
        "cams_torch": {"keys": torch.tensor([0, 3]), "cam": torch.from_numpy(small), "high_res": both},
        "cams_wrong": {"keys": np.array([0, 3]), "cam": example_map(0)[None]},
        "tags": {"2007_000032": np.array([1, 0, 0, 1, 0], np.float32), "b": np.zeros(5, np.float32),
                 "c/d": np.array([0, 1, 0, 0, 0])},
        "tags_wrong": {"a": "cat"},
    }
    for name, value in files.items():
        np.save(FOLDER / f"{name}.npy", value)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    make_cams()
    make_files()
