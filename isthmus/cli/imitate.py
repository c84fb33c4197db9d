"""``isthmus imitate``: a robot arm follows a person."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus.cli.app import InputError
from isthmus.cli.console import Console, Json, Quiet, Seed, begin


def register(app: Any) -> None:
    """Join the command."""
    app.command("imitate")(imitate)


def imitate(
    mocap: Annotated[
        str | None,
        typer.Option(
            "--mocap", help="Follow this BVH or AMC file (its ASF beside it) by optimisation."
        ),
    ] = None,
    video: Annotated[
        str | None, typer.Option("--video", help="Follow the person in this film, by learning.")
    ] = None,
    background: Annotated[
        str | None,
        typer.Option("--background", help="A picture of the film's room without the person."),
    ] = None,
    skin: Annotated[
        list[str] | None,
        typer.Option("--skin", help="x,y of skin in the film's first frame; may be given again."),
    ] = None,
    clip: Annotated[
        str, typer.Option("--clip", help="The shipped movement that is kept from learning.")
    ] = "79_43",
    road: Annotated[
        str, typer.Option("--road", help="soft_maps (stronger) or histograms (the thesis).")
    ] = "soft_maps",
    labels: Annotated[int, typer.Option("--labels", min=10, help="Labelled postures.")] = 50,
    frames: Annotated[
        int | None, typer.Option("--frames", min=2, help="At most so many frames.")
    ] = None,
    unit: Annotated[
        float | None,
        typer.Option("--unit", help="Metres a unit of the motion file; guessed if not given."),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The page; the film lies beside it as .mp4.")
    ] = "isthmus-imitate.html",
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Let a robot arm follow a person, and write a film and a page to look at.

    A rendered person with real motion, learned from fifty postures:

        isthmus imitate

    Your own motion capture, by optimisation:

        isthmus imitate --mocap clip.bvh

    Your own film, by learning:

        isthmus imitate --video clip.mp4 --background room.png --skin 210,160
    """
    console = begin(quiet, as_json)
    page, film = Path(output), Path(output).with_suffix(".mp4")
    if mocap is not None and video is not None:
        raise InputError("--mocap and --video exclude each other: give one of them.")
    if output == "-":
        raise InputError("--output - : a film and a page are two files, name the page.")
    from isthmus.cli.planning import PAGE, plan
    from isthmus.persistence import Outputs

    with Outputs(inputs=[name for name in (mocap, video, background) if name]) as outputs:
        page_file, film_file = plan(outputs, output, PAGE), plan(outputs, str(film))
        from isthmus.applications.imitation.extras import check_installed
        from isthmus.applications.imitation.show import write_film_to, write_page

        check_installed()
        with console.progress() as progress:
            story = _story(
                mocap, video, background, skin, clip, road, labels, frames, unit, seed, progress
            )

            def tell(done: int) -> None:
                progress("filming the robot", done, len(story.q))

            write_film_to(film_file, story, progress=tell)
            write_page(story, page_file, film=film_file.part)
    _report(console, story, page, film)


def _story(
    mocap: str | None,
    video: str | None,
    background: str | None,
    skin: list[str] | None,
    clip: str,
    road: str,
    labels: int,
    frames: int | None,
    unit: float | None,
    seed: int,
    progress: Any,
) -> Any:
    from isthmus.applications.imitation import stories

    if mocap is not None:
        return stories.mocap_story(mocap, n_frames=frames, unit=unit, progress=progress)
    common = {
        "n_frames": frames,
        "n_labels": labels,
        "road": road,
        "random_state": seed,
        "progress": progress,
    }
    if video is None:
        return stories.learned_story(clip=clip, **common)
    if background is None or not skin:
        raise InputError("--video needs --background room.png and --skin x,y.")
    return stories.video_story(video, background, [_place(text) for text in skin], **common)


def _place(text: str) -> tuple[int, int]:
    try:
        x, y = (int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--skin {text} is no place: give two whole numbers as x,y.") from None
    return x, y


def _report(console: Console, story: Any, page: Path, film: Path) -> None:
    console.say(story.title)
    for name, text in story.facts.items():
        console.say(f"  {name}: {text}")
    console.say(f"Open {page} to see it and turn the arm; {film} is the film alone.")
    console.result(
        {
            "page": str(page),
            "film": str(film),
            "frames": len(story.q),
            "held": 0 if story.held is None else int(story.held.sum()),
            "facts": story.facts,
        }
    )
