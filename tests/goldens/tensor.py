"""Weight files and arrays as the Python packages write them, for the tests of crisp/tensor.

safetensors, torch, numpy and transformers write the files below tests/goldens/tensor; `expected.json` beside them
holds what those packages read back, as sums and first values, so that our reader is compared with theirs.
Run: python tests/goldens/tensor.py
"""
import collections
import io
import json
import pathlib
import pickle
import tempfile
import zipfile

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from transformers import SegformerConfig, SegformerForImageClassification, SegformerForSemanticSegmentation, SegformerModel

OUT = pathlib.Path(__file__).parent / "tensor"
OUT.mkdir(exist_ok=True)
torch.manual_seed(7)
expected = {}


def summary(tensors):
    """name -> [shape, dtype, sum, weighted sum]; the weighted sum sees a wrong order of elements."""
    result = {}
    for name, t in sorted(tensors.items()):
        flat = t.detach().to(torch.float64).flatten()
        weights = torch.arange(1, flat.numel() + 1, dtype=torch.float64)
        result[name] = [list(t.shape), str(t.dtype).replace("torch.", ""), flat.sum().item(), (flat * weights).sum().item()]
    return result


# Every dtype, a scalar, an empty tensor, an unusual name, metadata.
types = {
    "f64": torch.randn(3, 4, dtype=torch.float64),
    "f32": torch.randn(2, 3, 5),
    "f16": torch.randn(7).half(),
    "bf16": torch.randn(5, 2).bfloat16(),
    "i64": torch.tensor([1 << 40, -3]),
    "i32": torch.tensor([[5, -6]], dtype=torch.int32),
    "i16": torch.tensor([300, -300], dtype=torch.int16),
    "i8": torch.tensor([-128, 127, 3], dtype=torch.int8),
    "u8": torch.tensor([0, 255, 9], dtype=torch.uint8),
    "bool": torch.tensor([True, False, True]),
    "scalar": torch.tensor(42),
    "empty": torch.zeros(0, 3),
    "näme with space": torch.ones(1),
}
save_file(types, OUT / "types.safetensors", metadata={"format": "pt", "note": "ünïcode"})
expected["types"] = summary(load_file(OUT / "types.safetensors"))

# Tiny SegFormers: what save_pretrained writes (hub names), and the names inside transformers 5.
config = SegformerConfig(
    hidden_sizes=[4, 4, 8, 8], depths=[1, 2, 1, 1], num_attention_heads=[1, 1, 2, 2], sr_ratios=[8, 4, 2, 1],
    mlp_ratios=[2, 2, 2, 2], decoder_hidden_size=6,
    id2label={i: n for i, n in enumerate(["wall", "sky", "a", "b", "c", "d", "e", "f", "g", "h", "tree"])},
)
segment = SegformerForSemanticSegmentation(config).eval()
with torch.no_grad():
    for tensor in segment.state_dict().values():  # no tensor is left all zeros or ones
        if tensor.is_floating_point():
            tensor.add_(0.1 * torch.randn_like(tensor))
segment.save_pretrained(OUT / "hub")
hub = load_file(OUT / "hub" / "model.safetensors")
save_file({k: v.half().contiguous() if v.is_floating_point() else v for k, v in segment.state_dict().items()},
          OUT / "hub5.safetensors", metadata={"format": "pt"})
expected["hub"] = summary(hub)
expected["hub5"] = summary(load_file(OUT / "hub5.safetensors"))
with tempfile.TemporaryDirectory() as folder:
    SegformerModel(config).save_pretrained(folder)
    expected["names"] = {
        "encoder_hub": sorted(load_file(folder + "/model.safetensors")),
        "encoder_hub5": sorted(SegformerModel(config).state_dict()),
        "classifier_hub5": sorted(SegformerForImageClassification(config).state_dict()),
    }
# The same numbers under the authors' names. The names are written out here by hand, as their code has them: no
# package that makes them is at hand, so this sample shows our reading of that code and not the code itself.
original = collections.OrderedDict()
for name, t in hub.items():
    n = name.replace("segformer.encoder.", "backbone.")
    p = n.split(".")
    if "self.key" in n:
        other = hub[name.replace("self.key", "self.value")]
        n, t = n.replace("attention.self.key", "attn.kv"), torch.cat([t, other])
    elif "self.value" in n:
        continue
    for a, b in [("attention.self.query", "attn.q"), ("attention.self.sr", "attn.sr"), ("attention.self.layer_norm", "attn.norm"),
                 ("attention.output.dense", "attn.proj"), ("layer_norm_1", "norm1"), ("layer_norm_2", "norm2"),
                 ("dense1", "fc1"), ("dense2", "fc2"), ("decode_head.linear_fuse", "decode_head.linear_fuse.conv"),
                 ("decode_head.batch_norm", "decode_head.linear_fuse.bn"), ("decode_head.classifier", "decode_head.linear_pred")]:
        n = n.replace(a, b)
    if p[1] == "patch_embeddings":
        n = n.replace(f"patch_embeddings.{p[2]}", f"patch_embed{int(p[2]) + 1}").replace("layer_norm", "norm")
    if p[1] == "block":
        n = n.replace(f"block.{p[2]}", f"block{int(p[2]) + 1}", 1)
    if p[1] == "layer_norm":
        n = n.replace(f"layer_norm.{p[2]}", f"norm{int(p[2]) + 1}")
    if p[1] == "linear_c":
        n = n.replace(f"linear_c.{p[2]}", f"linear_c{int(p[2]) + 1}")
    original[n] = t
original["decode_head.conv_seg.weight"] = torch.zeros(11, 6, 1, 1)
original["decode_head.conv_seg.bias"] = torch.zeros(11)
meta = {"mmcv_version": "1.3", "epoch": 3, "time": "now", "CLASSES": ("wall", "sky"), "seed": np.float64(1.5)}
optimizer = {"state": {0: {"step": 5, "exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 6e-5, "betas": (0.9, 0.999)}]}
torch.save({"meta": meta, "state_dict": original, "optimizer": optimizer}, OUT / "original.pth")
expected["original"] = summary(original)
# An encoder alone with ImageNet classifier, in the format of torch before 1.6, as data-parallel training saves it.
encoder = {f"module.{k.removeprefix('backbone.')}": v.half() for k, v in original.items() if k.startswith("backbone.")}
encoder["module.head.weight"], encoder["module.head.bias"] = torch.randn(10, 8).half(), torch.randn(10).half()
torch.save(encoder, OUT / "encoder_legacy.pth", _use_new_zipfile_serialization=False)
expected["encoder_legacy"] = summary({k.removeprefix("module."): v for k, v in encoder.items()})

# Storages shared, strided, of every type; parameters; an OrderedDict with attributes.
base = torch.arange(24, dtype=torch.float32)
views = collections.OrderedDict(
    whole=base, rows=base.view(4, 6)[1:3], columns=base.view(4, 6)[:, ::2], turned=base.view(4, 6).t(),
    parameter=torch.nn.Parameter(torch.randn(3)), empty=torch.zeros(0, 2), scalar=torch.tensor(2.5),
    **{f"type_{k}": v for k, v in types.items() if k not in ("empty", "scalar", "näme with space")})
views._metadata = {"version": 1}
torch.save(views, OUT / "views.pth")
expected["views"] = summary(torch.load(OUT / "views.pth", weights_only=True))
torch.save(views, OUT / "views_legacy.pth", _use_new_zipfile_serialization=False)
expected["views_legacy"] = summary(torch.load(OUT / "views_legacy.pth", weights_only=True))


class Hostile:
    """What an attacker would save: unpickling it in Python runs a shell command."""

    def __reduce__(self):
        import os
        return os.system, ("touch pickle_was_executed",)


torch.save({"state_dict": {"w": torch.ones(2), "bad": Hostile()}, "meta": Hostile()}, OUT / "hostile.pth")
torch.save(Hostile(), OUT / "hostile_alone.pth")
with zipfile.ZipFile(OUT / "original.pth") as source, \
        zipfile.ZipFile(OUT / "compressed.pth", "w", zipfile.ZIP_DEFLATED) as target:
    target.writestr("archive/data.pkl", source.read("original/data.pkl"))

# NumPy arrays: every type and byte order, both memory orders, three header versions.
expected["npy"] = {}


def save_array(name, array, version=None):
    with open(OUT / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    flat = array.astype(np.float64).flatten()
    expected["npy"][name] = [list(array.shape), array.dtype.name, float(flat.sum()),
                             float((flat * np.arange(1, flat.size + 1)).sum())]


rng = np.random.default_rng(5)
for code in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]:
    values = rng.integers(0, 2 if code == "b1" else 100, (2, 3))
    for order in "<>" if code[1] != "1" else "|":
        save_array(f"{'be' if order == '>' else 'le'}_{code}", values.astype(order + code))
save_array("fortran", np.asfortranarray(rng.standard_normal((2, 3, 4)).astype("f4")))
save_array("fortran_big", np.asfortranarray(rng.standard_normal((3, 2)).astype(">f8")))
save_array("scalar", np.array(1.25, "f4"))
save_array("empty", np.zeros((0, 3), "f4"))
save_array("version2", np.arange(6, dtype="f4").reshape(2, 3), (2, 0))
save_array("version3", np.arange(6, dtype="f4").reshape(2, 3), (3, 0))

# Pickled dicts as the public code stores tags and CAMs, in every binary protocol.
cams = {3: rng.random((4, 5)).astype("f4"), 11: rng.random((4, 5)).astype("f8"), "keys": np.array([0, 4, 12]),
        "big": np.arange(3, dtype=">i4"), "fortran": np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)),
        "score": np.float32(0.5), "count": np.int64(7), "flag": np.bool_(True), "list": [1, 2.5, "x", None, (True, b"raw")],
        "label": "ünïcode", "words": np.array(["a", "b"]), "large": 1 << 80, "negative": -(1 << 40)}
for protocol in [2, 3, 4, 5]:
    array = np.array(cams, dtype=object)
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    pickle.dump(array, file, protocol=protocol)
    (OUT / f"cams_protocol{protocol}.npy").write_bytes(file.getvalue())
np.save(OUT / "cams.npy", cams, allow_pickle=True)
np.save(OUT / "objects.npy", np.array([None, "two", 3], dtype=object), allow_pickle=True)
expected["cams"] = {str(k): [float(v.sum()), float((v.flatten() * np.arange(1, v.size + 1)).sum())]
                    for k, v in cams.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fi"}
np.save(OUT / "hostile.npy", np.array({"bad": Hostile(), "good": 1}, dtype=object), allow_pickle=True)

for file in OUT.glob("**/*"):
    file.chmod(0o755 if file.is_dir() else 0o644)
(OUT / "expected.json").write_text(json.dumps(expected, sort_keys=True).replace("]], ", "]],\n").replace("], ", "],\n") + "\n")
