"""Can an arm write a letter in between two hands, and where does it run out of dexterity?
=======================================================================================

Two ways to draw the same letter are morphed half way, in space and in time; the PA-10 writes the mixture
on a plane in front of it, with its elbow where the person's was. The tip is exact; how near the arm
comes to its limits and to a singular posture is shown beside it, against a plain controller.
"""

import numpy as np

from isthmus.applications.imitation import (
    Markers,
    MorphableModel,
    dexterity,
    pa10,
    plane_map,
    track,
    transfer,
)
from isthmus.applications.imitation.execution import CONTROLLER

FIGURE = "isthmus-robot-letter.png"


def letter(width, slant, hurry):
    """An S in the x-z plane of a person who stands at the origin and faces -y."""
    t = np.linspace(0, 1, 60)
    s = t + hurry * np.sin(2 * np.pi * t) / (2 * np.pi)  # the same way at another pace
    x = -0.30 - width * np.sin(2 * np.pi * s) + slant * s
    return np.stack([x, np.full(60, -0.45), 1.42 - 0.25 * s], axis=1)


def person(finger):
    """Markers of a person whose elbow follows the hand a little."""
    n = len(finger)
    elbow = np.array([-0.40, -0.20, 1.15]) + 0.15 * (finger - finger.mean(axis=0))
    return Markers(np.full((n, 3), [0.18, 0, 1.4]), np.full((n, 3), [-0.18, 0, 1.4]), elbow, finger)


def main():
    careful, quick = letter(0.07, 0.0, 0.3), letter(0.11, 0.12, -0.4)
    model = MorphableModel([careful, quick], durations=[3.0, 1.5])
    half = model.morph([0.5, 0.5])[::3]
    arm = pa10()
    # Base axes of the arm: x right, y down, z forwards.
    mapping = plane_map(
        half, [0.25, -0.1, 0.6], [1, 0, 0], [0, -1, 0], scale=1.2, right=[-1, 0, 0], up=[0, 0, 1]
    )
    moved = transfer(arm, person(half), mapping)
    run, plain = moved.execution, track(arm, moved.targets, moved.start)
    print(f"samples reached: {run.converged.sum()} of {len(run.q)}")
    print(f"largest distance of the tip from its target: {run.tip_error.max():.1e} m")
    ours, theirs = (
        dexterity(arm, e.q, dt=model.duration([0.5, 0.5]) / len(run.q)) for e in (run, plain)
    )
    print(
        f"smallest singular value: {ours.sigma_min.min():.3f}, plain {theirs.sigma_min.min():.3f}"
    )
    draw(careful, quick, half, moved.targets, arm.points(run.q)[:, 6], ours, theirs)


def draw(careful, quick, half, targets, tips, ours, theirs):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("matplotlib is not installed: no figure.")
        return
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), constrained_layout=True)
    for curve, label in ((careful, "careful hand"), (quick, "quick hand"), (half, "half way")):
        axes[0].plot(-curve[:, 0], curve[:, 2], label=label)  # as the person sees it
    axes[0].set(title="what people draw", aspect="equal")
    axes[1].plot(targets[:, 0], -targets[:, 1], lw=5, alpha=0.3, label="target")
    axes[1].plot(tips[:, 0], -tips[:, 1], label="tip of the arm")
    axes[1].set(title="what the arm draws (m)", aspect="equal")
    for measures, label in ((ours, "imitation"), (theirs, CONTROLLER.replace(" (", "\n("))):
        axes[2].plot(measures.sigma_min, label=label)
    axes[2].set(title="smallest singular value (m/rad)", xlabel="sample", ylim=(0, None))
    for ax in axes:
        ax.legend(fontsize=7)
    figure.savefig(FIGURE, dpi=120)
    print(f"Open {FIGURE} to see both hands, the arm's letter and its dexterity.")


if __name__ == "__main__":
    main()
