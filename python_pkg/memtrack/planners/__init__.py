"""Memory from a few numbers, without code and without torch: training, generation, loading.

In: what `inputs.py` lists. Out: parts in bytes that sum to a total. Every formula names its source.
The browser has the same formulas in `src/model/planner/`; both are checked against
`tests/fixtures/plans.json`.
"""
