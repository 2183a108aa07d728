"""Tapes of NVML as no computer here has them: any number of devices and processes."""

import json

import pynvml
from nvml_tape import SCHEMA

TOTAL, RESERVED = 150_754_820_096, 644_939_776
NAME = "NVIDIA H200"
GIB = 1 << 30
MEMORY_V2 = pynvml.nvmlMemory_v2


def uuid_of(index):
    return f"GPU-00000000-0000-4000-8000-{index:012d}"


def made_tape(devices=2, processes=((4 * GIB, 2 * GIB), (3 * GIB,)), ticks=8, first_pid=4_000_001):
    """A tape; `processes` are the bytes of each process on each device, numbered from `first_pid`."""
    pid = first_pid
    told = []
    for index in range(devices):
        sizes = processes[index] if index < len(processes) else ()
        told.append([(pid + at, size) for at, size in enumerate(sizes)])
        pid += len(sizes)
    found = [answers_of(told, tick) for tick in range(ticks)]
    changes = [
        {key: told for key, told in now.items() if not at or found[at - 1][key] != told}
        for at, now in enumerate(found)
    ]
    about = {"holders": [{"pid": one} for some in told for one, _ in some], "interval_s": 1.0}
    return {"schema": SCHEMA, "about": about, "ticks": changes}


def answers_of(processes, tick):
    """Every answer at a tick; utilisation, temperature and power go up and down."""
    found = {"nvmlInit()": None, "nvmlDeviceGetCount()": len(processes)}
    for index, some in enumerate(processes):
        handle = f"handle-{index}"
        wave = abs((tick + index) % 8 - 4)
        used = sum(size for _, size in some) + (1 << 20)
        free = TOTAL - RESERVED - used
        found |= {
            f"nvmlDeviceGetHandleByIndex({index})": {"handle": handle},
            f"nvmlDeviceGetUUID({handle})": uuid_of(index),
            f"nvmlDeviceGetName({handle})": NAME,
            f"nvmlDeviceGetMigMode({handle})": [0, 0],
            f"nvmlDeviceGetMemoryInfo({handle}, {MEMORY_V2})": {
                "fields": {"total": TOTAL, "reserved": RESERVED, "free": free, "used": used}
            },
            f"nvmlDeviceGetUtilizationRates({handle})": {
                "fields": {"gpu": 20 * wave, "memory": 10 * wave}
            },
            f"nvmlDeviceGetTemperature({handle}, 0)": 40 + 5 * wave,
            f"nvmlDeviceGetPowerUsage({handle})": 120_000 + 100_000 * wave,
            f"nvmlDeviceGetEnforcedPowerLimit({handle})": 700_000,
            f"nvmlDeviceGetTotalEccErrors({handle}, 1, 0)": 0,
            f"nvmlDeviceGetRemappedRows({handle})": [0, 0, 0, 0],
            f"nvmlDeviceGetCurrentClocksEventReasons({handle})": 1,
            f"nvmlDeviceGetComputeRunningProcesses_v3({handle})": [
                {"fields": {"pid": pid, "usedGpuMemory": size}} for pid, size in some
            ],
            f"nvmlDeviceGetGraphicsRunningProcesses_v3({handle})": [],
        }
    return {key: {"answer": answer} for key, answer in found.items()}


def write_tape(path, **wishes):
    path.write_text(json.dumps(made_tape(**wishes)))
    return path
