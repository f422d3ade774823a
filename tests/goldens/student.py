"""Ten steps of the student's training from an independent PyTorch version, for the parity test of crisp/train.

Run from anywhere:  python tests/goldens/student.py   (numpy, scipy, torch, transformers, safetensors)

Encoder: transformers' SegFormer. Decoder: model_crispformer.py. Losses: loss.py. Optimizer: torch.optim.AdamW. The rest
(which photos a step sees, which pixels count, rates, phases, clipping, the running mean) is written here from the
method's text. Everything runs in float64; dropout and stochastic depth are off.

Written to tests/goldens/student/curve.safetensors:
  photos uint8 [5,64,64,3], labels uint8 [5,64,64], uncertainty uint8 [5,64,64]   the data, crops as they are
  start.NAME, student.NAME, teacher.NAME   weights before, after ten steps, and their running mean
  curve.FIELD f32 [10]   loss, its parts, gradient_norm (before clipping), rate (the factor on both groups' rates)
  order [10,2]           the photos of each step
Facts that the test repeats: OPTIONS below.
"""

from dataclasses import replace
from pathlib import Path

import loss as losses
import numpy as np
import torch
from model_common import HEADS, randomize
from model_crispformer import A5, Decoder
from model_hf import our_names
from safetensors.torch import save_file
from transformers import SegformerConfig, SegformerModel

FOLDER = Path(__file__).parent / "student"
DIMS, DEPTHS, WIDTH, HIDDEN, CLASSES = [4, 8, 10, 16], [1, 1, 1, 1], 8, 8, 5
PHOTOS, SIZE, BATCH, EPOCHS, SEED = 5, 64, 2, 5, 17
STEPS = PHOTOS // BATCH * EPOCHS
ENCODER_RATE, HEAD_RATE, DECAY, CLIP = 1e-3, 4e-3, 0.05, 5.0
ATTACHED, WEIGHTING, MODULATION = 0.2, 0.3, 0.5  # fractions of training
DROP_FIRST, DROP_LAST, DROP_UNTIL = 0.30, 0.15, 0.25
WARMUP, WARMUP_START, POWER = 2, 1e-2, 1.0  # one epoch of two steps
SURFACE = 0.1


# ----- the order of the photos: SplitMix64, a Fisher-Yates shuffle an epoch

MASK = 2**64 - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def derive(seed, index):
    return mix(mix(seed) ^ mix(~index & MASK))


def order_of(epoch):
    state = derive(derive(SEED, 0x6F72646572), epoch)
    order = list(range(PHOTOS))
    for i in range(PHOTOS, 1, -1):
        j = (mix(state) * i) >> 64
        state = (state + 0x9E3779B97F4A7C15) & MASK
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


# ----- data


def photos():
    rng = np.random.default_rng(41)
    labels = np.stack([losses.random_scene(rng, SIZE, SIZE, 8) for _ in range(PHOTOS)])
    colours = rng.integers(30, 226, (CLASSES + 1, 3))
    images = colours[np.where(labels == 255, CLASSES, labels)] + rng.normal(0, 12, (PHOTOS, SIZE, SIZE, 1))
    rough = rng.random((PHOTOS, SIZE // 8, SIZE // 8)).repeat(8, axis=1).repeat(8, axis=2)
    uncertainty = 200 * rough + 55 * rng.random(labels.shape)
    return np.clip(images, 0, 255).astype(np.uint8), labels, uncertainty.astype(np.uint8)


def dropped(labels, uncertainty, share):
    """Of each class of a photo whole levels of uncertainty go, the highest first, while at most `share` is dropped."""
    result = labels.copy()
    for label in range(CLASSES):
        mine = labels == label
        for level in range(255, 0, -1):
            if (mine & (uncertainty >= level)).sum() > share * mine.sum() + 1e-6:
                break
            result[mine & (uncertainty >= level)] = 255
    return result


def drop_share(fraction):
    return DROP_FIRST + (DROP_LAST - DROP_FIRST) * min(1.0, fraction / DROP_UNTIL)


# ----- training


def rate_factor(step):
    if step < WARMUP:
        return WARMUP_START + (1 - WARMUP_START) * step / WARMUP
    return (1 - (step - WARMUP) / (STEPS - WARMUP)) ** POWER


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = SegformerConfig(hidden_sizes=DIMS, num_attention_heads=HEADS, depths=DEPTHS, drop_path_rate=0.0)
        self.segformer = SegformerModel._from_config(config, attn_implementation="sdpa")
        self.head = Decoder(DIMS, WIDTH, CLASSES, HIDDEN)
        randomize(self, seed=33)
        self.head.modulation.data.copy_(torch.tensor([-2.0, -0.5, 0.75, 1.5]))
        self.kinks = []  # how near a ReLU's input came to zero, where rounding would decide a gradient
        for layer in self.modules():
            if isinstance(layer, torch.nn.ReLU):
                layer.register_forward_hook(lambda _, inputs, __: self.kinks.append(inputs[0].abs().min().item()))

    def forward(self, images, modulate, detach):
        features = self.segformer(pixel_values=images, output_hidden_states=True).hidden_states
        options = A5 if modulate else replace(A5, udmf="off")
        return self.head(features, options, detach)

    def tensors(self, prefix):
        """By our names, without the decoder's other variants."""
        named = our_names({k: v for k, v in self.state_dict().items() if k.startswith("segformer.")})
        named |= {k: v for k, v in self.state_dict().items() if k.startswith("head.")}
        other = ("head.concat.", "head.literal_modulation")
        return {f"{prefix}.{k}": v.detach().clone() for k, v in named.items() if not k.startswith(other)}


def train(dtype):
    images, labels, uncertainty = photos()
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    inputs = ((torch.from_numpy(images) / 255.0 - mean) / deviation).permute(0, 3, 1, 2).to(dtype)
    student = Student()
    out = student.tensors("start")
    student = student.to(dtype).train()
    teacher = {k: v.clone() for k, v in student.tensors("teacher").items()}
    groups = []
    for part, rate in ((student.segformer, ENCODER_RATE), (student.head, HEAD_RATE)):
        for decay, wanted in ((DECAY, lambda p: p.dim() > 1), (0.0, lambda p: p.dim() <= 1)):
            chosen = [p for p in part.parameters() if wanted(p)]
            groups.append({"params": chosen, "lr": rate, "weight_decay": decay, "rate": rate})
    optimizer = torch.optim.AdamW(groups)
    curve = {}
    orders = []
    for step in range(STEPS):
        fraction = step / STEPS
        epoch, place = divmod(step, PHOTOS // BATCH)
        chosen = order_of(epoch)[place * BATCH : (place + 1) * BATCH]
        orders.append(chosen)
        stored = labels[chosen]
        kept = [dropped(labels[i], uncertainty[i], drop_share(fraction)) for i in chosen]
        said = student(inputs[chosen], modulate=fraction >= MODULATION, detach=fraction < ATTACHED)
        data = {
            "labels": torch.from_numpy(np.stack(kept)),
            "band": torch.from_numpy(np.stack([losses.band(one, 0.5) for one in stored])),
            "distance": torch.from_numpy(np.stack([losses.distance(one) for one in stored])),
            **{name: said[name] for name in ("logits", "refined", "variance", "boundary")},
        }
        w = losses.weight(data) if fraction >= WEIGHTING else None
        parts = {
            "cross_entropy": losses.cross_entropy(data, w),
            "dice": losses.dice(data, w),
            "surface": losses.surface(data),
            "heteroscedastic": losses.heteroscedastic(data),
            "boundary": losses.boundary(data),
        }
        weights = {"heteroscedastic": 0.5, "boundary": 0.5, "surface": SURFACE}
        total = sum(weights.get(name, 1.0) * value for name, value in parts.items())
        optimizer.zero_grad()
        total.backward()
        used = [p for p in student.parameters() if p.grad is not None]
        norm = torch.nn.utils.clip_grad_norm_(used, CLIP)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * rate_factor(step)
        optimizer.step()
        share = min(1 - 1 / (step + 2), 0.999)  # the first update is number 1
        for name, value in student.tensors("teacher").items():
            teacher[name] = value if "num_batches" in name else share * teacher[name] + (1 - share) * value
        for name, value in {"loss": total, **parts, "gradient_norm": norm, "rate": rate_factor(step)}.items():
            curve.setdefault(f"curve.{name}", []).append(float(torch.as_tensor(value).detach()))
    norms = curve["curve.gradient_norm"]
    if not min(norms) < CLIP < max(norms):
        raise ValueError(f"clipping must happen in some steps and not in others: {norms}")
    if min(student.kinks) < 1e-5:
        raise ValueError(f"a ReLU's input is {min(student.kinks):.1e}: choose another seed")
    out |= {name: torch.tensor(values) for name, values in curve.items()}
    out |= student.tensors("student") | teacher | {"order": torch.tensor(orders)}
    out |= {"photos": torch.from_numpy(images), "labels": torch.from_numpy(labels)}
    return out | {"uncertainty": torch.from_numpy(uncertainty)}


def save(name, tensors):
    stored = {key: (t.float() if t.is_floating_point() else t).clone().contiguous() for key, t in tensors.items()}
    FOLDER.mkdir(exist_ok=True)
    save_file(stored, FOLDER / name, metadata={"reference": "student.py", "torch": torch.__version__.split("+")[0]})
    (FOLDER / name).chmod(0o644)
    print(f"{name}: {len(stored)} tensors, {(FOLDER / name).stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    torch.set_num_threads(1)
    result, single = train(torch.float64), train(torch.float32)
    for key, value in result.items():  # what f32 itself cannot hold would test nothing
        if key.startswith("curve."):
            worst = ((single[key] - value).abs() / value.abs()).max().item()
            print(f"{key}: f32 differs by {worst:.1e}")
            if worst > 3e-5:
                raise ValueError(f"{key}: ill-conditioned")
    for key, value in result.items():
        if key.startswith("curve."):
            print(key, [round(v, 4) for v in value.tolist()])
    save("curve.safetensors", result)
