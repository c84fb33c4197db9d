from isthmus.persistence.errors import ModelFileError as ModelFileError
from isthmus.persistence.errors import SignatureError as SignatureError
from isthmus.persistence.models import describe as describe
from isthmus.persistence.models import load as load
from isthmus.persistence.models import save as save
from isthmus.persistence.outputs import Output as Output
from isthmus.persistence.outputs import Outputs as Outputs
from isthmus.persistence.outputs import write_atomically as write_atomically
from isthmus.persistence.pages import content_policy as content_policy
from isthmus.persistence.signing import signer as signer

__all__ = [
    "ModelFileError",
    "describe",
    "load",
    "save",
]
