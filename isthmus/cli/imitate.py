"""``isthmus imitate``: a robot arm follows a person."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus.cli.app import InputError
from isthmus.cli.console import Console, Json, Quiet, Seed, begin

ANGLES = (".csv", ".npz", ".json", ".yaml", ".yml")


def imitate(
    mocap: Annotated[
        str | None,
        typer.Option(
            "--mocap", help="Copy this motion file: BVH, AMC, C3D, or NPZ of SMPL or MediaPipe."
        ),
    ] = None,
    video: Annotated[
        str | None, typer.Option("--video", help="Learn to follow the person in this video.")
    ] = None,
    write: Annotated[
        str | None,
        typer.Option(
            "--write", help="Write these letters, such as abc, in a mixture of two recorded hands."
        ),
    ] = None,
    arm: Annotated[
        str | None,
        typer.Option("--arm", help="URDF or MJCF file of the arm (default: the PA-10)."),
    ] = None,
    tip: Annotated[str | None, typer.Option("--tip", help="The arm's last link.")] = None,
    base: Annotated[str | None, typer.Option("--base", help="The arm's first link.")] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            "--fixed", help="Hold a joint of the arm at a value: torso_lift=0.2; can be repeated."
        ),
    ] = None,
    limb: Annotated[
        list[str] | None,
        typer.Option(
            "--limb",
            help="Link of the arm at the shoulder, elbow or wrist: elbow=LINK (default: detect).",
        ),
    ] = None,
    side: Annotated[str, typer.Option("--side", help="The person's arm: right or left.")] = "right",
    joints: Annotated[
        list[str] | None,
        typer.Option("--joints", help="Joint of the motion file: elbow=NAME; can be repeated."),
    ] = None,
    objective: Annotated[
        str,
        typer.Option("--objective", help="directions, tip, normal (the thesis) or weighted."),
    ] = "directions",
    mounting: Annotated[
        str,
        typer.Option(
            "--mounting", help="Direction of the base's axis: side, forward, up, or auto."
        ),
    ] = "auto",
    slowdown: Annotated[
        str,
        typer.Option(
            "--slowdown",
            help="Factor of the duration; auto is the smallest that keeps the arm's limits.",
        ),
    ] = "auto",
    fps: Annotated[
        float | None, typer.Option("--fps", help="Samples per second to keep (default: about 30).")
    ] = None,
    caricature: Annotated[
        float,
        typer.Option(
            "--caricature",
            help="With --write: mix of two hands, 0 to 1; values outside exaggerate.",
        ),
    ] = 0.5,
    order: Annotated[
        str | None,
        typer.Option("--order", help="With --write: the letters in another order, such as soc."),
    ] = None,
    background: Annotated[
        str | None,
        typer.Option("--background", help="Picture of the room without the person."),
    ] = None,
    skin: Annotated[
        list[str] | None,
        typer.Option("--skin", help="x,y of a skin pixel in the first frame; can be repeated."),
    ] = None,
    clip: Annotated[
        str, typer.Option("--clip", help="Shipped movement to hold out of training.")
    ] = "79_43",
    road: Annotated[
        str, typer.Option("--road", help="soft_maps (stronger) or histograms (the thesis).")
    ] = "soft_maps",
    labels: Annotated[
        int, typer.Option("--labels", min=10, help="Number of labelled postures.")
    ] = 50,
    frames: Annotated[
        int | None, typer.Option("--frames", min=2, help="Maximum number of frames.")
    ] = None,
    unit: Annotated[
        float | None,
        typer.Option("--unit", help="Metres per unit of the motion file (default: detect)."),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="HTML page (with a film next to it), or joint angles (.csv .npz .yaml).",
        ),
    ] = "isthmus-imitate.html",
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Let a robot arm follow a person: joint angles, or a film and a page to look at.

    A rendered person with real motion, learned from fifty postures:

        isthmus imitate

    Your own motion capture on your own arm, joint angles that keep its limits:

        isthmus imitate --mocap clip.bvh --arm arm.urdf -o angles.csv

    Your own film, by learning:

        isthmus imitate --video clip.mp4 --background room.png --skin 210,160

    Writing, morphed between two hands:

        isthmus imitate --write abc --caricature 1.5
    """
    console = begin(quiet, as_json)
    given = [name for name, x in (("--mocap", mocap), ("--video", video), ("--write", write)) if x]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} cannot be combined: pass only one of them.")
    if order is not None and write is None:
        raise InputError("--order is for --write: give both.")
    if output == "-":
        raise InputError("--output - : name a file, the page or the angles.")
    only_angles = Path(output).suffix.lower() in ANGLES
    from isthmus.cli.planning import PAGE, plan
    from isthmus.persistence import Outputs

    def make(progress: Any, film: bool) -> Any:
        if mocap is not None:
            from isthmus.applications.imitation import copy_mocap, mocap_story

            copied = copy_mocap(
                mocap,
                arm=arm,
                base=base,
                tip=tip,
                side=side,
                fixed=_numbers(fixed),
                limb=_split_named(limb, "--limb", ("shoulder", "elbow", "wrist")),
                joints=_split_named(joints),
                objective=objective,
                mounting=mounting,
                slowdown=_factor(slowdown),
                unit=unit,
                fps=fps,
                n_frames=frames,
            )
            return mocap_story(copied, film=film, progress=progress)
        if write is not None:
            from isthmus.applications.imitation import writing_story

            return writing_story(
                write, caricature=caricature, order=order, film=film, random_state=seed
            )
        from isthmus.applications.imitation import learned_story, video_story

        common: dict[str, Any] = {
            "n_frames": frames,
            "n_labels": labels,
            "road": road,
            "random_state": seed,
            "progress": progress,
        }
        if video is None:
            return learned_story(clip=clip, **common)
        if background is None or not skin:
            raise InputError("--video needs --background room.png and --skin x,y.")
        return video_story(video, background, [_place(text) for text in skin], **common)

    inputs = [name for name in (mocap, video, background, arm) if name]
    is_filmed = False
    with Outputs(inputs=inputs) as outputs:
        main_file = plan(outputs, output, ANGLES if only_angles else PAGE)
        film = Path(output).with_suffix(".mp4")
        film_file = None if only_angles else plan(outputs, str(film))
        with console.progress() as progress:
            if film_file is None:
                from isthmus.applications.imitation import trajectory_bytes

                story = make(progress, False)
                kind = Path(output).suffix.lower()
                data = trajectory_bytes(kind, story.arm.names, story.q, 1 / story.fps)
                main_file.write(data)
            else:
                from isthmus.applications.imitation import write_film_to, write_page

                # Before minutes of learning, not after.
                is_filmed = _can_film(console, is_optional=bool(mocap or write))
                story = make(progress, is_filmed)

                def tell(done: int) -> None:
                    progress("filming the robot", done, len(story.q))

                if is_filmed:
                    write_film_to(film_file, story, progress=tell)
                write_page(story, main_file, film=film_file.part if is_filmed else None)
    _report(console, story, output, str(film) if is_filmed else None, is_page=not only_angles)


def _can_film(console: Console, is_optional: bool) -> bool:
    """Whether a film can be made; what learns from pictures cannot do without a renderer."""
    from isthmus.applications.imitation import check_installed

    try:
        check_installed()
    except ImportError as error:
        if not is_optional:
            raise
        console.notice(f"the page is written without a film. {error}.")
        return False
    return True


def _split_named(
    texts: list[str] | None, option: str = "--joints", known: tuple[str, ...] = ()
) -> dict[str, str]:
    named = {}
    for text in texts or []:
        key, _, name = text.partition("=")
        if not name:
            example = "torso_lift=0.2" if option == "--fixed" else "elbow=RightForeArm"
            raise InputError(f"{option} {text}: expected NAME=VALUE, such as {example}.")
        if known and key.strip() not in known:
            raise InputError(f"{option} {text}: must name {', '.join(known)}.")
        named[key.strip()] = name.strip()
    return named


def _numbers(texts: list[str] | None) -> dict[str, float]:
    try:
        return {key: float(text) for key, text in _split_named(texts, "--fixed").items()}
    except ValueError:
        raise InputError(f"--fixed {' '.join(texts or [])}: must be NAME=NUMBER.") from None


def _factor(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--slowdown {text}: must be a number or auto.") from None


def _place(text: str) -> tuple[int, int]:
    try:
        x, y = (int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--skin {text} is not a pixel: give two integers as x,y.") from None
    return x, y


def _report(console: Console, story: Any, output: str, film: str | None, is_page: bool) -> None:
    console.say(story.title)
    for name, text in story.facts.items():
        console.say(f"  {name}: {text}")
    if is_page:
        told = f"; {film} is the film" if film else ""
        console.say(f"Open {output} to watch it and rotate the arm{told}.")
    else:
        console.say(
            f"{output} has {len(story.q)} rows of {story.arm.n_joints} joint angles (radians)."
        )
    result = {
        "page" if is_page else "angles_file": output,
        "frames": len(story.q),
        "held": 0 if story.held is None else int(story.held.sum()),
        "facts": story.facts,
        "joint_names": list(story.arm.names),
        "dt": 1 / story.fps,
        "angles": [[round(float(x), 9) for x in row] for row in story.q],
    }
    if story.clock is not None:
        result["person_time"] = [round(float(x), 6) for x in story.clock]
    if film is not None:
        result["film"] = film
    console.result(result)
