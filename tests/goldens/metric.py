"""Reference numbers for crisp/metric, from scikit-learn, torchmetrics, scipy and scikit-image.

    python tests/goldens/metric.py             small cases -> tests/goldens/metric/cases.json
    python tests/goldens/metric.py VOC_FOLDER  also real masks -> tests/goldens/metric/voc.json

VOC_FOLDER is voc12-core.tar unpacked. Nothing here is shared with the C++ code except the generator `Rng`
and the rules by which masks are perturbed, which the tests repeat.
"""
import json
import math
import pathlib
import sys
import warnings

import numpy as np
import torch
from PIL import Image
from scipy import ndimage as ndi
from skimage import measure
from sklearn import metrics as sk
from torchmetrics.functional import classification as tm
from torchmetrics.functional.classification.calibration_error import _ce_compute

CROSS = ndi.generate_binary_structure(2, 1)
SQUARE = np.ones((3, 3), bool)
OUT = pathlib.Path(__file__).parent / "metric"
U64 = np.uint64


class Rng:
    """crisp::Rng(seed, index), a block of numbers at a time."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed, index):
        def mix(x):
            return int(Rng._mix(np.array([x & (2**64 - 1)], U64))[0])

        self.state = mix(mix(seed) ^ mix(~index))

    @staticmethod
    def _mix(x):
        with np.errstate(over="ignore"):
            x = x + U64(Rng.STEP)
            x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
            return x ^ (x >> U64(31))

    def below(self, bound, count):
        with np.errstate(over="ignore"):
            states = U64(self.state) + np.arange(count, dtype=U64) * U64(Rng.STEP)
        self.state = (self.state + count * Rng.STEP) % 2**64
        bits = self._mix(states)
        low, high = bits & U64(0xFFFFFFFF), bits >> U64(32)
        return ((high * U64(bound) + ((low * U64(bound)) >> U64(32))) >> U64(32)).astype(np.int64)


# ---- one image ----------------------------------------------------------------------------------------------

def fill_void(truth, ignore):
    void = truth == ignore
    labels = np.unique(truth[~void])
    if not void.any() or len(labels) == 0:
        return truth
    # Squared distances are whole numbers; rounding makes ties exact, and argmin takes the smallest label.
    squared = np.stack([np.rint(ndi.distance_transform_edt(truth != c) ** 2) for c in labels])
    return np.where(void, labels[np.argmin(squared, 0)], truth).astype(np.uint8)


def boundary(mask):
    return mask & ~ndi.binary_erosion(mask, CROSS, border_value=1)


def boundary_f1(truth, pred, tolerance):
    """F1 of two class masks; truth is not empty."""
    if not pred.any():
        return 0.0
    a, b = boundary(truth), boundary(pred)
    if not a.any() and not b.any():
        return 1.0
    if not a.any() or not b.any():
        return 0.0
    recall = (ndi.distance_transform_edt(~b)[a] <= tolerance + 1e-9).mean()
    precision = (ndi.distance_transform_edt(~a)[b] <= tolerance + 1e-9).mean()
    return 0.0 if precision + recall == 0 else float(2 * precision * recall / (precision + recall))


def band(mask, width):
    return mask & ~ndi.binary_erosion(mask, SQUARE, iterations=width, border_value=0)


def compactness(mask):
    length = measure.perimeter(mask, neighborhood=4)
    return None if length == 0 else float(min(1.0, 4 * math.pi * mask.sum() / length**2))


def edge_regularity(mask):
    points = sharp = 0
    for contour in measure.find_contours(np.pad(mask, 1).astype(float), 0.5, fully_connected="low"):
        assert (contour[0] == contour[-1]).all()
        p = contour[:-1]
        if len(p) < 7:
            continue
        a, b = p - np.roll(p, 3, axis=0), np.roll(p, -3, axis=0) - p
        angle = np.abs(np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(1)))
        points += len(p)
        sharp += int((angle > 1).sum())
    return None if points == 0 else sharp / points


def small_objects(truth, pred, classes, ignore, limit):
    total = found = 0
    for c in range(1, classes):
        if c == ignore:
            continue
        components, count = ndi.label(truth == c, SQUARE)
        for i in range(1, count + 1):
            component = components == i
            size = int(component.sum())
            if size < limit:
                total += 1
                found += int(2 * int((pred[component] == c).sum()) >= size)
    return total, found


# ---- a set of images ----------------------------------------------------------------------------------------

def evaluate(images, classes, ignore=255, tolerance=2.0, diagonal=0.0, bins=15, small=1024, min_pixels=64):
    """images: (truth, pred, confidence or None, probabilities [K,H,W] or None)."""
    truths, preds, confidences, rights, probabilities, labels = [], [], [], [], [], []
    f1 = [[] for _ in range(classes)]
    common, either = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    tv, compact, regular, total, found = [], [], [], 0, 0
    for truth, pred, confidence, probability in images:
        valid = truth != ignore
        truths.append(truth[valid].astype(np.int64))
        preds.append(np.where(pred < classes, pred, classes)[valid].astype(np.int64))
        filled = fill_void(truth, ignore)
        side = math.sqrt(truth.shape[0] ** 2 + truth.shape[1] ** 2)
        width = max(1, round(0.02 * side))
        reach = diagonal * side if diagonal > 0 else tolerance
        for c in range(classes):
            if (truth[valid] == c).any():
                f1[c].append(boundary_f1(filled == c, pred == c, reach))
            a, b = band(filled == c, width) & valid, band(pred == c, width) & valid
            common[c] += (a & b).sum()
            either[c] += (a | b).sum()
            if c > 0 and (pred == c).sum() >= min_pixels:
                for values, value in ((compact, compactness(pred == c)), (regular, edge_regularity(pred == c))):
                    if value is not None:
                        values.append(value)
        changes = (pred[:, 1:] != pred[:, :-1]).sum() + (pred[1:] != pred[:-1]).sum()
        tv.append(float(1 - changes / pred.size))
        t, f = small_objects(truth, pred, classes, ignore, small)
        total, found = total + t, found + f
        if probability is not None and confidence is None:
            confidence = np.take_along_axis(probability, np.minimum(pred, classes - 1)[None].astype(int), 0)[0]
        if confidence is not None:
            stated = valid & (pred < classes)
            confidences.append(confidence[stated].astype(np.float64))
            rights.append((truth == pred)[stated])
        if probability is not None:
            probabilities.append(probability[:, valid].T.astype(np.float64))
            labels.append(truth[valid].astype(np.int64))

    truth, pred = np.concatenate(truths), np.concatenate(preds)
    result = {}
    present = [c for c in range(classes) if (truth == c).any()]
    names = list(range(classes))
    matrix = sk.confusion_matrix(truth, pred, labels=names + [classes])[:classes] if len(truth) else None
    mean = lambda values: 100 * float(np.mean(values)) if len(values) else None
    iou = dice = recall = []
    if present:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            iou = sk.jaccard_score(truth, pred, labels=names, average=None, zero_division=0)[present]
            dice = sk.f1_score(truth, pred, labels=names, average=None, zero_division=0)[present]
            recall = sk.recall_score(truth, pred, labels=names, average=None, zero_division=0)[present]
        if (pred < classes).all() and classes > 1:  # torchmetrics has no notion of a pixel without a class
            t, p = torch.from_numpy(truth), torch.from_numpy(pred)
            ours = tm.multiclass_jaccard_index(p, t, classes, average=None).numpy()[present]
            assert np.allclose(ours, iou, atol=1e-6)
            ours = tm.multiclass_f1_score(p, t, classes, average=None).numpy()[present]
            assert np.allclose(ours, dice, atol=1e-6)
            ours = tm.multiclass_accuracy(p, t, classes, average=None).numpy()[present]
            assert np.allclose(ours, recall, atol=1e-6)
    result["miou"], result["mdice"], result["mean_accuracy"] = mean(iou), mean(dice), mean(recall)
    result["pixel_accuracy"] = 100 * float(sk.accuracy_score(truth, pred)) if len(truth) else None
    result["boundary_f1"] = mean([np.mean(f1[c]) for c in present])
    result["boundary_iou"] = mean([common[c] / either[c] for c in present if either[c] > 0])
    result["ece"] = None
    if confidences and sum(map(len, confidences)):
        confidence, right = torch.from_numpy(np.concatenate(confidences)), torch.from_numpy(np.concatenate(rights))
        result["ece"] = 100 * float(_ce_compute(confidence, right.double(), bins))
    result["brier"] = result["nll"] = None
    if probabilities and sum(map(len, labels)):
        p, y = np.concatenate(probabilities), np.concatenate(labels)
        result["brier"] = float(((p - np.eye(classes)[y]) ** 2).sum(1).mean())
        # scikit-learn would renormalise rows, which in 32 bits do not sum to exactly 1.
        result["nll"] = float(-np.log(np.maximum(p[np.arange(len(y)), y], 1e-12)).mean())
        if classes > 1:
            exact = p / p.sum(1, keepdims=True)
            assert abs(result["nll"] - sk.log_loss(y, exact, labels=names)) < 1e-5
    result["tv_smoothness"] = float(np.mean(tv))
    result["compactness"] = float(np.mean(compact)) if compact else None
    result["edge_regularity"] = float(np.mean(regular)) if regular else None
    result["small_object_recall"] = 100 * found / total if total else None
    result["per_class"] = [
        {"label": c, "iou": 100 * float(iou[i]), "dice": 100 * float(dice[i]), "accuracy": 100 * float(recall[i]),
         "boundary_f1": 100 * float(np.mean(f1[c])), "pixels": int((truth == c).sum())}
        for i, c in enumerate(present)]
    result["confusion"] = matrix.tolist() if matrix is not None and classes <= 21 else None
    return result


# ---- small cases --------------------------------------------------------------------------------------------

def blobs(rng, height, width, labels, smooth):
    """Smooth regions of the given labels: the largest of one blurred noise field a label."""
    fields = np.stack([ndi.gaussian_filter(rng.standard_normal((height, width)), smooth) for _ in labels])
    return np.array(labels, np.uint8)[fields.argmax(0)]


def void_band(mask, width):
    edge = (ndi.maximum_filter(mask, 3) != ndi.minimum_filter(mask, 3))
    return np.where(ndi.binary_dilation(edge, SQUARE, iterations=width), 255, mask).astype(np.uint8)


def lines(rng, height, width, count, label, thickness):
    mask = np.zeros((height, width), np.uint8)
    y, x = np.mgrid[:height, :width]
    for _ in range(count):
        angle, offset = rng.uniform(0, math.pi), rng.uniform(-0.3, 0.3) * width
        distance = (x - width / 2) * math.cos(angle) + (y - height / 2) * math.sin(angle) - offset
        mask[np.abs(distance) <= thickness / 2] = label
    return mask


def salt(rng, mask, share, labels):
    noisy = rng.random(mask.shape) < share
    return np.where(noisy, rng.choice(labels, mask.shape), mask).astype(np.uint8)


def whole_probabilities(case, index, pred, classes):
    """Whole weights over their sum, rounded once to 32 bits: the same in any language. The predicted label wins."""
    weights = Rng(1000 + case, index).below(1000, classes * pred.size).reshape(classes, *pred.shape) + 1
    for c in range(classes):
        weights[c] += np.where(pred == c, 1200, 0)
    return (weights / weights.sum(0)).astype(np.float32)


def small_cases():
    rng = np.random.default_rng(20240)
    cases = []

    def case(name, classes, pairs, probabilities=False, **options):
        images = []
        for i, (truth, pred) in enumerate(pairs):
            p = whole_probabilities(len(cases), i, pred, classes) if probabilities else None
            images.append((truth, pred, None, p))
        rows = [{"width": t.shape[1], "height": t.shape[0], "truth": t.tobytes().hex(), "prediction": p.tobytes().hex()}
                for t, p in pairs]
        cases.append({"name": name, "classes": classes, "options": options, "probabilities": probabilities,
                      "images": rows, "expected": evaluate(images, classes, **options)})

    pairs = []
    for i in range(6):
        truth = blobs(rng, 40, 48, [0, 0, 1, 2, 3, 4][: 3 + i % 4], 4)
        pred = np.roll(np.where(truth == 255, 0, truth), (i % 3, -i % 4), (0, 1)).astype(np.uint8)
        pairs.append((void_band(truth, i % 3) if i else truth, pred))
    case("blobs with void bands", 5, pairs, probabilities=True)
    case("the same, tolerance 1 and 10 bins", 5, pairs, probabilities=True, tolerance=1.0, bins=10)
    case("the same, tolerance 1.5% of the diagonal", 5, pairs, diagonal=0.015)
    case("the same, tolerance 20", 5, pairs, tolerance=20.0)
    case("the same, label 0 ignored", 5, [(np.where(t == 255, 0, t).astype(np.uint8), p) for t, p in pairs], ignore=0)

    pairs = []
    for i in range(5):
        truth = lines(rng, 37, 45, 3, 1, 1 + i % 3) | lines(rng, 37, 45, 2, 2, 2 - i % 2)
        truth[truth == 3] = 2
        pairs.append((truth, np.roll(truth, 1 + i % 2, 1)))
    pairs.append((truth, salt(rng, truth, 0.1, [0, 1, 2])))
    case("thin lines to the frame", 3, pairs, probabilities=True, small=40)

    truth = blobs(rng, 32, 32, [0, 1], 3)
    case("two classes, empty and full predictions", 2,
         [(truth, np.zeros_like(truth)), (truth, np.ones_like(truth)), (truth, 1 - truth), (truth, truth)])
    case("pixels without a class", 2, [(truth, np.where(rng.random(truth.shape) < 0.2, 255, truth).astype(np.uint8)),
                                       (truth, np.full_like(truth, 255))], probabilities=True)

    pairs = []
    for i in range(4):
        truth = blobs(rng, 50, 41, [0, 3 + i, 7, 15, 20], 5)
        pred = np.where(truth == 7, 8, truth).astype(np.uint8)
        pairs.append((void_band(truth, 1), salt(rng, pred, 0.02 * i, list(range(21)))))
    case("21 classes, some absent, some only predicted", 21, pairs, probabilities=True)

    pairs = [(t, salt(rng, t, 0.5, list(range(81)))) for t in (blobs(rng, 30, 30, [0, 5, 80], 2) for _ in range(2))]
    case("81 classes, heavy noise", 81, pairs)

    board = (np.indices((20, 20)).sum(0) % 2).astype(np.uint8)
    isolated = np.zeros((20, 20), np.uint8)
    isolated[::2, ::2] = 1
    stairs = np.tri(20, dtype=np.uint8)
    ring = np.zeros((20, 20), np.uint8)
    ring[3:17, 3:17] = 1
    ring[6:14, 6:14] = 0
    ring[9:11, 9:11] = 1
    case("checkerboard, isolated pixels, stairs, ring", 2, [(stairs, board), (ring, isolated), (board, stairs), (stairs, ring),
                                                           (ring, np.ones((20, 20), np.uint8))])

    shapes = [(1, 1), (1, 9), (9, 1), (2, 2), (3, 130), (130, 3)]
    pairs = [(rng.integers(0, 3, s).astype(np.uint8), rng.integers(0, 3, s).astype(np.uint8)) for s in shapes]
    case("images of one row, one column, one pixel", 3, pairs, probabilities=True)

    void = np.full((12, 12), 255, np.uint8)
    half = void.copy()
    half[:, 0], half[:, -1] = 2, 1
    pred = blobs(rng, 12, 12, [0, 1, 2], 2)
    case("all void, and void between two columns", 3, [(void, pred), (half, pred)], probabilities=True)
    return cases


# ---- real masks ---------------------------------------------------------------------------------------------

def perturb(truth, index):
    """What the tests and the benchmark do to a VOC mask; void becomes background first."""
    base = np.where(truth == 255, 0, truth).astype(np.uint8)
    height, width = base.shape
    label = int(base.max())
    kind = index % 4
    if kind == 0:  # shift by (3, -2), the frame repeated
        y = np.clip(np.arange(height) + 2, 0, height - 1)
        x = np.clip(np.arange(width) - 3, 0, width - 1)
        return base[y][:, x]
    if kind == 1:  # dilate the largest label by a 5x5 square
        return np.where(ndi.binary_dilation(base == label, np.ones((5, 5))), label, base).astype(np.uint8)
    if kind == 2:  # swap it with the next class
        other = label % 20 + 1
        return np.where(base == label, other, np.where(base == other, label, base)).astype(np.uint8)
    rng = Rng(7, index)  # 3% salt
    chance, labels = rng.below(100, base.size), rng.below(21, base.size)
    return np.where(chance.reshape(base.shape) < 3, labels.reshape(base.shape), base).astype(np.uint8)


def confidence(shape, index):
    return ((503 + Rng(8, index).below(500, shape[0] * shape[1])) / 1009).astype(np.float32).reshape(shape)


def voc_images(folder, names):
    for index, name in enumerate(names):
        with Image.open(next(folder.glob(f"**/SegmentationClass/{name}.png"))) as file:
            truth = np.array(file)
        yield truth, perturb(truth, index), confidence(truth.shape, index), None


def write(path, value):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n")


def main():
    OUT.mkdir(exist_ok=True)
    write(OUT / "cases.json", small_cases())
    if len(sys.argv) > 1:
        folder = pathlib.Path(sys.argv[1])
        names = next(folder.glob("**/val_dev.txt")).read_text().split()[::18][:40]
        write(OUT / "voc.json", {"names": names, "expected": evaluate(list(voc_images(folder, names)), 21)})


if __name__ == "__main__":
    main()
