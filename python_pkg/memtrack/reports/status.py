"""The lines that say what a report is of: the device, the run, how it ended."""

from __future__ import annotations

from memtrack.i18n import Text, text
from memtrack.reports.report import Device, Report
from memtrack.reports.words import literal
from memtrack.units import format_bytes, format_duration


def device_name(device: Device) -> str:
    """Return how a device is called: `NVIDIA H200 (cuda:0)`, `CPU`."""
    place = device.kind if device.kind == "cpu" else f"{device.kind}:{device.index}"
    if not device.name or device.name.lower() == place:
        return device.name or place
    return f"{device.name} ({place})"


def device_line(device: Device) -> Text:
    """Return the device with its size."""
    if device.total < 0:
        return literal(device_name(device))
    return text("{device}, {bytes}", device=device_name(device), bytes=format_bytes(device.total))


def headed_device_line(report: Report, device: Device) -> Text:
    """Return the device with its size at the head of its figures, with how they came about."""
    if report.evidence != "predicted":
        return device_line(device)
    return text("{device}: predicted", device=device_line(device))


def run_line(report: Report) -> Text:
    """Return what was recorded: the label, how many steps, how long one takes."""
    label = report.label
    if report.steps == 0:
        return literal(label)
    if report.step_ns is None:
        template = (
            text("{label}, {steps} step") if report.steps == 1 else text("{label}, {steps} steps")
        )
        return Text(template.template, {"label": label, "steps": report.steps})
    duration = format_duration(report.step_ns)
    return text(
        "{label}, {steps} steps, {duration} a step",
        label=label,
        steps=report.steps,
        duration=duration,
    )


def state_sentences(report: Report) -> list[Text]:
    """Return how the recording stands or ended, and how its figures came about, where that matters."""
    sentences = []
    if report.evidence == "predicted":
        sentences.append(text("These figures are predicted, not measured"))
    if report.state == "recording":
        sentences.append(text("The recording is still going on"))
    if report.state == "interrupted":
        sentences.append(text("The recording was interrupted"))
    if report.state == "failed":
        sentences.append(text("The run ended with an exception"))
    return sentences
