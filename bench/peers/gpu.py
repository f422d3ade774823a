"""Times SegFormer on a CUDA device: HF eager and crispformer in fp16, interleaved in one run.

    python bench/peers/gpu.py --out bench-gpu.json        # after the gpu preset has left build-gpu/crispformer
    python bench/peers/gpu.py --compile default reduce-overhead   # torch.compile too, for information

Every pass is waited for before the next is queued, on both sides: what is timed is how long one batch takes.
Rounds, medians and left-out peers are as in run.py.
"""

import argparse
import time
import warnings
from pathlib import Path

from common import BASELINE, DEPTHS, ROOT, Missing, Peer, gather, hf_model, machine_facts, measure_rounds, our_program
from common import print_table, rows_of, timed, width_of, write_json

DTYPES = {"fp16": "float16", "bf16": "bfloat16", "f32": "float32"}


def timed_with_wait(forward, warm_up=3):
    """Milliseconds of single passes, each waited for: how our own program times itself."""
    import torch

    def measure(iterations):
        times = []
        for i in range(warm_up + iterations):
            start = time.perf_counter()
            forward()
            torch.cuda.synchronize()
            if i >= warm_up:
                times.append(1000 * (time.perf_counter() - start))
        return times

    return measure


class Contest:
    """The peers of one architecture and batch size."""

    def __init__(self, arch, batch, args):
        import torch

        self.arch, self.batch, self.args = arch, batch, args
        self.on_cuda = args.device.startswith("cuda")
        dtype = getattr(torch, DTYPES[args.dtype])
        self.model = hf_model(arch, args.width or width_of(arch), args.classes).to(args.device, dtype)
        self.image = torch.randn(batch, 3, args.size, args.size).to(args.device, dtype)

    def hf(self):
        import torch
        import transformers

        version = f"transformers {transformers.__version__}, torch {torch.__version__}"
        peer = Peer(BASELINE, self.timed(self.model), version)
        peer.facts["attention"] = self.model.config._attn_implementation
        peer.facts["parameters"] = self.model.num_parameters()
        if self.on_cuda:
            torch.cuda.reset_peak_memory_stats()
            peer.measure(1)
            peer.facts["peak_memory_mb"] = torch.cuda.max_memory_allocated() / 2**20
        return peer

    def compiled(self, mode):
        import torch

        torch._dynamo.reset()
        peer = Peer(f"torch.compile, {mode}", self.timed(torch.compile(self.model, mode=mode)))
        peer.measure(1)  # compiles now, outside the rounds
        return peer

    def timed(self, model):
        import torch

        @torch.inference_mode()
        def forward():
            model(pixel_values=self.image)

        return timed_with_wait(forward) if self.on_cuda else timed(forward)

    def ours(self, head):
        args = self.args
        options = ["--arch", self.arch, "--head", head, "--size", args.size, "--batch", self.batch]
        options += ["--dtype", args.dtype, "--device", args.device]
        if args.width:
            options += ["--width", args.width]
        if args.classes != 21:
            options += ["--classes", args.classes]
        name = "crispformer, " + ("SegFormer" if head == "segformer" else "CrispFormer")
        return our_program(Path(args.program), name, [str(option) for option in options])

    def makers(self):
        compiled = [(f"torch.compile, {mode}", lambda mode=mode: self.compiled(mode)) for mode in self.args.compile]
        return [
            (BASELINE, self.hf),
            *compiled,
            ("crispformer, SegFormer", lambda: self.ours("segformer")),
            ("crispformer, CrispFormer", lambda: self.ours("crispformer")),
        ]


def device_facts(device):
    import torch

    if not device.startswith("cuda"):
        return {}
    if not torch.cuda.is_available():
        raise Missing("torch sees no CUDA device")
    properties = torch.cuda.get_device_properties(device)
    return {"gpu": properties.name, "gpu_memory_mb": properties.total_memory / 2**20, "cuda": torch.version.cuda}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archs", nargs="+", default=["mit_b0", "mit_b2", "mit_b5"], choices=sorted(DEPTHS))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 16])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--dtype", default="fp16", choices=list(DTYPES))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--classes", type=int, default=21)
    parser.add_argument("--width", type=int, help="head width (256 for B0 and B1, else 384)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=30, help="forward passes a peer and round")
    parser.add_argument("--compile", nargs="*", default=[], metavar="MODE", help="torch.compile modes to time as well")
    parser.add_argument("--program", default=str(ROOT / "build-gpu" / "crispformer"))
    parser.add_argument("--out", help="JSON file for the figures")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")

    settings = {name: value for name, value in vars(args).items() if name not in ("out", "program")}
    try:
        machine = {**machine_facts(), **device_facts(args.device)}
    except (ImportError, Missing) as error:
        raise SystemExit(f"error: {error}")
    report = {"machine": machine, "settings": settings, "results": []}
    for arch in args.archs:
        for batch in args.batches:
            missing = {}
            try:
                contest = Contest(arch, batch, args)
            except (ImportError, Missing) as error:
                raise SystemExit(f"error: {BASELINE} cannot run, and the others are compared with it: {error}")
            peers = measure_rounds(gather(contest.makers(), missing), args.rounds, args.iterations, missing)
            rows = rows_of(peers)
            for row in rows:
                row["images_per_s"] = 1e3 * batch / row["median_ms"]
            title = f"SegFormer {arch}, {args.size}x{args.size}, batch {batch}, {args.dtype} on {args.device}"
            print_table(f"{title}: ratio to {BASELINE}", rows)
            report["results"].append({"arch": arch, "batch": batch, "peers": rows, "missing": missing})
    write_json(args.out, report)


if __name__ == "__main__":
    main()
