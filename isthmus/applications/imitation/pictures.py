"""Pictures as vectors: colour and shape histograms, or soft maps of skin and silhouette."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.checks import check_image
from isthmus.applications.imitation.extras import need
from isthmus.applications.imitation.shape import Codebook, shape_contexts
from isthmus.applications.imitation.vision import (
    CROP,
    Mask,
    NoActorError,
    SkinModel,
    contour_points,
    crop,
    foreground,
    hull_points,
    region,
)

Array = NDArray[np.float64]
N_BINS = 10


@dataclass(frozen=True)
class View:
    """What a picture shows: the person and the skin in the region, and the number of skin pixels."""

    person: Mask
    skin: Mask
    n_skin: int


class Camera:
    """A background, a skin model and the light, which turn pictures into views.

    Parameters
    ----------
    background : ndarray of shape (H, W, 3)
        The room without the person.
    skin : SkinModel
        Colours of skin.
    roi : {"tight", "torso"}, default="tight"
        See :func:`region`.
    reference : ndarray of shape (H, W, 3), default=None
        A background under the light in which the skin was picked. The channels of pictures are then
        multiplied so that the two backgrounds have the same mean colour: coloured light is undone.
    follow_light : bool, default=False
        Whether the channels of each picture are first multiplied so that most of its pixels agree with
        the background: light that changed since the background was taken is undone. The person must
        cover less than half of the picture.
    """

    def __init__(
        self,
        background: NDArray,
        skin: SkinModel,
        *,
        roi: str = "tight",
        reference: NDArray | None = None,
        follow_light: bool = False,
    ):
        self.background = check_image(background, "background")
        self.skin, self.roi, self.follow_light = skin, roi, follow_light
        self.gains: Array | None = None
        if reference is not None:
            here = self.background.reshape(-1, 3).mean(axis=0)
            there = check_image(reference, "reference").reshape(-1, 3).mean(axis=0)
            self.gains = there / np.maximum(here, 1.0)

    def view(self, image: NDArray) -> View:
        """Look at a picture; :class:`NoActorError` where it shows nobody."""
        if self.follow_light:
            image = self._like_background(image)
        person = foreground(image, self.background)
        skin = self.skin.mask(self._balanced(image), person)
        box = region(person, self.roi)
        return View(crop(person, box), crop(skin, box), int(skin.sum()))

    def _balanced(self, image: NDArray) -> NDArray:
        return image if self.gains is None else _lit(image, self.gains)

    def _like_background(self, image: NDArray) -> NDArray:
        """The picture in the light of the background; medians do not see the person."""
        image = check_image(image)
        if image.shape != self.background.shape:
            return image  # told by foreground()
        ratio = self.background / np.maximum(image, 1.0)
        return _lit(image, np.median(ratio.reshape(-1, 3), axis=0))


def _lit(image: NDArray, gains: Array) -> NDArray:
    return np.clip(np.round(image * gains), 0, 255).astype(np.uint8)


class PictureFeatures(ABC):
    """Views as vectors. ``uses_skin`` tells whether a view without skin tells nothing."""

    uses_skin: bool = True

    @abstractmethod
    def fit(self, views: list[View]) -> PictureFeatures:
        """Learn scales from views, labelled or not."""

    @abstractmethod
    def vector(self, view: View) -> Array:
        """The vector of one view."""

    def transform(self, views: list[View]) -> Array:
        """The vectors of views, one a row."""
        return np.stack([self.vector(view) for view in views])


class Histograms(PictureFeatures):
    r"""Colour and shape histograms for the kernel :math:`k = k_C + \beta k_S`.

    Colour: skin pixels in ten column and ten row blocks, divided by the mean number of skin pixels
    of the views seen in ``fit`` (not per picture: one without skin stays zero). Shape: the codebook's
    histogram of shape contexts divided by the number of points, times ``beta``. The minimum is
    1-homogeneous, so the histogram intersection of the vectors is the sum of kernels. [B2006]_
    Sec. 6.1 with the scales it lacks.

    Parameters
    ----------
    beta : float, default=0.3
        Weight of the shape.
    n_points : int, default=100
        Points of the outline.
    points : {"contour", "hull"}, default="contour"
        Evenly along the outline, or random ones near the convex hull.
    max_centres : int, default=80
        Size of the codebook.
    random_state : int, default=0
        Of the codebook's sample and of random points.
    """

    def __init__(
        self,
        *,
        beta: float = 0.3,
        n_points: int = 100,
        points: str = "contour",
        max_centres: int = 80,
        random_state: Any = 0,
    ):
        if points not in ("contour", "hull"):
            raise ValueError(f"points == {points!r}, must be 'contour' or 'hull'.")
        self.beta, self.n_points, self.points = beta, n_points, points
        self.max_centres, self.random_state = max_centres, random_state

    def fit(self, views: list[View]) -> Histograms:
        contexts = np.concatenate([self._contexts(view) for view in views])
        self.codebook = Codebook.fit(
            contexts, max_centres=self.max_centres, random_state=self.random_state
        )
        self.mean_skin = max(float(np.mean([view.skin.sum() for view in views])), 1.0)
        return self

    def vector(self, view: View) -> Array:
        colour = skin_histograms(view.skin) / self.mean_skin
        contexts = self._contexts(view)
        shape = self.codebook.histogram(contexts) / len(contexts)
        return np.concatenate([colour, self.beta * shape])

    def _contexts(self, view: View) -> Array:
        if self.points == "contour":
            return shape_contexts(contour_points(view.person, self.n_points))
        rng = np.random.default_rng(self.random_state)
        return shape_contexts(hull_points(view.person, self.n_points, rng))


def skin_histograms(skin: Mask, n_bins: int = N_BINS) -> Array:
    """Skin pixels by column block, then by row block; both halves have the same sum."""
    edges = np.linspace(0, len(skin), n_bins + 1).astype(int)[:-1]
    columns = np.add.reduceat(skin.sum(axis=0, dtype=np.float64), edges)
    rows = np.add.reduceat(skin.sum(axis=1, dtype=np.float64), edges)
    return np.concatenate([columns, rows])


class SoftMaps(PictureFeatures):
    """Blurred little maps of skin and silhouette, for a Gaussian kernel: the stronger road.

    Parameters
    ----------
    size : int, default=16
        Height and width of the maps.
    blur : float, default=1.0
        Standard deviation of the blur, in pixels of the maps.
    skin : bool, default=True
        False leaves the map of skin out: for shirts and rooms in the colour of skin. An arm in front
        of the trunk is then not seen.
    """

    def __init__(self, size: int = 16, blur: float = 1.0, skin: bool = True):
        self.size, self.blur, self.uses_skin = size, blur, skin

    def fit(self, views: list[View]) -> SoftMaps:
        return self

    def vector(self, view: View) -> Array:
        maps = [view.skin, view.person] if self.uses_skin else [view.person]
        return np.concatenate([self._map(mask) for mask in maps])

    def _map(self, mask: Mask) -> Array:
        cv2 = need("cv2")
        small = cv2.resize(
            mask.astype(np.float32), (self.size, self.size), interpolation=cv2.INTER_AREA
        )
        return cv2.GaussianBlur(small, (0, 0), self.blur).ravel().astype(np.float64)


def watch(camera: Camera, images: Iterable[NDArray]) -> tuple[list[View], NDArray[np.bool_]]:
    """Views of pictures and whether each shows somebody; an empty view stands for nobody."""
    views, shown = [], []
    for image in images:
        try:
            views.append(camera.view(image))
            shown.append(True)
        except NoActorError:
            nobody = np.zeros((CROP, CROP), dtype=np.uint8)
            views.append(View(nobody, nobody, 0))
            shown.append(False)
    return views, np.array(shown)
