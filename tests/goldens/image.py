"""Makes tests/goldens/image/: sample files of every kind and what Pillow, numpy, scipy and torch make of them.

Samples are .jpg and .png; expected pixels are .ppm (photos) and .pgm (masks), which a test can read without
the code under test; distances are raw little-endian int32, torch's resized pixels raw float32 (H, W, 3).
"""

import io
import os
import struct
import zlib

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont, ImageOps
from scipy import ndimage

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "image")
rng = np.random.default_rng(7)


def path(name):
    return os.path.join(FOLDER, name)


def scene(width, height):
    """A smooth coloured field with two hard-edged shapes and a little noise."""
    y, x = np.mgrid[0:height, 0:width]
    rgb = np.stack([x * 255 / width, y * 255 / height, 127 + 120 * np.sin(x / 5.0) * np.cos(y / 7.0)], -1)
    rgb[height // 4 : height // 2, width // 5 : width // 2] = (230, 40, 20)
    rgb[(x - 0.7 * width) ** 2 + (y - 0.6 * height) ** 2 < (height / 4) ** 2] = (15, 60, 200)
    return np.clip(rgb + rng.normal(0, 6, rgb.shape), 0, 255).astype(np.uint8)


def save_ppm(name, array):
    Image.fromarray(np.ascontiguousarray(array)).save(path(name + (".ppm" if array.ndim == 3 else ".pgm")))


def over_white(rgba):
    rgba = rgba.astype(np.float64)
    alpha = rgba[..., 3:] / 255
    return np.floor(rgba[..., :3] * alpha + 255 * (1 - alpha) + 0.5).astype(np.uint8)


# A writer for the kinds of PNG Pillow does not write (Adam7, 16-bit colour, 1-4 bit grey); Pillow or numpy say
# what they hold. `samples` is [H, W, channels], unscaled.
def pack_row(row, bits):
    if bits == 16:
        return row.astype(">u2").tobytes()
    if bits == 8:
        return row.astype(np.uint8).tobytes()
    flat = row.reshape(-1)
    ones = ((flat[:, None] >> np.arange(bits - 1, -1, -1)) & 1).astype(np.uint8).reshape(-1)
    return np.packbits(ones).tobytes()


def write_png(name, samples, bits, colour_type, palette=None, transparency=None, interlaced=False, extra=b""):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = samples.shape[:2]
    adam7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    body = b""
    for x0, y0, dx, dy in adam7 if interlaced else [(0, 0, 1, 1)]:
        for row in samples[y0::dy, x0::dx]:
            if row.size:
                body += b"\0" + pack_row(row, bits)
    header = struct.pack(">IIBBBBB", width, height, bits, colour_type, 0, 0, int(interlaced))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    if extra:
        data += chunk(b"eXIf", extra)
    if palette is not None:
        data += chunk(b"PLTE", palette.astype(np.uint8).tobytes())
    if transparency is not None:
        data += chunk(b"tRNS", transparency)
    data += chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b"")
    with open(path(name + ".png"), "wb") as file:
        file.write(data)


def exif_bytes(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif.tobytes()


def make_jpegs():
    photo = Image.fromarray(scene(53, 38))
    grey = photo.convert("L")
    inks = np.dstack([255 - np.asarray(photo), 60 + np.asarray(grey) // 4])
    cmyk = Image.fromarray(inks, "CMYK")
    photo.save(path("baseline.jpg"), quality=90)
    photo.save(path("full_colour.jpg"), quality=92, subsampling=0)
    photo.save(path("progressive.jpg"), quality=85, progressive=True)
    photo.save(path("restart.jpg"), quality=80, restart_marker_rows=1)
    grey.save(path("grey.jpg"), quality=90)
    cmyk.save(path("cmyk.jpg"), quality=92)
    for name in ["baseline", "full_colour", "progressive", "restart", "grey", "cmyk"]:
        save_ppm(name, np.asarray(Image.open(path(name + ".jpg")).convert("RGB")))

    # The transform byte of Adobe's marker says YCCK: the same samples then mean other colours.
    data = bytearray(open(path("cmyk.jpg"), "rb").read())
    at = data.index(b"\xff\xee")
    assert data[at + 4 : at + 9] == b"Adobe" and data[at + 15] == 0
    data[at + 15] = 2
    open(path("ycck.jpg"), "wb").write(data)
    save_ppm("ycck", np.asarray(Image.open(path("ycck.jpg")).convert("RGB")))

    # Without Adobe's marker ink is ink: what Pillow, which always takes Adobe's way, shows inverted.
    plain = data[:at] + data[at + 16 :]
    open(path("cmyk_plain.jpg"), "wb").write(plain)
    stored = 255 - np.asarray(Image.open(path("cmyk_plain.jpg"))).astype(np.float64)
    mixed = (255 - stored[..., :3]) * (255 - stored[..., 3:]) / 255
    save_ppm("cmyk_plain", np.floor(mixed + 0.5).astype(np.uint8))

    small = Image.fromarray(scene(19, 11))
    for orientation in range(1, 9):
        name = f"orientation_{orientation}"
        small.save(path(name + ".jpg"), quality=90, subsampling=0, exif=exif_bytes(orientation))
        upright = ImageOps.exif_transpose(Image.open(path(name + ".jpg")))
        save_ppm(name, np.asarray(upright))


def make_pngs():
    photo = scene(29, 21)
    grey = photo[..., 1]
    alpha = np.linspace(0, 255, 29 * 21).reshape(21, 29).astype(np.uint8)
    wide = (photo.astype(np.uint16) << 8) + rng.integers(0, 256, photo.shape, dtype=np.uint16)
    rounded = np.floor(wide / 257 + 0.5).astype(np.uint8)
    three = lambda g: np.repeat(g[..., None], 3, -1)

    Image.fromarray(photo).save(path("rgb8.png"))
    save_ppm("rgb8", photo)
    Image.fromarray(np.dstack([photo, alpha])).save(path("rgba8.png"))
    save_ppm("rgba8", over_white(np.dstack([photo, alpha])))
    Image.fromarray(grey).save(path("grey8.png"))
    save_ppm("grey8", three(grey))
    Image.fromarray(np.dstack([grey, alpha]), "LA").save(path("grey_alpha8.png"))
    save_ppm("grey_alpha8", over_white(np.dstack([three(grey), alpha])))
    write_png("rgb16", wide, 16, 2)
    save_ppm("rgb16", rounded)
    write_png("rgba16", np.dstack([wide, alpha.astype(np.uint16) * 257]), 16, 6)
    save_ppm("rgba16", over_white(np.dstack([rounded, alpha])))
    write_png("grey16", wide[..., :1], 16, 0)
    save_ppm("grey16", three(rounded[..., 0]))
    write_png("grey8_transparent", grey[..., None], 8, 0, transparency=struct.pack(">H", int(grey[3, 4])))
    save_ppm("grey8_transparent", over_white(np.dstack([three(grey), np.where(grey == grey[3, 4], 0, 255)])))
    write_png("rgb8_interlaced", photo, 8, 2, interlaced=True)
    save_ppm("rgb8_interlaced", np.asarray(Image.open(path("rgb8_interlaced.png"))))
    write_png("rgb8_turned", photo, 8, 2, extra=exif_bytes(6)[6:])
    save_ppm("rgb8_turned", np.rot90(photo, -1))

    # As photos and as masks: .ppm is what is seen, .pgm the labels.
    palette = rng.integers(0, 256, (256, 3))
    for bits in (1, 2, 4, 8):
        labels = rng.integers(0, 2**bits, (21, 29))
        for interlaced in (False, True):
            name = f"palette{bits}" + ("_interlaced" if interlaced else "")
            write_png(name, labels[..., None], bits, 3, palette=palette[: 2**bits], interlaced=interlaced)
            opened = Image.open(path(name + ".png"))
            assert opened.mode == "P"
            save_ppm(name, np.asarray(opened).astype(np.uint8))
            save_ppm(name, np.asarray(opened.convert("RGB")))
        if bits < 8:
            write_png(f"grey{bits}", labels[..., None], bits, 0)
            save_ppm(f"grey{bits}", labels.astype(np.uint8))
            save_ppm(f"grey{bits}", three((labels * 255 // (2**bits - 1)).astype(np.uint8)))
    labels = rng.integers(0, 8, (21, 29))
    fade = np.array([0, 50, 100, 150, 200, 250], np.uint8)
    write_png("palette_transparent", labels[..., None], 8, 3, palette=palette[:8], transparency=fade.tobytes())
    save_ppm("palette_transparent", over_white(np.asarray(Image.open(path("palette_transparent.png")).convert("RGBA"))))
    save_ppm("palette_transparent", labels.astype(np.uint8))

    labels = rng.integers(0, 256, (9, 7))
    write_png("grey16_labels", labels[..., None], 16, 0)
    save_ppm("grey16_labels", labels.astype(np.uint8))
    labels[4, 2] = 700
    write_png("grey16_too_large", labels[..., None], 16, 0)


def make_distances():
    masks = {
        "dots": (rng.random((37, 53)) < 0.01),
        "band": np.abs(np.add.outer(np.arange(40), -np.arange(64))) < 2,
        "one": np.zeros((23, 31), bool),
        "line": rng.random((1, 90)) < 0.05,
    }
    masks["one"][20, 3] = True
    for name, mask in masks.items():
        save_ppm(f"distance_{name}", mask.astype(np.uint8) * 200)
        squared = np.rint(ndimage.distance_transform_edt(~mask) ** 2).astype("<i4")
        squared.tofile(path(f"distance_{name}.i32"))

    # Void filled with the nearest label; of equally near ones the smallest: one exact transform a label.
    truth = np.kron(rng.integers(0, 6, (5, 7)), np.ones((9, 8), int)).astype(np.uint8)
    edges = ndimage.grey_dilation(truth, 5) != ndimage.grey_erosion(truth, 5)
    voided = np.where(edges | (rng.random(truth.shape) < 0.1), 255, truth).astype(np.uint8)
    voided[10:30, 20:44] = 255
    best, filled = np.full(truth.shape, np.inf), voided.copy()
    for label in range(6):
        squared = np.rint(ndimage.distance_transform_edt(voided != label) ** 2)
        filled[squared < best] = label
        best = np.minimum(best, squared)
    save_ppm("void", voided)
    save_ppm("void_filled", filled)


def make_resized():
    photo = scene(61, 47)
    labels = rng.integers(0, 21, (47, 61)).astype(np.uint8)
    save_ppm("resize", photo)
    save_ppm("resize", labels)
    for width, height in [(61, 20), (23, 47), (17, 13), (122, 94), (100, 31), (40, 90), (1, 1), (5, 1), (61, 47)]:
        save_ppm(f"resize_{width}x{height}", np.asarray(Image.fromarray(photo).resize((width, height), Image.BILINEAR)))
        save_ppm(f"resize_{width}x{height}", np.asarray(Image.fromarray(labels).resize((width, height), Image.NEAREST)))
    planes = torch.from_numpy(photo).permute(2, 0, 1)[None].double()
    for width, height in [(17, 13), (80, 70)]:
        resized = torch.nn.functional.interpolate(planes, (height, width), mode="bilinear", antialias=True)
        resized[0].permute(1, 2, 0).contiguous().numpy().astype("<f4").tofile(path(f"resize_torch_{width}x{height}.f32"))


def make_letters():
    """Black on white, each in a cell of 32 pixels, by Pillow's own drawing of its default font."""
    canvas = Image.new("L", (32 * 8, 36), 255)
    for i, letter in enumerate("Agj@8?%W"):
        ImageDraw.Draw(canvas).text((32 * i, 0), letter, font=ImageFont.load_default(28), fill=0)
    canvas.save(path("letters.pgm"))


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    make_jpegs()
    make_pngs()
    make_distances()
    make_resized()
    make_letters()
