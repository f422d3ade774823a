"""Depthwise convolutions over maps [N, H, W, C] in Triton, for distil.py: those of cuDNN take most of a step, backwards above all.

On a CPU the same functions are torch's own; `python3 scripts/distil/depthwise.py` compares the two (with TRITON_INTERPRET=1 where there
is no GPU).
"""

import torch
import triton
import triton.language as tl
from torch.nn import functional as F

PIXELS, CHANNELS, CHUNK = 32, 64, 32  # of one program; CHUNK: blocks of pixels that one sums up before it writes


@triton.jit
def _forward(x, w, b, out, pixels, h, w_, ho, wo, c, top, left, K: tl.constexpr, S: tl.constexpr, RELU6: tl.constexpr, BIAS: tl.constexpr,
             FLIP: tl.constexpr, P: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0) * P + tl.arange(0, P)
    k = tl.program_id(1) * C + tl.arange(0, C)
    n, y, z = p // (ho * wo), p // wo % ho, p % wo
    inside = (p < pixels)[:, None] & (k < c)[None, :]
    total = tl.zeros((P, C), tl.float32)
    for t in tl.static_range(K * K):
        yy, zz = y * S + t // K - top, z * S + t % K - left
        there = (yy >= 0) & (yy < h) & (zz >= 0) & (zz < w_)
        at = ((n * h + yy) * w_ + zz)[:, None].to(tl.int64) * c + k[None, :]
        v = tl.load(x + at, inside & there[:, None], 0.0).to(tl.float32)
        total += v * tl.load(w + (K * K - 1 - t if FLIP else t) * c + k, k < c, 0.0).to(tl.float32)[None, :]
    if BIAS:
        total += tl.load(b + k, k < c, 0.0).to(tl.float32)[None, :]
    if RELU6:
        total = tl.minimum(tl.maximum(total, 0.0), 6.0)
    tl.store(out + p[:, None].to(tl.int64) * c + k[None, :], total.to(out.dtype.element_ty), inside)


@triton.jit
def _weights(x, g, out, pixels, h, w_, c, P: tl.constexpr, C: tl.constexpr, CHUNK: tl.constexpr):
    """Rows 0 to 8 of out[chunk]: gradient of the 3x3 weights; row 9: of the bias."""
    k = tl.program_id(1) * C + tl.arange(0, C)
    row = tl.arange(0, 16)
    total = tl.zeros((16, C), tl.float32)
    for block in range(CHUNK):
        p = (tl.program_id(0) * CHUNK + block) * P + tl.arange(0, P)
        y, z = p // w_ % h, p % w_
        inside = (p < pixels)[:, None] & (k < c)[None, :]
        at = p[:, None].to(tl.int64) * c + k[None, :]
        v = tl.load(g + at, inside, 0.0).to(tl.float32)
        total += tl.where((row == 9)[:, None], tl.sum(v, 0)[None, :], 0.0)
        for t in tl.static_range(9):
            dy, dz = t // 3 - 1, t % 3 - 1
            there = (y + dy >= 0) & (y + dy < h) & (z + dz >= 0) & (z + dz < w_)
            u = tl.load(x + at + (dy * w_ + dz) * c, inside & there[:, None], 0.0).to(tl.float32)
            total += tl.where((row == t)[:, None], tl.sum(u * v, 0)[None, :], 0.0)
    to = (tl.program_id(0) * 16 + row)[:, None].to(tl.int64) * c + k[None, :]
    tl.store(out + to, total, (k < c)[None, :])


def before(size, k, stride):
    """TensorFlow's padding "same" before the first pixel, and after the last."""
    total = max((-(-size // stride) - 1) * stride + k - size, 0)
    return total // 2, total - total // 2


def _run(x, w, b, stride=1, relu6=False, flip=False):
    n, h, width, c = x.shape
    k = round(w.shape[0] ** 0.5)
    ho, wo = -(-h // stride), -(-width // stride)
    out = torch.empty(n, ho, wo, c, dtype=x.dtype, device=x.device)
    pixels = n * ho * wo
    _forward[(triton.cdiv(pixels, PIXELS), triton.cdiv(c, CHANNELS))](
        x, w, w if b is None else b, out, pixels, h, width, ho, wo, c, before(h, k, stride)[0], before(width, k, stride)[0], k, stride, relu6, b is not None, flip, PIXELS, CHANNELS)
    return out


class _DepthwiseGelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        x = x.contiguous()
        taps = weight.reshape(weight.shape[0], 9).t().contiguous()
        y = _run(x, taps, bias)
        ctx.save_for_backward(x, y, taps)
        return F.gelu(y)

    @staticmethod
    def backward(ctx, grad):
        x, y, taps = ctx.saved_tensors
        g = torch.ops.aten.gelu_backward(grad.contiguous(), y)
        n, h, w, c = x.shape
        chunks = triton.cdiv(n * h * w, PIXELS * CHUNK)
        sums = torch.empty(chunks, 16, c, dtype=torch.float32, device=x.device)
        _weights[(chunks, triton.cdiv(c, CHANNELS))](x, g, sums, n * h * w, h, w, c, PIXELS, CHANNELS, CHUNK)
        sums = sums.sum(0)
        return _run(g, taps, None, flip=True), sums[:9].t().reshape(c, 1, 3, 3), sums[9]


def plain(x, weight, bias, stride=1):
    size = weight.shape[2]
    x = F.pad(x.permute(0, 3, 1, 2), (*before(x.shape[2], size, stride), *before(x.shape[1], size, stride)))
    return F.conv2d(x, weight.to(x.dtype), bias.to(x.dtype), stride, 0, 1, weight.shape[0]).permute(0, 2, 3, 1)


def depthwise_gelu(x, weight, bias):
    """GELU(conv3x3(x) + bias) with gradients; x [N, H, W, C], weight [C, 1, 3, 3]."""
    return _DepthwiseGelu.apply(x, weight, bias) if x.is_cuda else F.gelu(plain(x, weight, bias))


def depthwise_relu6(x, weight, bias, stride):
    """min(max(conv(x) + bias, 0), 6), no gradients; weight [C, 1, k, k]."""
    if not x.is_cuda:
        return plain(x, weight, bias, stride).clamp(0, 6)
    return _run(x.contiguous(), weight.reshape(weight.shape[0], -1).t().contiguous(), bias, stride, relu6=True)


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    for n, h, w, c in ((2, 7, 9, 70), (3, 16, 13, 64), (1, 8, 6, 24)):
        x = torch.randn(n, h, w, c, device=device)
        weight, bias = torch.randn(c, 1, 3, 3, device=device), torch.randn(c, device=device)
        grad = torch.randn(n, h, w, c, device=device)
        found = []
        for f in (_DepthwiseGelu.apply, lambda *a: F.gelu(plain(*a))):
            args = [t.clone().requires_grad_() for t in (x, weight, bias)]
            y = f(*args)
            found.append([y.detach(), *torch.autograd.grad(y, args, grad)])
        for a, b in zip(*found):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
        for size, stride in ((3, 1), (3, 2), (5, 1), (5, 2)):
            weight = torch.randn(c, 1, size, size, device=device)
            ours = _run(x, weight.reshape(c, -1).t().contiguous(), bias, stride, relu6=True)
            torch.testing.assert_close(ours, plain(x, weight, bias, stride).clamp(0, 6), rtol=1e-4, atol=1e-4)
    print("Triton and torch agree")


if __name__ == "__main__":
    main()
