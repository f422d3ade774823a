"""Goldens of the CrispFormer decoder from an independent PyTorch version of it, for the parity tests of crisp/model.

Run from anywhere:  python tests/goldens/model_crispformer.py   (torch, safetensors)

The decoder below is written from docs/method.md alone, in plain torch.nn, for clarity and not for speed. It takes the
four feature maps C_1..C_4 and gives what `Prediction` holds. Parameter names are those of crisp/model.

Written to tests/goldens/model/:
  crisp_weights.safetensors  every parameter of every variant: `head.*`, with `head.modulation` [4] for per_scale,
                             `head.concat.*` for fusion by concatenation, and `literal.head.modulation` [1]
  crisp_eval.safetensors     evaluation mode. `HxW.feature.{0..3}` are the inputs for an image of HxW;
                             `ROW.HxW.FIELD` the outputs. Fields that a row does not have are absent. Rows:
                               a1..a5     DMF; + variance head; + UGR; + boundary head; + U-DMF per_scale
                               literal    a4 with U-DMF literal: equal to a4 (checked here)
                               minmax     a5 with U~ = (U - min) / (max - min) of each image
                               cool       a5 at softmax temperature 0.7: softmax((s_i - alpha_i U~) / 0.7)
                               edge_e1    a5 with the boundary head on E_1
                               u1, u0     a5 without variance head, with entropy over log K or zeros for U
                               concat, sum  a1 with the other fusions (sum is the mean of E_i, DMF's first answer)
  crisp_train.safetensors    row a5 in training mode (batch statistics, dropout off) on `feature.{0..3}` (batch of 2):
                             loss = sum over FIELD of mean(FIELD * loss_weight.FIELD); `loss`; `logits`, `refined`;
                             `grad.NAME`, `grad.feature.{0..3}`; `after.NAME` for running statistics (one step; the
                             variance head must have been run once). `detached.grad.NAME` are the gradients that
                             differ while UGR's inputs carry none (first 0.075 of training); all others stay.
  crisp_facts.json           parameters and multiply-accumulates of each part at real sizes

Everything is computed in float64 and stored as f32, so a difference seen by a test is the tested code's own.
Some values of sigma^2 reach the ceiling of 10, where its gradient is zero.
Fields: fused F, logits Z, refined Z*, variance sigma^2 [N,K,h,w], uncertainty U_ale (or its stand-in) [N,1,h,w],
boundary logits [N,1,h,w], scale_weights w [N,4,h,w], gate G [N,1,h,w].
"""

import copy
import math
from collections import OrderedDict
from dataclasses import dataclass, replace

import torch
from model_common import CLASSES, DIMS, agree, random_tensor, randomize, save, save_json
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

WIDTH = 8
HIDDEN = 64
REFERENCE = {"reference": "model_crispformer.py"}


@dataclass(frozen=True)
class Options:
    """What is switched on. `source` of the uncertainty: aleatoric (needs the variance head), entropy or none."""

    fusion: str = "dmf"  # dmf, concat, sum
    variance: bool = False
    ugr: bool = False
    boundary: bool = False
    udmf: str = "off"  # off, literal, per_scale
    source: str = "aleatoric"
    minmax: bool = False
    boundary_on_e1: bool = False
    temperature: float = 1.0


def conv_norm(inputs: int, outputs: int, kernel: int) -> OrderedDict:
    conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
    return OrderedDict(conv=conv, norm=nn.BatchNorm2d(outputs), relu=nn.ReLU())


def small_head(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Conv3x3, BN, ReLU, Conv1x1."""
    return nn.Sequential(OrderedDict(**conv_norm(inputs, hidden, 3), out=nn.Conv2d(hidden, outputs, 1)))


class Decoder(nn.Module):
    """The CrispFormer decoder with all its parts; `Options` says which of them run."""

    def __init__(self, dims, width, classes, hidden):
        super().__init__()
        self.classes = classes
        self.project = nn.ModuleList(nn.Sequential(conv_norm(dim, width, 1)) for dim in dims)
        self.score = nn.ModuleList(nn.Conv2d(width, 1, 1) for _ in dims)
        self.modulation = nn.Parameter(torch.zeros(len(dims)))
        self.literal_modulation = nn.Parameter(torch.zeros(1))
        self.concat = nn.Sequential(conv_norm(len(dims) * width, width, 1))
        self.variance = small_head(width, hidden, classes)
        self.classifier = nn.Conv2d(width, classes, 1)
        self.refine = small_head(width + classes + 1, hidden, classes)
        self.refine.gate = nn.Conv2d(width + 1, 1, 1)
        self.boundary = small_head(width, hidden, 1)

    def forward(self, features, options, detach_ugr=False):
        out = {}
        scales = self.projected(features)  # E_i, each [N, E, h, w]
        if options.fusion == "concat":
            fused = self.concat(torch.cat(scales, dim=1))
        elif options.fusion == "sum":
            fused = sum(scales) / len(scales)
        else:
            scores = torch.cat([score(scale) for score, scale in zip(self.score, scales)], dim=1)  # s [N, 4, h, w]
            weights = torch.softmax(scores / options.temperature, dim=1)
            fused = weighted_sum(weights, scales)

        aleatoric = None
        if options.variance:
            rho = self.variance(fused)  # on the unmodulated fusion, once
            out["variance"] = torch.clamp(functional.softplus(rho) + 0.1, max=10.0)
            aleatoric = out["variance"].mean(dim=1, keepdim=True)

        if options.udmf != "off":
            uncertainty = self.uncertainty(options, aleatoric, fused).detach()
            squashed = min_max(uncertainty) if options.minmax else uncertainty / (1 + uncertainty)  # U~
            a = self.literal_modulation if options.udmf == "literal" else self.modulation
            alpha = functional.softplus(a).view(1, -1, 1, 1)
            weights = torch.softmax((scores - alpha * squashed) / options.temperature, dim=1)
            fused = weighted_sum(weights, scales)

        if options.fusion == "dmf":
            out["scale_weights"] = weights
        out["fused"] = fused
        out["logits"] = logits = self.classifier(fused)
        if aleatoric is not None or options.source != "aleatoric":
            out["uncertainty"] = self.uncertainty(options, aleatoric, fused)
        if options.ugr:
            out["refined"], out["gate"] = self.refined(fused, logits, out["uncertainty"], detach_ugr)
        if options.boundary:
            out["boundary"] = self.boundary(scales[0] if options.boundary_on_e1 else fused)
        return out

    def projected(self, features):
        size = features[0].shape[2:]
        return [
            functional.interpolate(project(feature), size=size, mode="bilinear", align_corners=False)
            for project, feature in zip(self.project, features)
        ]

    def uncertainty(self, options, aleatoric, fused):
        """U [N, 1, h, w] by the row's source; entropy is that of the Z which `fused` gives."""
        if options.source == "aleatoric":
            return aleatoric
        if options.source == "none":
            return torch.zeros_like(fused[:, :1])
        log_probability = torch.log_softmax(self.classifier(fused), dim=1)
        entropy = -(log_probability.exp() * log_probability).sum(dim=1, keepdim=True)
        return entropy / math.log(self.classes)

    def refined(self, fused, logits, uncertainty, detach):
        """UGR: Z* = Z + G * Delta, and G."""
        base = logits
        if detach:
            fused, logits, uncertainty = fused.detach(), logits.detach(), uncertainty.detach()
        inputs = torch.cat([fused, torch.softmax(logits, dim=1), uncertainty], dim=1)
        delta = self.refine.out(self.refine.relu(self.refine.norm(self.refine.conv(inputs))))
        gate = torch.sigmoid(self.refine.gate(torch.cat([fused, uncertainty], dim=1)))
        return base + gate * delta, gate


def weighted_sum(weights, scales):
    return sum(weights[:, i : i + 1] * scale for i, scale in enumerate(scales))


def min_max(map):
    low, high = map.amin(dim=(2, 3), keepdim=True), map.amax(dim=(2, 3), keepdim=True)
    return torch.where(high > low, (map - low) / (high - low).clamp_min(1e-12), 0.0)


# ----- goldens

A1 = Options()
A2 = replace(A1, variance=True)
A3 = replace(A2, ugr=True)
A4 = replace(A3, boundary=True)
A5 = replace(A4, udmf="per_scale")
ROWS = {
    "a1": A1,
    "a2": A2,
    "a3": A3,
    "a4": A4,
    "a5": A5,
    "literal": replace(A4, udmf="literal"),
    "minmax": replace(A5, minmax=True),
    "cool": replace(A5, temperature=0.7),
    "edge_e1": replace(A5, boundary_on_e1=True),
    "u1": replace(A5, variance=False, source="entropy"),
    "u0": replace(A5, variance=False, source="none"),
    "concat": replace(A1, fusion="concat"),
    "sum": replace(A1, fusion="sum"),
}
# Rows that differ from another in a few fields only keep those.
KEPT = {
    "literal": ("scale_weights", "logits", "refined"),
    "minmax": ("scale_weights", "logits", "refined"),
    "cool": ("scale_weights", "logits", "refined", "variance"),
    "edge_e1": ("boundary", "refined"),
}
BIG_ROWS = ("a5",)  # also at 64x64


def tiny_decoder() -> Decoder:
    decoder = Decoder(DIMS, WIDTH, len(CLASSES), HIDDEN)
    randomize(decoder, seed=11)
    decoder.modulation.data.copy_(torch.tensor([-2.0, -0.5, 0.75, 1.5]))
    decoder.literal_modulation.data.fill_(0.75)
    decoder.variance.out.weight.data.mul_(24.0)  # so that sigma^2 spans its whole range, 0.1 to 10
    return decoder


def our_name(name: str) -> str:
    return "literal.head.modulation" if name == "literal_modulation" else f"head.{name}"


def feature_maps(batch, height, width, seed):
    maps = []
    for stage, dim in enumerate(DIMS):
        stride = 4 * 2**stage
        maps.append(random_tensor(batch, dim, -(-height // stride), -(-width // stride), seed=seed + stage))
    return maps


@torch.no_grad()
def evaluate(decoder):
    decoder.eval()
    inputs = {"36x44": feature_maps(1, 36, 44, seed=20), "64x64": feature_maps(1, 64, 64, seed=30)}
    tensors = {f"{size}.feature.{i}": map for size, maps in inputs.items() for i, map in enumerate(maps)}
    single = copy.deepcopy(decoder).float()
    results = {}
    for row, options in ROWS.items():
        for size, maps in inputs.items():
            results[row, size] = decoder(maps, options)
            for field, value in single([map.float() for map in maps], options).items():
                agree(f"{row} {size} {field}", results[row, size][field], value, 1e-5)
            if size == "36x44" or row in BIG_ROWS:
                kept = KEPT.get(row, results[row, size].keys())
                tensors |= {f"{row}.{size}.{field}": results[row, size][field] for field in kept}
    check_rows(results)
    return tensors


def check_rows(results):
    """The goldens tell apart what must differ, and agree where the method says so."""
    row = {name: results[name, "36x44"] for name in ROWS}
    for field in row["a4"]:
        agree(f"literal U-DMF: {field}", row["a4"][field], row["literal"][field], 1e-12)
    for field, value in row["a1"].items():
        agree(f"a4: {field}", value, row["a4"][field], 0.0)
        agree(f"u0: {field}", value, row["u0"][field], 1e-12)  # U~ = 0 modulates nothing
    for field in ("scale_weights", "logits", "refined"):
        for other in ("a4", "minmax", "cool", "u1", "u0"):
            if (row["a5"][field] - row[other][field]).abs().max() < 1e-2 * row["a5"][field].abs().max():
                raise ValueError(f"a5 and {other} hardly differ in {field}")
    variance = row["a5"]["variance"]
    if not (variance.max() == 10.0 and variance.min() < 0.2):
        raise ValueError(f"sigma^2 spans only {variance.min():.3f} to {variance.max():.3f}")


def train(decoder, detach_ugr):
    decoder = copy.deepcopy(decoder).train()
    dtype = decoder.modulation.dtype
    maps = [map.to(dtype).requires_grad_() for map in feature_maps(2, 36, 44, seed=56)]
    out = decoder(maps, A5, detach_ugr)
    loss_weights = {
        field: random_tensor(*out[field].shape, seed=50 + i, deviation=16.0).to(dtype)
        for i, field in enumerate(("logits", "refined", "variance", "boundary"))
    }
    loss = sum((out[field] * weight).mean() for field, weight in loss_weights.items())
    loss.backward()
    gradients = {our_name(name): parameter.grad for name, parameter in decoder.named_parameters()}
    gradients |= {f"feature.{i}": map.grad for i, map in enumerate(maps)}
    unused = ("literal.head.modulation", "head.concat.")
    gradients = {name: gradient for name, gradient in gradients.items() if not name.startswith(unused)}
    statistics = {f"after.{our_name(name)}": buffer for name, buffer in decoder.named_buffers() if "running" in name}
    fixed = {f"feature.{i}": map for i, map in enumerate(maps)}
    fixed |= {f"loss_weight.{field}": weight for field, weight in loss_weights.items()}
    fixed |= {"loss": loss, "logits": out["logits"], "refined": out["refined"]}
    fixed |= {name: value for name, value in statistics.items() if ".concat." not in name}
    return fixed, gradients


def train_both_ways(decoder):
    tensors, gradients = train(decoder, detach_ugr=False)
    _, detached = train(decoder, detach_ugr=True)
    _, single = train(copy.deepcopy(decoder).float(), detach_ugr=False)
    for name, gradient in single.items():
        agree(f"gradient of {name}", gradients[name], gradient, 1e-5)
    tensors |= {f"grad.{name}": gradient for name, gradient in gradients.items()}
    for name, gradient in detached.items():
        difference = (gradient - gradients[name]).abs().max()
        if difference > 1e-9 * gradients[name].abs().max():
            tensors[f"detached.grad.{name}"] = gradient
    differing = {name for name in tensors if name.startswith("detached.")}
    if any(".refine." in name or ".boundary." in name for name in differing) or len(differing) < 20:
        raise ValueError(f"unexpected set of detached gradients: {sorted(differing)}")
    return tensors


# ----- facts at real sizes


def facts():
    result = {"classes": 21, "hidden": HIDDEN, "decoders": {}}
    for arch, dims, width in (
        ("mit_b0", [32, 64, 160, 256], 256),
        ("mit_b1", [64, 128, 320, 512], 256),
        ("mit_b2..b5", [64, 128, 320, 512], 384),
    ):
        with torch.device("meta"):
            decoder = Decoder(dims, width, 21, HIDDEN).eval()
            maps = [torch.empty(1, dim, 128 >> i, 128 >> i) for i, dim in enumerate(dims)]
        parameters = {part: sum(p.numel() for p in m.parameters()) for part, m in decoder.named_children()}
        parameters["modulation"] = decoder.modulation.numel()
        result["decoders"][arch] = {"width": width, "parameters": parameters, "macs_512x512": count_macs(decoder, maps)}
    return result


def count_macs(decoder, maps):
    """Of each part's convolutions, run as method.md writes them; weighted sums and upsampling are not counted."""
    counts = {}
    for options, wanted in ((A5, lambda part: part != "concat"), (replace(A1, fusion="concat"), "concat".__eq__)):
        counter = FlopCounterMode(display=False)
        with torch.no_grad(), counter:
            decoder(maps, options)
        by_module = counter.get_flop_counts()
        for name, layer in decoder.named_modules():
            part = name.split(".")[0]
            if isinstance(layer, nn.Conv2d) and wanted(part):
                counts[part] = counts.get(part, 0) + sum(by_module[f"Decoder.{name}"].values()) // 2
    return counts


def main():
    torch.set_num_threads(1)
    decoder = tiny_decoder()
    save("crisp_weights.safetensors", {our_name(n): t for n, t in decoder.state_dict().items()}, **REFERENCE)
    decoder = decoder.double()
    save("crisp_eval.safetensors", evaluate(decoder), **REFERENCE)
    save("crisp_train.safetensors", train_both_ways(decoder), **REFERENCE)
    known = facts()
    save_json("crisp_facts.json", known)
    for arch, counts in known["decoders"].items():
        print(arch, counts)


if __name__ == "__main__":
    main()
