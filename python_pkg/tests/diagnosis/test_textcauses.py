"""What texts make likely: causes and how sure, contradictions, and what a text cannot tell."""

import pytest

from memtrack.diagnosis.diagnosis import SURE
from memtrack.diagnosis.explain import explain_text
from memtrack.reports.diagnosishtml import diagnosis_html
from memtrack.reports.diagnosispayload import encode_diagnosis
from memtrack.reports.diagnosistext import render_diagnosis
from memtrack.units import GIB, MIB

SENTENCE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {requested}. GPU 0 has a total"
    " capacity of {total} of which {free} is free. {more}Of the allocated memory {allocated} is allocated"
    " by PyTorch, and {idle} is reserved by PyTorch but unallocated. If reserved but unallocated memory is"
    " large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
GUIDE = (
    "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 23.69 GiB total capacity;"
    " 19.82 GiB already allocated; 3.30 GiB free; 18.42 GiB reserved in total by PyTorch)"
)


def message(requested, total, free, allocated, idle, more=""):
    return SENTENCE.format(
        requested=requested, total=total, free=free, allocated=allocated, idle=idle, more=more
    )


def causes(text):
    return {one.id: one.confidence for one in explain_text(text).causes}


def first(text):
    cause = explain_text(text).causes[0]
    return cause.id, cause.confidence


def test_a_limit_of_the_process_is_told_when_it_decided():
    text = message(
        "2.00 GiB", "48.00 GiB", "40.00 GiB", "4.00 GiB", "0 bytes", "5.00 GiB allowed; "
    )
    name, confidence = first(text)
    assert name == "per_process_fraction_limit"
    assert confidence >= SURE
    shown = explain_text(text).causes[0].evidence[0].render()
    assert shown == "This process may have 5.00 GiB; it holds 4.00 GiB and asked for 2.00 GiB more."


def test_another_process_that_holds_most_of_the_device():
    text = message(
        "1.00 GiB", "80.00 GiB", "0.50 GiB", "5.00 GiB", "0 bytes",
        "Including non-PyTorch memory, this process has 5.50 GiB memory in use. Process 9 has"
        " 74.00 GiB memory in use. ",
    )  # fmt: skip
    name, confidence = first(text)
    assert (name, confidence >= SURE) == ("other_process_or_framework", True)


def test_the_only_process_in_a_container_is_this_one():
    text = message(
        "1.00 GiB", "24.00 GiB", "0.20 GiB", "22.80 GiB", "100.00 MiB",
        "Process 9 has 23.50 GiB memory in use. ",
    )  # fmt: skip
    assert "other_process_or_framework" not in causes(text)
    told = explain_text(text)
    assert told.needed.others is None
    # The message's list is kept as it is; who reads the explanation sees no other process.
    assert [one.pid for one in told.other_processes] == [9] and not told.others
    assert "Other processes" not in render_diagnosis(told) + diagnosis_html(told)
    assert encode_diagnosis(told)["other_processes"] == []


def test_others_are_shown_beside_a_process_that_is_said_to_be_this_one():
    text = message(
        "1.00 GiB", "80.00 GiB", "0.50 GiB", "5.00 GiB", "0 bytes",
        "Including non-PyTorch memory, this process has 5.50 GiB memory in use. Process 9 has"
        " 74.00 GiB memory in use. ",
    )  # fmt: skip
    assert [one.pid for one in explain_text(text).others] == [9]
    assert "process 9" in render_diagnosis(explain_text(text))


def test_small_neighbours_are_contexts_of_ranks():
    more = "".join(f"Process {pid} has 420.00 MiB memory in use. " for pid in (1, 2, 3))
    more += "Including non-PyTorch memory, this process has 38.00 GiB memory in use. "
    text = message("512.00 MiB", "40.00 GiB", "300.00 MiB", "37.00 GiB", "100.00 MiB", more)
    assert first(text)[0] == "rank_device_mapping"


@pytest.mark.parametrize("count", [2, 3, 5])
def test_two_small_neighbours_may_be_anything(count):
    more = "".join(f"Process {pid} has 500.00 MiB memory in use. " for pid in range(count))
    text = message("200.00 MiB", "24.00 GiB", "80.00 MiB", "21.00 GiB", "300.00 MiB", more)
    assert (causes(text)["rank_device_mapping"] >= SURE) is (count > 2)


def test_fragmentation_needs_idle_memory_whatever_the_hint_says():
    little = message("8.00 GiB", "16.00 GiB", "3.00 GiB", "12.00 GiB", "200.00 MiB")
    assert causes(little).get("fragmentation", 0) <= 0.1
    much = message("2.00 GiB", "16.00 GiB", "0.50 GiB", "8.00 GiB", "6.00 GiB")
    assert first(much)[0] == "fragmentation"


@pytest.mark.parametrize("allocated", ["15.00 GiB", "14.00 GiB"])
def test_a_full_device_may_be_a_leak_and_stays_a_possibility(allocated):
    found = causes(message("1.00 GiB", "16.00 GiB", "0.10 GiB", allocated, "20.00 MiB"))
    assert max(found, key=found.get) == "capacity"
    assert max(found.values()) < SURE
    assert {"graph_retention", "exception_traceback_or_stale_reference"} <= found.keys()


def test_sizes_that_are_a_mistake():
    absurd = message("65536.00 GiB", "24.00 GiB", "20.00 GiB", "1.00 GiB", "0 bytes")
    assert first(absurd)[0] in ("huge_input_or_boxes", "integer_overflow_or_garbage_size")
    assert "capacity" not in causes(absurd)
    exabyte = "CUDA out of memory. Tried to allocate more than 1EB memory."
    assert first(exabyte)[0] == "integer_overflow_or_garbage_size"
    larger = message("40.00 GiB", "24.00 GiB", "20.00 GiB", "1.00 GiB", "0 bytes")
    assert "capacity" not in causes(larger)
    assert {"huge_input_or_boxes", "logits_or_attention_quadratic"} <= causes(larger).keys()


def test_frames_point_but_prove_nothing():
    frame = (
        'Traceback (most recent call last):\n  File "/me/model.py", line 3, in forward\n    {}\n'
    )
    text = frame.format("weights = torch.softmax(scores, dim=-1)")
    text += message("6.00 GiB", "24.00 GiB", "2.00 GiB", "15.00 GiB", "100.00 MiB")
    diagnosis = explain_text(text)
    found = {one.id: one.confidence for one in diagnosis.causes}
    assert 0.4 <= found["logits_or_attention_quadratic"] < SURE
    assert diagnosis.place.site == "/me/model.py:3"
    pinned = frame.format("return tensor.pin_memory()") + "RuntimeError: CUDA error: out of memory"
    assert explain_text(pinned).kind == "host_pinned"
    assert not explain_text(pinned).device_memory


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("RuntimeError: CUDA error: device-side assert triggered", "not_oom_bad_index_or_int32"),
        ("CUDA error: an illegal memory access was encountered", "not_oom_bad_index_or_int32"),
        ("IndexError: index out of range in self", "not_oom_bad_index_or_int32"),
        (
            "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus",
            "not_oom_hardware_driver_env",
        ),
        ("NVRM: Xid (PCI:0000:01:00): 31, Ch 8, MMU Fault", "not_oom_bad_index_or_int32"),
        (
            "Failed to initialize NVML: Driver/library version mismatch",
            "not_oom_hardware_driver_env",
        ),
        ("RuntimeError: storage has wrong size: expected -12 got 3", "not_oom_hardware_driver_env"),
    ],
)
def test_errors_that_are_no_lack_of_memory(text, cause):
    diagnosis = explain_text(text)
    assert (diagnosis.kind, diagnosis.device_memory) == ("not_oom", False)
    assert diagnosis.causes[0].id == cause
    assert diagnosis.headline.render().startswith("Not out of memory: ")


def test_after_an_assert_the_process_is_given_up():
    diagnosis = explain_text("RuntimeError: CUDA error: device-side assert triggered")
    assert diagnosis.advice[0].id == "restart_process"
    assert "CUDA_LAUNCH_BLOCKING=1" in diagnosis.advice[0].code
    assert diagnosis.checks[0].id == "blocking_launch"


def test_the_guides_own_message_contradicts_itself():
    diagnosis = explain_text(GUIDE)
    assert diagnosis.numbers["reserved"] < diagnosis.numbers["allocated"]
    said = [line.render() for line in diagnosis.contradictions]
    assert said[0].startswith("Allocated (19.8 GiB) is more than reserved (18.4 GiB)")
    assert said[1].startswith(
        "The driver calls 3.30 GiB free, which is at least the request (512 MiB)"
    )
    assert "fragmentation" not in {one.id for one in diagnosis.causes}
    assert diagnosis.needed.cached is None
    assert diagnosis.needed.device_free == round(3.30 * GIB)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (message("1.00 GiB", "4.00 GiB", "0 bytes", "9.00 GiB", "1.00 MiB"), "more than the device has"),
        (message("5.00 GiB", "4.00 GiB", "1.00 GiB", "1.00 GiB", "0 bytes"), "larger than the whole"),
        (message("1.00 GiB", "4.00 GiB", "0 bytes", "2.00 GiB", "1.50 GiB"), "that is in no tensor"),
        (
            message(
                "1.00 GiB", "4.00 GiB", "0 bytes", "3.00 GiB", "0 bytes",
                "Process 3 has 17179869184.00 GiB memory in use. ",
            ),
            "2^64 bytes and no amount of memory",
        ),
        (
            message(
                "1.00 GiB", "8.00 GiB", "2.00 GiB", "3.00 GiB", "0 bytes",
                "Including non-PyTorch memory, this process has 3.60 GiB memory in use."
                " 3.50 GiB allowed; ",
            ),
            "the limit counts only PyTorch's allocator",
        ),
    ],
)  # fmt: skip
def test_contradictions_are_told(text, said):
    assert any(said in line.render() for line in explain_text(text).contradictions)


def test_sentinels_are_no_numbers():
    more = "Process 3 has 17179869184.00 GiB memory in use. "
    diagnosis = explain_text(
        message("1.00 GiB", "4.00 GiB", "0 bytes", "3.00 GiB", "0 bytes", more)
    )
    assert all(number < 1 << 50 for number in diagnosis.numbers.values())
    assert diagnosis.other_processes[0].bytes == -1


def test_later_errors_are_told_as_consequences():
    diagnosis = explain_text(
        f"{GUIDE}\nRuntimeError: CUDA error: an illegal memory access was encountered\n{GUIDE}"
    )
    assert diagnosis.kind == "cuda_oom"
    assert [line.render() for line in diagnosis.later] == [
        "Not out of memory: a kernel read or wrote outside its memory (illegal access)."
    ]


@pytest.mark.parametrize(
    ("source", "headline"),
    [
        ("", "No memory error found, and no other error either."),
        ("all is well\n", "No memory error found, and no other error either."),
        ("Traceback\nKeyError: 'x'\n", "No memory error found; the last error is: KeyError: 'x'"),
    ],
)
def test_no_memory_error_is_said(source, headline):
    diagnosis = explain_text(source)
    assert (diagnosis.kind, diagnosis.headline.render()) == ("none", headline)
    assert (diagnosis.causes, diagnosis.advice) == ((), ())


def test_an_exception_is_read_with_what_it_came_from():
    try:
        try:
            raise RuntimeError(GUIDE.removeprefix("RuntimeError: "))
        except RuntimeError as error:
            raise ValueError("the trainer gave up") from error
    except ValueError as error:
        diagnosis = explain_text(error)
    assert diagnosis.kind == "cuda_oom"
    assert diagnosis.needed.requested == 512 * MIB
    assert diagnosis.place.site.startswith(__file__)


@pytest.mark.parametrize(
    ("path", "source", "words"),
    [
        ("/x/torch/optim/adam.py", "exp_avg = torch.zeros_like(p)", "the optimizer"),
        ("/me/train.py", "loss.backward()", "in backward"),
        ("/me/chat.py", "out = model.generate(**inputs)", "generating"),
        ("/me/eval.py", "scores = iou(boxes, anchors)", "boxes or anchors"),
    ],
)
def test_where_it_failed_is_evidence(path, source, words):
    text = f'Traceback (most recent call last):\n  File "{path}", line 3, in f\n    {source}\n'
    text += message("1.00 GiB", "16.00 GiB", "0.10 GiB", "15.00 GiB", "20.00 MiB")
    lines = [line.render() for one in explain_text(text).causes for line in one.evidence]
    assert any(words in line for line in lines)


def test_no_grad_is_not_backward_and_loading_not_saving():
    frames = "Traceback (most recent call last):\n"
    frames += (
        '  File "/x/torch/autograd/grad_mode.py", line 15, in decorate_context\n    return f()\n'
    )
    frames += '  File "/me/train.py", line 9, in main\n    model.load_state_dict(state)\n'
    text = frames + message("1.00 GiB", "16.00 GiB", "0.10 GiB", "15.00 GiB", "20.00 MiB")
    diagnosis = explain_text(text)
    assert diagnosis.place.phase == ""
    assert "fsdp_or_state_dict_save" not in {one.id for one in diagnosis.causes}


def test_the_same_figures_twice_speak_for_something_kept():
    once = message("1.00 GiB", "16.00 GiB", "0.10 GiB", "15.00 GiB", "20.00 MiB")
    kept = "exception_traceback_or_stale_reference"
    assert causes(f"{once}\nagain:\n{once}")[kept] > causes(once)[kept]


def test_what_nvml_says_gives_way_to_the_error():
    text = "Failed to initialize NVML: Driver/library version mismatch\n" + GUIDE
    assert explain_text(text).kind == "cuda_oom"
    assert explain_text(text.encode()) == explain_text(text)


def test_a_title_gives_way_to_the_message_in_full():
    title = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU"
    full = message("1.00 GiB", "16.00 GiB", "0.10 GiB", "15.00 GiB", "20.00 MiB")
    for text in (f"# {title}\n\n{full}", f"{full}\n{title}"):
        diagnosis = explain_text(text)
        assert diagnosis.numbers["total"] == 16 * GIB
        assert diagnosis.later == []


def test_the_messages_own_gpu_is_no_word_of_ranks():
    """GPU 0 in PyTorch's own sentence says nothing about processes that share a device."""
    own = explain_text(
        "CUDA out of memory. Tried to allocate 100.00 MiB. GPU 0 has a total capacity of 31.37 GiB of"
        " which 15.88 MiB is free. Including non-PyTorch memory, this process has 31.34 GiB memory in"
        " use. Of the allocated memory 30.74 GiB is allocated by PyTorch"
    )
    assert "rank_device_mapping" not in {cause.id for cause in own.causes}
    told = explain_text("every process also shows up on GPU 0\nCUDA out of memory.")
    assert "rank_device_mapping" in {cause.id for cause in told.causes}


@pytest.mark.parametrize(
    ("requested", "first"),
    [
        (64 << 20, "host_ram_exhausted"),
        (2 << 40, "host_ram_exhausted"),
        (4 * 10**15, "integer_overflow_or_garbage_size"),
    ],
)
def test_what_no_computer_has_is_a_wrong_size_and_not_a_full_memory(requested, first):
    told = explain_text(
        "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate"
        f" memory: you tried to allocate {requested} bytes. Error code 12 (Cannot allocate memory)"
    )
    assert told.causes[0].id == first


def refused_by_the_driver(text):
    said = [line.render() for line in explain_text(text).contradictions]
    return any(line.startswith("The driver calls") for line in said)


def test_a_refusal_that_a_limit_explains_is_no_contradiction():
    figures = ("2.00 GiB", "139.80 GiB", "136.00 GiB", "3.00 GiB", "0 bytes")
    assert refused_by_the_driver(message(*figures))
    assert not refused_by_the_driver(message(*figures, "4.00 GiB allowed; "))
    assert refused_by_the_driver(message(*figures, "60.00 GiB allowed; "))
    assert refused_by_the_driver(message(*figures, "139.80 GiB allowed; "))


def test_the_computers_own_memory_has_no_results_on_a_gpu():
    text = (
        "RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't"
        " allocate memory: you tried to allocate 68719476736 bytes. Error code 12"
    )
    for told in (text, f"{text}\nI have set eval_accumulation_steps=2"):
        assert explain_text(told).kind == "cpu_oom"
        assert "eval_accumulation" not in causes(told)
        assert "results_to_cpu" not in {one.id for one in explain_text(told).advice}


@pytest.mark.parametrize("size", [2, 20])
def test_a_request_of_a_usual_segment_is_told_as_one(size):
    needed = explain_text(
        message(f"{size}.00 MiB", "24.00 GiB", "1.00 MiB", "23.00 GiB", "9.00 MiB")
    ).needed
    assert (needed.requested, needed.segment) == (None, size * MIB)


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: CUDA error: out of memory",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
    ],
)
def test_a_line_of_evidence_stands_under_its_likeliest_cause_alone(text):
    found = explain_text(text).causes
    lines = [line.render() for cause in found for line in cause.evidence]
    assert lines and len(lines) == len(set(lines))
    assert found[0].evidence


def test_a_peak_of_little_on_a_device_full_of_others_is_unlikely():
    in_backward = '  File "torch/autograd/graph.py", line 825, in _engine_run_backward\n'
    for allocated, most in (("0 bytes", 0.0), ("0.60 GiB", 0.041), ("2.90 GiB", 0.193)):
        told = message("1.00 GiB", "15.10 GiB", "0.10 GiB", allocated, "0 bytes")
        assert causes(in_backward + told).get("capacity", 0.0) <= most
    own = "Including non-PyTorch memory, this process has 14.90 GiB memory in use. "
    told = message("1.00 GiB", "15.10 GiB", "0.10 GiB", "0.60 GiB", "0 bytes", own)
    assert causes(in_backward + told)["capacity"] == 0.4


@pytest.mark.parametrize("margin", [0, 1, 20, 31])
def test_a_device_with_hardly_more_than_the_request_is_full(margin):
    text = message("20.00 MiB", "8.00 GiB", f"{20 + margin}.00 MiB", "2.80 GiB", "300.00 MiB")
    assert first(text)[0] == "other_process_or_framework"
    assert not any("refused" in one.render() for one in explain_text(text).contradictions)
    clearly = message("20.00 MiB", "8.00 GiB", f"{60 + margin}.00 MiB", "2.80 GiB", "300.00 MiB")
    assert first(clearly)[0] == "unknown"


@pytest.mark.parametrize("beside", [1.0, 4.5, 7.0])
def test_a_process_beside_which_we_had_no_room_is_this_one(beside):
    text = message(
        "448.00 MiB", "95.00 GiB", "100.00 MiB", f"{94.5 - beside:.2f} GiB", "300.00 MiB",
        "Process 5 has 94.80 GiB memory in use. ",
    )  # fmt: skip
    assert explain_text(text).needed.others is None
    assert causes(text).get("other_process_or_framework", 0) < SURE


@pytest.mark.parametrize("requested", ["124.00 GiB", "4096.00 GiB", "512.00 GiB"])
@pytest.mark.parametrize(
    "frame",
    [
        'File "/me/attention.py", line 9, in get_full_mask\n    mask = torch.logical_or(a, b)\n',
        'File "/me/net.py", line 2, in forward\n    F.scaled_dot_product_attention(q, k, v)\n',
    ],
)
def test_more_than_the_device_in_attention_is_a_matrix_of_the_sequence(requested, frame):
    text = frame + message(requested, "79.00 GiB", "54.00 GiB", "17.00 GiB", "0 bytes")
    assert first(text)[0] == "logits_or_attention_quadratic"
    assert causes(text).get("other_process_or_framework", 0) <= 0.25


@pytest.mark.parametrize("words", ["", "no_grad"])
def test_evaluation_that_turns_gradients_off_does_not_lack_it(words):
    frames = '  File "train.py", line 4, in validate\n    output = model(batch)\n'
    if words:
        frames = (
            '  File "/t/torch/utils/_contextlib.py", line 1, in decorate_context\n    return f()\n'
            + frames
        )
    found = causes(
        f"Traceback (most recent call last):\n{frames}RuntimeError: CUDA error: out of memory"
    )
    assert ("missing_no_grad" in found) is (words == "")


@pytest.mark.parametrize(
    ("text", "device_memory", "advice"),
    [
        ("OSError: [Errno 122] Disk quota exceeded", False, ["room_on_disk"]),
        ("RuntimeError: [enforce fail] . PytorchStreamWriter failed writing file data/9: file write failed",
         False, ["room_on_disk"]),
        ("RuntimeError: CUDA error: invalid configuration argument", False, ["smaller_grid"]),
        ("RuntimeError: synStatus=20 [Device already acquired] Device acquire failed.", False,
         ["gaudi_is_held"]),
        ("cudaMalloc failed: out of memory", True, ["give_back_cache", "other_library_less"]),
        ("RuntimeError: CUDA error: operation not permitted when stream is capturing", False,
         ["graph_without_waits"]),
        ("OSError: Memory mapping file failed: Cannot allocate memory", False, ["fewer_mappings"]),
        (("ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit"
         " the quantized model."), True, ["plan_with_room"]),
        ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", True,
         ["serving_share"]),
        ("ValueError: No available memory for the cache blocks.", True, ["serving_share"]),
        (("ValueError: Free memory on device (10.0/24.0 GiB) on startup is less than desired GPU memory utilization"
         " (0.9, 21.5 GiB)."), True, ["serving_budget"]),
    ],
)  # fmt: skip
def test_remedies_are_for_what_failed(text, device_memory, advice):
    diagnosis = explain_text(text)
    assert diagnosis.device_memory is device_memory
    assert [one.id for one in diagnosis.advice][: len(advice)] == advice
    wrong = {"zero_grad", "nvidia-smi", "autocast", "backward"}
    assert not any(word in one.code for one in diagnosis.advice[:1] for word in wrong)


def test_a_share_that_is_not_free_is_told_with_its_figures():
    text = (
        "ValueError: Free memory on device (10.0/24.0 GiB) on startup is less than desired GPU memory"
        " utilization (0.9, 21.5 GiB)."
    )
    said = explain_text(text).headline.render()
    assert said == "The serving engine wants 21.5 GiB of the GPU, of which 10.0 GiB is free."


@pytest.mark.parametrize(
    ("frame", "cause"),
    [
        ('File "/x/vllm/worker/cache_engine.py", line 103, in _allocate_kv_cache', "serving_memory_budget"),
        ('File "/x/sglang/model_runner.py", line 9, in init_memory_pool', "serving_memory_budget"),
        ('File "/x/torch/serialization.py", line 99, in _cuda_deserialize', "rank_device_mapping"),
        ('File "/x/torch/serialization.py", line 9, in default_restore_location', "rank_device_mapping"),
    ],
)  # fmt: skip
def test_where_engines_and_files_take_memory(frame, cause):
    found = causes(
        f"Traceback (most recent call last):\n  {frame}\n    x = f()\nRuntimeError: CUDA out of memory."
    )
    assert max(found, key=found.get) == cause
    assert found[cause] < SURE


def test_a_training_that_is_resumed_may_hold_its_checkpoint():
    found = causes("I resume the training from a checkpoint and get CUDA out of memory.")
    assert max(found, key=found.get) == "exception_traceback_or_stale_reference"
    assert "exception_traceback_or_stale_reference" not in causes(
        "resume_from_checkpoint=None,\nCUDA out of memory."
    )


def test_attempts_that_all_failed_begin_afresh():
    diagnosis = explain_text("RuntimeError: No executable batch size found, reached zero.")
    assert "fresh_attempts" in [one.id for one in diagnosis.advice]
    assert diagnosis.causes[0].confidence < SURE


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
        "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`",
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
    ],
)
def test_a_status_of_many_reasons_is_called_neither_memory_nor_not(text):
    diagnosis = explain_text(text)
    assert "does not say of what" in diagnosis.headline.render()
    assert diagnosis.causes[0].confidence < SURE


def test_the_words_that_count_are_quoted():
    text = "After 2 epochs: CUDA out of memory. I see a steady increase of what the GPU holds."
    found = {one.id: one for one in explain_text(text).causes}
    assert [line.render() for line in found["graph_retention"].evidence] == [
        "The text speaks of it: “steady increase”."
    ]
    assert "graph_retention" not in causes("gradient_accumulation_steps=8\nCUDA out of memory.")


@pytest.mark.parametrize("size", ["40.0 GiB", "926. GiB", "58.0 GiB"])
def test_an_array_larger_than_most_computers_is_looked_at(size):
    text = (
        f"MemoryError: Unable to allocate {size} for an array with shape (9, 9) and data type int8"
    )
    assert {"host_ram_exhausted", "huge_input_or_boxes"} <= causes(text).keys()


def test_a_device_of_which_the_free_part_is_not_told():
    text = (
        "RuntimeError: XPU out of memory. Tried to allocate 1.00 GiB (GPU 0; 15.56 GiB total capacity;"
        " 990.00 MiB already allocated; 990.00 MiB reserved in total by PyTorch)"
    )
    found = causes(text)
    assert {"other_process_or_framework", "platform_allocation_limit"} <= found.keys()
    assert max(found.values()) < SURE


def test_a_nearly_empty_process_on_a_full_device_needs_no_request_to_be_seen():
    text = (
        "(GPU 0; 15.75 GiB total capacity; 79.00 MiB already allocated; {free} free; 86.00 MiB reserved in total"
        " by PyTorch)"
    )
    assert first(text.format(free="3.60 MiB"))[0] == "other_process_or_framework"
    assert "other_process_or_framework" not in causes(text.format(free="9.00 GiB"))


def test_a_tpu_gets_no_advice_of_nvidia():
    text = "Ran out of memory in memory space hbm. Used 24.00G of 15.50G hbm."
    diagnosis = explain_text(text)
    assert diagnosis.headline.render() == "Out of memory on TPU: 24.0 GiB asked for."
    codes = [*(one.code for one in diagnosis.advice), *(one.code for one in diagnosis.checks)]
    assert codes
    assert not any(word in code for code in codes for word in ("torch.cuda", "nvidia-smi", "CUDA_"))


@pytest.mark.parametrize(
    "source",
    [
        "preds_host = logits if preds_host is None else nested_concat(preds_host, logits)",
        "preds = logits if preds is None else torch.cat((preds, logits), dim=0)",
        "logits = self.accelerator.pad_across_processes(logits, dim=1, pad_index=-100)",
    ],
)
def test_outputs_that_are_gathered_in_evaluation(source):
    text = (
        "Traceback (most recent call last):\n"
        '  File "/x/trainer.py", line 1244, in evaluation_loop\n'
        f"    {source}\n"
        "RuntimeError: CUDA out of memory."
    )
    found = causes(text)
    assert max(found, key=found.get) == "eval_accumulation"
    assert "missing_no_grad" not in found
