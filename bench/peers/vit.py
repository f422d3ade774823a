"""Times a frozen ViT, DINOv2's ViT-S/14, on the CPU: HF eager, ONNX Runtime, OpenVINO and crispformer in one run.

    python bench/peers/vit.py --out bench-vit.json        # make bench does this

The encoder alone: pixels in, the tokens of the last block after its norm out. Its positions are those of 37x37 patches,
resampled to the image's. Rounds, medians, checks and left-out peers are as in run.py.
"""

import argparse
from pathlib import Path

from common import BASELINE, CpuPeers, Missing, begin, compare, end, our_program

ARCH = "vit_s14"
TARGET = 1.05
# What each of our types is measured by: the fastest of these.
RIVALS = {"f32": (BASELINE, "OpenVINO f32"), "bf16": ("OpenVINO, its default",)}


def dinov2():
    """The same encoder of Hugging Face transformers with seeded random weights, in evaluation mode."""
    try:
        import torch
        from transformers import Dinov2Config, Dinov2Model
    except ImportError as error:
        raise Missing(f"{error}; pip install -r bench/peers/requirements.txt") from error
    torch.manual_seed(1)
    config = Dinov2Config(
        hidden_size=384, num_hidden_layers=12, num_attention_heads=6, patch_size=14, image_size=518,
        use_mask_token=False, attn_implementation="sdpa",
    )
    return Dinov2Model(config).eval()


class Contest(CpuPeers):
    def __init__(self, args, folder):
        super().__init__(dinov2(), "last_hidden_state", args, folder)

    def ours(self, dtype):
        args = self.args
        options = ["--arch", ARCH, "--encoder-only", "--size", args.size, "--batch", args.batch, "--dtype", dtype]
        options += ["--device", "cpu", "--threads", args.threads]
        options = [str(option) for option in options]
        return our_program(Path(args.program), f"crispformer {dtype}", options, target=TARGET, rivals=RIVALS[dtype])

    def makers(self):
        ours = [(f"crispformer {dtype}", lambda dtype=dtype: self.ours(dtype)) for dtype in RIVALS]
        return [*super().makers(), *ours]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args, report = begin(parser, size=448)
    compare(ARCH, "DINOv2 ViT-S/14", lambda folder: Contest(args, folder), "crispformer", args, report)
    end(args, report, len(RIVALS))


if __name__ == "__main__":
    main()
