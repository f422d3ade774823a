"""Times SegFormer on the CPU: HF eager, ONNX Runtime, OpenVINO and crispformer, interleaved in one run.

    python bench/peers/run.py --out bench.json            # make bench does this

Each round times every peer once, starting with another peer each time, so that a slow minute of the machine meets all
of them; the figure is the median over rounds of the round's median. Every peer runs the same network (seeded random
weights), f32 and the same number of threads unless its name says otherwise; the Python peers' outputs are compared
with HF's before anything is timed. A peer that is not installed is named and left out.
"""

import argparse
from pathlib import Path

from common import DEPTHS, CpuPeers, begin, compare, end, hf_model, our_program, width_of

SEGFORMER_TARGETS = {"mit_b0": 0.6, "mit_b1": 0.65}
CRISPFORMER_TARGETS = {"mit_b0": 0.85}


class Contest(CpuPeers):
    """The peers of one architecture."""

    def __init__(self, arch, args, folder):
        super().__init__(hf_model(arch, args.width or width_of(arch), args.classes), "logits", args, folder)
        self.arch = arch

    def ours(self, head, target):
        args = self.args
        options = ["--arch", self.arch, "--head", head, "--size", args.size, "--batch", args.batch, "--dtype", "f32"]
        options += ["--device", "cpu", "--threads", args.threads]
        if args.width:
            options += ["--width", args.width]
        if args.classes != 21:
            options += ["--classes", args.classes]
        name = "crispformer, " + ("SegFormer" if head == "segformer" else "CrispFormer")
        return our_program(Path(args.program), name, [str(option) for option in options], target=target)

    def makers(self):
        return [
            *super().makers(),
            ("crispformer, SegFormer", lambda: self.ours("segformer", SEGFORMER_TARGETS.get(self.arch))),
            ("crispformer, CrispFormer", lambda: self.ours("crispformer", CRISPFORMER_TARGETS.get(self.arch))),
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archs", nargs="+", default=["mit_b0", "mit_b1"], choices=sorted(DEPTHS))
    parser.add_argument("--classes", type=int, default=21)
    parser.add_argument("--width", type=int, help="head width (256 for B0 and B1, else 384)")
    args, report = begin(parser, size=512)
    for arch in args.archs:
        contest = lambda folder: Contest(arch, args, folder)  # noqa: E731
        compare(arch, f"SegFormer {arch}", contest, "crispformer, SegFormer", args, report)
    end(args, report, sum((arch in SEGFORMER_TARGETS) + (arch in CRISPFORMER_TARGETS) for arch in args.archs))


if __name__ == "__main__":
    main()
