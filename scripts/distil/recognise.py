"""What encoders recognise: agreement with the teacher on photos that distil.py keeps out, and a linear probe of tags.

    python3 scripts/distil/recognise.py --voc VOC2012 --labels cls_labels_onehot.npy mit_b1.safetensors \
        mit_b1_dense.safetensors mit_b1.safetensors+mit_b1_dense.safetensors teacher

A+B is the mean of two files' weights. Agreement: KL of the 1,000 scores and the share of equal first classes, on 192
photos kept out and 96 learned from (not for `teacher`). The probe: logistic regression from the mean and the mean of the best 16 cells
of the last features, 2,500 photos of train_aug to learn from, mean average precision on val_dev. No mask is looked at.
Needs what distil.py needs, and scikit-learn.
"""

import argparse

import numpy as np
import torch
from torch.nn import functional as F

from distil import Teacher, crops, read_photos, read_safetensors
from mit import Mit

SIZE = 288
MEAN = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)


def load(name):
    files = [read_safetensors(part) for part in name.split("+")]
    network = Mit("mit_b1")
    network.load_state_dict({key: sum(f[key] for f in files) / len(files) for key in files[0]})
    return network.eval()


def agreement(network, teacher, photos, sizes):
    torch.manual_seed(1)
    kl, same = 0.0, 0
    for part in torch.arange(len(photos)).split(32):
        batch = crops(photos, sizes, part, SIZE, low=0.5)
        wanted = teacher(batch)[0].log_softmax(1)
        said = network.classifier(network.features((batch - MEAN) / STD)[3].mean((2, 3))).log_softmax(1)
        kl += F.kl_div(said, wanted, log_target=True, reduction="sum").item()
        same += (said.argmax(1) == wanted.argmax(1)).sum().item()
    return kl / len(photos), same / len(photos)


def pooled(last, folder, ids):
    rows = []
    for k in range(0, len(ids), 25):
        photos, sizes = read_photos(folder, ids[k : k + 25], 320, "cpu")
        whole = [F.interpolate(p[None, :, : int(s[0]), : int(s[1])].float() / 255, (SIZE, SIZE), mode="bilinear",
                               antialias=True) for p, s in zip(photos, sizes)]
        maps = last(torch.cat(whole))
        rows.append(torch.cat([maps.mean((2, 3)), maps.flatten(2).topk(16, 2)[0].mean(2)], 1))
    return torch.cat(rows)


def probe(x, y, learned, decay):
    from sklearn.metrics import average_precision_score
    x = (x - x[:learned].mean(0)) / (x[:learned].std(0) + 1e-6)
    w, b = torch.zeros(x.shape[1], 20, requires_grad=True), torch.zeros(20, requires_grad=True)
    optimizer = torch.optim.LBFGS([w, b], max_iter=100)

    def closure():
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(x[:learned] @ w + b, y[:learned]) + decay * (w**2).sum() / 40
        loss.backward()
        return loss

    optimizer.step(closure)
    scores = (x[learned:] @ w + b).detach()
    return np.mean([average_precision_score(y[learned:, k], scores[:, k]) for k in range(20)])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--voc", required=True)
    p.add_argument("--labels", help="cls_labels*.npy, for the probe; without it there is none")
    p.add_argument("weights", nargs="+")
    o = p.parse_args()
    folder, lists = f"{o.voc}/JPEGImages", f"{o.voc}/ImageSets/Segmentation"
    ids, val = (open(f"{lists}/{name}.txt").read().split() for name in ("train_aug", "val_dev"))
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(0))  # as distil.py has it
    sets = {"kept out": order[:192], "learned from": order[300:396]}
    sets = {name: read_photos(folder, [ids[i] for i in index], 320, "cpu") for name, index in sets.items()}
    teacher = Teacher(2)
    for name in o.weights:
        network = None if name == "teacher" else load(name)
        if network:
            with torch.no_grad():
                for photos, (canvas, sizes) in sets.items():
                    kl, same = agreement(network, teacher, canvas, sizes)
                    print(f"{name}: {photos}: KL {kl:.3f}, the teacher's class in {100 * same:.0f}%", flush=True)
        if o.labels:
            tags = np.load(o.labels, allow_pickle=True).item()
            some = [ids[i] for i in torch.randperm(len(ids), generator=torch.Generator().manual_seed(0))[:2500]]
            last = (lambda x: network.features((x - MEAN) / STD)[3]) if network else (lambda x: teacher(x)[1][3])
            with torch.no_grad():
                x = pooled(last, folder, some + val)
            y = torch.tensor(np.stack([tags[i] for i in some + val])).float()
            print(f"{name}: tags of val_dev, mAP {100 * probe(x, y, len(some), 0.05):.1f}", flush=True)


if __name__ == "__main__":
    main()
