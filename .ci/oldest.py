"""Print the oldest versions that pyproject.toml promises, as constraints for pip."""

import re
import tomllib
from pathlib import Path

text = (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text("utf-8")
project = tomllib.loads(text)["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
bounds = [re.match(r"([\w-]+)>=([\d.]+)", line) for group in groups for line in group]
print("\n".join(sorted({"{}=={}".format(*bound.groups()) for bound in bounds if bound})))
