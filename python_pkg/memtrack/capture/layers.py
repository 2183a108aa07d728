"""The module tree of tracked models as rows of the layer table, found again by module."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.nn.parameter import UninitializedParameter

from memtrack.capture.blocks import storage_of
from memtrack.recording.builder import RecordingBuilder


@dataclass(frozen=True, slots=True)
class OwnedTensor:
    """A parameter or buffer: where it belongs and how it is called. Holds no strong reference."""

    tensor: weakref.ref[torch.Tensor]
    layer: int
    name: str
    string: int
    is_parameter: bool


class Layers:
    """Knows each tracked module's row and each root's parameters and buffers."""

    def __init__(self, builder: RecordingBuilder) -> None:
        self._table = builder["layers"]
        self._strings = builder.strings
        self.rows: dict[int, int] = {}
        """The row of each tracked module by its `id`."""
        self._references: list[weakref.ref[torch.nn.Module]] = []
        self.root_rows: set[int] = set()
        self.has_lazy = False
        """Whether a parameter had no shape yet when its model was added."""
        self._owned: dict[int, list[OwnedTensor]] = {}
        self._by_id: dict[int, OwnedTensor] = {}
        self._seen_storages: set[int] = set()

    def add_root(self, model: torch.nn.Module, label: str) -> int:
        """Add `model` and all its modules, pre-order; return the root's row."""
        root = len(self._table)
        aliases = _paths_by_module(model)
        owned: list[OwnedTensor] = []
        self._add(model, label, label, -1, 0, aliases, owned)
        self._owned[root] = owned
        self.root_rows.add(root)
        return root

    def row(self, module: torch.nn.Module) -> int:
        """Return the row of a module, -1 when it is not tracked."""
        return self.rows.get(id(module), -1)

    def owned(self, root: int | None = None) -> Iterator[tuple[torch.Tensor, OwnedTensor]]:
        """Yield the living parameters and buffers of one root or of all."""
        roots = self._owned.values() if root is None else [self._owned[root]]
        for entries in roots:
            for entry in entries:
                tensor = entry.tensor()
                if tensor is not None:
                    yield tensor, entry

    def owner(self, tensor: object) -> OwnedTensor | None:
        """Return the entry of a parameter or buffer of a tracked model, None for any other tensor."""
        entry = self._by_id.get(id(tensor))
        return entry if entry is not None and entry.tensor() is tensor else None

    def parameters_of(self, row: int) -> Iterator[torch.Tensor]:
        """Yield the living parameters that a layer owns itself."""
        module = self._references[row]()
        if module is not None:
            yield from (one for one in module._parameters.values() if one is not None)

    def roots(self) -> tuple[int, ...]:
        """Return the rows of the roots."""
        return tuple(self._owned)

    def has_parameters(self, root: int) -> bool:
        """Tell whether a root has any parameter; losses and metrics have none."""
        return any(entry.is_parameter for entry in self._owned[root])

    def _add(
        self,
        module: torch.nn.Module,
        name: str,
        path: str,
        parent: int,
        depth: int,
        aliases: dict[int, list[str]],
        owned: list[OwnedTensor],
    ) -> int:
        add = self._strings.add
        others = [f"{_root_of(path)}.{other}" for other in aliases[id(module)][1:]]
        row = self._table.add(
            parent=parent,
            depth=depth,
            name=add(name),
            path=add(path),
            type=add(type(module).__name__),
            aliases=add(", ".join(others)) if others else -1,
            subtree=1,
        )
        self._remember(module, row)
        self._own(module, row, path, owned)
        for child_name, child in module._modules.items():
            if child is not None and id(child) not in self.rows:
                self._add(child, child_name, f"{path}.{child_name}", row, depth + 1, aliases, owned)
        self._table.set(row, subtree=len(self._table) - row)
        return row

    def _remember(self, module: torch.nn.Module, row: int) -> None:
        key = id(module)
        self.rows[key] = row
        self._references.append(weakref.ref(module, lambda _: self.rows.pop(key, None)))

    def _own(self, module: torch.nn.Module, row: int, path: str, owned: list[OwnedTensor]) -> None:
        prefix = path.partition(".")[2]
        counts = {"parameters": 0, "parameter_bytes": 0, "trainable": 0, "tied": 0}
        for name, parameter in module._parameters.items():
            if parameter is None:
                continue
            full = f"{prefix}.{name}" if prefix else name
            self._add_owned(parameter, row, full, True, owned)
            if self._is_known(parameter):
                counts["tied"] = 1
            elif _is_uninitialized(parameter):
                self.has_lazy = True
            else:
                counts["parameters"] += parameter.numel()
                counts["parameter_bytes"] += parameter.numel() * parameter.element_size()
                counts["trainable"] += parameter.numel() if parameter.requires_grad else 0
        for name, buffer in module._buffers.items():
            if buffer is not None:
                full = f"{prefix}.{name}" if prefix else name
                self._add_owned(buffer, row, full, False, owned)
        self._table.set(row, **counts)

    def _add_owned(
        self,
        tensor: torch.Tensor,
        row: int,
        name: str,
        is_parameter: bool,
        owned: list[OwnedTensor],
    ) -> None:
        string = self._strings.add(name)
        one = OwnedTensor(weakref.ref(tensor), row, name, string, is_parameter)
        owned.append(one)
        self._by_id.setdefault(id(tensor), one)

    def _is_known(self, parameter: torch.Tensor) -> bool:
        storage = storage_of(parameter)
        key = id(parameter) if storage is None else storage._cdata
        known = key in self._seen_storages
        self._seen_storages.add(key)
        return known


def _paths_by_module(model: torch.nn.Module) -> dict[int, list[str]]:
    """Return every path of each module, by identity: a module need not be hashable."""
    paths: dict[int, list[str]] = {}
    queue: list[tuple[str, torch.nn.Module]] = [("", model)]
    while queue:
        path, module = queue.pop(0)
        known = paths.setdefault(id(module), [])
        known.append(path)
        if len(known) > 1:
            continue
        prefix = f"{path}." if path else ""
        queue += [(prefix + n, child) for n, child in module._modules.items() if child is not None]
    return paths


def _is_uninitialized(parameter: torch.Tensor) -> bool:
    """Tell whether a parameter of a lazy module has no shape yet."""
    return isinstance(parameter, UninitializedParameter)


def _root_of(path: str) -> str:
    return path.partition(".")[0]
