"""The conditions of a device in words: how busy, how hot, what slows it down, what has failed."""

from __future__ import annotations

from memtrack.devices import readings
from memtrack.devices.readings import DeviceReading
from memtrack.i18n import Text, text
from memtrack.reports.words import literal

_FLAGS = {
    readings.THERMAL: text("It is too hot and runs slower for it."),
    readings.POWER_CAP: text("It runs at its power limit."),
    readings.POWER_BRAKE: text("The power supply makes it run slower."),
    readings.SLOWDOWN: text("It runs slower to protect itself: heat or power."),
    readings.ECC_UNCORRECTED: text(
        "Its memory has had errors that could not be corrected: results may be wrong, and what ran on"
        " it has failed. Ask whoever runs this computer."
    ),
    readings.ROWS_PENDING: text(
        "A part of its memory has failed and is replaced at the next restart of the device."
    ),
    readings.ROWS_FAILED: text(
        "A part of its memory has failed and cannot be replaced: the card should be exchanged."
    ),
}


def flag_words(flag: str) -> Text:
    """Return a condition of `readings.FLAGS` as a sentence; one of a later version as it is."""
    return _FLAGS.get(flag) or literal(flag)


def conditions(one: DeviceReading) -> list[Text]:
    """Return how busy, hot and hungry a device is, as far as it tells."""
    found: list[Text] = []
    if one.utilisation is not None:
        found.append(text("busy {percent} %", percent=one.utilisation))
    if one.temperature_c is not None:
        found.append(text("{degrees} °C", degrees=one.temperature_c))
    if one.power_w is not None and one.power_limit_w:
        found.append(
            text("{watts} of {limit} W", watts=round(one.power_w), limit=round(one.power_limit_w))
        )
    elif one.power_w is not None:
        found.append(text("{watts} W", watts=round(one.power_w)))
    return found
