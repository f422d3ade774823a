"""Times one training step of SegFormer: HF eager and crispformer, interleaved in one run.

    python bench/peers/train.py --archs mit_b0 --size 128 --batch 8 --device cpu --dtype f32     # 2 threads
    python bench/peers/train.py --device cuda --program build-gpu/crispformer --out bench-train.json

HF's step: forward with labels (its own loss), backward, gradient clipping, AdamW (fused). Ours: the same with every loss
of its row (the SegFormer head: cross-entropy and Dice; CrispFormer: all of them), and the teacher's running mean, which
HF has not. Mixed precision by autocast on both sides. Rounds, medians and left-out peers are as in run.py.
"""

import argparse
import warnings
from pathlib import Path

from common import BASELINE, DEPTHS, ROOT, Peer, gather, hf_model, machine_facts, measure_rounds, our_program
from common import print_table, rows_of, timed, warn_if_busy, width_of, write_json

DTYPES = {"fp16": "float16", "bf16": "bfloat16", "f32": "float32"}
# Of HF eager's time, CrispFormer on the GPU; the SegFormer head is to take no longer than HF anywhere.
CRISPFORMER_TARGETS = {"mit_b0": 1.6, "mit_b2": 1.25, "mit_b5": 1.1}


class Contest:
    def __init__(self, arch, args):
        self.arch, self.args = arch, args
        self.on_cuda = args.device.startswith("cuda")

    def hf(self):
        import torch
        import transformers

        args = self.args
        model = hf_model(self.arch, width_of(self.arch), args.classes).to(args.device).train()
        images = torch.randn(args.batch, 3, args.size, args.size, device=args.device)
        labels = torch.randint(0, args.classes, (args.batch, args.size, args.size), device=args.device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=6e-5, weight_decay=0.01, fused=True)
        dtype = getattr(torch, DTYPES[args.dtype])

        def step():
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(self.args.device.split(":")[0], dtype, enabled=dtype != torch.float32):
                loss = model(pixel_values=images, labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5)
            optimizer.step()
            if self.on_cuda:
                torch.cuda.synchronize()

        version = f"transformers {transformers.__version__}, torch {torch.__version__}"
        return Peer(BASELINE, timed(step, warm_up=3), version)

    def ours(self, head, target):
        args = self.args
        options = ["--train", "--arch", self.arch, "--head", head, "--size", args.size, "--batch", args.batch]
        options += ["--dtype", args.dtype, "--device", args.device, "--classes", args.classes]
        if not self.on_cuda:
            options += ["--threads", args.threads]
        name = "crispformer, " + ("SegFormer" if head == "segformer" else "CrispFormer")
        return our_program(Path(args.program), name, [str(option) for option in options], target=target)

    def makers(self):
        crisp = CRISPFORMER_TARGETS.get(self.arch) if self.on_cuda else None
        return [
            (BASELINE, self.hf),
            ("crispformer, SegFormer", lambda: self.ours("segformer", 1.0)),
            ("crispformer, CrispFormer", lambda: self.ours("crispformer", crisp)),
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archs", nargs="+", default=["mit_b0", "mit_b2", "mit_b5"], choices=sorted(DEPTHS))
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--dtype", default="bf16", choices=list(DTYPES))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=2, help="on the CPU")
    parser.add_argument("--classes", type=int, default=21)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=10, help="steps a round")
    parser.add_argument("--program", default=str(ROOT / "build" / "crispformer"))
    parser.add_argument("--out", help="JSON file with everything measured")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")

    machine = machine_facts()
    if args.device == "cpu":
        import torch

        torch.set_num_threads(args.threads)
        warn_if_busy(machine)
    report = {"machine": machine, "options": vars(args), "results": []}
    for arch in args.archs:
        missing: dict[str, str] = {}
        peers = measure_rounds(gather(Contest(arch, args).makers(), missing), args.rounds, args.iterations, missing)
        rows = rows_of(peers)
        print_table(f"training step, {arch}, {args.batch} x {args.size}x{args.size}, {args.dtype}, {args.device}", rows)
        report["results"].append({"arch": arch, "peers": rows, "missing": missing})
    write_json(args.out, report)


if __name__ == "__main__":
    main()
