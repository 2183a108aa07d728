"""A program is run again with a remedy for as many steps as tell all, and once for each set of remedies."""

import pytest

torch = pytest.importorskip("torch")

import memtrack  # noqa: E402
from memtrack.prediction import changes, variants  # noqa: E402
from memtrack.prediction.variants import enough_steps, peaks_of  # noqa: E402

GPU = "RTX 4090"


def training(keeps=False, first=0):
    """Return a program; one that `keeps` its losses grows, one with `first` needs most in its first step."""

    def build():
        model = torch.nn.Sequential(
            torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 8)
        ).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        kept, sizes = [], [first] if first else []

        def step():
            batch = torch.randn(4096, 512, device="cuda")
            warm_up = torch.empty(sizes.pop(), device="cuda") if sizes else None
            optimizer.zero_grad()
            loss = model(batch).square().mean()
            loss.backward(retain_graph=keeps)
            if keeps:
                kept.append(loss)
            optimizer.step()
            del warm_up

        return step

    return build


@pytest.mark.parametrize(
    ("program", "steps"),
    [(training(), 2), (training(keeps=True), 4), (training(first=2**28), 2)],
    ids=["steady", "growing", "first"],
)
def test_as_many_steps_as_tell_all(program, steps):
    base = memtrack.predict(program, steps=4, gpu=GPU)
    assert enough_steps(base.data) == steps
    for change in (changes.autocast(torch.bfloat16), changes.accumulated(2)):
        varied = changes.varied(program, [change])
        fewer, all_of_them = base.predict_again(varied, steps), base.predict_again(varied, 4)
        assert peaks_of(fewer) == peaks_of(all_of_them)


def test_no_more_steps_than_were_asked_for():
    base = memtrack.predict(training(), steps=1, gpu=GPU)
    assert base.predict_again(training(), enough_steps(base.data)).steps == 1


def test_no_set_of_remedies_is_run_twice(monkeypatch):
    base = memtrack.predict(training(), gpu=GPU)
    asked, again = [], variants.again
    monkeypatch.setattr(variants, "again", lambda *args: asked.append(args[3]) or again(*args))
    found = memtrack.advise(base, base.peak_allocated * 3 // 4)
    assert len(found.combinations) > 0
    assert len(asked) == len(set(asked)) > 5
