from isthmus.applications.imitation.actor import Film as Film
from isthmus.applications.imitation.actor import Scene as Scene
from isthmus.applications.imitation.actor import pick_skin as pick_skin
from isthmus.applications.imitation.amc import read_amc as read_amc
from isthmus.applications.imitation.arm import SerialArm as SerialArm
from isthmus.applications.imitation.bvh import Motion as Motion
from isthmus.applications.imitation.bvh import Skeleton as Skeleton
from isthmus.applications.imitation.bvh import read_bvh as read_bvh
from isthmus.applications.imitation.bvh import write_bvh as write_bvh
from isthmus.applications.imitation.clip_transfer import Markers as Markers
from isthmus.applications.imitation.clip_transfer import Transfer as Transfer
from isthmus.applications.imitation.clip_transfer import transfer as transfer
from isthmus.applications.imitation.clips import ArmClip as ArmClip
from isthmus.applications.imitation.clips import clip_from_motion as clip_from_motion
from isthmus.applications.imitation.clips import clip_from_positions as clip_from_positions
from isthmus.applications.imitation.clips import load_clips as load_clips
from isthmus.applications.imitation.clips import make_clip as make_clip
from isthmus.applications.imitation.dexterity_measures import Dexterity as Dexterity
from isthmus.applications.imitation.dexterity_measures import dexterity as dexterity
from isthmus.applications.imitation.dexterity_measures import kinetic_energy as kinetic_energy
from isthmus.applications.imitation.dexterity_measures import mass_matrices as mass_matrices
from isthmus.applications.imitation.execution import Execution as Execution
from isthmus.applications.imitation.execution import follow as follow
from isthmus.applications.imitation.execution import reachable_targets as reachable_targets
from isthmus.applications.imitation.execution import track as track
from isthmus.applications.imitation.extras import check_installed as check_installed
from isthmus.applications.imitation.inverse import make_inverse_kinematics as make_inverse_kinematics
from isthmus.applications.imitation.learning import Imitation as Imitation
from isthmus.applications.imitation.learning import Imitator as Imitator
from isthmus.applications.imitation.mapping import PlaneMap as PlaneMap
from isthmus.applications.imitation.mapping import plane_map as plane_map
from isthmus.applications.imitation.mapping import posture_normals as posture_normals
from isthmus.applications.imitation.mocap_stories import copy_mocap as copy_mocap
from isthmus.applications.imitation.mocap_stories import mocap_story as mocap_story
from isthmus.applications.imitation.model_files import to_mjcf as to_mjcf
from isthmus.applications.imitation.model_files import to_urdf as to_urdf
from isthmus.applications.imitation.motion_input import Recording as Recording
from isthmus.applications.imitation.motion_input import markers_from_mediapipe as markers_from_mediapipe
from isthmus.applications.imitation.motion_input import markers_from_smpl as markers_from_smpl
from isthmus.applications.imitation.motion_input import read_markers as read_markers
from isthmus.applications.imitation.movements import Correspondence as Correspondence
from isthmus.applications.imitation.movements import MorphableModel as MorphableModel
from isthmus.applications.imitation.movements import correspondence as correspondence
from isthmus.applications.imitation.movements import resample as resample
from isthmus.applications.imitation.pictures import Camera as Camera
from isthmus.applications.imitation.pictures import Histograms as Histograms
from isthmus.applications.imitation.pictures import SoftMaps as SoftMaps
from isthmus.applications.imitation.pictures import View as View
from isthmus.applications.imitation.pictures import watch as watch
from isthmus.applications.imitation.preimage import ConstrainedPosture as ConstrainedPosture
from isthmus.applications.imitation.preimage import DensePath as DensePath
from isthmus.applications.imitation.preimage import constrained_postures as constrained_postures
from isthmus.applications.imitation.preimage import dense_path as dense_path
from isthmus.applications.imitation.primitives import Element as Element
from isthmus.applications.imitation.primitives import Segmentation as Segmentation
from isthmus.applications.imitation.primitives import candidate_boundaries as candidate_boundaries
from isthmus.applications.imitation.primitives import compose as compose
from isthmus.applications.imitation.primitives import concatenate as concatenate
from isthmus.applications.imitation.primitives import decompose as decompose
from isthmus.applications.imitation.primitives import mix_elements as mix_elements
from isthmus.applications.imitation.primitives import segment as segment
from isthmus.applications.imitation.read_models import read_arm as read_arm
from isthmus.applications.imitation.read_models import read_mjcf as read_mjcf
from isthmus.applications.imitation.read_models import read_urdf as read_urdf
from isthmus.applications.imitation.retarget import Retargeter as Retargeter
from isthmus.applications.imitation.retargeted import Retargeted as Retargeted
from isthmus.applications.imitation.shape import Codebook as Codebook
from isthmus.applications.imitation.shape import shape_contexts as shape_contexts
from isthmus.applications.imitation.shoulder_elbow import ShoulderElbowArm as ShoulderElbowArm
from isthmus.applications.imitation.shoulder_elbow import pa10 as pa10
from isthmus.applications.imitation.show import write_film_to as write_film_to
from isthmus.applications.imitation.show import write_page as write_page
from isthmus.applications.imitation.stories import learned_story as learned_story
from isthmus.applications.imitation.stories import video_story as video_story
from isthmus.applications.imitation.teaching import join_clips as join_clips
from isthmus.applications.imitation.teaching import point_errors as point_errors
from isthmus.applications.imitation.teaching import posture_pool as posture_pool
from isthmus.applications.imitation.trajectory_files import joint_trajectory as joint_trajectory
from isthmus.applications.imitation.trajectory_files import trajectory_bytes as trajectory_bytes
from isthmus.applications.imitation.trajectory_files import write_trajectory as write_trajectory
from isthmus.applications.imitation.vision import NoActorError as NoActorError
from isthmus.applications.imitation.vision import SkinModel as SkinModel
from isthmus.applications.imitation.vision import foreground as foreground
from isthmus.applications.imitation.vision import region as region
from isthmus.applications.imitation.writing import smoothness as smoothness
from isthmus.applications.imitation.writing import write as write
from isthmus.applications.imitation.writing import writing_story as writing_story

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
