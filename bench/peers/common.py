"""What the programs of this folder share: networks and their peers, our program as one, machine facts and the table."""

import argparse
import datetime
import json
import os
import platform
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
BASELINE = "HF eager"

DEPTHS = {
    "mit_b0": [2, 2, 2, 2],
    "mit_b1": [2, 2, 2, 2],
    "mit_b2": [3, 4, 6, 3],
    "mit_b3": [3, 4, 18, 3],
    "mit_b4": [3, 8, 27, 3],
    "mit_b5": [3, 6, 40, 3],
}


class Missing(Exception):
    """A peer that cannot take part; the message says why."""


@dataclass
class Peer:
    """One contestant. `measure(n)` runs n forward passes and gives the milliseconds of each, or one median of all."""

    name: str
    measure: Callable[[int], list[float]]
    version: str = ""
    target: float | None = None  # largest wanted ratio to the fastest of `rivals`
    rivals: tuple[str, ...] = (BASELINE,)  # names, or how they begin
    rounds_ms: list[float] = field(default_factory=list)  # the median of each round
    facts: dict = field(default_factory=dict)

    @property
    def median_ms(self) -> float:
        return median(self.rounds_ms)


def timed(forward: Callable[[], object], warm_up: int = 1) -> Callable[[int], list[float]]:
    """A `measure` that calls `forward`, which returns when its work is done, and takes the wall time of each call."""

    def measure(iterations: int) -> list[float]:
        for _ in range(warm_up):
            forward()
        times = []
        for _ in range(iterations):
            start = time.perf_counter()
            forward()
            times.append(1e3 * (time.perf_counter() - start))
        return times

    return measure


def width_of(arch: str) -> int:
    """The head width that crispformer takes by default."""
    return 256 if arch in ("mit_b0", "mit_b1") else 384


def hf_model(arch: str, width: int, classes: int):
    """SegFormer of Hugging Face transformers with seeded random weights, in evaluation mode."""
    try:
        import torch
        from transformers import SegformerConfig, SegformerForSemanticSegmentation
    except ImportError as error:
        raise Missing(f"{error}; pip install -r bench/peers/requirements.txt") from error
    torch.manual_seed(1)
    config = SegformerConfig(
        hidden_sizes=[32, 64, 160, 256] if arch == "mit_b0" else [64, 128, 320, 512],
        depths=DEPTHS[arch],
        decoder_hidden_size=width,
        num_labels=classes,
    )
    return SegformerForSemanticSegmentation(config).eval()


def check_output(name, expected, actual, tolerance):
    import numpy

    difference = numpy.abs(expected - actual).max() / numpy.abs(expected).max()
    if not difference <= tolerance:
        raise Missing(f"{name}'s output differs from HF's by {difference:.2g} of its scale")
    return {"difference_to_hf": float(difference)}


class CpuPeers:
    """A network of HF and the same network exported to ONNX, once, as peers on the CPU."""

    def __init__(self, model, output: str, args, folder: str):
        """`output` is the field of the model's answer that counts; `args` as add_arguments() has them."""
        import torch

        self.model, self.output, self.args = model, output, args
        self.onnx_path = Path(folder) / "network.onnx"
        torch.set_num_threads(args.threads)
        self.image = torch.randn(args.batch, 3, args.size, args.size)
        with torch.inference_mode():
            self.expected = self.answer(self.image).numpy()

    def answer(self, pixel_values):
        return self.model(pixel_values=pixel_values)[self.output]

    def hf(self) -> Peer:
        import torch
        import transformers

        def forward():
            with torch.inference_mode():
                self.answer(self.image)

        peer = Peer(BASELINE, timed(forward), f"transformers {transformers.__version__}, torch {torch.__version__}")
        peer.facts["attention"] = self.model.config._attn_implementation
        peer.facts["parameters"] = self.model.num_parameters()
        return peer

    def exported(self) -> Path:
        if not self.onnx_path.exists():
            import torch

            class Answer(torch.nn.Module):
                def __init__(self, peers):
                    super().__init__()
                    self.model, self.output = peers.model, peers.output

                forward = CpuPeers.answer

            torch.onnx.export(
                Answer(self), (self.image,), self.onnx_path, input_names=["pixel_values"], output_names=[self.output],
                dynamo=True, verbose=False,
            )
        return self.onnx_path

    def onnx_runtime(self) -> Peer:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.args.threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = onnxruntime.InferenceSession(self.exported(), options, providers=["CPUExecutionProvider"])
        feed = {"pixel_values": self.image.numpy()}
        facts = check_output("ONNX Runtime", self.expected, session.run(None, feed)[0], 1e-3)
        forward = lambda: session.run(None, feed)  # noqa: E731
        return Peer("ONNX Runtime", timed(forward), f"onnxruntime {onnxruntime.__version__}", facts=facts)

    def openvino(self, precision: str | None) -> Peer:
        import openvino

        core = openvino.Core()
        config = {"INFERENCE_NUM_THREADS": self.args.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
        if precision:
            config["INFERENCE_PRECISION_HINT"] = precision
        compiled = core.compile_model(core.read_model(self.exported()), "CPU", config)
        request = compiled.create_infer_request()
        feed = {0: self.image.numpy()}
        answer = request.infer(feed)[0]
        # Left to itself it computes in bf16 where the CPU has it.
        facts = check_output("OpenVINO", self.expected, answer, 1e-3 if precision else 0.2)
        used = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        facts["precision"] = used
        name = "OpenVINO f32" if precision else f"OpenVINO, its default ({used})"
        return Peer(name, timed(lambda: request.infer(feed)), f"openvino {openvino.__version__}", facts=facts)

    def makers(self) -> list[tuple[str, Callable[[], Peer]]]:
        return [
            (BASELINE, self.hf),
            ("ONNX Runtime", self.onnx_runtime),
            ("OpenVINO f32", lambda: self.openvino("f32")),
            ("OpenVINO, its default", lambda: self.openvino(None)),
        ]


def our_program(program: Path, name: str, options: list[str], **more) -> Peer:
    """Our own `bench` command as a peer; each measurement is one run of the program, with its own warm-up. `more`: other
    fields of the peer."""
    if not program.exists():
        raise Missing(f"{os.path.relpath(program, ROOT)} is not there; build it first")
    command = [str(program), "bench", *options, "--network-only", "--json"]
    peer = Peer(name, lambda iterations: [], facts={"command": command[1:]}, **more)

    def measure(iterations: int) -> list[float]:
        done = subprocess.run([*command, "--iterations", str(iterations)], capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
            raise Missing(f"`{' '.join(command[1:])}` ended with status {done.returncode}: {said}")
        try:
            answer = json.loads(done.stdout)
            milliseconds = float(answer["network"]["median_ms"])
        except (ValueError, KeyError, TypeError) as error:
            raise Missing(f"`{' '.join(command[1:])}` gave no network.median_ms: {error!r}") from error
        peer.facts.setdefault("runs", []).append(answer)
        return [milliseconds]

    peer.measure = measure
    return peer


def gather(makers: list[tuple[str, Callable[[], Peer]]], missing: dict[str, str]) -> list[Peer]:
    """Sets up every peer that can be; says which cannot, and why."""
    peers = []
    for name, maker in makers:
        try:
            peers.append(maker())
        except Exception as error:  # a peer's own set-up may fail in any way; the others still run
            skip(name, error, missing)
    return peers


def skip(name: str, error: Exception, missing: dict[str, str]) -> None:
    missing[name] = str(error) if isinstance(error, Missing) else f"{type(error).__name__}: {error}"
    print(f"skipped: {name}: {missing[name].splitlines()[0]}", flush=True)


def measure_rounds(peers: list[Peer], rounds: int, iterations: int, missing: dict[str, str]) -> list[Peer]:
    """Times the peers in turn, `rounds` times over, starting each round with another one. Returns those that ran."""
    peers = list(peers)
    for turn in range(rounds):
        first = turn % max(1, len(peers))
        for peer in [*peers[first:], *peers[:first]]:
            time.sleep(0.2)  # the threads of the peer before spin for a while
            try:
                peer.rounds_ms.append(median(peer.measure(iterations)))
            except Exception as error:
                skip(peer.name, error, missing)
                peers.remove(peer)
    return peers


def rows_of(peers: list[Peer]) -> list[dict]:
    """What is reported of each peer. A target is met or not where all rivals ran."""
    baseline = next((peer for peer in peers if peer.name == BASELINE), None)
    rows = []
    for peer in peers:
        row = {
            "name": peer.name,
            "version": peer.version,
            "median_ms": peer.median_ms,
            "rounds_ms": peer.rounds_ms,
            "ratio": peer.median_ms / baseline.median_ms if baseline else None,
            "target": peer.target,
            **peer.facts,
        }
        rivals = [other for other in peers if other.name.startswith(peer.rivals)]
        if peer.target is not None and len(rivals) == len(peer.rivals):
            rival = min(rivals, key=lambda other: other.median_ms)
            row["rival"] = rival.name
            row["ratio_to_rival"] = peer.median_ms / rival.median_ms
            row["met"] = row["ratio_to_rival"] <= peer.target
        rows.append(row)
    return rows


def warn_if_busy(machine: dict) -> None:
    if machine["load_average"][0] > 0.5:
        load, cores = machine["load_average"][0], machine["cores"]
        print(f"note: the machine was busy at the start (load {load:.1f} on {cores} cores): figures are noisy")


def print_table(title: str, rows: list[dict]) -> None:
    print(f"\n{title}")
    print(f"{'':34}{'ms':>9}{'rounds':>19}{'ratio':>8}{'target':>8}")
    for row in rows:
        spread = f"{min(row['rounds_ms']):.1f} - {max(row['rounds_ms']):.1f}"
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.3f}"
        target = "" if row["target"] is None else f"{row['target']:.2f}"
        verdict = {True: "  met", False: "  MISSED"}.get(row.get("met"), "")
        if row.get("rival", BASELINE) != BASELINE:
            verdict += f": {row['ratio_to_rival']:.3f} of {row['rival']}"
        print(f"{row['name']:34}{row['median_ms']:9.2f}{spread:>19}{ratio:>8}{target:>8}{verdict}")


def compare_parameters(rows: list[dict], name: str) -> None:
    """HF's network and that of `name` must be one: says so if our program reports another number of parameters."""
    expected = next((row["parameters"] for row in rows if row["name"] == BASELINE), None)
    for row in rows:
        ours = row.get("runs", [{}])[0].get("parameters")
        if row["name"].startswith(name) and expected and isinstance(ours, int) and ours != expected:
            print(f"note: {row['name']} timed {ours:,} parameters, HF {expected:,}: these are not the same network")


def begin(parser: argparse.ArgumentParser, size: int) -> tuple[argparse.Namespace, dict]:
    """What every comparison on the CPU can be told, and its report so far."""
    parser.add_argument("--size", type=int, default=size)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=10, help="forward passes a peer and round")
    parser.add_argument("--program", default=str(ROOT / "build" / "crispformer"))
    parser.add_argument("--out", help="JSON file for the figures")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed or was not measured")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    machine = machine_facts()
    warn_if_busy(machine)
    settings = {name: value for name, value in vars(args).items() if name not in ("out", "program")}
    return args, {"machine": machine, "settings": settings, "results": []}


def compare(arch: str, title: str, contest: Callable[[str], CpuPeers], ours: str, args, report: dict) -> None:
    """Times the peers of one contest, which is given a folder for its files, into the report and onto a table. Peers
    whose names begin with `ours` are our program with HF's network."""
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            makers = contest(folder).makers()
        except (ImportError, Missing) as error:
            raise SystemExit(f"error: {BASELINE} cannot run, and the others are compared with it: {error}")
        peers = measure_rounds(gather(makers, missing), args.rounds, args.iterations, missing)
    rows = rows_of(peers)
    shape = f"{args.size}x{args.size}, batch {args.batch}, {args.threads} threads"
    print_table(f"{title}, {shape}: ratio to {BASELINE}", rows)
    compare_parameters(rows, ours)
    report["results"].append({"arch": arch, "peers": rows, "missing": missing})


def end(args, report: dict, wanted: int) -> None:
    """Writes the report; with --strict, `wanted` targets are to be met."""
    write_json(args.out, report)
    met = sum(row.get("met", False) for result in report["results"] for row in result["peers"])
    if args.strict and met < wanted:
        raise SystemExit(1)


def machine_facts() -> dict:
    def output(*command: str) -> str:
        try:
            return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    cpu = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "date_utc": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "python": platform.python_version(),
        "commit": output("git", "rev-parse", "HEAD"),
        "uncommitted_changes": bool(output("git", "status", "--porcelain")),
    }


def write_json(path: str | None, report: dict) -> None:
    if path:
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(report, indent=2) + "\n")
        print(f"\nwritten: {target}")
