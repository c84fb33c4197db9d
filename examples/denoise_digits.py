"""Can noise be taken out of digits by a detour through a feature space?
=====================================================================

Kernel principal components of clean digits know what digits look like. Noisy digits are projected on them
and brought back by four pre-image methods; scikit-learn's own inverse stands beside them. The figure shows
what went in and what came back, with the distance in feature space that each answer leaves.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA

from isthmus import KernelMap
from isthmus.inspection import PreimageDisplay
from isthmus.preimages import Distance, FixedPoint, Learned, Nearest

FIGURE = Path("isthmus-denoise.png")
NOISE, N_AXES, SEED = 0.15, 40, 0


def error(a, b):
    return float(np.sqrt(((a - b) ** 2).mean()))


def main():
    X = load_digits().data / 16
    rng = np.random.default_rng(SEED)
    X = X[rng.permutation(len(X))]
    train, clean = X[:1000], X[1000:1300]
    noisy = clean + NOISE * rng.standard_normal(clean.shape)

    embedding = KernelMap(N_AXES, random_state=SEED)
    scores = embedding.fit_transform(train)
    Z = embedding.transform(noisy)
    methods = {
        "learned": Learned(),
        "fixed point": FixedPoint(),
        "distance": Distance(30),
        "nearest": Nearest(),
    }
    print(f"{'method':<26}{'error':>8}")
    print(f"{'left as it is':<26}{error(noisy, clean):>8.3f}")
    for name, method in methods.items():
        restored = method.fit(train, scores, embedding).inverse(Z)
        print(f"{name:<26}{error(restored, clean):>8.3f}")
    gamma = embedding.kernel_.gamma
    peer = KernelPCA(N_AXES, kernel="rbf", gamma=gamma, fit_inverse_transform=True).fit(train)
    theirs = error(peer.inverse_transform(peer.transform(noisy)), clean)
    print(f"{'scikit-learn, default':<26}{theirs:>8.3f}")
    ours = error(methods["learned"].inverse(Z), clean)
    print(f"learned against scikit-learn: {ours:.3f} {theirs:.3f}")

    display = PreimageDisplay.from_estimator(embedding, train, noisy[:10], methods)
    display.figure_.savefig(FIGURE, dpi=120)
    print(f"\nOpen {FIGURE} to see noisy digits and what every method makes of them.")


if __name__ == "__main__":
    main()
