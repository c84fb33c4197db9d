"""From a picture to what it shows: foreground, region, skin, outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.checks import check_image
from isthmus.applications.imitation.extras import need

Array = NDArray[np.float64]
Mask = NDArray[np.uint8]

FOREGROUND_STEP = 30  # grey levels of the largest channel difference
MIN_FOREGROUND = 50  # pixels of a person
SKIN_DISTANCE = 11.345  # 99 % of chi-squared with 3 degrees of freedom
# Pixels of a side of the cropped person.
CROP = 100
ROIS = ("tight", "torso")


class NoActorError(ValueError):
    """The picture shows nobody: it differs from the background in too few pixels."""


def foreground(image: NDArray, background: NDArray) -> Mask:
    """Pixels whose largest channel difference to the background is above 30, opened with 3x3."""
    image = check_image(image)
    background = check_image(background, "background")
    if image.shape != background.shape:
        raise ValueError(
            f"image has shape {image.shape} and background {background.shape}: they must be equal."
        )
    cv2 = need("cv2")
    changed = cv2.absdiff(image, background).max(axis=2) > FOREGROUND_STEP
    mask = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    n = int(mask.sum())
    if n < MIN_FOREGROUND:
        raise NoActorError(
            f"the image differs from the background in {n} pixels, a person has at least "
            f"{MIN_FOREGROUND}."
        )
    return mask


def region(mask: Mask, roi: str = "tight") -> tuple[int, int, int, int]:
    """Box (left, top, right, bottom) around the person; it may stick out of the picture.

    ``"tight"`` is the bounding box. ``"torso"`` is a box of fixed proportions hung at the trunk: its
    size is that of the trunk, whatever the arms do, and does not change when the border of the
    picture cuts the legs.
    """
    if roi not in ROIS:
        raise ValueError(f"roi == {roi!r}, must be one of {', '.join(map(repr, ROIS))}.")
    if roi == "tight":
        rows = np.flatnonzero(mask.any(axis=1))
        columns = np.flatnonzero(mask.any(axis=0))
        return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    centre, shoulders, r = _trunk(mask)
    # Room for a stretched right arm, which is on the left of the picture, up to above the head.
    upper = shoulders - 3.3 * r
    return (
        round(centre - 5.1 * r),
        round(upper),
        round(centre + 2.1 * r),
        round(upper + 7.6 * r),
    )


def _trunk(mask: Mask) -> tuple[float, float, float]:
    """Middle column and upper end of the trunk, and half its breadth.

    Half the breadth is the radius of the largest disc inside the person. Opening with a disc of six
    tenths of it wipes head, arms and legs away at any distance from the camera.
    """
    cv2 = need("cv2")
    whole = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    # The border of the picture is no outline of the person.
    inside = cv2.copyMakeBorder(whole, 0, 1, 0, 0, cv2.BORDER_REPLICATE)
    r = float(cv2.distanceTransform(inside, cv2.DIST_L2, 5).max())
    width = max(3, round(1.2 * r))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, width))
    core = cv2.morphologyEx(whole, cv2.MORPH_OPEN, kernel)
    rows, columns = np.nonzero(core if core.any() else whole)
    return float(np.median(columns)), float(rows.min()), r


def crop(mask: Mask, box: tuple[int, int, int, int], size: int = CROP) -> Mask:
    """Stretch a box of a mask to ``size`` squared; what sticks out is empty."""
    cv2 = need("cv2")
    left, top, right, bottom = box
    height, width = mask.shape
    inside = mask[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    pads = (max(-top, 0), max(bottom - height, 0), max(-left, 0), max(right - width, 0))
    if any(pads):
        inside = cv2.copyMakeBorder(inside, *pads, cv2.BORDER_CONSTANT, value=0)
    return cv2.resize(inside, (size, size), interpolation=cv2.INTER_NEAREST)


@dataclass(frozen=True)
class SkinModel:
    """A Gaussian in RGB; skin is what lies within its 99 % ellipsoid, at any scale of the covariance."""

    mean: Array
    precision: Array

    @classmethod
    def from_pixels(cls, pixels: ArrayLike) -> SkinModel:
        """Fit to hand-picked pixels (n, 3); the covariance is widened by 4 grey levels squared."""
        pixels = np.asarray(pixels, dtype=np.float64)
        if pixels.ndim != 2 or pixels.shape[1] != 3 or len(pixels) < 4:
            raise ValueError(f"pixels has shape {pixels.shape}, must be (n, 3) with n >= 4.")
        cov = np.cov(pixels.T, bias=True) + 4 * np.eye(3)
        return cls(pixels.mean(axis=0), np.asarray(np.linalg.inv(cov), dtype=np.float64))

    @classmethod
    def from_places(
        cls, image: NDArray, places: Sequence[tuple[int, int]], radius: int = 2
    ) -> SkinModel:
        """Fit to the pixels around places (x, y) of a picture."""
        image = check_image(image)
        height, width = image.shape[:2]
        parts = []
        for x, y in places:
            if not (0 <= x < width and 0 <= y < height):
                raise ValueError(
                    f"skin place ({x}, {y}) is outside the {width} x {height} picture."
                )
            rows = slice(max(y - radius, 0), y + radius + 1)
            parts.append(image[rows, max(x - radius, 0) : x + radius + 1].reshape(-1, 3))
        if not parts:
            raise ValueError("no skin place is given; at least one (x, y) is needed.")
        return cls.from_pixels(np.concatenate(parts))

    def mask(self, image: NDArray, person: Mask) -> Mask:
        """Skin pixels of a picture, smoothed 3x3 first, inside the person widened by a pixel."""
        cv2 = need("cv2")
        smooth = cv2.blur(check_image(image), (3, 3))
        rows, columns = np.nonzero(cv2.dilate(person, np.ones((3, 3), np.uint8)))
        away = smooth[rows, columns] - self.mean
        near = np.einsum("ni,ij,nj->n", away, self.precision, away) < SKIN_DISTANCE
        out = np.zeros(person.shape, dtype=np.uint8)
        out[rows[near], columns[near]] = 1
        return out


def contour_points(mask: Mask, n_points: int = 100) -> Array:
    """Points (x, y) evenly along the longest outer contour of a mask."""
    cv2 = need("cv2")
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not contours:
        raise ValueError("the mask is empty: it has no contour.")
    longest = max(contours, key=lambda c: cv2.arcLength(c, True))[:, 0].astype(np.float64)
    closed = np.concatenate([longest, longest[:1]])
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    at = np.linspace(0, along[-1], n_points, endpoint=False)
    return np.stack([np.interp(at, along, closed[:, i]) for i in range(2)], axis=1)


def hull_points(mask: Mask, n_points: int = 25, rng: np.random.Generator | None = None) -> Array:
    """Random edge points within 3 pixels of the convex hull, as in [B2006]_ Sec. 6.1.1."""
    cv2 = need("cv2")
    rng = np.random.default_rng(rng)
    rows, columns = np.nonzero(cv2.Canny(255 * mask, 100, 200))
    points = np.stack([columns, rows], axis=1).astype(np.float32)
    if len(points) < 2:
        raise ValueError(f"{len(points)} edge points, at least 2 are needed.")
    hull = cv2.convexHull(points)
    depth = np.array([cv2.pointPolygonTest(hull, (float(x), float(y)), True) for x, y in points])
    near = points[depth < 3].astype(np.float64)
    chosen = rng.choice(len(near), size=min(n_points, len(near)), replace=False)
    return near[chosen]
