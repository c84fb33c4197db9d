"""A robot arm follows a person, by optimisation and by learning."""
from isthmus.applications.imitation.arm import SerialArm, pa10
