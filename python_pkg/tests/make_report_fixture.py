"""Writes tests/fixtures/report: one small report for the tests of both languages.

    python python_pkg/tests/make_report_fixture.py

`report.json` is {"report": payload, "lengths": [bytes of each buffer]}, `report.bin` its buffers
one after the other, `notebook.json` the same report as a notebook holds it, `recording.memtrack`
what it was built from and `expected.json` what a reader of any of them must find.

The run: two roots, `gpt` with 7 layers (its head tied to its embedding) and a loss; three steps on a
GPU of 24 GiB with a caching allocator whose statistics are read, batches on the CPU, sizes beyond
2^32 bytes, names that must be escaped.
"""

import json
from pathlib import Path

import numpy as np
from allocator_script import AllocatorScript
from synthetic import Category, PhaseKind

from memtrack.analysis import allocated
from memtrack.recording import Notice, save_recording
from memtrack.recording.categories import ReadingKind
from memtrack.reports.build import build_report
from memtrack.reports.payload import encode_report, pack_for_notebook
from memtrack.reports.summarytext import summary_table

FOLDER = Path(__file__).parent / "fixtures" / "report"
MIB = 1 << 20
GPU, CPU = 0, 1
VOCABULARY_BYTES = 400 * MIB
BLOCK_BYTES = 24 * MIB
STEPS = 3


class TinyRun:
    """The script of the fixture's run."""

    def __init__(self):
        self.script = script = AllocatorScript()
        script.device("cuda", 0, "NVIDIA Test 24GB", total=24 << 30, context=300 * MIB)
        script.device("cpu", 0, "Test <CPU>", total=64 << 30)
        self.layers = self._layers()
        self.train = script.stack(
            ("In [7]", "<module>", 3), ("/home/me/train.py", "train_step", 88)
        )
        self.weights = {}
        self.gradients = {}
        self.states = []
        self.workspace = None

    def _layers(self):
        add = self.script.layer
        vocabulary = {"parameters": VOCABULARY_BYTES // 4, "parameter_bytes": VOCABULARY_BYTES}
        block = {"parameters": BLOCK_BYTES // 4, "parameter_bytes": BLOCK_BYTES}
        gpt = add("gpt", type_="TinyGPT")
        embed = add("embed", gpt, "Embedding", **vocabulary, trainable=VOCABULARY_BYTES // 4)
        block0 = add("block", gpt, "Block")
        attention = add("attn", block0, "Attention", **block, trainable=BLOCK_BYTES // 4)
        mlp = add("mlp", block0, "MLP", **block, trainable=0)
        norm = add("norm", gpt, "LayerNorm", aliases="gpt.block.norm")
        head = add("head", gpt, "Linear", tied=1)
        loss = add("loss", -1, "CrossEntropyLoss<br>")
        names = ("gpt", "embed", "block", "attn", "mlp", "norm", "head", "loss")
        return dict(zip(names, (gpt, embed, block0, attention, mlp, norm, head, loss), strict=True))

    def run(self):
        script, layers = self.script, self.layers
        sizes = {"embed": VOCABULARY_BYTES, "attn": BLOCK_BYTES, "mlp": BLOCK_BYTES}
        for name, size in sizes.items():
            values = {"layer": layers[name], "name": f"gpt.{name}.weight"}
            self.weights[name] = script.older(size, Category.PARAMETER, **values)
        script.older(MIB, Category.BUFFER, layer=layers["norm"], name="gpt.norm.scale")
        script.phase(PhaseKind.OTHER, 0)
        script.read(ReadingKind.START)
        self._sample(3 << 30)
        script.sample(CPU, process=2 << 30, used=16 << 30)
        for step in range(STEPS):
            self._step(step)
        script.read(ReadingKind.END)
        return script.build(
            label="tiny <run>",
            source="allocator",
            identifier="00000000-0000-4000-8000-000000000001",
            started="2025-01-02T03:04:05+00:00",
            versions={"torch": "2.9.0", "memtrack": "1.0.0"},
            notices=(Notice("threads"), Notice("from_the_future", {"answer": 42})),
        )

    def _step(self, step):
        script = self.script
        host = script.alloc(8 * MIB, Category.INPUT, device=CPU, stack=self.train, name="<batch>")
        batch = script.alloc(8 * MIB, Category.INPUT, stack=self.train, name="<batch>")
        script.phase(PhaseKind.FORWARD, step)
        activations, calls = self._forward()
        script.read(ReadingKind.PHASE)
        self._sample(10 << 30)
        script.phase(PhaseKind.BACKWARD, step)
        self._backward(activations, calls)
        script.read(ReadingKind.PHASE)
        script.phase(PhaseKind.OPTIMIZER, step)
        self._optimizer()
        script.read(ReadingKind.PHASE)
        script.phase(PhaseKind.OTHER, step)
        label = f"第 {step + 1} 步 <done>"
        script.mark(label)
        script.read(ReadingKind.MARK, label)
        for row in (batch, host):
            script.free(row)
        self._sample(12 << 30)
        script.phase(PhaseKind.OTHER, min(step + 1, STEPS - 1))

    def _sample(self, used):
        """What allocator and driver tell: this process has 308 MiB besides what is reserved."""
        reserved = self.script.cuda.reserved
        self.script.sample(GPU, reserved=reserved, process=reserved + 308 * MIB, used=used)

    def _forward(self):
        made, calls = {}, {}
        script, layers = self.script, self.layers
        with script.call(layers["gpt"], "4×1024×32000", size=2000 * MIB, needs_grad=1) as calls[
            "gpt"
        ]:
            self._layer("embed", made, calls, "4×1024×512", 8 * MIB)
            with script.call(layers["block"], "4×1024×512", size=8 * MIB, needs_grad=1) as row:
                calls["block"] = row
                self._layer("attn", made, calls, "4×1024×512", 64 * MIB, scratch=128 * MIB)
                self._layer("mlp", made, calls, "4×1024×512", 96 * MIB, scratch=32 * MIB)
            self._layer("norm", made, calls, "4×1024×512", 8 * MIB)
            self._layer("head", made, calls, "4×1024×32000", 2000 * MIB, Category.OUTPUT)
        self._layer("loss", made, calls, "", 2000 * MIB)
        return made, calls

    def _layer(self, name, made, calls, shape, size, category=Category.ACTIVATION, scratch=0):
        script, layer = self.script, self.layers[name]
        with script.call(layer, shape, size=size, needs_grad=1) as calls[name]:
            if scratch:
                script.free(
                    script.alloc(scratch, Category.TEMPORARY, layer=layer, stack=self.train)
                )
            values = {"layer": layer, "stack": self.train, "requested": size - 100}
            made[name] = script.alloc(size, category, **values)
            if name == "attn" and self.workspace is None:
                workspace = {"pool": "0.1", "name": "cuBLAS workspace"}
                self.workspace = script.alloc(8 * MIB + 77, Category.WORKSPACE, **workspace)
            script.save(made[name])
            if name in self.weights:
                script.save(self.weights[name])

    def _backward(self, made, calls):
        script, layers = self.script, self.layers
        with script.backward(calls["loss"]):
            flowing = script.alloc(2000 * MIB, Category.TEMPORARY, layer=layers["loss"])
            script.free(made["loss"])
        with script.backward(calls["gpt"]):
            for name in ("head", "norm"):
                flowing = self._layer_backward(name, made, calls, flowing)
            with script.backward(calls["block"]):
                for name in ("mlp", "attn"):
                    flowing = self._layer_backward(name, made, calls, flowing)
            flowing = self._layer_backward("embed", made, calls, flowing)
        script.free(flowing)

    def _layer_backward(self, name, made, calls, flowing):
        script, layer = self.script, self.layers[name]
        with script.backward(calls[name]):
            if name in self.weights and name not in self.gradients:
                size = script.builder["allocations"].get(self.weights[name], "bytes")
                values = {"layer": layer, "name": f"gradient of gpt.{name}.weight"}
                self.gradients[name] = script.alloc(size, Category.GRADIENT, **values)
            passed = script.alloc(8 * MIB, Category.TEMPORARY, layer=layer)
            script.free(flowing)
            script.free(made[name])
        return passed

    def _optimizer(self):
        script = self.script
        for name, gradient in self.gradients.items():
            size = script.builder["allocations"].get(gradient, "bytes")
            if len(self.states) < 2 * len(self.weights):
                for moment in ("exp_avg", "exp_avg_sq"):
                    values = {"layer": self.layers[name], "name": f"{moment} of gpt.{name}.weight"}
                    self.states.append(script.alloc(size, Category.OPTIMIZER_STATE, **values))
        for gradient in self.gradients.values():
            script.free(gradient)
        self.gradients.clear()


def expected_facts(data, report):
    """What a reader of the payload must find, in plain numbers."""
    return {
        "layers": list(report.layers.path),
        "steps": report.steps,
        "step_ns": report.step_ns,
        "phases": len(report.phases.columns["start"]),
        "marks": list(report.marks.label),
        "notices": [str(notice) for notice in report.notices],
        "views": [_expected_view(data, view) for view in report.views],
        "summary": _expected_summary(data),
    }


def _expected_summary(data):
    """The tables of the allocator's statistics as text, which browsers copy letter for letter."""
    asked = {"end": ("end",), "start and end": ("start", "end"), "forward": ("step 1 forward",)}
    return {name: summary_table(data, GPU, *moments) for name, moments in asked.items()}


def _expected_view(data, view):
    columns, points = view.layers.columns, view.timeline.points
    at = view.timeline.peak_point
    numbers = {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}
    return {
        "device": f"{view.device.kind}:{view.device.index}",
        "name": view.device.name,
        "total": view.device.total,
        "headline": str(view.headline),
        "peak": {
            "bytes": view.peak.bytes,
            "cut": view.peak.cut,
            "time_ns": view.peak.time_ns,
            "step": view.peak.step_index,
            "phase": view.peak.phase,
            "layer": view.peak.layer,
        },
        "ledger": {part.id: part.bytes for part in view.ledger.parts},
        "ledger_total": view.ledger.total,
        "points": len(points["cut"]),
        "reserved_at_peak": int(points["reserved"][at]) if "reserved" in points else None,
        "categories_at_peak": {
            name: int(column[at]) for name, column in view.timeline.categories.items()
        },
        "allocations": len(view.timeline.allocations["start"]),
        "column_sums": {name: int(column.sum()) for name, column in numbers.items()},
        "output_shape": list(columns["output_shape"]),
        "outside": dict(view.layers.outside),
        **_expected_answers(view),
    }


def _expected_answers(view):
    details = {part.id: [detail.bytes for detail in part.details] for part in view.ledger.parts}
    return {
        "rounding": view.ledger.rounding,
        "details": {part: sizes for part, sizes in details.items() if sizes},
        "pools": [[pool.reserved, pool.free, pool.largest_free] for pool in view.pools],
        "peaks": view.peaks.phases["bytes"].tolist(),
        "mark_peaks": dict(zip(view.peaks.label, view.peaks.marks["bytes"].tolist(), strict=True)),
        "readings": 0 if view.summary is None else len(view.summary.label),
        "lines": dict(zip(view.lines.site, view.lines.columns["bytes"].tolist(), strict=True)),
    }


def build_fixture():
    """Return the recording, its report and the facts, without writing anything."""
    data = TinyRun().run()
    data.self_check()
    report = build_report(data)
    for device, view in enumerate(report.views):
        assert view.peak.bytes == int(allocated(data, device).max())
    return data, report, expected_facts(data, report)


def main():
    data, report, expected = build_fixture()
    payload, buffers = encode_report(report)
    FOLDER.mkdir(parents=True, exist_ok=True)
    save_recording(data, FOLDER / "recording.memtrack")
    (FOLDER / "report.bin").write_bytes(b"".join(buffers))
    framed = {"report": payload, "lengths": [len(buffer) for buffer in buffers]}
    for name, content in (
        ("report", framed),
        ("notebook", pack_for_notebook(payload, buffers)),
        ("expected", expected),
    ):
        text = json.dumps(content, ensure_ascii=False, indent=1 if name == "expected" else None)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
