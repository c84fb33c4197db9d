"""A robot arm follows a person: from motion capture by optimisation, from a camera by learning.

====================  ==================================================================
file                  what is in it
====================  ==================================================================
``arm.py``            :class:`SerialArm`: points and Jacobians of many postures
``shoulder_elbow.py`` :func:`pa10`, and the posture from two directions
``poses.py``          fixed poses and steps along a chain
``model_files.py``    URDF and MJCF written
``read_models.py``    URDF and MJCF read (``mjcf.py``: its chain of joints)
``inverse.py``        inverse kinematics as a regression problem
``dexterity.py``      closeness to limits, singular values, kinetic energy
``movements.py``      correspondence of two movements, mixtures of prototypes
``primitives.py``     segmentation into primitives, concatenation
``mapping.py``        the plane that is drawn on, posture normals
``execution.py``      :func:`follow`: the tip exactly, the posture softly; :func:`track`
``quadratic.py``      its solver that needs quadratic programmes
``retarget.py``       :class:`Retargeter`: whole clips or streams to any serial arm
``goals.py``          what markers ask of the arm
``limb_task.py``      residuals of directions, hand, tip and normal
``branches.py``       where a clip begins: all branches at a few samples
``clip_solver.py``    all samples at once inside the limits
``streaming.py``      one sample at a time
``transfer.py``       :func:`transfer`: all of this for a motion-capture clip
``bvh.py``            motion files in BVH format
``amc.py``            motion files in ASF/AMC format
``clips.py``          right arms over time: shipped, from motion files, generated
``joint_names.py``    dialects of skeletons and marker sets
``motion_input.py``   markers of one arm from any motion file
``trajectory_files.py``  joint angles as NPZ, CSV and ROS messages
``mocap_story.py``    a motion file to an arm, from reading to showing
``actor.py``          a rendered person and camera
``vision.py``         foreground, region, skin, outline
``shape.py``          shape contexts and codebook
``pictures.py``       pictures as vectors
``learning.py``       :class:`Imitator`: pictures to postures from a few labels
``preimage.py``       constrained pre-image and paths through known country
``teaching.py``       everything a camera and an actor need, in one go
``writing.py``        a word in a hand between two hands, from recording to executing
``show.py``           films and pages
====================  ==================================================================

Kinematics, movement models and learning need the core alone; rendering, vision, film and quadratic
programmes need the extra ``imitation``, and say so.
"""

from isthmus.applications.imitation.actor import Film, Scene, pick_skin
from isthmus.applications.imitation.amc import read_amc
from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.bvh import Motion, Skeleton, read_bvh, write_bvh
from isthmus.applications.imitation.clips import (
    ArmClip,
    clip_from_motion,
    clip_from_positions,
    load_clips,
    make_clip,
)
from isthmus.applications.imitation.dexterity import (
    Dexterity,
    dexterity,
    kinetic_energy,
    mass_matrices,
)
from isthmus.applications.imitation.execution import Execution, follow, reachable_targets, track
from isthmus.applications.imitation.inverse import make_inverse_kinematics
from isthmus.applications.imitation.learning import Imitation, Imitator
from isthmus.applications.imitation.mapping import PlaneMap, plane_map, posture_normals
from isthmus.applications.imitation.model_files import to_mjcf, to_urdf
from isthmus.applications.imitation.motion_input import (
    Recording,
    markers_from_mediapipe,
    markers_from_smpl,
    read_markers,
)
from isthmus.applications.imitation.movements import (
    Correspondence,
    MorphableModel,
    correspondence,
    resample,
)
from isthmus.applications.imitation.pictures import Camera, Histograms, SoftMaps, View, watch
from isthmus.applications.imitation.preimage import (
    ConstrainedPosture,
    DensePath,
    constrained_postures,
    dense_path,
)
from isthmus.applications.imitation.primitives import (
    Element,
    Segmentation,
    candidate_boundaries,
    compose,
    concatenate,
    decompose,
    mix_elements,
    segment,
)
from isthmus.applications.imitation.read_models import read_arm, read_mjcf, read_urdf
from isthmus.applications.imitation.retarget import Retargeter
from isthmus.applications.imitation.retargeted import Retargeted
from isthmus.applications.imitation.shape import Codebook, shape_contexts
from isthmus.applications.imitation.shoulder_elbow import ShoulderElbowArm, pa10
from isthmus.applications.imitation.trajectory_files import joint_trajectory, write_trajectory
from isthmus.applications.imitation.transfer import Markers, Transfer, transfer
from isthmus.applications.imitation.vision import NoActorError, SkinModel, foreground, region

__all__ = [
    "ArmClip",
    "Camera",
    "Codebook",
    "ConstrainedPosture",
    "Correspondence",
    "DensePath",
    "Dexterity",
    "Element",
    "Execution",
    "Film",
    "Histograms",
    "Imitation",
    "Imitator",
    "Markers",
    "MorphableModel",
    "Motion",
    "NoActorError",
    "PlaneMap",
    "Recording",
    "Retargeted",
    "Retargeter",
    "Scene",
    "Segmentation",
    "SerialArm",
    "ShoulderElbowArm",
    "Skeleton",
    "SkinModel",
    "SoftMaps",
    "Transfer",
    "View",
    "candidate_boundaries",
    "clip_from_motion",
    "clip_from_positions",
    "compose",
    "concatenate",
    "constrained_postures",
    "correspondence",
    "decompose",
    "dense_path",
    "dexterity",
    "follow",
    "foreground",
    "joint_trajectory",
    "kinetic_energy",
    "load_clips",
    "make_clip",
    "make_inverse_kinematics",
    "markers_from_mediapipe",
    "markers_from_smpl",
    "mass_matrices",
    "mix_elements",
    "pa10",
    "pick_skin",
    "plane_map",
    "posture_normals",
    "reachable_targets",
    "read_amc",
    "read_arm",
    "read_bvh",
    "read_markers",
    "read_mjcf",
    "read_urdf",
    "region",
    "resample",
    "segment",
    "shape_contexts",
    "to_mjcf",
    "to_urdf",
    "track",
    "transfer",
    "watch",
    "write_bvh",
    "write_trajectory",
]
