"""What run.py and gpu.py share: the reference model, our program as a peer, machine facts and the table."""

import datetime
import json
import os
import platform
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]

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
    target: float | None = None  # largest wanted ratio to the first peer
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


def our_program(program: Path, name: str, options: list[str], target: float | None = None) -> Peer:
    """Our own `bench` command as a peer; each measurement is one run of the program, with its own warm-up."""
    if not program.exists():
        raise Missing(f"{os.path.relpath(program, ROOT)} is not there; build it first")
    command = [str(program), "bench", *options, "--network-only", "--json"]
    peer = Peer(name, lambda iterations: [], target=target, facts={"command": command[1:]})

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


def rows_of(peers: list[Peer], baseline: Peer | None) -> list[dict]:
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
        if baseline and peer.target is not None:
            row["met"] = row["ratio"] <= peer.target
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
        print(f"{row['name']:34}{row['median_ms']:9.2f}{spread:>19}{ratio:>8}{target:>8}{verdict}")


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
