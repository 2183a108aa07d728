"""Advice that changes no result: give back what is kept without need."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

REFERENCES: Sequence[Entry] = (
    Entry(
        "keep_numbers_not_tensors",
        text("Keep the number of the loss, not its tensor"),
        text("nothing; .item() waits for the GPU, so not after every operation"),
        frozenset({"graph_retention"}),
        code=(
            "total += loss.detach()         # stays on the GPU, without its graph\n"
            "losses.append(loss.item())     # or the number, once per step"
        ),
        caveats=(
            text("A list of outputs, hidden states or attention maps keeps their graphs too"),
        ),
        saves="piled_up",
    ),
    Entry(
        "detach_carried_state",
        text("Detach what is carried from step to step"),
        text("gradients no longer flow further back than one step (truncated backpropagation)"),
        frozenset({"graph_retention"}),
        code=("hidden = hidden.detach()\nema = 0.99 * ema + 0.01 * loss.detach()"),
        caveats=(text("retain_graph=True is seldom needed: it keeps the graph after backward"),),
    ),
    Entry(
        "free_old_references",
        text("Drop the traceback and the outputs that IPython keeps"),
        text("%debug no longer works for the last error"),
        frozenset({"exception_traceback_or_stale_reference"}),
        code=(
            "%memtrack free        # shows first what it would release\n"
            "%memtrack who         # who holds the rest, by name"
        ),
        caveats=(
            text(
                "`del x` alone is not enough: Out[n], _ and the frames of the last error hold it "
                "too"
            ),
            text(
                "Leave an except block before retrying: inside it the exception still holds the "
                "frames"
            ),
            text(
                'A checkpoint that was loaded stays as long as its variable: map_location="cpu", then '
                "del"
            ),
        ),
        saves="old_references",
    ),
    Entry(
        "delete_before_next",
        text("Let go of the last output before the next forward"),
        text("nothing"),
        frozenset({"exception_traceback_or_stale_reference", "capacity", "eval_accumulation"}),
        code="del output, loss, batch        # at the end of the loop's body",
        caveats=(
            text(
                "A variable of the loop lives until it is given its next value: two steps' outputs "
                "at once"
            ),
            text("empty_cache() does not help: the allocator emptied its cache before it gave up"),
        ),
        phases=frozenset({"backward", "forward"}),
    ),
    Entry(
        "remove_hooks",
        text("Remove hooks, or let them keep numbers only"),
        text("nothing"),
        frozenset({"hook_leak"}),
        code=(
            "handle = layer.register_forward_hook(hook)\n"
            "...\n"
            "handle.remove()\n"
            "# inside the hook: stats.append(output.detach().float().mean().item())"
        ),
        caveats=(text("Running a cell twice registers the hook twice"),),
        saves="piled_up",
    ),
    Entry(
        "results_to_cpu",
        text("Move results to the CPU, or keep running totals only"),
        text("a copy per batch, and as much of the computer's own memory"),
        frozenset({"eval_accumulation"}),
        code=(
            "with torch.inference_mode():\n"
            "    for batch in loader:\n"
            "        correct += (model(batch).argmax(-1) == batch.labels).sum().item()"
        ),
        caveats=(
            text(
                "With transformers' Trainer: eval_accumulation_steps=16 or "
                "preprocess_logits_for_metrics"
            ),
            text("All logits of a data set may not fit into the computer's memory either"),
        ),
        saves="piled_up",
    ),
    Entry(
        "inference_mode",
        text("Evaluate under torch.inference_mode()"),
        text("nothing"),
        frozenset({"missing_no_grad", "eval_accumulation"}),
        code=("model.eval()\nwith torch.inference_mode():\n    output = model(batch)"),
        caveats=(
            text("model.eval() alone changes dropout and BatchNorm, not what autograd keeps"),
            text(
                "Tensors made in inference mode cannot be used in a later backward; "
                "torch.no_grad() allows it"
            ),
        ),
    ),
    Entry(
        "set_to_none",
        text("Let gradients go between steps: zero_grad(set_to_none=True)"),
        text("nothing"),
        frozenset({"capacity"}),
        code="optimizer.zero_grad(set_to_none=True)    # before the forward",
        caveats=(
            text("The default since PyTorch 2.0; set_to_none=False or zeroing by hand keeps them"),
            text("It does not lower a peak that lies in backward"),
            text("Code that reads param.grad must expect None"),
        ),
        saves="gradients_in_forward",
        phases=frozenset({"forward"}),
    ),
)
