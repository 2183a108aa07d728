"""A program changed from outside needs what the program written so needs: both really run on the CPU."""

import gc
import weakref

import pytest
from small_programs import BATCH, program, record, recorded

from memtrack.analysis.totals import allocated

torch = pytest.importorskip("torch")
changes = pytest.importorskip("memtrack.prediction.changes")

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

PAIRS = {
    "checkpointed": (lambda: changes.checkpointed(()), {"checkpoint": True}),
    "accumulated": (lambda: changes.accumulated(2), {"batch": BATCH // 2, "parts": 2}),
    "smaller_batch": (lambda: changes.smaller_batch(2), {"batch": BATCH // 2}),
    "optimizer_class": (
        lambda: changes.optimizer_class(torch.optim.SGD, lr=0.1, momentum=0.9),
        {"optimizer": "sgd"},
    ),
    "weights": (lambda: changes.weights(torch.bfloat16), {"weights": "bfloat16"}),
    "zero_grad": (lambda: changes.zero_grad(set_to_none=False), {"set_to_none": False}),
    "attention": (lambda: changes.attention("eager"), {"attention": "eager"}),
}


def peak(data):
    return int(allocated(data, 0).max())


@pytest.mark.parametrize("name", PAIRS)
def test_changed_from_outside_is_as_if_written_so(name):
    change, how = PAIRS[name]
    changed = record(changes.varied(program(), [change()]))
    assert peak(changed) == pytest.approx(peak(recorded(**how)), abs=64)


def compared_outside(loss, size, parts=1):
    """Return a program whose loss is no part of its model, on batches of `size` taken `parts` times."""

    def build():
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 512), torch.nn.ReLU(), torch.nn.Linear(512, 4)
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        inputs, classes = torch.randn(size, 8), torch.randint(4, (size,))

        def step():
            optimizer.zero_grad()
            for _ in range(parts):
                loss(model(inputs), classes).backward()
            optimizer.step()

        return step

    return build


def by_words(outputs, classes):
    """A loss over words, where outputs and classes are one dimension shorter than they came."""
    outputs = outputs.view(-1, 2, 2).transpose(1, 2)
    return torch.nn.functional.cross_entropy(outputs.reshape(-1, 2), (classes % 2).repeat(2))


@pytest.mark.parametrize(
    "loss",
    [
        torch.nn.CrossEntropyLoss(),
        by_words,
        lambda outputs, classes: torch.nn.functional.mse_loss(outputs[:, 0], classes.float()),
    ],
)
def test_targets_that_losses_outside_of_the_model_compare_are_cut_too(loss):
    found = record(changes.varied(compared_outside(loss, 256), [changes.accumulated(4)]))
    truth = record(compared_outside(loss, 64, parts=4))
    whole = record(compared_outside(loss, 256))
    assert peak(found) < peak(whole) / 2
    # The batch is cut when it is first used: it was there whole until then.
    assert peak(found) == pytest.approx(peak(truth), abs=192 * (8 + 4) * 8)


def test_losses_are_as_they_were_afterwards():
    def broken(outputs, classes):
        assert torch.nn.functional.cross_entropy is not before["cross_entropy"]
        raise RuntimeError("the user's own")

    before = dict(vars(torch.nn.functional))
    with pytest.raises(RuntimeError, match="own"):
        changes.varied(compared_outside(broken, 4), [changes.smaller_batch(2)])()()
    assert dict(vars(torch.nn.functional)) == before


def test_nothing_changed_is_the_program_itself():
    assert peak(record(changes.varied(program(), []))) == peak(recorded())


def test_changes_can_be_put_on_one_another():
    two = [changes.weights(torch.bfloat16), changes.checkpointed(())]
    truth = recorded(weights="bfloat16", checkpoint=True)
    assert peak(record(changes.varied(program(), two))) == pytest.approx(peak(truth), abs=64)


def test_autocast_is_left_for_backward_and_the_optimizer(monkeypatch):
    seen = {}
    backward, mean = torch.autograd.backward, torch.optim.AdamW.step

    def look(name, call):
        def looked(*args, **kwargs):
            seen[name] = torch.is_autocast_enabled("cpu")
            return call(*args, **kwargs)

        return looked

    monkeypatch.setattr(torch.autograd, "backward", look("backward", backward))
    monkeypatch.setattr(
        torch.nn.functional, "layer_norm", look("forward", torch.nn.functional.layer_norm)
    )
    monkeypatch.setattr(torch.optim.AdamW, "step", look("optimizer", mean))
    changes.varied(program(), [changes.autocast(torch.bfloat16, "cpu")])()()
    assert seen == {"forward": True, "backward": False, "optimizer": False}
    assert not torch.is_autocast_enabled("cpu")


def test_a_switch_that_is_off_is_turned_on_around_the_model_alone():
    seen = {}

    class Upcasting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 8)

        def forward(self, x):
            seen["model"] = torch.is_autocast_enabled("cpu")
            with torch.autocast("cpu", enabled=False):
                seen["inside"] = torch.is_autocast_enabled("cpu")
                return self.layer(x.float())

    def build():
        model = Upcasting()

        def step():
            with torch.autocast("cpu", enabled=False):
                loss = model(torch.ones(2, 8)).sum()
                seen["loss"] = torch.is_autocast_enabled("cpu")
            loss.backward()
            with torch.autocast("cpu", torch.bfloat16, False):
                seen["afterwards"] = torch.is_autocast_enabled("cpu")

        return step

    before = torch.autocast.__init__
    changes.varied(build, [changes.autocast(torch.bfloat16, "cpu")])()()
    assert seen == {"model": True, "inside": False, "loss": True, "afterwards": True}
    assert torch.autocast.__init__ is before
    assert not torch.is_autocast_enabled("cpu")


def test_an_evaluation_has_no_gradients():
    data = record(changes.varied(program(), [changes.forward_only]))
    from memtrack.recording import Category

    assert not (data.allocations["category"] == Category.GRADIENT).any()
    assert peak(data) < peak(recorded()) / 2


def test_torch_is_as_it_was_afterwards():
    before = (torch.nn.Module.__init__, torch.optim.Optimizer.__init__, torch.autograd.backward)
    changes.varied(program(), [changes.accumulated(2)])()()

    def broken():
        raise RuntimeError("the user's own")

    with pytest.raises(RuntimeError, match="own"):
        changes.varied(broken, [])()
    after = (torch.nn.Module.__init__, torch.optim.Optimizer.__init__, torch.autograd.backward)
    assert before == after


def test_nothing_made_is_held_afterwards_whoever_kept_the_stand_ins():
    kept = []

    def build():
        kept.append(torch.nn.Module.__init__)
        model = torch.nn.Linear(8, 8)
        alive.append(weakref.ref(model))
        return lambda: model(torch.zeros(1, 8))

    alive = []
    step = changes.varied(build, [])()
    step()
    del step
    gc.collect()
    assert alive[0]() is None
    late = torch.nn.Module()
    kept[0](late)
    late = weakref.ref(late)
    gc.collect()
    assert late() is None


def test_what_is_not_made_by_the_program_is_not_touched():
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())

    def build():
        return lambda: model(torch.zeros(2, 4)).sum().backward()

    with pytest.raises(changes.NotApplicable):
        changes.varied(build, [changes.weights(torch.bfloat16)])()
    assert model.weight.dtype == torch.float32
    assert type(optimizer) is torch.optim.AdamW
    del build
    gc.collect()


def test_plain_modules_are_checkpointed_at_their_paths():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(32, 128), torch.nn.GELU())
            self.out = torch.nn.Linear(128, 32)

        def forward(self, x):
            return x + self.out(self.inner(x))

    def build():
        model = torch.nn.Sequential(*(Block() for _ in range(4)))
        x = torch.randn(256, 32)
        return lambda: model(x).sum().backward()

    plain = record(build)
    paths = [str(number) for number in range(4)]
    fewer = record(changes.varied(build, [changes.checkpointed(paths)]))
    assert peak(fewer) < 0.7 * peak(plain)
