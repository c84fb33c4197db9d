"""The page, the film and the command, looked at by programs: a browser where there is one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from isthmus.applications.imitation import Motion, make_clip, pa10, write_bvh
from isthmus.applications.imitation.actor import standing_person
from isthmus.applications.imitation.extras import make_renderer, need
from isthmus.applications.imitation.show import Story, page, page_data, write_film_to, write_page
from isthmus.persistence.outputs import Outputs

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def story():
    arm, clip = pa10(), make_clip(24, random_state=0)
    q = clip.postures(arm)
    return Story(
        title="A <test> & more",
        arm=arm,
        q=q,
        fps=30.0,
        wanted=arm.points(q + 0.05),
        errors={"tip": np.linspace(0, 100, 24)},
        held=np.arange(24) == 5,
        facts={"name": "</script><b>text"},
        compare={"other": q + 0.1},
    )


def run(*arguments, cwd, **changes):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | changes
    return subprocess.run(
        [sys.executable, "-m", "isthmus.cli", "imitate", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def hide(directory, module):
    """A directory that makes the import of a module fail."""
    directory.mkdir()
    (directory / f"{module}.py").write_text("raise ImportError('hidden by the test')\n")
    return os.pathsep.join([str(directory), str(ROOT)])


def test_the_numbers_of_the_page(story):
    data = page_data(story)
    assert data["n"] == 24 and data["held"] == [5]
    assert len(data["points"]) == 24 and len(data["points"][0]) == 4  # base, elbow, wrist, tip
    lengths = np.linalg.norm(np.diff(np.array(data["points"]), axis=1), axis=2)
    np.testing.assert_allclose(lengths, np.tile([0.45, 0.5, 0.08], (24, 1)), atol=3e-4)
    titles = [panel["title"] for panel in data["panels"]]
    assert titles[0] == "joint angles" and "smallest singular value" in titles
    assert set(data["panels"][-1]["curves"]) == {"imitation", "other"}


def test_the_page_is_whole_and_asks_for_nothing(story):
    text = page(story)
    assert "@@" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert "A &lt;test&gt; &amp; more" in text and "</script><b>" not in text
    assert "three.js" in text and "MIT License" in text


def test_the_page_opens_in_a_browser_without_errors(story, tmp_path):
    browser = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if browser is None:
        pytest.skip("no Chromium; on Debian: apt-get install chromium")
    write_page(story, tmp_path / "page.html")
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
            "--enable-logging=stderr",
            "--virtual-time-budget=1500",
            "--window-size=1000,900",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            f"file://{tmp_path / 'page.html'}#frame=7",
        ],
        capture_output=True,
        text=True,
        timeout=180,
    )
    console = [
        line for line in done.stderr.splitlines() if "CONSOLE" in line and "GPU stall" not in line
    ]
    assert not [line for line in console if "rror" in line or "Uncaught" in line], console
    assert "frame 7" in done.stdout  # the script ran to its end
    assert done.stdout.count('class="panel"') == 5


def test_the_film(story, tmp_path, renderer):
    import imageio.v2 as imageio

    with Outputs() as outputs:
        write_film_to(outputs.add(tmp_path / "film.mp4"), story, size=160)
    with imageio.get_reader(str(tmp_path / "film.mp4")) as reader:
        frames = [frame for frame in reader]
    assert len(frames) == 24 and frames[0].shape == (160, 320, 3)
    orange = [((f[..., 0] > 150) & (f[..., 2] < 90)).sum() for f in frames]
    assert min(orange) > 50  # the arm is in every picture
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 50  # and it moves
    text = page(story, film=tmp_path / "film.mp4")
    assert 'src="data:video/mp4;base64,' in text


# -- the command ------------------------------------------------------------------------------


def test_without_the_extra_the_command_says_what_to_install(tmp_path):
    path = hide(tmp_path / "hidden", "mujoco")
    done = run(cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 1
    assert "mujoco is needed" in done.stderr and "pip install 'isthmus[imitation]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_graphics_library_the_debian_package_is_named(tmp_path):
    pytest.importorskip("mujoco")
    pytest.importorskip("cv2")
    pytest.importorskip("imageio_ffmpeg")
    hidden = tmp_path / "hidden"
    (hidden / "OpenGL").mkdir(parents=True)
    (hidden / "OpenGL" / "__init__.py").write_text("raise ImportError('no OSMesa')\n")
    done = run(cwd=tmp_path, PYTHONPATH=os.pathsep.join([str(hidden), str(ROOT)]))
    assert done.returncode == 1
    assert "libosmesa6" in done.stderr and "Traceback" not in done.stderr


def test_a_renderer_that_fails_is_an_import_error(monkeypatch):
    mujoco = pytest.importorskip("mujoco")

    def broken(*arguments):
        raise RuntimeError("no graphics")

    monkeypatch.setattr(mujoco, "Renderer", broken)
    with pytest.raises(ImportError, match=r"no graphics.*apt-get install libosmesa6"):
        make_renderer(None, 16, 16)


def test_a_missing_package_is_named():
    with pytest.raises(
        ImportError, match=r"nowhere is needed .* pip install 'isthmus\[imitation\]'"
    ):
        need("nowhere")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """The command in this process: exit code, standard output, standard error."""
    main = pytest.importorskip("isthmus.cli", reason="the extra cli is not installed").main
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        code = main(["imitate", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_mocap_road(tmp_path, renderer, command):
    skeleton = standing_person()
    values = np.zeros((8, skeleton.n_channels))
    t = np.linspace(0, 1, 8)
    begin = sum(len(c) for c in skeleton.channels[: skeleton.index("RightArm")])
    values[:, begin + 1] = 60 + 15 * t  # forwards
    values[:, begin] = 20 * np.sin(3 * t)
    begin = sum(len(c) for c in skeleton.channels[: skeleton.index("RightForeArm")])
    values[:, begin + 1] = 40 + 20 * t
    write_bvh(Motion(skeleton, values, 1 / 30), tmp_path / "clip.bvh")
    code, out, err = command("--mocap", "clip.bvh", "-o", "out.html")
    assert code == 0, err
    reached, total = map(int, re.search(r"samples reached: (\d+) of (\d+)", out).groups())
    assert reached == total >= 8, out
    assert (tmp_path / "out.mp4").stat().st_size > 1000
    text = (tmp_path / "out.html").read_text()
    assert "stands in for the manufacturer" in text


def test_bad_arguments_are_told_in_one_line(command):
    for arguments, message in (
        (("--mocap", "a.bvh", "--video", "b.mp4"), "cannot be combined"),
        (("-o", "page.txt"), "must end in one of .html"),
        (("-o", "nowhere/page.html"), "there is no directory nowhere"),
    ):
        code, _, err = command(*arguments)
        assert code == 1 and message in err, err
        assert len(err.strip().splitlines()) == 1


def test_video_needs_background_and_skin(command, renderer):
    code, _, err = command("--video", "b.mp4")
    assert code == 1 and "--background room.png and --skin x,y" in err
    code, _, err = command("--video", "b.mp4", "--background", "c.png", "--skin", "1")
    assert code == 1 and "--skin 1 is not a pixel" in err
    code, _, err = command("--clip", "99_99")
    assert code == 1 and "must be one of 79_31" in err


def test_video_road(tmp_path, lesson, monkeypatch):
    """A film of the actor in another room; the lesson is the tests' own, to save time."""
    import imageio.v2 as imageio

    from isthmus.applications.imitation import Film, Scene, stories

    clip = make_clip(200, random_state=4)[::20]
    scene = Scene(wall=(0.55, 0.6, 0.7))
    with Film(scene, random_state=0) as film:
        images, room = film.clip_frames(clip), film.background()
    wide = [np.pad(image, ((0, 0), (40, 40), (0, 0)), mode="edge") for image in images]
    imageio.mimwrite(tmp_path / "clip.mp4", wide, fps=30, quality=9, macro_block_size=16)
    imageio.imwrite(tmp_path / "room.png", np.pad(room, ((0, 0), (40, 40), (0, 0)), mode="edge"))
    monkeypatch.setattr(stories, "teach", lambda *arguments, **options: lesson[0])
    story = stories.video_story(
        tmp_path / "clip.mp4", tmp_path / "room.png", [(120, 35), (121, 32)]
    )
    assert story.q.shape == (10, 7) and story.arm.inside_limits(story.q).all()
    assert not story.held.all()
    with pytest.raises(ValueError, match=r"background has shape .* they must be equal"):
        imageio.imwrite(tmp_path / "small.png", room)
        stories.video_story(tmp_path / "clip.mp4", tmp_path / "small.png", [(1, 1)])
    with pytest.raises(FileNotFoundError, match=r"nothing\.mp4 is not a file"):
        stories.video_story(tmp_path / "nothing.mp4", tmp_path / "room.png", [(1, 1)])


def test_a_film_without_a_person_is_told_before_the_lesson(tmp_path, monkeypatch):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    pytest.importorskip("cv2")
    from isthmus.applications.imitation import stories

    rng = np.random.default_rng(0)
    room = rng.integers(80, 140, (6, 8, 3), dtype=np.uint8).repeat(20, 0).repeat(20, 1)
    frames = [np.clip(room + rng.normal(0, 2, room.shape), 0, 255).astype(np.uint8)] * 5
    imageio.mimwrite(tmp_path / "empty.mp4", frames, fps=30, quality=9, macro_block_size=1)
    imageio.imwrite(tmp_path / "room.png", room)
    monkeypatch.setattr(stories, "teach", None)  # the long part; it would be called with None
    with pytest.raises(ValueError, match="no person is visible"):
        stories.video_story(tmp_path / "empty.mp4", tmp_path / "room.png", [(50, 50)])


def test_the_board_shows_what_is_written(renderer):
    from isthmus.applications.imitation.board import board_pictures
    from isthmus.applications.imitation.writing import write

    word = write("co", order="oc")
    pictures = board_pictures(word, {0.0: 2.0, 0.1: 1.0})
    assert pictures.shape == (len(word.path), 320, 320, 3)
    ink = (pictures.max(axis=3) < 80).sum(axis=(1, 2))
    assert ink[0] < ink[len(ink) // 2] < ink[-1]  # it grows
    assert set(word.cuts) == set(word.recordings) == {"careful", "quick"}
    assert all(len(cuts) == 3 for cuts in word.cuts.values())
