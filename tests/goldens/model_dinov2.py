"""Goldens of the DINOv2 encoder (crisp/model/vit.h) from Meta's own code and from Hugging Face transformers.

Run from anywhere:  python tests/goldens/model_dinov2.py   (torch, transformers, safetensors, dinov2 without its
dependencies: pip install --no-deps dinov2==0.0.1.dev2)

Written to tests/goldens/model/, tokens computed in float64 and stored as f32:
  dinov2.safetensors        a tiny network under the official names, `mask_token` included, in fp16 without loss: 128
                            channels, 2 heads, 4 blocks, positions of 5x5, hidden layers of 128
  dinov2_eval.safetensors   Meta's code on it, per size HxW: `HxW.input` [N,3,H,W] and `HxW.block.{1..4}` [N,D,h,w], tokens
                            after the final norm; 70x70 needs no resampling of positions
  hub_dinov2/               a tiny Dinov2Model by save_pretrained: 16 channels, 4 heads, positions of 5x5
  hub_dinov2_v5.safetensors the same under the names transformers 5 has in memory, fp16 without loss
  hub_dinov2_eval.safetensors  transformers on it, as above
  dinov2_vits14.safetensors four tokens of the last block and of the sixth, and the mean of all, of Meta's code with the
                            weights of weights/dinov2_vits14.safetensors on the picture `wave` below, 112x168

Meta's package imports parts of PyTorch and xFormers that are not needed here; without xFormers its attention is the
plain formula. The two codes resample positions differently: Meta's by a factor with 0.1 added, transformers to a size.
"""

import shutil
from functools import partial
from importlib import metadata

import torch
import transformers
from model_common import FOLDER, agree, random_tensor, randomize, save
from safetensors.torch import load_file, save_file
from transformers import Dinov2Config, Dinov2Model

try:
    from dinov2.layers import MemEffAttention
    from dinov2.layers import NestedTensorBlock as Block
    from dinov2.models.vision_transformer import DinoVisionTransformer
except ImportError as error:
    raise SystemExit(f"{error}; pip install --no-deps dinov2==0.0.1.dev2 (it asks for an old torch and does well with ours)")

META = f"dinov2 {metadata.version('dinov2')}"
HUB = f"transformers {transformers.__version__}"
WEIGHTS = FOLDER.parents[2] / "weights" / "dinov2_vits14.safetensors"
SIZES = {"70x70": (1, 70, 70), "42x98": (2, 42, 98)}
PATCH = 14


def meta_network(dim, heads, depth, grid, mlp_ratio=4):
    return DinoVisionTransformer(
        img_size=grid * PATCH, patch_size=PATCH, embed_dim=dim, depth=depth, num_heads=heads, mlp_ratio=mlp_ratio,
        init_values=1e-5, block_chunks=0, block_fn=partial(Block, attn_class=MemEffAttention),
    ).eval()


def by_name(blocks):
    return {f"{size}.block.{i + 1}": value for size, maps in blocks.items() for i, value in enumerate(maps)}


def randomize_short(model, seed):
    """Random weights that fp16 holds exactly."""
    randomize(model, seed)
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()


def save_half(name, model, reference):
    path = FOLDER / name
    save_file({key: value.half() for key, value in model.state_dict().items()}, path, metadata={"reference": reference})
    path.chmod(0o644)
    print(f"{name}: {path.stat().st_size / 1024:.0f} KiB")


@torch.no_grad()
def meta_blocks(model, image):
    height, width = (side // PATCH for side in image.shape[2:])
    tokens = model.get_intermediate_layers(image, range(model.n_blocks), norm=True)
    return [t.transpose(1, 2).unflatten(2, (height, width)) for t in tokens]


@torch.no_grad()
def hub_blocks(model, image):
    height, width = (side // PATCH for side in image.shape[2:])
    states = model(pixel_values=image, output_hidden_states=True).hidden_states[1:]
    return [model.layernorm(s)[:, 1:].transpose(1, 2).unflatten(2, (height, width)) for s in states]


def wave(height, width):
    """A smooth picture that a test can make for itself."""
    y = torch.arange(height, dtype=torch.float64).view(-1, 1)
    x = torch.arange(width, dtype=torch.float64).view(1, -1)
    return torch.stack([torch.sin(0.05 * (c + 1) * x) + torch.cos(0.11 * y + c) for c in range(3)])[None]


def main():
    inputs = {size: random_tensor(*(shape[0], 3, *shape[1:]), seed=7) for size, shape in SIZES.items()}

    model = meta_network(128, 2, 4, 5, mlp_ratio=1)
    randomize_short(model, seed=11)
    save_half("dinov2.safetensors", model, META)
    model = model.double()
    blocks = {size: meta_blocks(model, image) for size, image in inputs.items()}
    save("dinov2_eval.safetensors", {f"{s}.input": i for s, i in inputs.items()} | by_name(blocks), reference=META)
    single = model.float()
    for size, maps in blocks.items():
        for i, value in enumerate(meta_blocks(single, inputs[size].float())):
            agree(f"{size} block {i + 1} in f32", maps[i], value, 2e-5)

    config = Dinov2Config(
        hidden_size=16, num_hidden_layers=4, num_attention_heads=4, mlp_ratio=2, image_size=5 * PATCH, patch_size=PATCH,
        attn_implementation="sdpa",
    )
    hub = Dinov2Model(config).eval()
    randomize_short(hub, seed=13)
    shutil.rmtree(FOLDER / "hub_dinov2", ignore_errors=True)
    hub.save_pretrained(FOLDER / "hub_dinov2")
    (FOLDER / "hub_dinov2" / "model.safetensors").chmod(0o644)
    save_half("hub_dinov2_v5.safetensors", hub, HUB)
    hub = hub.double()
    save("hub_dinov2_eval.safetensors", by_name({s: hub_blocks(hub, i) for s, i in inputs.items()}), reference=HUB)

    real = meta_network(384, 6, 12, 37)
    weights = {name: value.float() for name, value in load_file(WEIGHTS).items()}
    missing, extra = real.load_state_dict(weights, strict=False)
    if missing != ["mask_token"] or extra:
        raise ValueError(f"the weights do not fit: {missing}, {extra}")
    maps = meta_blocks(real.double(), wave(112, 168))
    tokens = {}
    for block in (6, 12):
        value = maps[block - 1][0]
        tokens[f"block.{block}.mean"] = value.mean((1, 2))
        tokens[f"block.{block}.tokens"] = torch.stack([value[:, 0, 0], value[:, 3, 5], value[:, 7, 0], value[:, 7, 11]])
    save("dinov2_vits14.safetensors", tokens, reference=META)


if __name__ == "__main__":
    main()
