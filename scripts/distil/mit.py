"""A MiT encoder with an ImageNet head in PyTorch, its tensors named as in the public hub's `mit-b0` .. `mit-b5`."""

import torch
from torch import nn
from torch.nn import functional as F

from depthwise import depthwise_gelu

DEPTHS = {"mit_b0": (2, 2, 2, 2), "mit_b1": (2, 2, 2, 2), "mit_b2": (3, 4, 6, 3)}
HEADS, REDUCTIONS = (1, 2, 5, 8), (8, 4, 2, 1)


def widths(arch):
    return (32, 64, 160, 256) if arch == "mit_b0" else (64, 128, 320, 512)


class Norm(nn.LayerNorm):
    def forward(self, x):
        """In the type of x: autocast would turn all that follows into f32."""
        with torch.autocast(x.device.type, enabled=False):
            return F.layer_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.bias.to(x.dtype), self.eps)


class Attention(nn.Module):
    def __init__(self, dim, heads, reduction):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        if reduction > 1:
            self.sr = nn.Conv2d(dim, dim, reduction, reduction)
            self.layer_norm = Norm(dim)

    def forward(self, x, h, w):
        n, tokens, dim = x.shape
        few = x
        if hasattr(self, "sr"):
            few = self.sr(x.transpose(1, 2).reshape(n, dim, h, w)).flatten(2).transpose(1, 2)
            few = self.layer_norm(few)
        q, k, v = (f(y).view(n, -1, self.heads, dim // self.heads).transpose(1, 2)
                   for f, y in ((self.query, x), (self.key, few), (self.value, few)))
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, tokens, dim)


class Block(nn.Module):
    def __init__(self, dim, heads, reduction):
        super().__init__()
        self.layer_norm_1, self.layer_norm_2 = Norm(dim), Norm(dim)
        self.attention = nn.ModuleDict({"self": Attention(dim, heads, reduction),
                                        "output": nn.ModuleDict({"dense": nn.Linear(dim, dim)})})
        self.mlp = nn.ModuleDict({
            "dense1": nn.Linear(dim, 4 * dim),
            "dwconv": nn.ModuleDict({"dwconv": nn.Conv2d(4 * dim, 4 * dim, 3, padding=1, groups=4 * dim)}),
            "dense2": nn.Linear(4 * dim, dim)})

    def forward(self, x, h, w):
        seen = self.attention["self"](self.layer_norm_1(x), h, w)
        x = x + self.attention["output"]["dense"](seen)
        y = self.mlp["dense1"](self.layer_norm_2(x))
        mixing = self.mlp["dwconv"]["dwconv"]
        return x + self.mlp["dense2"](depthwise_gelu(y.unflatten(1, (h, w)), mixing.weight, mixing.bias).flatten(1, 2))


class Embedding(nn.Module):
    def __init__(self, before, dim, first):
        super().__init__()
        self.proj = nn.Conv2d(before, dim, 7 if first else 3, 4 if first else 2, 3 if first else 1)
        self.layer_norm = Norm(dim)


class Encoder(nn.Module):
    def __init__(self, arch):
        super().__init__()
        dims = widths(arch)
        self.patch_embeddings = nn.ModuleList(
            Embedding(3 if i == 0 else dims[i - 1], dims[i], i == 0) for i in range(4))
        self.block = nn.ModuleList(
            nn.ModuleList(Block(dims[i], HEADS[i], REDUCTIONS[i]) for _ in range(DEPTHS[arch][i])) for i in range(4))
        self.layer_norm = nn.ModuleList(Norm(d) for d in dims)


class Mit(nn.Module):
    def __init__(self, arch, classes=1000):
        super().__init__()
        self.segformer = nn.ModuleDict({"encoder": Encoder(arch)})
        self.classifier = nn.Linear(widths(arch)[3], classes)

    def features(self, x):
        """C1 .. C4, each [N, C, h, w]."""
        e, maps = self.segformer["encoder"], []
        for embed, blocks, norm in zip(e.patch_embeddings, e.block, e.layer_norm):
            x = embed.proj(x)
            h, w = x.shape[2:]
            x = embed.layer_norm(x.flatten(2).transpose(1, 2))
            for block in blocks:
                x = block(x, h, w)
            x = norm(x).unflatten(1, (h, w)).permute(0, 3, 1, 2)
            maps.append(x)
        return maps
