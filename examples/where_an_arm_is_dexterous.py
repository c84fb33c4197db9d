"""Where is a robot arm dexterous?
===============================

Random postures of a seven-joint arm: where is its tip, and how far is the posture from a singular one?
The figure shows the smallest singular value of the tip's Jacobian over the reach of the arm.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus.applications.imitation import dexterity, pa10

FIGURE = Path("isthmus-where-an-arm-is-dexterous.png")


def main():
    arm = pa10()
    q = arm.random_postures(20_000, 0)
    tips = arm.points(q)[:, -1]
    distance = np.linalg.norm(tips, axis=1)
    smallest = dexterity(arm, q).sigma_min
    edges = np.linspace(distance.min(), distance.max(), 25)
    places = np.digitize(distance, edges[1:-1])
    typical = np.array([np.median(smallest[places == k]) for k in range(24)])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    cells = left.hexbin(np.hypot(tips[:, 0], tips[:, 1]), tips[:, 2], C=smallest, gridsize=40)
    left.set(xlabel="distance from the base axis, m", ylabel="height, m", aspect="equal")
    figure.colorbar(cells, ax=left, label="smallest singular value")
    right.plot((edges[1:] + edges[:-1]) / 2, typical, "o-", ms=3)
    right.set(xlabel="distance of the tip from the shoulder, m", ylabel="median")
    best = edges[typical.argmax()]
    print(f"most dexterous at {best:.2f} m, at full reach {typical[-1] / typical.max():.2f} of it")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see where the arm moves freely.")


if __name__ == "__main__":
    main()
