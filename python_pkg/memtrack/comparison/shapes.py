"""What a layer is, apart from its name: its class, its parameters and what is inside, as one number."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from memtrack.recording import RecordingData

_DIGEST_BYTES = 16
WRAPPERS = (
    "module",
    "_orig_mod",
    "_fsdp_wrapped_module",
    "base_model",
    "base_layer",
    "original_module",
    "_checkpoint_wrapped_module",
)
"""Names under which DataParallel, DDP, `torch.compile`, FSDP, PEFT (three of them) and checkpoint
wrappers keep what they wrap."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The module tree of one recording in plain lists, a place for each row of the layers.

    `own` is the digest of class and number of parameters, `whole` of the subtree with its names,
    `anonymous` of the subtree without names: equal for a block that was only renamed.
    """

    path: list[str]
    name: list[str]
    type: list[str]
    parent: list[int]
    subtree: list[int]
    elements: list[int]
    children: list[list[int]]
    own: list[bytes]
    whole: list[bytes]
    anonymous: list[bytes]

    def __len__(self) -> int:
        return len(self.path)

    @property
    def roots(self) -> list[int]:
        """Return the rows of the roots, in order."""
        return [row for row, parent in enumerate(self.parent) if parent < 0]

    def weight(self, row: int) -> int:
        """Return the elements of the parameters in a subtree."""
        return sum(self.elements[row : row + self.subtree[row]])


def tree_of(data: RecordingData) -> Tree:
    """Return the module tree of a recording with the digests of every subtree."""
    layers = data.layers
    path, name, kind = ([data.string(int(s)) for s in layers[c]] for c in ("path", "name", "type"))
    return tree_from(path, name, kind, layers["parent"].tolist(), layers["parameters"].tolist())


def tree_from(
    path: list[str], name: list[str], kind: list[str], parent: list[int], elements: list[int]
) -> Tree:
    """Return the tree of rows in pre-order: path, name, class, row above (-1: a root), parameters."""
    children: list[list[int]] = [[] for _ in path]
    subtree = [1] * len(path)
    for row in reversed(range(len(path))):
        if parent[row] >= 0:
            subtree[parent[row]] += subtree[row]
    for row, above in enumerate(parent):
        if above >= 0:
            children[above].append(row)
    own = [_digest(kind[row].encode(), str(elements[row]).encode()) for row in range(len(path))]
    whole, anonymous = list(own), list(own)
    for row in reversed(range(len(path))):
        inside = children[row]
        if inside:
            named = (part for one in inside for part in (name[one].encode(), whole[one]))
            whole[row] = _digest(own[row], *named)
            anonymous[row] = _digest(own[row], *(anonymous[one] for one in inside))
    return Tree(path, name, kind, parent, subtree, elements, children, own, whole, anonymous)


def structure_hash(data: RecordingData | Tree) -> str:
    """Return a hash of the whole module tree: names, classes and numbers of parameters.

    It is the same for every run of the same model, whatever is measured. Roots count in order, their
    labels do not, since the user's name of a variable is no part of a model.
    """
    tree = data if isinstance(data, Tree) else tree_of(data)
    return _digest(*(tree.whole[row] for row in tree.roots)).hex()


def _digest(*parts: bytes) -> bytes:
    made = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        made.update(len(part).to_bytes(4, "little"))
        made.update(part)
    return made.digest()
