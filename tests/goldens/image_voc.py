"""Prints tests/goldens/image/voc.txt: what Pillow makes of real VOC files (which are not committed themselves).

python image_voc.py FOLDER_OF_VOC2012 > image/voc.txt
A line: id, width, height, CRC-32 of the mask's labels, sums of red, green and blue.
"""

import os
import sys
import zlib

import numpy as np
from PIL import Image

root = sys.argv[1]
names = open(os.path.join(root, "ImageSets/Segmentation/val_dev.txt")).read().split()
for name in names[::30]:
    mask = np.asarray(Image.open(os.path.join(root, "SegmentationClass", name + ".png")))
    photo = np.asarray(Image.open(os.path.join(root, "JPEGImages", name + ".jpg")).convert("RGB"))
    sums = photo.astype(np.int64).sum((0, 1))
    print(name, photo.shape[1], photo.shape[0], zlib.crc32(mask.tobytes()), *sums)
