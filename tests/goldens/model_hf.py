"""Goldens of MiT and the SegFormer head from Hugging Face transformers, for the parity tests of crisp/model.

Run from anywhere:  python tests/goldens/model_hf.py   (torch, transformers 5.22 or later, safetensors)

Written to tests/goldens/model/ (tensors named as in crisp/model unless said otherwise):
  hf_weights.safetensors    the weights; layer norms, batch norm and biases are far from their usual start
  hf_eval.safetensors       evaluation mode, per input size HxW: `HxW.input` [N,3,H,W], `HxW.stage.{0..3}`
                            [N,C_i,H_i,W_i], `HxW.logits` [N,5,H_0,W_0]
  hf_train.safetensors      training mode (batch statistics, no dropout, no stochastic depth) on `64x64.input`:
                            `logits`; loss = mean(logits * loss_weight) as `loss_weight` and `loss`; `input_grad`;
                            `grad.NAME` for every parameter; `after.head.norm.running_{mean,var}` (one step)
  hub/                      the same weights by save_pretrained: config.json and model.safetensors, classic hub names
  hub_v5/                   the same in bf16 under the names transformers 5 uses in memory
  original.pth              other weights in the style of NVlabs checkpoints: {"state_dict": ..., "meta": ...}, with the
                            unused decode_head.conv_seg that those files carry
  original_eval.safetensors `33x47.stage.*` and `33x47.logits` of original.pth with the original code's epsilons on
                            the `33x47.input` of hf_eval; `hub_epsilon.logits` is what 1e-5 everywhere would give
  hf_facts.json             parameters and multiply-accumulates of the real architectures

Everything is computed in float64 and stored as f32, so a difference seen by a test is the tested code's own.
Some gradients are zero in exact arithmetic and come out as rounding noise in any implementation: the biases
`head.proj.*.bias` and `encoder.stages.3.norm.bias` (only a batch norm follows, which ignores a constant) and the key
half of every `attn.kv.bias` (softmax ignores a shift of all scores). Compare with a floor on the scale, for
instance 1e-4 * max(scale of the tensor, scale of the input gradient).

Facts read from transformers 5.22.2, models/segformer/modeling_segformer.py, which the C++ follows:
  - Every nn.LayerNorm is built without eps, so 1e-5; config.layer_norm_eps (1e-6) is never read. The original code
    has 1e-6 in norm1, norm2 and the stage norms, 1e-5 in the patch embedding and after the reduction.
  - Patch embedding: convolution 7/4 pad 3, then 3/2 pad 1, with bias; layer norm over channels.
  - Attention: q, k, v and output with bias; scale head_dim^-0.5 on q.k, softmax over keys; where the ratio R > 1 the
    key/value tokens are a convolution R/R without padding (a remainder is cut off), then a layer norm.
  - Block: x += drop_path(attn(norm1(x))); x += drop_path(mlp(norm2(x))). Mix-FFN: fc1, 3x3 depthwise convolution
    with bias, exact (erf) GELU, fc2.
  - Stage: embedding, blocks, layer norm; its [N,C,H,W] map feeds the next stage and the head.
  - Stochastic depth rises linearly from 0 at the first block to drop_path_rate at the last, over all stages.
  - Head: linear per stage, bilinear upsampling (align_corners=False) to the first stage's size, concatenation
    in the order c4, c3, c2, c1, 1x1 convolution without bias, batch norm (1e-5, momentum 0.1), ReLU, dropout
    (0.1, elementwise), 1x1 classifier with bias.
"""

import copy
import re
import shutil
from collections import OrderedDict

import torch
import transformers
from model_common import CLASSES, DEPTHS, DIMS, FOLDER, HEADS, WIDTH, agree, random_tensor, randomize, save, save_json
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import SegformerConfig, SegformerForSemanticSegmentation

SIZES = {"64x64": (2, 64, 64), "33x47": (1, 33, 47), "96x64": (1, 96, 64)}
FACTS = {"reference": f"transformers {transformers.__version__}"}


# ----- names

LAYERS = {
    "attention.q_proj": "attn.q",
    "attention.o_proj": "attn.proj",
    "attention.sequence_reduction.sequence_reduction": "attn.sr",
    "attention.sequence_reduction.layer_norm": "attn.norm",
    "layernorm_before": "norm1",
    "layernorm_after": "norm2",
    "mlp.dwconv.dwconv": "mlp.dwconv",
}
HEAD = {"linear_projections": "proj", "linear_fuse": "fuse", "batch_norm": "norm"}


def our_names(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Renames tensors of transformers 5 to ours; key and value are joined along dim 0, key first."""
    renamed = {}
    for name, tensor in tensors.items():
        if ".v_proj." in name:
            continue  # joined to the key below
        if ".k_proj." in name:
            tensor = torch.cat([tensor, tensors[name.replace(".k_proj.", ".v_proj.")]])
            name = name.replace("attention.k_proj", "attn.kv")
        for theirs, ours in LAYERS.items():
            name = name.replace(f".{theirs}.", f".{ours}.")
        name = name.replace("segformer.stages.", "encoder.stages.").replace("patch_embeddings.", "embed.")
        name = re.sub(r"\.layer_norm\.", ".norm.", name)
        if name.startswith("decode_head."):
            part, rest = name.removeprefix("decode_head.").split(".", 1)
            rest = re.sub(r"^(\d)\.proj\.", r"\1.", rest)
            name = f"head.{HEAD.get(part, part)}.{rest}"
        renamed[name] = tensor
    return renamed


def original_name(name: str) -> str:
    """The NVlabs name of one of our tensors (stages are counted from 1 there)."""
    name = re.sub(r"^encoder\.stages\.(\d)\.(.*)", lambda m: f"backbone.stage{int(m[1]) + 1}.{m[2]}", name)
    name = re.sub(r"stage(\d)\.embed\.", r"patch_embed\1.", name)
    name = re.sub(r"stage(\d)\.blocks\.", r"block\1.", name)
    name = re.sub(r"stage(\d)\.norm\.", r"norm\1.", name)
    name = name.replace("mlp.dwconv.", "mlp.dwconv.dwconv.")
    name = re.sub(r"^head\.proj\.(\d)\.", lambda m: f"decode_head.linear_c{int(m[1]) + 1}.proj.", name)
    name = name.replace("head.fuse.", "decode_head.linear_fuse.conv.")
    name = name.replace("head.norm.", "decode_head.linear_fuse.bn.")
    return name.replace("head.classifier.", "decode_head.linear_pred.")


# ----- goldens of the tiny model


def tiny_model() -> SegformerForSemanticSegmentation:
    config = SegformerConfig(
        hidden_sizes=DIMS,
        num_attention_heads=HEADS,
        depths=DEPTHS,
        decoder_hidden_size=WIDTH,
        drop_path_rate=0.0,
        classifier_dropout_prob=0.0,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: label for label, name in enumerate(CLASSES)},
    )
    # In f64 the eager attention would round its softmax to f32; sdpa does not.
    model = SegformerForSemanticSegmentation._from_config(config, attn_implementation="sdpa")
    for layer in model.modules():
        if isinstance(layer, nn.LayerNorm) and layer.eps != 1e-5:
            raise ValueError("this version of transformers no longer uses 1e-5 in every layer norm")
    randomize(model, seed=1)
    return model


def forward(model, image):
    """Features of the four stages and logits."""
    output = model(pixel_values=image, output_hidden_states=True)
    features = output.hidden_states
    height, width = image.shape[2:]
    for stage, feature in enumerate(features):
        stride = 4 * 2**stage
        if feature.shape[1:] != (DIMS[stage], -(-height // stride), -(-width // stride)):
            raise ValueError(f"stage {stage} has the unexpected shape {tuple(feature.shape)}")
    return features, output.logits


@torch.no_grad()
def evaluate(model, inputs):
    tensors = {}
    for size, image in inputs.items():
        features, logits = forward(model.eval(), image)
        tensors |= {f"{size}.stage.{stage}": feature for stage, feature in enumerate(features)}
        tensors[f"{size}.logits"] = logits
    return tensors


def check_single_precision(model, inputs):
    """The f64 figures are those of the usual f32, eager model, up to rounding: no token is nearly constant over its
    few channels, where a layer norm would magnify rounding beyond what the tests allow."""
    single = copy.deepcopy(model).float()
    single.set_attn_implementation("eager")
    single_inputs = {size: image.float() for size, image in inputs.items()}
    expected = evaluate(model, inputs)
    for name, actual in evaluate(single, single_inputs).items():
        agree(name, expected[name], actual, 1e-5)
    expected = train(model, inputs["64x64"])
    floor = expected["input_grad"].abs().max().item()
    for name, actual in train(single, single_inputs["64x64"]).items():
        agree(name, expected[name], actual, 1e-5, floor)


def train(model, image):
    model = copy.deepcopy(model).train()
    image = image.clone().requires_grad_()
    _, logits = forward(model, image)
    loss_weight = random_tensor(*logits.shape, seed=3, deviation=32.0).to(logits.dtype)
    loss = (logits * loss_weight).mean()
    loss.backward()
    gradients = our_names({name: parameter.grad for name, parameter in model.named_parameters()})
    statistics = model.decode_head.batch_norm
    return {
        "logits": logits,
        "loss_weight": loss_weight,
        "loss": loss,
        "input_grad": image.grad,
        **{f"grad.{name}": gradient for name, gradient in gradients.items()},
        "after.head.norm.running_mean": statistics.running_mean,
        "after.head.norm.running_var": statistics.running_var,
    }


def save_hub_folders(model):
    for folder, dtype, classic in (("hub", torch.float32, True), ("hub_v5", torch.bfloat16, False)):
        shutil.rmtree(FOLDER / folder, ignore_errors=True)
        stored = copy.deepcopy(model).to(dtype)
        stored.save_pretrained(FOLDER / folder, save_original_format=classic)
        (FOLDER / folder / "model.safetensors").chmod(0o644)


def save_original(model, image):
    """A checkpoint of the original code, on whose features its epsilon of 1e-6 shows."""
    model = copy.deepcopy(model)
    randomize(model, seed=5)
    for name, parameter in model.named_parameters():
        if any(part in name for part in ("patch_embeddings.layer_norm", "o_proj", "fc2")):
            parameter.data.mul_(0.01).copy_(parameter.data.float())  # a residual stream with a variance near 1e-4
    hub_logits = evaluate(model, {"33x47": image})["33x47.logits"]

    state = OrderedDict((original_name(name), tensor.float()) for name, tensor in our_names(model.state_dict()).items()
                        if not name.endswith("num_batches_tracked"))
    state["decode_head.conv_seg.weight"] = torch.zeros(len(CLASSES), WIDTH, 1, 1)
    state["decode_head.conv_seg.bias"] = torch.zeros(len(CLASSES))
    meta = {"epoch": 1, "iter": 2, "CLASSES": tuple(CLASSES), "PALETTE": None}
    torch.save({"meta": meta, "state_dict": state}, FOLDER / "original.pth")

    for name, layer in model.named_modules():
        if re.search(r"layernorm_(before|after)$|stages\.\d\.layer_norm$", name):
            layer.eps = 1e-6
    tensors = evaluate(model, {"33x47": image})
    if (tensors["33x47.logits"] - hub_logits).abs().max() < 1e-2 * hub_logits.abs().max():
        raise ValueError("original.pth would not show a wrong epsilon")
    save("original_eval.safetensors", tensors | {"hub_epsilon.logits": hub_logits}, **FACTS)


# ----- facts of the real architectures

DEPTHS_OF = {
    "mit_b0": [2, 2, 2, 2],
    "mit_b1": [2, 2, 2, 2],
    "mit_b2": [3, 4, 6, 3],
    "mit_b3": [3, 4, 18, 3],
    "mit_b4": [3, 8, 27, 3],
    "mit_b5": [3, 6, 40, 3],
}


def real_model(arch, width, classes=21):
    dims = [32, 64, 160, 256] if arch == "mit_b0" else [64, 128, 320, 512]
    config = SegformerConfig(
        hidden_sizes=dims, depths=DEPTHS_OF[arch], decoder_hidden_size=width, num_labels=classes
    )
    with torch.device("meta"):
        return SegformerForSemanticSegmentation._from_config(config, attn_implementation="eager").eval()


def count_macs(model, height, width):
    """Multiply-accumulates of convolutions, linear layers and attention products, by torch's own counter."""
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        model(pixel_values=torch.empty(1, 3, height, width, device="meta"))
    by_module = {name: sum(ops.values()) // 2 for name, ops in counter.get_flop_counts().items()}
    by_op = {}
    for op, flops in counter.get_flop_counts()["Global"].items():
        by_op[str(op)] = by_op.get(str(op), 0) + flops // 2
    root = type(model).__name__
    return {
        "total": counter.get_total_flops() // 2,
        "encoder": by_module[f"{root}.segformer"],
        "head": by_module[f"{root}.decode_head"],
        "stages": [by_module[f"{root}.segformer.stages.{stage}"] for stage in range(4)],
        "by_op": by_op,
    }


def facts():
    result = {"reference": FACTS["reference"], "classes": 21, "parameters": {}, "macs": {}}
    for arch in DEPTHS_OF:
        models = {width: real_model(arch, width) for width in (256, 768)}
        result["parameters"][arch] = {
            "encoder": models[256].segformer.num_parameters(),
            **{f"segformer_{width}": model.num_parameters() for width, model in models.items()},
        }
        for width, model in models.items():
            for size in ((512, 512), (375, 500)):
                name = f"{arch} width {width} {size[0]}x{size[1]}"
                result["macs"][name] = count_macs(model, *size)
    b5 = result["parameters"]["mit_b5"]
    expected = {"encoder": 81_443_008, "segformer_256": 81_974_229, "segformer_768": 84_609_493}
    if b5 != expected:
        raise ValueError(f"MiT-B5 has {b5}, method.md {expected}")
    gmac = result["macs"]["mit_b5 width 256 512x512"]["encoder"] / 1e9
    if round(gmac, 2) != 69.41:
        raise ValueError(f"the MiT-B5 encoder has {gmac:.3f} GMAC, method.md 69.41")
    return result


def main():
    torch.set_num_threads(1)
    model = tiny_model()
    save("hf_weights.safetensors", our_names(model.state_dict()), **FACTS)
    save_hub_folders(model)

    model = model.double()
    inputs = {size: random_tensor(n, 3, h, w, seed=h * w + 10) for size, (n, h, w) in SIZES.items()}
    check_single_precision(model, inputs)
    images = {f"{size}.input": image for size, image in inputs.items()}
    save("hf_eval.safetensors", images | evaluate(model, inputs), **FACTS)
    save("hf_train.safetensors", train(model, inputs["64x64"]), **FACTS)
    save_original(model, inputs["33x47"])

    known = facts()
    save_json("hf_facts.json", known)
    for arch, counts in known["parameters"].items():
        print(arch, counts)
    for name, macs in known["macs"].items():
        gmac = {part: round(macs[part] / 1e9, 3) for part in ("encoder", "head", "total")}
        print(f"{name}: {gmac} GMAC")


if __name__ == "__main__":
    main()
