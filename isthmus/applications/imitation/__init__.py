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
``dexterity_measures.py``  closeness to limits, singular values, kinetic energy
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
``clip_transfer.py``  :func:`transfer`: all of this for a motion-capture clip
``bvh.py``            motion files in BVH format
``amc.py``            motion files in ASF/AMC format
``clips.py``          right arms over time: shipped, from motion files, generated
``joint_names.py``    dialects of skeletons and marker sets
``motion_input.py``   markers of one arm from any motion file
``trajectory_files.py``  joint angles as NPZ, CSV and ROS messages
``mocap_stories.py``  a motion file to an arm, from reading to showing
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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "actor": "Film Scene pick_skin",
        "amc": "read_amc",
        "arm": "SerialArm",
        "bvh": "Motion Skeleton read_bvh write_bvh",
        "clip_transfer": "Markers Transfer transfer",
        "clips": "ArmClip clip_from_motion clip_from_positions load_clips make_clip",
        "dexterity_measures": "Dexterity dexterity kinetic_energy mass_matrices",
        "execution": "Execution follow reachable_targets track",
        "inverse": "make_inverse_kinematics",
        "learning": "Imitation Imitator",
        "mapping": "PlaneMap plane_map posture_normals",
        "model_files": "to_mjcf to_urdf",
        "motion_input": "Recording markers_from_mediapipe markers_from_smpl read_markers",
        "movements": "Correspondence MorphableModel correspondence resample",
        "pictures": "Camera Histograms SoftMaps View watch",
        "preimage": "ConstrainedPosture DensePath constrained_postures dense_path",
        "primitives": "Element Segmentation candidate_boundaries compose concatenate "
        "decompose mix_elements segment",
        "read_models": "read_arm read_mjcf read_urdf",
        "retarget": "Retargeter",
        "retargeted": "Retargeted",
        "shape": "Codebook shape_contexts",
        "shoulder_elbow": "ShoulderElbowArm pa10",
        "trajectory_files": "joint_trajectory write_trajectory",
        "vision": "NoActorError SkinModel foreground region",
    },
    neighbours={
        "extras": "check_installed",
        "mocap_stories": "copy_mocap mocap_story",
        "show": "write_film_to write_page",
        "stories": "learned_story video_story",
        "teaching": "join_clips point_errors posture_pool",
        "trajectory_files": "trajectory_bytes",
        "writing": "smoothness write writing_story",
    },
)
