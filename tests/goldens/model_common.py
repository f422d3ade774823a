"""What the model goldens share: seeded weights that exercise every term, and one way of writing tensors."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

FOLDER = Path(__file__).parent / "model"

# A model small enough to commit, with every structural feature of MiT: four stages, several heads of several
# channels, all four reduction ratios, and a stage of two blocks.
DIMS = [4, 8, 20, 32]
HEADS = [1, 2, 5, 8]
DEPTHS = [1, 2, 1, 1]
WIDTH = 16
CLASSES = ["background", "cat", "dining table", "dog", "potted plant"]


def randomize(module: nn.Module, seed: int) -> None:
    """Gives every parameter and running statistic a value that would show if it were ignored or misplaced."""
    generator = torch.Generator().manual_seed(seed)

    def normal(tensor, mean, deviation):
        values = torch.randn(tensor.shape, generator=generator, dtype=torch.float64) * deviation + mean
        tensor.data.copy_(values.to(torch.float32))  # what is computed in f64 starts from what is stored in f32

    for layer in module.modules():
        is_norm = isinstance(layer, (nn.LayerNorm, nn.BatchNorm2d))
        for name, parameter in layer.named_parameters(recurse=False):
            if is_norm and name == "weight":
                normal(parameter, 1.0, 0.3)
            elif name == "weight":
                normal(parameter, 0.0, parameter[0].numel() ** -0.5)
            else:
                normal(parameter, 0.0, 0.2)
        if isinstance(layer, nn.BatchNorm2d):
            normal(layer.running_mean, 0.0, 0.3)
            spread = torch.rand(layer.running_var.shape, generator=generator)
            layer.running_var.copy_(0.5 + 1.5 * spread)


def random_tensor(*shape: int, seed: int, deviation: float = 1.0) -> torch.Tensor:
    """A normal f64 tensor whose values are exact in f32."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * deviation).double()


def save(name: str, tensors: dict[str, torch.Tensor], **facts: str) -> None:
    """Writes FOLDER/name with every floating tensor as contiguous f32."""
    stored = {}
    for key, tensor in tensors.items():
        tensor = tensor.detach()
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name}: {key} is not finite")
        stored[key] = (tensor.float() if tensor.is_floating_point() else tensor).clone().contiguous()
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(stored, path, metadata={"torch": torch.__version__.split("+")[0], **facts})
    path.chmod(0o644)
    print(f"{name}: {len(stored)} tensors, {path.stat().st_size / 1024:.0f} KiB")


def save_json(name: str, value: dict) -> None:
    (FOLDER / name).write_text(json.dumps(value, indent=2) + "\n")
    print(f"{name}: written")


def agree(what: str, expected: torch.Tensor, actual: torch.Tensor, tolerance: float, floor: float = 1e-3) -> None:
    """Raises unless the largest difference is at most `tolerance` of the expected tensor's scale, or of `floor`."""
    scale = expected.abs().max().item()
    difference = (expected.double() - actual.double()).abs().max().item()
    if not difference <= tolerance * max(scale, floor):
        raise ValueError(f"{what}: differs by {difference:.3g} at scale {scale:.3g}")
