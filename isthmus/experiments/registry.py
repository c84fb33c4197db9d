"""All experiments, by paper."""

from __future__ import annotations

from isthmus.experiments.base import Experiment

REPORT, THESIS, COIR, MORP, MANIFOLDS = "BGFS2004", "B2006", "KP2008", "YYT2005", "CSGHY"
PAPERS = {
    REPORT: "Multivariate regression with Stiefel constraints (2004)",
    THESIS: "Extensions to kernel dependency estimation (thesis, 2006)",
    COIR: "Covariance operator inverse regression (2008)",
    MORP: "Multi-output regularised projection (2005)",
    MANIFOLDS: "Partial least squares on Riemannian manifolds",
}

_ALL = (
    Experiment(
        "stiefel-kinematics", REPORT, "Sec. 6.1, Table 2",
        "Does a map of low rank learn the inverse kinematics of an arm better than PLS?",
        "500 postures to learn from, kernel features of elbow and tip, four joints; one branch of the "
        "inverse, because over the whole range the inverse is not a function.",
        "linear_maps", "run_kinematics",
    ),
    Experiment(
        "stiefel-outliers", REPORT, "Sec. 6.1, Table 3",
        "Does the absolute loss resist one outlier?",
        "The same postures; one training row is moved by 40 radians.",
        "linear_maps", "run_report_outliers",
    ),
    Experiment(
        "stiefel-digits", REPORT, "Sec. 6.2, Table 4",
        "Does a map of rank 110 restore noisy digits better than ridge, cut ridge and PLS?",
        "1000 digits to learn from, 500 kernel principal components, noise of 0.1 on the lower half.",
        "picture_tables", "run_usps",
    ),
    Experiment(
        "stiefel-faces", REPORT, "Sec. 6.3, figures",
        "Can faces be cleaned of noise by a map that is learned online?",
        "50 blocks of 50 faces, rank 50, noise of standard deviation 0.1.",
        "picture_tables", "run_cbcl",
    ),
    Experiment(
        "thesis-descent", THESIS, "figures 2.1 and 2.2",
        "Is descent along geodesics faster than a gradient step followed by truncation?",
        "Random problems of rank 3, both from the printed start, against the closed form.",
        "linear_maps", "run_descent",
    ),
    Experiment(
        "thesis-kappa", THESIS, "figures 2.4 and 2.5",
        "Where does rank-constrained regression beat PLS of the same rank?",
        "The thesis' design with collinearity kappa, every rank, Wilcoxon tests over draws.",
        "linear_maps", "run_kappa",
    ),
    Experiment(
        "thesis-outliers", THESIS, "figure 2.7",
        "Does the posterior mode under Laplacian noise resist growing outliers?",
        "500 rows, a map of rank one, two outliers along the minor axis of the outputs.",
        "linear_maps", "run_thesis_outliers",
    ),
    Experiment(
        "thesis-super-resolution", THESIS, "Sec. 3.4",
        "Which pre-image restores coarse digits best, and at what cost?",
        "4 x 4 pixels to 16 x 16, the same map for all pre-images.",
        "super_resolution", "run_super_resolution",
    ),
    Experiment(
        "thesis-automata", THESIS, "figures 3.9 and 3.10",
        "Can a sequence be built between two sequences that is nearer than any known one?",
        "Two random automata, eleven places between two of their sequences.",
        "structures", "run_automata",
    ),
    Experiment(
        "thesis-graphs", THESIS, "Sec. 3.5",
        "Are graphs found again from their images?",
        "Random connected graphs that are not in the training set.",
        "structures", "run_graphs",
    ),
    Experiment(
        "thesis-linear-machine", THESIS, "figure 4.1",
        "How many points does a linear machine in ten dimensions need?",
        "Linear support vector machines of growing data.",
        "reduced_sets", "run_linear_machine",
    ),
    Experiment(
        "thesis-reduced-sets", THESIS, "tables 4.1 to 4.3, figure 4.2",
        "How do pursuit and penalties compare in time and quality?",
        "Support vector machines of two-class sets, sizes up to a quarter of the points.",
        "reduced_sets", "run_penalties",
    ),
    Experiment(
        "thesis-training-error", THESIS, "figure 4.3",
        "Is pursuit nearer to the machine than the penalties, on the training rows and as a function?",
        "The waveform set; pursuit with the residual, penalties solved anew for each size.",
        "reduced_sets", "run_training_error",
    ),
    Experiment(
        "thesis-coupled-outputs", THESIS, "figure 4.4",
        "Does it pay to reduce several outputs together?",
        "Ten classes of digits, 50 points in all.",
        "reduced_sets", "run_coupled",
    ),
    Experiment(
        "thesis-ridge", THESIS, "figure 4.5",
        "How many of its points does kernel ridge regression need?",
        "Abalone as in the thesis, kin8nm in place of Kin-32nm; outputs of variance one.",
        "reduced_sets", "run_ridge",
    ),
    Experiment(
        "thesis-kernel-pca", THESIS, "figures 4.6 and 4.7",
        "Do five per cent of the points keep kernel PCA?",
        "The thesis' three clouds in the plane, two coordinates compared on a grid, for many sizes.",
        "reduced_sets", "run_kernel_pca",
    ),
    Experiment(
        "thesis-writing", THESIS, "Ch. 5, figure 5.6",
        "Can a recorded word be cut, morphed, reordered and executed by an arm?",
        "Letters drawn by two hands; the word is executed in another order and a hand between.",
        "movements", "run_writing",
    ),
    Experiment(
        "thesis-dexterity", THESIS, "figures 5.9 and 5.10",
        "Is an imitated movement more dexterous than that of a controller?",
        "The written word; closeness to limits, singular values, kinetic energy.",
        "movements", "run_dexterity", ("mujoco",),
    ),
    Experiment(
        "thesis-spectra", THESIS, "figures 6.7 to 6.9",
        "How many components do pictures and postures have, and is reduced rank better than PLS?",
        "Silhouettes and postures; test error of every rank.",
        "movements", "run_spectra",
    ),
    Experiment(
        "thesis-translation", THESIS, "figure 6.11",
        "What happens to the prediction when the picture moves?",
        "Pictures shifted by up to four pixels.",
        "movements", "run_translation",
    ),
    Experiment(
        "thesis-camera", THESIS, "Sec. 6.4",
        "Does an arm copy a person it was taught from fifty pictures?",
        "A rendered person driven by motion capture; clips kept from learning.",
        "camera", "run_camera", ("mujoco", "cv2"),
    ),
    Experiment(
        "coir-curves", COIR, "figure 1",
        "Does COIR separate the output, and does it stand noise outputs?",
        "300 rows to learn from; judged on rows that were not fitted, not on training points.",
        "projection_tables", "run_curves",
    ),
    Experiment(
        "coir-head-pose", COIR, "Sec. 4.2",
        "Do three supervised coordinates of a picture hold the pose of a head?",
        "A statue's head in place of the paper's; R2 of nearest neighbours.",
        "projection_tables", "run_head_pose",
    ),
    Experiment(
        "coir-body-pose", COIR, "Table 1",
        "Do a few supervised coordinates of a silhouette hold a posture?",
        "Another walker; nearest neighbour and Gaussian process on two and five coordinates.",
        "projection_tables", "run_body_pose",
    ),
    Experiment(
        "coir-digits", COIR, "Table 2",
        "Are scratched digits restored better from supervised coordinates than from pixels?",
        "One random scratch per digit, 30 coordinates.",
        "projection_tables", "run_scratches",
    ),
    Experiment(
        "morp-labels", MORP, "figure 2",
        "Do projections that know some labels help to predict these and others?",
        "Other sets than the paper's; settings I and II.",
        "projection_tables", "run_labels",
    ),
    Experiment(
        "morp-preferences", MORP, "Sec. 4",
        "What should stand in the holes where most outputs are missing?",
        "Labels of which 14 % are observed, in place of preferences for paintings.",
        "projection_tables", "run_holes",
    ),
    Experiment(
        "morp-ratings", MORP, "Sec. 4",
        "Can ratings that nobody gave be predicted better than by means?",
        "Jokes in place of paintings; the means of people and items, and a model of the gaps.",
        "ratings", "run_ratings",
    ),
    Experiment(
        "manifold-yale", MANIFOLDS, "Table 1",
        "Do the manifold models classify faces better than SIMPLS?",
        "Six of eleven pictures per person to learn from.",
        "picture_tables", "run_yale",
    ),
    Experiment(
        "manifold-coil20", MANIFOLDS, "figure 2",
        "Do they classify objects better?",
        "Every second view to learn from.",
        "picture_tables", "run_coil20",
    ),
    Experiment(
        "manifold-eth80", MANIFOLDS, "Table 2",
        "Do they classify sets of images better?",
        "80 sets as subspaces, ten folds.",
        "picture_tables", "run_eth80",
    ),
    Experiment(
        "manifold-orl", MANIFOLDS, "figure 3",
        "And other faces?",
        "Five of ten pictures per person, in place of the AR faces.",
        "picture_tables", "run_orl",
    ),
)  # fmt: skip
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
